//! What is said about a change: one sentence, and everything that somebody who is woken needs.

use super::acknowledge::Acknowledgement;
use super::alert::Change;
use super::config::{AlertConfig, Config, Method};
use super::moment::rfc3339;
use super::slice::Example;
use crate::units::words;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A message for one receiver. It is kept until the receiver has taken it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Notice {
    /// Its number in this server.
    pub id: u64,
    /// For whom.
    pub receiver: String,
    /// The alert.
    pub alert: String,
    /// The part of the traffic.
    pub slice: String,
    /// Whether it fires; else it is resolved.
    pub is_firing: bool,
    /// When it began to fire, nanoseconds since 1970.
    pub fired: i64,
    /// When it changed, nanoseconds since 1970.
    pub at: i64,
    /// Since when there is evidence, nanoseconds since 1970.
    pub since: i64,
    /// Word for the receivers.
    pub severity: String,
    /// More labels.
    pub labels: BTreeMap<String, String>,
    /// One sentence.
    pub summary: String,
    /// Share that fails, its interval, and how many scores it is from.
    pub numbers: Value,
    /// Failures to look at.
    pub examples: Vec<Value>,
    /// SQL that shows what happened.
    pub query: String,
    /// Who knows of it, if somebody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<Acknowledgement>,
    /// Attempts that have failed.
    #[serde(default)]
    pub failed: u32,
    /// When the next attempt may begin, nanoseconds since 1970.
    #[serde(default)]
    pub not_before: i64,
}

impl Notice {
    /// `anchors` is what they say of who moved.
    pub(super) fn new(
        id: u64,
        receiver: &str,
        config: &AlertConfig,
        change: &Change,
        anchors: Option<&str>,
    ) -> Self {
        let is_firing = change.state == "firing";
        let estimate = change.reading.estimate;
        Self {
            id,
            receiver: receiver.to_owned(),
            alert: config.name.clone(),
            slice: change.slice.clone(),
            is_firing,
            fired: if is_firing { change.since } else { change.fired },
            at: change.since,
            since: change.reading.since,
            severity: config.severity.clone(),
            labels: config.labels.clone(),
            summary: sentence(config, change, anchors),
            numbers: json!({
                "metric": config.metric, "failing": estimate.map(|e| e.estimate), "lower": estimate.and_then(|e| e.lower),
                "upper": estimate.and_then(|e| e.upper), "n": estimate.map(|e| e.n), "n_eff": estimate.map(|e| e.n_eff),
                "allowed": change.reading.bound, "statistic": change.reading.statistic, "alpha": config.alpha,
                "method": config.method.as_str(), "anchors": anchors,
            }),
            examples: change.examples.iter().map(example).collect(),
            query: query(config, change),
            acknowledged: None,
            failed: 0,
            not_before: 0,
        }
    }

    /// The labels that tell this alert from others: the same from firing to resolved.
    pub fn identity(&self) -> BTreeMap<String, String> {
        let mut labels = self.labels.clone();
        labels.insert("alertname".to_owned(), self.alert.clone());
        labels.insert("severity".to_owned(), self.severity.clone());
        if !self.slice.is_empty() {
            labels.insert("slice".to_owned(), self.slice.clone());
        }
        labels
    }

    /// The same for every message about one time of firing, so that receivers can leave out what they have.
    pub fn key(&self) -> String {
        format!("groundline/{}/{}/{}", self.alert, self.slice, self.fired)
    }

    /// Where a person can look.
    pub fn link(&self, config: &Config) -> String {
        format!("{}/?alert={}", config.external_url.trim_end_matches('/'), urlencoded(&self.alert))
    }

    /// The whole message as JSON.
    pub fn json(&self, config: &Config) -> Value {
        json!({
            "key": self.key(), "status": self.status(), "alert": self.alert, "slice": self.slice,
            "severity": self.severity, "labels": self.identity(), "summary": self.said(),
            "fired_at": rfc3339(self.fired), "changed_at": rfc3339(self.at), "evidence_since": rfc3339(self.since),
            "numbers": self.numbers, "examples": self.examples, "sql": self.query, "link": self.link(config),
        })
    }

    /// `firing`, `acknowledged` or `resolved`.
    pub fn status(&self) -> &'static str {
        match (self.is_firing, &self.acknowledged) {
            (true, None) => "firing",
            (true, Some(_)) => "acknowledged",
            (false, _) => "resolved",
        }
    }

    /// The sentence, with who knows of it.
    pub fn said(&self) -> String {
        let known = self.acknowledged.as_ref().map(|known| format!("{}; ", known.sentence()));
        format!("{}{}", known.unwrap_or_default(), self.summary)
    }
}

fn urlencoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// A failure as JSON.
pub(super) fn example(example: &Example) -> Value {
    json!({"trace_id": example.trace_id, "value": example.value, "rationale": example.rationale})
}

/// One sentence: what fails how often, since when, what was allowed, and what the anchors say of who moved.
pub(super) fn sentence(config: &AlertConfig, change: &Change, anchors: Option<&str>) -> String {
    let whom = if change.slice.is_empty() { String::new() } else { format!(" of {}", change.slice) };
    let reading = &change.reading;
    let share = match reading.estimate {
        Some(e) => format!(
            "{} of the {} scores fail{} ({} scores)",
            percent(e.estimate),
            config.metric,
            match (e.lower, e.upper) {
                (Some(low), Some(high)) => format!(" [{}, {}]", percent(low), percent(high)),
                _ => String::new(),
            },
            e.n
        ),
        None => format!("{} has no scores in the window", config.metric),
    };
    let allowed = reading.bound.map_or_else(|| "?".to_owned(), percent);
    match change.state {
        "firing" => format!(
            "{share}{whom} since {}; {} is {allowed}; {}{}",
            rfc3339(reading.since),
            if config.method == Method::Change { "the baseline's upper bound" } else { "what is allowed" },
            promise(config),
            anchors.map(|said| format!("; {said}")).unwrap_or_default()
        ),
        "resolved" => format!("{}{whom} is back within {allowed}", config.metric),
        "pending" => format!("{share}{whom}; it fires if that lasts"),
        _ => format!("{}{whom} no longer exceeds {allowed}", config.metric),
    }
}

/// What α means for the method.
fn promise(config: &AlertConfig) -> String {
    let alpha = config.alpha;
    match config.method {
        Method::Change => {
            let apart = std::time::Duration::try_from_secs_f64((config.per.as_secs_f64() / alpha).round());
            let apart = apart.map_or_else(|_| format!("{} / {alpha}", words(config.per)), words);
            format!("without a change this fires once in {apart} or less often")
        }
        Method::Objective => {
            format!("with the objective kept this ever fires with probability {alpha} at most")
        }
        Method::Threshold | Method::BurnRate => format!("at confidence {}", 1.0 - alpha),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// SQL that shows the scores behind a change.
fn query(config: &AlertConfig, change: &Change) -> String {
    let quoted = |text: &str| text.replace('\'', "''");
    let mut conditions = vec![
        format!("metric = '{}'", quoted(&config.metric)),
        "source = 'rule' AND status = 'ok'".to_owned(),
        format!("evaluated_at >= '{}'", rfc3339(change.reading.since)),
        format!("evaluated_at <= '{}'", rfc3339(change.since.saturating_add(1_000_000_000))),
    ];
    if !config.filter.is_empty() {
        conditions.push(format!("({})", config.filter));
    }
    // The name of a slice is cut; the columns say it whole, so only short values become conditions.
    for part in change.slice.split(", ") {
        if let Some((column, value)) =
            part.split_once('=').filter(|_| config.slices.len() == change.slice.split(", ").count())
        {
            conditions.push(match value.is_empty() {
                true => format!("coalesce({column}, '') = ''"),
                false => format!("{column} = '{}'", quoted(value)),
            });
        }
    }
    format!(
        "SELECT trace_id, evaluated_at, value, rationale FROM scores WHERE {} AND NOT passed ORDER BY evaluated_at DESC LIMIT 50",
        conditions.join(" AND ")
    )
}
