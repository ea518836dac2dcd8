//! Settings of alerts and of those who are told: `[[alerts]]`, `[[receivers]]` and `[drift]`.

use super::burn::{BURN_RATES, FASTEST, LONGEST};
use crate::units::{OptionalTime, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;

/// A share that may fail beyond these cannot be bet against.
pub(super) const BOUNDS: (f64, f64) = (1e-4, 0.98);

/// Of a smaller α, parted among the most slices, a confidence of 1 − α has no digits left. Capital grows far enough for this one.
const LEAST_ALPHA: f64 = 1e-9;

/// Settings of the loop that follows the scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Address of this server as people reach it, for the links in messages.
    pub external_url: String,
    /// The longest wait for a receiver's answer.
    #[serde(with = "Time")]
    pub send_timeout: Duration,
    /// A message that was not taken for so long is given up.
    #[serde(with = "Time")]
    pub give_up_after: Duration,
    /// Alertmanager is told again of what fires, once in so much time.
    #[serde(with = "Time")]
    pub repeat_interval: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            external_url: "http://127.0.0.1:4320".to_owned(),
            send_timeout: Duration::from_secs(10),
            give_up_after: Duration::from_hours(24),
            repeat_interval: Duration::from_mins(1),
        }
    }
}

/// How an alert decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The lower bound of the share that fails in `window`, at confidence 1 − `alpha`, is above the objective's.
    Threshold,
    /// The error budget burns too fast in a long and a short window at once (SRE workbook, chapter 5).
    BurnRate,
    /// Bets against the objective: the probability that it ever fires on a stream that keeps the objective is `alpha`.
    Objective,
    /// Bets against a learned baseline: false alarms are `per` / `alpha` apart on average, at least.
    Change,
}

impl Method {
    /// Its name in configurations and rows.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Threshold => "threshold",
            Method::BurnRate => "burn_rate",
            Method::Objective => "objective",
            Method::Change => "change",
        }
    }
}

/// One alert.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AlertConfig {
    /// Its name, unique.
    pub name: String,
    /// The metric of `scores` whose failing share is watched, such as `hallucination`.
    pub metric: String,
    /// SQL over the columns of `scores`, such as `service_name = 'shop'`; everything if empty.
    #[serde(default)]
    pub filter: String,
    /// Columns of `scores` by which the traffic is cut; each part is watched alone, and all share `alpha`.
    #[serde(default)]
    pub slices: Vec<String>,
    /// Whether each value of each column is watched as well, whatever the other columns are; these slices share `alpha` too.
    #[serde(default)]
    pub margins: bool,
    /// How it decides.
    pub method: Method,
    /// The share that should pass, between 0 and 1; not needed by `change`.
    #[serde(default)]
    pub objective: Option<f64>,
    /// The false-alarm rate; what it promises depends on the method.
    #[serde(default = "default_alpha")]
    pub alpha: f64,
    /// The unit of time of `alpha`.
    #[serde(default = "default_per", with = "Time")]
    pub per: Duration,
    /// Scores from which `change` learns the baseline.
    #[serde(default = "default_baseline")]
    pub baseline_n: u64,
    /// Fewer scores, or a smaller effective sample, fire nothing.
    #[serde(default = "default_min_n")]
    pub min_n: u64,
    /// The window of `threshold`.
    #[serde(default = "default_window", with = "Time")]
    pub window: Duration,
    /// It is pending for so long before it fires.
    #[serde(default, rename = "for", with = "OptionalTime", skip_serializing_if = "Option::is_none")]
    pub pending_for: Option<Duration>,
    /// It fires for so long at least.
    #[serde(default, with = "OptionalTime", skip_serializing_if = "Option::is_none")]
    pub keep_firing: Option<Duration>,
    /// What fires or is pending and has had no score for so long ends, with the reason "no data".
    #[serde(default = "default_no_data", with = "Time")]
    pub no_data_after: Duration,
    /// A slice without a score for so long leaves, unless it fires or is pending: it shares `alpha` no longer, and begins anew
    /// if it comes back.
    #[serde(default = "default_forget", with = "Time")]
    pub forget_after: Duration,
    /// Scores that stand for more items count as so many: one of them alone must not decide.
    #[serde(default = "default_max_weight")]
    pub max_weight: f64,
    /// Most parts; more are left out and counted.
    #[serde(default = "default_max_slices")]
    pub max_slices: usize,
    /// Word for the receivers, such as page or ticket.
    #[serde(default = "default_severity")]
    pub severity: String,
    /// More labels for the receivers.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Who is told, by name of `[[receivers]]`.
    #[serde(default)]
    pub receivers: Vec<String>,
    /// Times in which nobody is told, such as `"2026-12-24T00:00:00Z/2026-12-27T00:00:00Z"`; rows are written all the same.
    #[serde(default)]
    pub silences: Vec<String>,
}

fn default_alpha() -> f64 {
    0.001
}
fn default_per() -> Duration {
    Duration::from_hours(1)
}
fn default_baseline() -> u64 {
    1_000
}
fn default_min_n() -> u64 {
    100
}
fn default_window() -> Duration {
    Duration::from_hours(1)
}
fn default_no_data() -> Duration {
    Duration::from_hours(6)
}
fn default_forget() -> Duration {
    Duration::from_hours(7 * 24)
}
fn default_max_weight() -> f64 {
    1_000.0
}
fn default_max_slices() -> usize {
    200
}
fn default_severity() -> String {
    "page".to_owned()
}

impl AlertConfig {
    /// An alert with the defaults, of which nobody is told.
    pub fn new(name: &str, metric: &str, method: Method) -> Self {
        Self {
            name: name.to_owned(),
            metric: metric.to_owned(),
            filter: String::new(),
            slices: Vec::new(),
            margins: false,
            method,
            objective: None,
            alpha: default_alpha(),
            per: default_per(),
            baseline_n: default_baseline(),
            min_n: default_min_n(),
            window: default_window(),
            pending_for: None,
            keep_firing: None,
            no_data_after: default_no_data(),
            forget_after: default_forget(),
            max_weight: default_max_weight(),
            max_slices: default_max_slices(),
            severity: default_severity(),
            labels: BTreeMap::new(),
            receivers: Vec::new(),
            silences: Vec::new(),
        }
    }

    /// The share that may fail; none without an objective.
    pub fn bound(&self) -> Option<f64> {
        self.objective.map(|objective| 1.0 - objective)
    }

    /// A slice without a score for so long leaves: `forget_after`, and not before its last score has left the windows.
    pub(super) fn forgets(&self) -> Duration {
        self.forget_after.max(match self.method {
            Method::Threshold => self.window,
            Method::BurnRate => Duration::from_nanos(LONGEST.unsigned_abs()),
            Method::Objective | Method::Change => Duration::ZERO,
        })
    }
}

/// Frozen items, and when they are scored again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnchorConfig {
    /// The items, JSON lines as `groundline score` reads them, each with an id.
    pub items: PathBuf,
    /// Their scores of then; the file is written where it is not there yet.
    pub scores: PathBuf,
    /// Evaluators by id.
    pub evaluators: Vec<String>,
    /// How often they are scored; at the start too, because another release may have other evaluators.
    #[serde(default = "default_every", with = "Time")]
    pub every: Duration,
}

fn default_every() -> Duration {
    Duration::from_hours(24)
}

impl AnchorConfig {
    /// Every fault, each with the key and what to do; `at` is its number among `[[anchors]]`.
    pub fn faults(&self, at: usize) -> Vec<String> {
        let mut faults = Vec::new();
        if self.items.as_os_str().is_empty()
            || self.scores.as_os_str().is_empty()
            || self.items == self.scores
        {
            faults.push(format!("anchors[{at}]: items and scores are two files: name both"));
        }
        if self.evaluators.is_empty() {
            faults.push(format!("anchors[{at}].evaluators is empty: name those whose metrics have alerts"));
        }
        if self.every < Duration::from_secs(1) {
            faults.push(format!("anchors[{at}].every is below 1s: it would be scored all the time"));
        }
        faults
    }
}

/// What a receiver speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReceiverKind {
    /// Alertmanager, API v2. `url` is its address.
    Alertmanager,
    /// JSON, signed with HMAC-SHA256 where there is a secret.
    Webhook,
    /// JSON as Slack's incoming webhooks take it.
    Slack,
    /// PagerDuty Events v2; the secret is the routing key.
    Pagerduty,
}

/// Who is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReceiverConfig {
    /// Its name, unique.
    pub name: String,
    /// What it speaks.
    pub kind: ReceiverKind,
    /// Its address. For `pagerduty` it may be left out.
    #[serde(default)]
    pub url: String,
    /// A file that holds the address, for one that is a secret.
    #[serde(default)]
    pub url_file: PathBuf,
    /// A file that holds the secret: the key of the signature, or the routing key.
    #[serde(default)]
    pub secret_file: PathBuf,
}

/// Every fault of alerts and receivers, each with the key and what to do. Filters are checked by [`super::compile`].
pub fn faults(config: &Config, alerts: &[AlertConfig], receivers: &[ReceiverConfig]) -> Vec<String> {
    let mut faults = Vec::new();
    if config.send_timeout < Duration::from_millis(100) {
        faults.push("drift.send_timeout is below 100ms: no receiver answers so soon".to_owned());
    }
    if config.repeat_interval < Duration::from_secs(1) {
        faults.push("drift.repeat_interval is below 1s: Alertmanager would be told all the time".to_owned());
    }
    let known: HashSet<&str> = receivers.iter().map(|r| r.name.as_str()).collect();
    let mut names = HashSet::new();
    for (at, alert) in alerts.iter().enumerate() {
        let key = format!("alerts[{at}] {:?}", alert.name);
        let mut wrong = |what: String| faults.push(format!("{key}: {what}"));
        if alert.name.is_empty() || !names.insert(&alert.name) {
            wrong("the name is empty or taken: alert names are unique".to_owned());
        }
        alert.faults(&mut wrong);
        for receiver in alert.receivers.iter().filter(|name| !known.contains(name.as_str())) {
            wrong(format!("receiver {receiver:?} is not among [[receivers]]"));
        }
    }
    receiver_faults(receivers, &mut faults);
    faults
}

impl AlertConfig {
    fn faults(&self, wrong: &mut dyn FnMut(String)) {
        if self.metric.is_empty() {
            wrong("metric is empty: name a metric of scores, such as hallucination".to_owned());
        }
        if !(LEAST_ALPHA..1.0).contains(&self.alpha) {
            wrong(format!(
                "alpha is {}: it is a probability from {LEAST_ALPHA} to below 1, such as 0.001",
                self.alpha
            ));
        }
        match self.objective {
            Some(share) if !(share > 0.0 && share < 1.0) => {
                wrong(format!("objective is {share}: it is the share that should pass, between 0 and 1"));
            }
            Some(share) if self.method == Method::Objective && 1.0 - share > BOUNDS.1 => {
                wrong(format!(
                    "objective is {share}: nobody can bet that more than {} fails, so the method objective needs {:.2} or more",
                    BOUNDS.1,
                    1.0 - BOUNDS.1
                ));
            }
            None if self.method != Method::Change => {
                wrong("objective is missing: this method needs the share that should pass".to_owned());
            }
            _ => {}
        }
        let fastest = self.bound().map_or(0.0, |bound| bound * FASTEST);
        if self.method == Method::BurnRate && self.bound().is_some_and(|b| b * BURN_RATES[2].factor >= 1.0) {
            wrong(format!("burn_rate can never fire: {fastest} times everything would have to fail"));
        }
        if self.per < Duration::from_secs(1) {
            wrong("per is below 1s: alpha is a rate in this unit of time, such as 1h".to_owned());
        }
        if self.window < Duration::from_mins(1) {
            wrong("window is below 1m".to_owned());
        }
        if self.no_data_after < Duration::from_mins(1) {
            wrong("no_data_after is below 1m: a slice with few scores would end all the time".to_owned());
        }
        if self.forget_after < Duration::from_hours(1) {
            wrong(
                "forget_after is below 1h: slices with few scores would begin anew all the time".to_owned(),
            );
        }
        if self.min_n == 0 || (self.method == Method::Change && self.baseline_n < 50) {
            wrong("min_n must be at least 1 and baseline_n at least 50: less says nothing".to_owned());
        }
        if !(self.max_weight >= 1.0 && self.max_weight.is_finite()) {
            wrong(format!("max_weight is {}: a score stands for at least one item", self.max_weight));
        }
        if self.margins && self.slices.len() < 2 {
            wrong("margins needs two slices or more: of one column they are its slices".to_owned());
        }
        if !(1..=10_000).contains(&self.max_slices) {
            wrong("max_slices is not between 1 and 10000".to_owned());
        }
        for silence in self.silences.iter().filter(|silence| super::silence::parse(silence).is_none()) {
            wrong(format!(
                "silence {silence:?} is not two times, such as 2026-12-24T00:00:00Z/2026-12-27T00:00:00Z"
            ));
        }
    }
}

fn receiver_faults(receivers: &[ReceiverConfig], faults: &mut Vec<String>) {
    let mut names = HashSet::new();
    for (at, receiver) in receivers.iter().enumerate() {
        let key = format!("receivers[{at}] {:?}", receiver.name);
        if receiver.name.is_empty() || !names.insert(&receiver.name) {
            faults.push(format!("{key}: the name is empty or taken: receiver names are unique"));
        }
        let (no_url, no_file) = (receiver.url.is_empty(), receiver.url_file.as_os_str().is_empty());
        let is_pager = receiver.kind == ReceiverKind::Pagerduty;
        if (no_url && no_file && !is_pager) || (!no_url && !no_file) {
            faults.push(format!("{key}: set url or url_file, one of them"));
        }
        let is_web = |url: &url::Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        if !no_url && !url::Url::parse(&receiver.url).is_ok_and(|url| is_web(&url)) {
            faults.push(format!("{key}: url is not an address of the form http://host:port/path"));
        }
        if is_pager && receiver.secret_file.as_os_str().is_empty() {
            faults.push(format!("{key}: secret_file is missing: PagerDuty needs the routing key"));
        }
    }
}
