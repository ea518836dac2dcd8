//! What is said about a change: one sentence, and everything that somebody who is woken needs.

use super::acknowledge::Acknowledgement;
use super::alert::{Change, Ended};
use super::config::{AlertConfig, Config, Method};
use super::moment::rfc3339;
use super::slice::Example;
use super::slice_name::{self, values};
use crate::domain::time::UnixNanos;
use crate::units::words;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// So many of the slices that fire together are named.
const RANKED: usize = 5;

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

    /// The end of what this tells of, at `now`, told as message number `id`: `summary` says why.
    pub(super) fn ended(self, id: u64, summary: String, now: UnixNanos) -> Self {
        let (at, is_firing) = (now.0, false);
        Self { id, summary, at, is_firing, acknowledged: None, failed: 0, not_before: 0, ..self }
    }

    /// With what is known at the time of `change`.
    pub(super) fn with(mut self, change: &Change) -> Self {
        let (estimate, reading) = (change.reading.estimate, &change.reading);
        if let (Some(found), Some(numbers)) = (estimate, self.numbers.as_object_mut()) {
            let now = json!({"failing": found.estimate, "lower": found.lower, "upper": found.upper, "n": found.n,
                "n_eff": found.n_eff, "statistic": reading.statistic});
            numbers.extend(now.as_object().cloned().unwrap_or_default());
        }
        self.examples = change.examples.iter().map(example).collect();
        self
    }

    /// Whether it is about this slice of this alert.
    pub(super) fn is_about(&self, alert: &str, slice: &str) -> bool {
        self.alert == alert && self.slice == slice
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

    /// The page of the console with this alert and slice; what is selected stands in the fragment, as on all its pages.
    pub fn link(&self, config: &Config) -> String {
        let mut link =
            format!("{}/alerts#alert={}", config.external_url.trim_end_matches('/'), encoded(&self.alert));
        if !self.slice.is_empty() {
            link.push_str(&format!("&slice={}", encoded(&self.slice)));
        }
        link
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

/// A value as the console writes it into a fragment: `%20` for a space, and as it is what can stand there and be read.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => out.push(char::from(byte)),
            b'-' | b'_' | b'.' | b'~' | b'=' | b',' | b':' | b'/' | b'@' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
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
            "{share}{whom} since {}; {} is {allowed}; {}{}{}",
            rfc3339(reading.since),
            if config.method == Method::Change { "the baseline's upper bound" } else { "what is allowed" },
            promise(config),
            ranks(&change.among),
            anchors.map(|said| format!("; {said}")).unwrap_or_default()
        ),
        "resolved" => match change.ended {
            Ended::Back => format!("{}{whom} is back within {allowed}", config.metric),
            why => format!("{}{whom}: {}", config.metric, why.words(config.no_data_after)),
        },
        "pending" => format!("{share}{whom}; it fires if that lasts"),
        _ => match change.ended {
            Ended::Back => format!("{}{whom} no longer exceeds {allowed}", config.metric),
            why => format!("{}{whom}: {}", config.metric, why.words(config.no_data_after)),
        },
    }
}

/// The slices that fire, the worst first; nothing of one that fires alone.
fn ranks(among: &[(String, f64)]) -> String {
    if among.len() < 2 {
        return String::new();
    }
    let named: Vec<String> =
        among.iter().take(RANKED).map(|(slice, share)| format!("{slice} {}", percent(*share))).collect();
    let more = match among.len() - named.len() {
        0 => String::new(),
        more => format!(" | and {more} more"),
    };
    format!("; it fires in {} slices, the worst first: {}{more}", among.len(), named.join(" | "))
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
    for (column, value) in config.slices.iter().zip(values(&config.slices, &change.slice).unwrap_or_default())
    {
        conditions.push(match value {
            slice_name::EVERY => continue,
            slice_name::STAR => format!("{column} = '{}'", slice_name::EVERY),
            "" => format!("coalesce({column}, '') = ''"),
            // The name of a slice is cut, the column is not.
            cut if cut.chars().count() >= slice_name::MOST => {
                format!("starts_with({column}, '{}')", quoted(cut))
            }
            whole => format!("{column} = '{}'", quoted(whole)),
        });
    }
    format!(
        "SELECT trace_id, evaluated_at, value, rationale FROM scores WHERE {} AND NOT passed ORDER BY evaluated_at DESC LIMIT 50",
        conditions.join(" AND ")
    )
}

#[cfg(test)]
mod tests {
    use super::super::slice::Reading;
    use super::*;

    fn config(more: &str) -> AlertConfig {
        toml::from_str(&format!("name = \"a\"\nmetric = \"hallucination\"\n{more}")).unwrap()
    }

    fn change(slice: &str, ended: Ended) -> Change {
        let reading = Reading { statistic: 0.0, estimate: None, bound: Some(0.1), n: 7, since: 0, last: 0 };
        let (slice, examples) = (slice.to_owned(), Vec::new());
        Change { slice, state: "resolved", reading, examples, since: 0, fired: 0, ended, among: Vec::new() }
    }

    /// console/test/address.test.mjs reads the same address with the console's own parser.
    #[test]
    fn the_link_opens_the_alert_in_the_console() {
        let slice = "service_name=shop & co, request_model=gpt 4|<é>";
        let change = change(slice, Ended::Back);
        let alert = AlertConfig { name: "drift #1".into(), ..config("method = \"change\"") };
        let told = Notice::new(1, "r", &alert, &change, None);
        let at = Config { external_url: "https://groundline.example/".into(), ..Config::default() };
        assert_eq!(
            told.link(&at),
            "https://groundline.example/alerts#alert=drift%20%231&slice=service_name=shop%20%26%20co,%20request_model=gpt%204%7C%3C%C3%A9%3E"
        );
        let whole = Notice { slice: String::new(), ..told };
        assert_eq!(whole.link(&at), "https://groundline.example/alerts#alert=drift%20%231");
    }

    #[test]
    fn what_ended_says_why() {
        let config = config("method = \"change\"\nno_data_after = \"2h\"");
        let said = |ended| sentence(&config, &change("tenant=a", ended), None);
        assert_eq!(said(Ended::Back), "hallucination of tenant=a is back within 10.0 %");
        let anew = said(Ended::Rebased);
        assert!(
            anew.starts_with("hallucination of tenant=a: ended by hand") && !anew.contains("within"),
            "{anew}"
        );
        let none = said(Ended::NoData);
        assert!(none.contains("of tenant=a: no data: no score for 2h or longer"), "{none}");
    }

    #[test]
    fn slices_that_fire_together_are_named_the_worst_first() {
        let config = config("method = \"objective\"\nobjective = 0.9");
        let among = |count: u32| {
            let one = |n: u32| (format!("tenant=t{n}"), 0.5 - 0.05 * f64::from(n));
            let change = Change {
                state: "firing",
                among: (0..count).map(one).collect(),
                ..change("tenant=t1", Ended::Back)
            };
            sentence(&config, &change, Some("the application moved"))
        };
        assert!(!among(1).contains("slices"), "{}", among(1));
        let two = "; it fires in 2 slices, the worst first: tenant=t0 50.0 % | tenant=t1 45.0 %; the application moved";
        assert!(among(2).ends_with(two), "{}", among(2));
        assert!(among(7).contains("tenant=t4 30.0 % | and 2 more"), "{}", among(7));
    }

    #[test]
    fn the_query_names_the_columns_of_the_slice() {
        let config = config("method = \"change\"\nslices = [\"service_name\", \"request_model\"]");
        let long = "x".repeat(slice_name::MOST);
        let name = slice_name::name([("service_name", "it's"), ("request_model", long.as_str())].into_iter());
        let sql = query(&config, &change(&name, Ended::Back));
        assert!(sql.contains("service_name = 'it''s'"), "{sql}");
        assert!(sql.contains(&format!("starts_with(request_model, '{long}')")), "{sql}");
        let none = query(&config, &change("service_name=, request_model=m", Ended::Back));
        assert!(none.contains("coalesce(service_name, '') = '' AND request_model = 'm'"), "{none}");
        let margin = query(&config, &change("service_name=*, request_model=\\*", Ended::Back));
        assert!(margin.contains("' AND request_model = '*' AND NOT passed"), "{margin}");
    }
}
