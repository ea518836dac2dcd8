//! Forms of cloud, code and chat services, after what each of them publishes.

use super::plausible;
use super::shape::{Shape, around, generated, prefixed, with_digit};

/// The forms of this file.
pub const SHAPES: &[Shape] = &[
    // Clouds
    prefixed(
        "aws_access_key_id",
        &["AKIA", "ASIA", "ABIA", "ACCA", "A3T"],
        r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}\b",
    ),
    prefixed("aws_mws_token", &["amzn.mws."], r"amzn\.mws\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    prefixed(
        "aws_bedrock_key",
        &["ABSK", "bedrock-api-key-"],
        r"(?:ABSK[A-Za-z0-9+/]{100,280}={0,2}|bedrock-api-key-YmVkcm9jay[A-Za-z0-9+/=]{40,})",
    ),
    prefixed(
        "aws_session_token",
        &["IQoJb3JpZ2luX2Vj", "FwoGZXIvYXdzE"],
        r"(?:IQoJb3JpZ2luX2Vj|FwoGZXIvYXdzE)[A-Za-z0-9+/=%]{80,}",
    ),
    // The second form is that of Gemini.
    prefixed("google_api_key", &["AIza", "AQ.Ab"], r"(?:AIza[0-9A-Za-z_-]{35}|AQ\.Ab[0-9A-Za-z_-]{40,60})"),
    prefixed("google_oauth_token", &["ya29."], r"ya29\.[0-9A-Za-z_-]{20,}"),
    prefixed("google_oauth_secret", &["GOCSPX-"], r"GOCSPX-[0-9A-Za-z_-]{24,32}"),
    prefixed("google_refresh_token", &["1//0"], r"1//0[0-9A-Za-z_-]{30,120}"),
    prefixed("azure_storage_key", &["AccountKey"], r"AccountKey\s{0,2}=\s{0,2}([A-Za-z0-9+/]{80,90}={0,2})"),
    around(
        "azure_sas",
        &["sig="],
        (320, 90),
        r"[?&](?:se|sp|sv|sr|st)=[^\s]{1,300}&sig=([A-Za-z0-9%+/]{40,80}=?)",
    ),
    // Of most services, those with language models among them; those of DevOps have a row of their own.
    Shape {
        kind: "azure_api_key",
        hints: &["JQQJ9"],
        before: 52,
        after: 31,
        regex: r"[A-Za-z0-9]{52}JQQJ9[9DH][A-Za-z0-9]{26}(?:[A-Za-z0-9]{2}==|\b)",
        check: |secret| plausible::is_varied(secret) && secret.get(76..80) != Some("AZDO"),
    },
    around("azure_client_secret", &["Q~"], (4, 36), r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    around("azure_devops_token", &["AZDO"], (76, 6), r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    prefixed("alibaba_access_key_id", &["LTAI"], r"LTAI[A-Za-z0-9]{12,24}\b"),
    prefixed("tencent_secret_id", &["AKID"], r"AKID[A-Za-z0-9]{32}\b"),
    generated(
        "yandex_key",
        &["AQVN", "YCAJE", "YC", "t1."],
        r"(?:AQVN[A-Za-z0-9_-]{35,38}|YC[A-Za-z0-9_-]{38}|t1\.[A-Za-z0-9_-]{1,64}=?=?\.[A-Za-z0-9_-]{86}=?=?)",
    ),
    prefixed("digitalocean_token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"do[opr]_v1_[a-f0-9]{64}"),
    prefixed("heroku_key", &["HRKU-"], r"HRKU-[A-Za-z0-9_-]{36,80}"),
    prefixed(
        "flyio_token",
        &["fo1_", "fm1", "fm2_"],
        r"(?:fo1_[\w-]{43}|fm1[ar]_[A-Za-z0-9+/]{100,}|fm2_[A-Za-z0-9+/]{100,})",
    ),
    prefixed("cloudflare_origin_key", &["v1.0-"], r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}"),
    prefixed("cloudflare_token", &["cfat_", "cfut_", "cfk_"], r"cf(?:at|ut|k)_[A-Za-z0-9]{40,60}"),
    prefixed("netlify_token", &["nfp_"], r"nfp_[A-Za-z0-9_]{36}"),
    around("terraform_token", &[".atlasv1."], (14, 90), r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}"),
    prefixed("vault_token", &["hvs.", "hvb.", "hvr."], r"hv[sbr]\.[A-Za-z0-9_-]{20,}"),
    prefixed("pulumi_token", &["pul-"], r"pul-[a-f0-9]{40}"),
    prefixed(
        "doppler_token",
        &["dp."],
        r"dp\.(?:pt|ct|st|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    prefixed("tailscale_key", &["tskey-"], r"tskey-[a-z]{2,10}-[A-Za-z0-9_]{8,40}-[A-Za-z0-9_]{16,64}"),
    prefixed("planetscale_token", &["pscale_"], r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9=._-]{32,64}"),
    prefixed(
        "supabase_token",
        &["sbp_", "sb_secret_"],
        r"(?:sbp_[a-z0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,60})",
    ),
    // Code
    with_digit("github_token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"gh[pousr]_[A-Za-z0-9]{36,251}"),
    with_digit("github_fine_grained_token", &["github_pat_"], r"github_pat_[A-Za-z0-9_]{36,251}"),
    prefixed(
        "gitlab_token",
        &[
            "glpat-", "gloas-", "glcbt-", "gldt-", "glrt-", "glrtr-", "glptt-", "glft-", "glimt-",
            "glagent-", "glsoat-", "glffct-",
        ],
        r"gl(?:pat|oas|cbt|dt|rt|rtr|ptt|ft|imt|agent|soat|ffct)-[A-Za-z0-9_=.-]{20,}",
    ),
    prefixed("gitlab_runner_token", &["GR1348941"], r"GR1348941[A-Za-z0-9_-]{20,50}"),
    prefixed("gitlab_session", &["_gitlab_session="], r"_gitlab_session=([0-9a-z]{32})"),
    prefixed("bitbucket_app_password", &["ATBB"], r"ATBB[A-Za-z0-9]{32}"),
    prefixed("bitbucket_access_token", &["BBDC-"], r"BBDC-[A-Za-z0-9+/@_-]{40,60}"),
    prefixed("atlassian_token", &["ATATT3", "ATCTT3"], r"AT[AC]TT3[A-Za-z0-9_=%-]{60,250}"),
    prefixed("npm_token", &["npm_"], r"npm_[A-Za-z0-9]{36}"),
    prefixed("pypi_token", &["pypi-"], r"pypi-[A-Za-z0-9_-]{50,}"),
    prefixed("rubygems_key", &["rubygems_"], r"rubygems_[a-f0-9]{48}"),
    prefixed("clojars_token", &["CLOJARS_"], r"CLOJARS_[A-Za-z0-9]{60}"),
    prefixed("nuget_key", &["oy2"], r"oy2[a-z0-9]{43}\b"),
    prefixed("cargo_token", &["cio"], r"cio[A-Za-z0-9]{32}\b"),
    prefixed("docker_token", &["dckr_"], r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,40}"),
    prefixed("docker_swarm_key", &["SWMKEY-", "SWMTKN-"], r"SWM(?:KEY|TKN)-1-[A-Za-z0-9+/-]{40,90}"),
    prefixed(
        "jfrog_token",
        &["AKC", "cmVmdGtuOj"],
        r"(?:AKC[a-z0-9]{1,2}[A-Za-z0-9]{60,75}\b|cmVmdGtuOjA[A-Za-z0-9+/=_-]{40,80})",
    ),
    prefixed(
        "circleci_token",
        &["CCIPAT_", "CCIPRJ_"],
        r"CCIP(?:AT|RJ)_[A-Za-z0-9]{20,26}_[A-Za-z0-9]{36,44}",
    ),
    prefixed("buildkite_token", &["bkua_", "bkct_", "bkaj_"], r"bk(?:ua|ct|aj)_[a-z0-9]{32,40}"),
    prefixed("sonarqube_token", &["sqp_", "squ_", "sqa_"], r"sq[pua]_[a-z0-9]{40}"),
    prefixed("sourcegraph_token", &["sgp_"], r"sgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}"),
    prefixed("postman_key", &["PMAK-", "PMAT-"], r"PM(?:AK-[a-f0-9]{24}-[a-f0-9]{34}|AT-[0-9A-Z]{26})"),
    prefixed("age_secret_key", &["AGE-SECRET-KEY-1"], r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}"),
    prefixed("artifact_signing_seed", &["SA", "SC", "SN", "SO", "SU", "SX"], r"S[ACNOUX][A-Z2-7]{56}\b"),
    // Chat and mail
    with_digit("slack_token", &["xox"], r"xox(?:[abcdeoprs]|e\.xox[bp])-[A-Za-z0-9%-]{16,}"),
    with_digit("slack_app_token", &["xapp-"], r"xapp-\d-[A-Z0-9]{6,16}-\d{6,16}-[A-Za-z0-9]{32,80}"),
    prefixed(
        "slack_webhook",
        &["hooks.slack.com"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{30,90})",
    ),
    prefixed(
        "discord_bot_token",
        &["MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"],
        r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}\b",
    ),
    prefixed(
        "discord_webhook",
        &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        r"discord(?:app)?\.com/api/webhooks/(\d{16,20}/[A-Za-z0-9_-]{60,80})",
    ),
    around(
        "teams_webhook",
        &["webhook.office.com", "outlook.office"],
        (41, 260),
        r"(?:[a-z0-9-]{1,40}\.webhook\.office\.com|outlook\.office(?:365)?\.com)/webhook(?:b2)?/([A-Za-z0-9@/-]{60,200})",
    ),
    prefixed(
        "zapier_webhook",
        &["hooks.zapier.com"],
        r"hooks\.zapier\.com/hooks/catch/([A-Za-z0-9/]{12,40})",
    ),
    around("telegram_bot_token", &[":A"], (10, 40), r"\d{8,10}:A[A-Za-z0-9_-]{33,35}\b"),
    prefixed("sendgrid_key", &["SG."], r"SG\.[A-Za-z0-9_=.-]{60,70}"),
    prefixed("mailgun_key", &["key-"], r"key-[a-f0-9]{32}\b"),
    prefixed("mailgun_key", &["mailgun"], r"(?i)mailgun[^\n]{0,60}?([a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8})\b"),
    around("mailchimp_key", &["-us"], (32, 4), r"[a-f0-9]{32}-us\d{1,2}\b"),
    prefixed("brevo_key", &["xkeysib-", "xsmtpsib-"], r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    prefixed("twilio_key", &["SK"], r"SK[a-f0-9]{32}\b"),
    // Money
    prefixed(
        "stripe_key",
        &["sk_live_", "rk_live_", "sk_test_", "rk_test_", "sk_prod_", "rk_prod_", "whsec_"],
        r"(?:(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,250}|whsec_[A-Za-z0-9+/=]{24,64})",
    ),
    prefixed(
        "square_token",
        &["sq0", "EAAA"],
        r"(?:sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,43}|EAAA[A-Za-z0-9_-]{56,64})\b",
    ),
    prefixed(
        "shopify_token",
        &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_", "shpua_"],
        r"shp(?:at|ca|pa|ss|tka|ua)_[a-fA-F0-9]{32}",
    ),
    prefixed(
        "paypal_token",
        &["access_token$"],
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
    ),
    prefixed(
        "plaid_token",
        &["access-"],
        r"access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    ),
    prefixed("easypost_key", &["EZAK", "EZTK"], r"EZ[AT]K[A-Za-z0-9]{54}"),
    prefixed("flutterwave_key", &["FLWSECK"], r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,40}"),
    prefixed("duffel_token", &["duffel_"], r"duffel_(?:test|live)_[A-Za-z0-9_=-]{40,50}"),
    generated("gocardless_token", &["live_"], r"live_[A-Za-z0-9_=-]{40,50}\b"),
    prefixed("lob_key", &["live_", "test_"], r"(?:live|test)_(?:pub_)?[a-f0-9]{31,35}\b"),
    prefixed("facebook_token", &["EAA"], r"EAA[A-Za-z0-9]{60,}\b"),
    prefixed("twitter_bearer_token", &["AAAAAAAAAAAA"], r"A{16,24}[A-Za-z0-9%]{60,110}"),
];
