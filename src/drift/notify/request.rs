//! The request that each kind of receiver takes.

use super::reason;
use crate::domain::time::UnixNanos;
use crate::drift::config::{Config, ReceiverConfig, ReceiverKind};
use crate::drift::message::Notice;
use crate::drift::moment::rfc3339;
use crate::units::nanos;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::cmp::Reverse;
use std::path::Path;

/// PagerDuty Events v2.
const PAGERDUTY: &str = "https://events.pagerduty.com/v2/enqueue";
/// Bytes of a block of SHA-256, for HMAC.
const BLOCK: usize = 64;

/// What is sent.
pub(super) struct Message {
    pub url: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// What must not be shown of an answer.
    pub secrets: Vec<String>,
}

/// The request for one notice, or why there is none.
pub(super) fn build(
    receiver: &ReceiverConfig,
    config: &Config,
    notice: &Notice,
    now: UnixNanos,
) -> Result<Message, String> {
    let url = match receiver.url_file.as_os_str().is_empty() {
        true => receiver.url.clone(),
        false => secret(&receiver.url_file)?,
    };
    let key = match receiver.secret_file.as_os_str().is_empty() {
        true => None,
        false => Some(secret(&receiver.secret_file)?),
    };
    // What is shown is stored, too: an address is kept out of it, wherever it comes from. The longest first: one may be a part of
    // another.
    let mut secrets = reason::secrets_of(&url);
    secrets.extend(key.clone());
    secrets.sort_by_key(|secret| Reverse(secret.len()));
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    let (url, body) = match receiver.kind {
        ReceiverKind::Alertmanager => {
            (format!("{}/api/v2/alerts", url.trim_end_matches('/')), alertmanager(notice, config, now))
        }
        ReceiverKind::Webhook => (url, notice.json(config)),
        ReceiverKind::Slack => (url, slack(notice, config)),
        ReceiverKind::Pagerduty => {
            let url = if url.is_empty() { PAGERDUTY.to_owned() } else { url };
            (url, pagerduty(notice, config, key.as_deref().unwrap_or_default()))
        }
    };
    let body = body.to_string().into_bytes();
    if receiver.kind == ReceiverKind::Webhook {
        put(&mut headers, "idempotency-key", &format!("{}/{}/{}", notice.key(), notice.status(), notice.at))?;
        if let Some(key) = key {
            let at = (now.0 / 1_000_000_000).to_string();
            let signed = [at.as_bytes(), b".", &body].concat();
            put(&mut headers, "groundline-timestamp", &at)?;
            put(&mut headers, "groundline-signature", &format!("v1={}", hmac(key.as_bytes(), &signed)))?;
        }
    }
    Ok(Message { url, headers, body, secrets })
}

fn put(headers: &mut HeaderMap, name: &'static str, value: &str) -> Result<(), String> {
    let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|e| format!("{name}: {e}"))?;
    headers.insert(HeaderName::from_static(name), value);
    Ok(())
}

/// The content of a file, without the line's end. It is read for each message, so that it may change.
fn secret(path: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(text.trim().to_owned())
}

/// One alert as `POST /api/v2/alerts` takes it. It ends by itself when it is not told of again.
fn alertmanager(notice: &Notice, config: &Config, now: UnixNanos) -> Value {
    let lasts = nanos(config.repeat_interval).saturating_mul(4);
    // Of what somebody knows it is not told again until then, and must not take it for resolved meanwhile.
    let from = notice.acknowledged.as_ref().map_or(now.0, |known| known.until.max(now.0));
    let ends = if notice.is_firing { from.saturating_add(lasts) } else { notice.at };
    // An end before the start, as of a clock that was set back, would be refused for good.
    let ends = ends.max(notice.fired);
    let trace = notice.examples.first().and_then(|e| e["trace_id"].as_str()).unwrap_or_default();
    json!([{
        "labels": notice.identity(),
        "annotations": {
            "summary": notice.said(), "description": lines(notice), "sql": notice.query, "trace_id": trace,
        },
        "startsAt": rfc3339(notice.fired),
        "endsAt": rfc3339(ends),
        "generatorURL": notice.link(config),
    }])
}

/// Text of the examples, one a line.
fn lines(notice: &Notice) -> String {
    let line = |e: &Value| {
        format!(
            "{} {}",
            e["trace_id"].as_str().unwrap_or_default(),
            e["rationale"].as_str().unwrap_or_default()
        )
    };
    notice.examples.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Slack's message: text for notifications, blocks for the channel. What senders wrote is escaped and cannot call anybody.
fn slack(notice: &Notice, config: &Config) -> Value {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let cut = |text: String| text.chars().take(2_900).collect::<String>();
    let title = format!("[{}] {}: {}", notice.status().to_uppercase(), notice.alert, notice.said());
    let section = |text: String| json!({"type": "section", "text": {"type": "mrkdwn", "text": cut(text)}});
    let mut blocks = vec![section(escaped(&title))];
    if !notice.examples.is_empty() {
        blocks.push(section(format!("Examples\n```{}```", escaped(&lines(notice)).replace("```", "'''"))));
    }
    blocks.push(section(format!("```{}```\n<{}|console>", escaped(&notice.query), notice.link(config))));
    json!({"text": cut(escaped(&title)), "blocks": blocks})
}

fn pagerduty(notice: &Notice, config: &Config, key: &str) -> Value {
    let severity = match notice.severity.as_str() {
        known @ ("critical" | "error" | "warning" | "info") => known,
        "page" => "critical",
        _ => "warning",
    };
    json!({
        "routing_key": key,
        "event_action": match notice.status() {
            "firing" => "trigger",
            "acknowledged" => "acknowledge",
            _ => "resolve",
        },
        // The same for the whole time of firing; PagerDuty takes 255 characters.
        "dedup_key": hex::encode(Sha256::digest(notice.key())),
        "payload": {
            "summary": notice.said().chars().take(1_024).collect::<String>(), "source": "groundline",
            "severity": severity, "timestamp": rfc3339(notice.at), "component": notice.slice,
            "custom_details": notice.json(config),
        },
        "links": [{"href": notice.link(config), "text": "console"}],
    })
}

/// HMAC-SHA256 (RFC 2104), hex.
fn hmac(key: &[u8], text: &[u8]) -> String {
    let mut block = [0u8; BLOCK];
    let hashed = Sha256::digest(key);
    let key: &[u8] = if key.len() > BLOCK { &hashed } else { key };
    block[..key.len()].copy_from_slice(key);
    let padded = |with: u8| block.map(|b| b ^ with);
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text).finalize();
    hex::encode(Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize())
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
