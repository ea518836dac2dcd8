//! The state of all alerts, as bytes, and what changes it.

use super::acknowledge::{Acknowledgement, Wish};
use super::alert::{Alert, Change};
use super::anchors::Anchors;
use super::message::Notice;
use super::scores::Definition;
use super::slice::{Example, Phase, Reading};
use crate::domain::time::UnixNanos;
use crate::schema::batch::Alert as Row;
use arrow::array::RecordBatch;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// The version of the bytes that are written.
const VERSION: u8 = 1;
/// Messages that wait; the oldest go first beyond it.
const MOST_NOTICES: usize = 1_000;

/// Everything that must survive a crash.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct State {
    /// The frame of the journal up to which the scores are in here.
    pub applied: u64,
    /// By the alert's name.
    alerts: BTreeMap<String, Alert>,
    /// Messages that were not taken yet.
    pub notices: VecDeque<Notice>,
    /// The last message about what fires, by receiver, alert and slice: Alertmanager is told again and again.
    #[serde(default)]
    pub firing: Vec<Notice>,
    /// Who knows of what fires.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    acknowledged: Vec<Acknowledgement>,
    /// Number of the next message.
    next: u64,
}

/// What stands in the journal beside rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum Event {
    /// The state, whole.
    State(Box<State>),
    /// A person wants the baseline learned anew.
    Rebase {
        /// The alert.
        alert: String,
        /// One slice; all if none.
        slice: Option<String>,
    },
}

/// Why bytes are not an event.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// A newer release wrote them.
    #[error("the state of alerts has version {0}, this release reads up to {VERSION}: use a newer release")]
    Version(u8),
    /// They are damaged, or could not be written.
    #[error("state of alerts: {0}")]
    Json(#[from] serde_json::Error),
}

impl Event {
    /// As the bytes of a frame's part.
    pub(super) fn encode(&self) -> Result<Bytes, StateError> {
        let mut bytes = vec![VERSION];
        serde_json::to_writer(&mut bytes, self)?;
        Ok(Bytes::from(bytes))
    }

    /// Reads what [`Event::encode`] wrote.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, StateError> {
        match bytes.split_first() {
            Some((&VERSION, json)) => Ok(serde_json::from_slice(json)?),
            Some((version, _)) => Err(StateError::Version(*version)),
            None => Err(StateError::Version(0)),
        }
    }
}

/// One slice of one alert, as `GET /v1/alerts` shows it.
#[derive(Debug, Clone, Serialize)]
pub struct Standing {
    /// The alert.
    pub alert: String,
    /// The part of the traffic.
    pub slice: String,
    /// Whether it fires.
    pub state: Phase,
    /// Since when, nanoseconds since 1970.
    pub since: i64,
    /// What is known.
    #[serde(flatten)]
    pub reading: Reading,
    /// Failures to look at.
    pub examples: Vec<Example>,
    /// Who knows of it, while that lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<Acknowledgement>,
}

impl State {
    /// Keeps the state of the alerts that are still defined as they were; others begin anew or are gone.
    pub(super) fn fit(&mut self, definitions: &[Definition]) {
        let mut kept = BTreeMap::new();
        for definition in definitions {
            let config = &definition.config;
            let known = self.alerts.remove(&config.name).filter(|alert| alert.fits(config));
            kept.insert(config.name.clone(), known.unwrap_or_else(|| Alert::new(config)));
        }
        // Who is told no longer, and what begins anew, ends at Alertmanager by itself.
        let is_kept = |notice: &Notice| {
            let told = |d: &Definition| {
                d.config.name == notice.alert && d.config.receivers.contains(&notice.receiver)
            };
            definitions.iter().any(told)
                && kept.get(&notice.alert).is_some_and(|alert| alert.is_firing(&notice.slice))
        };
        self.firing.retain(is_kept);
        self.acknowledged
            .retain(|known| kept.get(&known.alert).is_some_and(|alert| alert.is_firing(&known.slice)));
        self.alerts = kept;
    }

    /// Counts the scores of a batch, looks at every alert, and says what changed, as rows, with what `anchors` say. Messages
    /// are put in line.
    pub(super) fn apply(
        &mut self,
        definitions: &[Definition],
        batch: &RecordBatch,
        anchors: &Anchors,
    ) -> Vec<Row> {
        let mut rows = Vec::new();
        for definition in definitions {
            let scores = definition.scores(batch).unwrap_or_else(|error| {
                metrics::counter!("groundline_alert_errors_total").increment(1);
                tracing::warn!(alert = definition.config.name, %error, "an alert's filter failed on some scores");
                Vec::new()
            });
            let Some(alert) = self.alerts.get_mut(&definition.config.name) else { continue };
            if scores.is_empty() {
                continue;
            }
            for (slice, seen) in scores {
                if !alert.push(&slice, seen, &definition.config) {
                    metrics::counter!("groundline_alert_scores_left_out_total").increment(1);
                }
            }
            let changes = alert.look(&definition.config);
            for change in &changes {
                let said = anchors.said(&definition.config.metric, &change.reading);
                rows.push(row(definition, change, said.as_deref()));
                self.tell(definition, change, said.as_deref());
            }
        }
        rows
    }

    /// Puts a message in line for each receiver of the alert.
    fn tell(&mut self, definition: &Definition, change: &Change, anchors: Option<&str>) {
        let config = &definition.config;
        if !matches!(change.state, "firing" | "resolved") {
            return;
        }
        let is_same = |old: &Notice| old.alert == config.name && old.slice == change.slice;
        self.firing.retain(|old| !is_same(old));
        self.acknowledged.retain(|known| !known.is_about(&config.name, &change.slice));
        let silent = super::silence::is_silent(&config.silences, UnixNanos(change.since));
        for receiver in config.receivers.iter().filter(|_| !silent) {
            let notice = Notice::new(self.next, receiver, config, change, anchors);
            self.next += 1;
            if notice.is_firing {
                self.firing.push(notice.clone());
            }
            self.notices.push_back(notice);
        }
        self.shorten();
    }

    /// Drops the oldest messages beyond the most that may wait.
    fn shorten(&mut self) {
        while self.notices.len() > MOST_NOTICES {
            self.notices.pop_front();
            metrics::counter!("groundline_alert_messages_total", "outcome" => "dropped").increment(1);
        }
    }

    /// Takes note of who knows of what fires; what is known then, and its rows. Each receiver is told of it once.
    pub(super) fn acknowledge(
        &mut self,
        definitions: &[Definition],
        wish: &Wish,
        now: UnixNanos,
    ) -> (Vec<Acknowledgement>, Vec<Row>) {
        let found = definitions.iter().find(|definition| definition.config.name == wish.alert);
        let Some((definition, alert)) = found.zip(self.alerts.get(&wish.alert)) else {
            return (Vec::new(), Vec::new());
        };
        let is_meant = |slice: &str, phase: Phase| {
            phase == Phase::Firing && wish.slice.as_ref().is_none_or(|wanted| wanted == slice)
        };
        let (mut all, mut rows) = (Vec::new(), Vec::new());
        for (slice, phase, fired, reading, examples) in alert.readings(&definition.config) {
            if !is_meant(slice, phase) {
                continue;
            }
            let known = wish.of(slice, now);
            let (slice, examples) = (slice.to_owned(), examples.to_vec());
            // It goes on firing, and its newest row says so.
            let change = Change { slice, state: "firing", reading, examples, since: now.0, fired };
            let mut row = row(definition, &change, None);
            row.message = format!("{}; {}", known.sentence(), row.message);
            rows.push(row);
            all.push(known);
        }
        for known in &all {
            self.acknowledged.retain(|old| !old.is_about(&known.alert, &known.slice));
            self.acknowledged.push(known.clone());
            self.tell_again(&known.alert, &known.slice, Some(known), now);
        }
        (all, rows)
    }

    /// Ends what was known for a time that is over: everybody is told again of what still fires. True if there was any.
    pub(super) fn expire(&mut self, now: UnixNanos) -> bool {
        let over: Vec<Acknowledgement> =
            self.acknowledged.extract_if(.., |known| known.until <= now.0).collect();
        for known in &over {
            self.tell_again(&known.alert, &known.slice, None, now);
        }
        !over.is_empty()
    }

    /// Puts the last messages about a slice that fires in line once more.
    fn tell_again(&mut self, alert: &str, slice: &str, known: Option<&Acknowledgement>, now: UnixNanos) {
        for notice in self.firing.iter_mut().filter(|old| old.alert == alert && old.slice == slice) {
            notice.id = self.next;
            self.next += 1;
            (notice.at, notice.acknowledged) = (now.0, known.cloned());
            (notice.failed, notice.not_before) = (0, 0);
            self.notices.push_back(notice.clone());
        }
        self.shorten();
    }

    /// Learns baselines anew; how many.
    pub(super) fn rebase(&mut self, definitions: &[Definition], name: &str, slice: Option<&str>) -> usize {
        let found = definitions.iter().find(|definition| definition.config.name == name);
        let alert = self.alerts.get_mut(name);
        found.zip(alert).map_or(0, |(definition, alert)| alert.rebase(slice, &definition.config))
    }

    /// Every slice of every alert.
    pub(super) fn standings(&self, definitions: &[Definition]) -> Vec<Standing> {
        let one = |definition: &Definition| {
            let config = &definition.config;
            let alert = self.alerts.get(&config.name)?;
            let all = alert.readings(config).map(|(slice, state, since, reading, examples)| Standing {
                alert: config.name.clone(),
                slice: slice.to_owned(),
                state,
                since,
                reading,
                examples: examples.to_vec(),
                acknowledged: self
                    .acknowledged
                    .iter()
                    .find(|known| known.is_about(&config.name, slice))
                    .cloned(),
            });
            Some(all.collect::<Vec<_>>())
        };
        definitions.iter().filter_map(one).flatten().collect()
    }
}

/// A change as a row of `alerts`.
fn row(definition: &Definition, change: &Change, anchors: Option<&str>) -> Row {
    let (config, reading) = (&definition.config, &change.reading);
    let estimate = reading.estimate;
    let examples: Vec<serde_json::Value> = change.examples.iter().map(super::message::example).collect();
    Row {
        alert: config.name.clone(),
        slice: change.slice.clone(),
        state: change.state,
        statistic: Some(reading.statistic),
        estimate: estimate.map(|e| e.estimate),
        lower: estimate.and_then(|e| e.lower),
        upper: estimate.and_then(|e| e.upper),
        n: estimate.map_or(0, |e| i64::try_from(e.n).unwrap_or(i64::MAX)),
        threshold: reading.bound,
        alpha: Some(config.alpha),
        since: UnixNanos(reading.since),
        evaluated_at: UnixNanos(change.since),
        metric: config.metric.clone(),
        method: config.method.as_str(),
        severity: config.severity.clone(),
        message: super::message::sentence(config, change, anchors),
        examples: serde_json::Value::Array(examples).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drift::config::AlertConfig;
    use crate::drift::slice::Seen;
    use crate::schema::{hold_shape, shape_of};

    /// A state with a slice of each method, learning, betting and in windows.
    fn made() -> Event {
        let mut state = State { applied: 7, ..State::default() };
        for (name, method, scores) in [
            ("learns", "method = \"change\"", 20),
            ("bets", "method = \"change\"\nbaseline_n = 50", 120),
            ("keeps", "method = \"objective\"\nobjective = 0.9", 50),
            ("window", "method = \"threshold\"\nobjective = 0.9", 50),
            ("burns", "method = \"burn_rate\"\nobjective = 0.99", 50),
        ] {
            let config: AlertConfig =
                toml::from_str(&format!("name = \"{name}\"\nmetric = \"m\"\n{method}")).unwrap();
            let mut alert = Alert::new(&config);
            for n in 0..scores {
                let failed = n % 5 == 0;
                let example =
                    Example { trace_id: "t".into(), value: None, rationale: "r".into(), distance: 0.5 };
                let seen =
                    Seen { at: n * 60_000_000_000, failed, pi: 0.5, example: failed.then_some(example) };
                assert!(alert.push("tenant=a", seen, &config));
            }
            state.alerts.insert(name.to_owned(), alert);
        }
        Event::State(Box::new(state))
    }

    /// The file was written by the release that introduced version 1 (`WRITE_ALERT_STATE=1`); it is never changed.
    #[test]
    fn a_state_of_version_1_is_read() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/alerts_state_v1.json");
        if std::env::var_os("WRITE_ALERT_STATE").is_some() {
            std::fs::write(path, &made().encode().unwrap()[1..]).unwrap();
        }
        let json = std::fs::read(path).unwrap();
        let read = Event::decode(&[&[1], json.as_slice()].concat()).unwrap();
        let Event::State(state) = &read else { panic!("it is a state") };
        let names: Vec<&str> = state.alerts.keys().map(String::as_str).collect();
        assert_eq!((state.applied, names), (7, vec!["bets", "burns", "keeps", "learns", "window"]));
        assert_eq!(Event::decode(&read.encode().unwrap()).unwrap(), read);
    }

    #[test]
    fn the_shape_of_the_state_is_that_of_the_format() {
        hold_shape("alerts", &serde_json::json!({"event": shape_of::<Event>(), "version": VERSION}));
    }

    #[test]
    fn a_later_version_is_refused_and_damage_is_told() {
        assert!(matches!(Event::decode(b"\x02{}"), Err(StateError::Version(2))));
        assert!(matches!(Event::decode(b"\x01{"), Err(StateError::Json(_))));
        assert!(Event::decode(b"").is_err());
    }
}
