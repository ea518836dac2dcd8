//! Further forms: services that publish a prefix, and commands that take a password.

use super::plausible;
use super::shape::{Shape, around, generated, prefixed, with_digit};

/// The forms of this file.
pub const SHAPES: &[Shape] = &[
    // Models and data
    prefixed("jina_key", &["jina_"], r"jina_[A-Za-z0-9_-]{50,70}"),
    prefixed("together_key", &["tgp_v1_"], r"tgp_v1_[A-Za-z0-9_-]{40,50}"),
    prefixed("apify_token", &["apify_api_"], r"apify_api_[A-Za-z0-9]{34,40}\b"),
    prefixed("runpod_key", &["rpa_"], r"rpa_[A-Z0-9]{40,50}[a-z0-9]{0,8}\b"),
    prefixed("logfire_token", &["pylf_v"], r"pylf_v\d_(?:[a-z]{2}_)?[A-Za-z0-9]{40,60}"),
    prefixed("helicone_key", &["sk-helicone-"], r"sk-helicone-[A-Za-z0-9-]{20,60}"),
    generated("voyage_key", &["pa-"], r"pa-[A-Za-z0-9_-]{43}\b"),
    prefixed("anyscale_key", &["esecret_"], r"esecret_[A-Za-z0-9]{24,40}\b"),
    prefixed("astra_token", &["AstraCS:"], r"AstraCS:[A-Za-z0-9]{20,30}:[a-f0-9]{64}"),
    prefixed("neon_key", &["napi_"], r"napi_[a-z0-9]{40,80}\b"),
    prefixed("aiven_password", &["AVNS_"], r"AVNS_[A-Za-z0-9_-]{18,24}"),
    prefixed("mongodb_atlas_secret", &["mdb_sa_sk_"], r"mdb_sa_sk_[A-Za-z0-9_-]{30,60}"),
    prefixed("cockroach_secret", &["CCDB1_"], r"CCDB1_[A-Za-z0-9]{20,24}_[A-Za-z0-9]{36,44}"),
    prefixed("dbt_token", &["dbtc_", "dbtu_", "dbts_"], r"dbt[cus]_[A-Za-z0-9_=-]{36,60}"),
    prefixed("sourcegraph_cody_key", &["slk_"], r"slk_[a-f0-9]{64}"),
    prefixed("readme_key", &["rdme_"], r"rdme_[a-z0-9]{60,80}\b"),
    // Hosting and building
    prefixed("render_key", &["rnd_"], r"rnd_[A-Za-z0-9]{28,36}\b"),
    prefixed("vercel_token", &["vcp_", "vci_", "vca_", "vcr_", "vck_"], r"vc[pciark]_[A-Za-z0-9]{40,70}\b"),
    prefixed("octopus_key", &["API-"], r"API-[A-Z0-9]{25,32}\b"),
    prefixed(
        "ngrok_token",
        &["ngrok"],
        r"(?i)ngrok[^\n]{0,40}?\b([2a][A-Za-z0-9]{22,30}_[A-Za-z0-9]{18,28})\b",
    ),
    prefixed(
        "bitwarden_token",
        &["0."],
        r"0\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[A-Za-z0-9]{28,32}:[A-Za-z0-9+/=]{22,28}",
    ),
    generated("okta_token", &["00"], r"00[A-Za-z0-9_-]{38}[A-Za-z0-9]{2}\b"),
    prefixed("trello_token", &["ATTA"], r"ATTA[0-9a-fA-F]{60,80}\b"),
    prefixed(
        "teamcity_token",
        &["eyJ0eXAiOiAiVENWMiJ9."],
        r"eyJ0eXAiOiAiVENWMiJ9\.[A-Za-z0-9_=-]{20,60}\.[A-Za-z0-9_=-]{30,80}",
    ),
    around(
        "launchdarkly_key",
        &["-"],
        (3, 37),
        r"\b(?:api|sdk|mob)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
    ),
    prefixed("statsig_key", &["secret-"], r"secret-[A-Za-z0-9]{40,50}\b"),
    prefixed("axiom_token", &["xaat-", "xapt-"], r"xa[ap]t-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    prefixed("nightfall_key", &["NF-"], r"NF-[A-Za-z0-9]{32}\b"),
    prefixed("teamwork_token", &["tkn.v1_"], r"tkn\.v1_[A-Za-z0-9+/=]{60,90}"),
    prefixed("intra42_secret", &["s-s4t2"], r"s-s4t2(?:ud|af)-[a-f0-9]{64}"),
    prefixed("inngest_key", &["signkey-"], r"signkey-(?:prod|test|branch)-[a-f0-9]{40,64}"),
    prefixed("trigger_key", &["tr_dev_", "tr_prod_", "tr_stg_"], r"tr_(?:dev|prod|stg)_[A-Za-z0-9]{18,30}\b"),
    // Mail, messages, shops
    prefixed("resend_key", &["re_"], r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}\b"),
    prefixed("mailersend_token", &["mlsn."], r"mlsn\.[a-f0-9]{64}"),
    prefixed("onesignal_key", &["os_v2_"], r"os_v2_(?:app|org)_[a-z0-9]{50,120}"),
    around("fcm_server_key", &[":APA91b"], (12, 140), r"AAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{120,140}"),
    prefixed("intercom_token", &["dG9rO"], r"dG9rO[A-Za-z0-9+/]{40,80}={0,2}"),
    prefixed("woocommerce_key", &["ck_", "cs_"], r"c[ks]_[a-f0-9]{40}\b"),
    prefixed("klaviyo_key", &["pk_"], r"pk_[a-f0-9]{34}\b"),
    prefixed("razorpay_key", &["rzp_live_", "rzp_test_"], r"rzp_(?:live|test)_[A-Za-z0-9]{14,24}\b"),
    prefixed("mollie_key", &["live_", "test_"], r"(?:live|test)_[A-Za-z0-9]{30,36}\b"),
    with_digit("alchemy_key", &["alcht_"], r"alcht_[A-Za-z0-9]{28,34}\b"),
    prefixed("ghost_admin_key", &["ghost"], r"(?i)ghost[^\n]{0,60}?\b([a-f0-9]{24}:[a-f0-9]{64})\b"),
    // Commands
    Shape {
        kind: "command_line_password",
        hints: &["psexec"],
        before: 0,
        after: 0,
        regex: r#"(?i)psexec[^\n]{0,200}?[ \t]-p[ \t]{1,3}["']?([^\s"']{3,100})"#,
        check: |secret| !plausible::is_placeholder(secret),
    },
    Shape {
        kind: "command_line_password",
        hints: &["sshpass", "mysql ", "mysqldump ", "mariadb "],
        before: 0,
        after: 0,
        regex: r#"(?:sshpass[ \t]{1,3}-p ?|(?:mysql|mysqldump|mariadb)[ \t][^\n]{0,160}?[ \t]-p)["']?([^\s"'$<-][^\s"'<]{4,100})"#,
        check: |secret| !plausible::is_placeholder(secret) && plausible::has_digit(secret),
    },
    Shape {
        kind: "command_line_password",
        hints: &["net use"],
        before: 0,
        after: 0,
        regex: r#"(?i)net use[^\n]{0,160}?/user:[^\s]{1,80}[ \t]{1,3}["']?([^\s"'/*][^\s"']{3,100})"#,
        check: |secret| !plausible::is_placeholder(secret),
    },
    Shape {
        kind: "network_device_password",
        hints: &["enable secret", "enable password"],
        before: 0,
        after: 0,
        regex: r#"enable (?:secret|password)[ \t]{1,3}(?:level \d{1,2} )?(?:\d )?([^\s"']{6,100})"#,
        check: |secret| !plausible::is_placeholder(secret) && plausible::has_digit(secret),
    },
];
