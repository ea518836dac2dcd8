//! Forms of model, data and monitoring services, after what each of them publishes.

use super::plausible;
use super::shape::{Shape, prefixed};

/// The forms of this file.
pub const SHAPES: &[Shape] = &[
    // Models
    Shape {
        kind: "openai_api_key",
        hints: &["sk-"],
        before: 0,
        after: 0,
        regex: r"sk-[A-Za-z0-9_-]{32,220}",
        check: is_openai,
    },
    prefixed(
        "anthropic_api_key",
        &["sk-ant-"],
        r"sk-ant-(?:api|admin|sid|oat|ort)\d{2}-[A-Za-z0-9_-]{60,140}",
    ),
    prefixed(
        "h2o_api_key",
        &["h2o"],
        r#"(?i)h2o[a-z0-9_.-]{0,24}(?:key|token)["']?\s{0,3}[:=]\s{0,3}["']?((?:sk-)?[A-Za-z0-9_-]{20,200})"#,
    ),
    prefixed("openrouter_key", &["sk-or-"], r"sk-or-v1-[a-f0-9]{64}"),
    prefixed("langfuse_key", &["sk-lf-"], r"sk-lf-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    prefixed("langsmith_key", &["lsv2_"], r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    prefixed("huggingface_token", &["hf_", "api_org_"], r"(?:hf|api_org)_[A-Za-z0-9]{30,40}\b"),
    prefixed("groq_key", &["gsk_"], r"gsk_[A-Za-z0-9]{40,60}"),
    prefixed("perplexity_key", &["pplx-"], r"pplx-[A-Za-z0-9]{40,60}"),
    prefixed("replicate_token", &["r8_"], r"r8_[A-Za-z0-9_-]{36,40}"),
    prefixed("xai_key", &["xai-"], r"xai-[A-Za-z0-9]{64,96}"),
    prefixed("elevenlabs_key", &["sk_"], r"sk_[a-f0-9]{48}\b"),
    prefixed("llamacloud_key", &["llx-"], r"llx-[A-Za-z0-9_-]{40,60}"),
    prefixed("firecrawl_key", &["fc-"], r"fc-[a-f0-9]{32}\b"),
    prefixed("tavily_key", &["tvly-"], r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{28,40}"),
    prefixed("pinecone_key", &["pcsk_"], r"pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40,70}"),
    prefixed("nvidia_key", &["nvapi-"], r"nvapi-[A-Za-z0-9_-]{60,70}"),
    prefixed("wandb_key", &["wandb_v1_"], r"wandb_v1_[A-Za-z0-9_]{60,90}"),
    prefixed("cerebras_key", &["csk-"], r"csk-[a-z0-9]{48}"),
    prefixed("fireworks_key", &["fw_"], r"fw_[A-Za-z0-9]{22,32}\b"),
    prefixed("mapbox_secret_token", &["sk.eyJ"], r"sk\.eyJ[A-Za-z0-9_-]{40,200}\.[A-Za-z0-9_-]{20,40}"),
    // Data and documents
    prefixed("databricks_token", &["dapi"], r"dapi[a-f0-9]{32}(?:-\d)?\b"),
    prefixed("airtable_token", &["pat"], r"pat[A-Za-z0-9]{14}\.[A-Za-z0-9]{64}"),
    prefixed("notion_token", &["ntn_", "secret_"], r"(?:ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43})\b"),
    prefixed("figma_token", &["figd_", "figo_", "figu_", "figr_"], r"fig[dour]_[A-Za-z0-9_-]{36,48}"),
    prefixed("linear_key", &["lin_"], r"lin_(?:api|oauth)_[A-Za-z0-9]{36,64}"),
    prefixed("asana_token", &["1/", "2/"], r"[12]/\d{10,20}(?:/\d{10,20})?:[a-f0-9]{32}"),
    prefixed("contentful_token", &["CFPAT-"], r"CFPAT-[A-Za-z0-9_-]{40,50}"),
    prefixed("typeform_token", &["tfp_"], r"tfp_[A-Za-z0-9_.=-]{44,60}"),
    prefixed(
        "hubspot_token",
        &["pat-"],
        r"pat-(?:na|eu)\d-[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    ),
    prefixed("dropbox_token", &["sl."], r"sl\.(?:u\.)?[A-Za-z0-9_=-]{120,}"),
    prefixed("adobe_secret", &["p8e-", "p8"], r"(?:p8e-|p8)[A-Za-z0-9-]{30,34}\b"),
    prefixed("adafruit_key", &["aio_"], r"aio_[A-Za-z0-9]{28}\b"),
    prefixed("frameio_token", &["fio-u-"], r"fio-u-[A-Za-z0-9_=-]{60,70}"),
    prefixed("shippo_token", &["shippo_"], r"shippo_(?:live|test)_[a-fA-F0-9]{40}"),
    prefixed(
        "onepassword_token",
        &["ops_eyJ", "A3-"],
        r"(?:ops_eyJ[A-Za-z0-9+/]{200,}={0,3}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3})",
    ),
    prefixed("wechat_app_id", &["wx"], r"wx[a-f0-9]{16}\b"),
    prefixed("akamai_credential", &["akab-"], r"akab-[a-z0-9]{16}-[a-z0-9]{16}"),
    prefixed("defined_networking_token", &["dnkey-"], r"dnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}"),
    prefixed("clickup_token", &["pk_"], r"pk_\d{5,10}_[A-Z0-9]{32}\b"),
    prefixed("dependency_track_key", &["odt_"], r"odt_[A-Za-z0-9]{32}\b"),
    prefixed("settlemint_token", &["sm_"], r"sm_(?:aat|pat|sat)_[A-Za-z0-9]{16,20}"),
    prefixed("infracost_token", &["ico-"], r"ico-[A-Za-z0-9]{32}\b"),
    prefixed(
        "harness_token",
        &["pat.", "sat."],
        r"[ps]at\.[A-Za-z0-9_-]{22}\.[A-Fa-f0-9]{24}\.[A-Za-z0-9]{20}",
    ),
    prefixed("prefect_key", &["pnu_", "pnb_"], r"pn[ub]_[a-zA-Z0-9]{36}\b"),
    // Watching
    prefixed(
        "grafana_token",
        &["glc_", "glsa_", "eyJrIjoi"],
        r"(?:glc_[A-Za-z0-9+/]{32,}={0,3}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|eyJrIjoi[A-Za-z0-9]{60,}={0,3})",
    ),
    prefixed(
        "newrelic_key",
        &["NRAK-", "NRII-", "NRIQ-", "NRSP-", "NRRA-", "NRBR-"],
        r"NR(?:AK|II|IQ|SP|RA|BR)-[A-Za-z0-9_-]{26,42}",
    ),
    prefixed("dynatrace_token", &["dt0"], r"dt0[a-z]\d{2}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    prefixed("sentry_token", &["sntry"], r"sntry(?:u_[a-f0-9]{64}\b|s_[A-Za-z0-9+/=_-]{60,})"),
    prefixed("posthog_key", &["phc_", "phx_", "pha_", "phr_", "phs_"], r"ph[cxars]_[A-Za-z0-9]{38,64}\b"),
    prefixed(
        "honeycomb_key",
        &["hcaik_", "hcaic_", "hcbik_", "hcbic_", "hcxik_", "hcxic_", "hcik_", "hcic_"],
        r"hc[abx]?i[kc]_[a-z0-9]{58}",
    ),
    prefixed("rootly_key", &["rootly_"], r"rootly_[a-f0-9]{64}"),
];

/// Other services begin their keys with `sk-` too and stand in rows of their own.
fn is_openai(secret: &str) -> bool {
    let is_other = ["sk-ant-", "sk-or-", "sk-lf-"].iter().any(|prefix| secret.starts_with(prefix));
    // Not the common test for fillers: test keys end in zeros and still show that keys leak.
    !is_other && plausible::has_generated_piece(secret) && !secret.to_ascii_lowercase().contains("xxxxxx")
}
