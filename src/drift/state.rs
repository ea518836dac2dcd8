//! The state of all alerts, as bytes, and what changes it.

use super::acknowledge::{Acknowledgement, Wish};
use super::alert::{About, Alert, Change, Ended};
use super::anchors::Anchors;
use super::delivery::Deliveries;
use super::message::{Notice, sentence};
use super::row::row;
use super::scores::Definition;
use super::silence::Silence;
use super::slice::{Example, Phase, Reading};
use crate::domain::time::UnixNanos;
use crate::schema::batch::Alert as Row;
use arrow::array::RecordBatch;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// The version of the bytes that are written. Version 1 had the buckets of windows as JSON.
const VERSION: u8 = 2;

/// Everything that must survive a crash.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct State {
    /// The frame of the journal up to which the scores are in here.
    pub applied: u64,
    /// By the alert's name.
    pub(super) alerts: BTreeMap<String, Alert>,
    /// Messages that were not taken yet.
    pub notices: VecDeque<Notice>,
    /// The last message about what fires, by receiver, alert and slice, to those who were told of it.
    #[serde(default)]
    pub firing: Vec<Notice>,
    /// Messages that a silence keeps back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) held: Vec<Notice>,
    /// Who knows of what fires.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) acknowledged: Vec<Acknowledgement>,
    /// Silences that were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) silences: Vec<Silence>,
    /// What came of messages.
    #[serde(default, skip_serializing_if = "Deliveries::is_empty")]
    pub(super) deliveries: Deliveries,
    /// Number of the next message.
    pub(super) next: u64,
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
            Some((1 | &VERSION, json)) => Ok(serde_json::from_slice(json)?),
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
    /// Keeps the state of the alerts that are still defined as they were; others begin anew or are gone. What fired in those
    /// ends at `now`: its rows, and messages to those who were told.
    pub(super) fn fit(&mut self, definitions: &[Definition], now: UnixNanos) -> Vec<Row> {
        let mut before = std::mem::take(&mut self.alerts);
        let mut ended = Vec::new();
        for definition in definitions {
            let config = &definition.config;
            let known = match before.remove(&config.name) {
                Some(mut alert) if alert.fits(config) => {
                    alert.adopt(config);
                    alert
                }
                other => {
                    ended.extend(other.map(|alert| (config.name.clone(), alert, Ended::Changed)));
                    Alert::new(config)
                }
            };
            self.alerts.insert(config.name.clone(), known);
        }
        ended.extend(before.into_iter().map(|(name, alert)| (name, alert, Ended::Removed)));
        let mut rows = Vec::new();
        for (name, alert, why) in ended {
            for change in alert.ends(why, now) {
                let said = why.words(std::time::Duration::ZERO);
                self.tell_end(&name, &change, &said);
                rows.extend(alert.about().map(|about| row(&name, about, &change, said)));
            }
        }
        let alerts = &self.alerts;
        let fires =
            |alert: &String, slice: &str| alerts.get(alert).is_some_and(|alert| alert.is_firing(slice));
        self.firing.retain(|notice| fires(&notice.alert, &notice.slice));
        self.held.retain(|notice| fires(&notice.alert, &notice.slice));
        self.acknowledged.retain(|known| fires(&known.alert, &known.slice));
        self.follow_receivers(definitions, now);
        rows
    }

    /// Counts the scores of a batch, looks at every alert at `now`, and says what changed, as rows, with what `anchors` say.
    /// Messages are put in line.
    pub(super) fn apply(
        &mut self,
        definitions: &[Definition],
        batch: &RecordBatch,
        anchors: &Anchors,
        now: UnixNanos,
    ) -> Vec<Row> {
        let mut rows = Vec::new();
        for definition in definitions {
            let scores = definition.scores(batch);
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
            rows.extend(self.say(definition, &changes, anchors, now));
        }
        rows
    }

    /// Ends what has had no score for too long; its rows. Scores may come late after `opened`, the start.
    pub(super) fn end_without_data(
        &mut self,
        definitions: &[Definition],
        anchors: &Anchors,
        opened: UnixNanos,
        now: UnixNanos,
    ) -> Vec<Row> {
        let mut rows = Vec::new();
        for definition in definitions {
            let Some(alert) = self.alerts.get_mut(&definition.config.name) else { continue };
            let changes = alert.end_without_data(&definition.config, opened, now);
            rows.extend(self.say(definition, &changes, anchors, now));
        }
        rows
    }

    /// The rows of changes; messages about them are put in line.
    fn say(
        &mut self,
        definition: &Definition,
        changes: &[Change],
        anchors: &Anchors,
        now: UnixNanos,
    ) -> Vec<Row> {
        let config = &definition.config;
        let one = |change: &Change| {
            let said = anchors.said(&config.metric, &change.reading);
            self.tell(definition, change, said.as_deref(), now);
            row_of(definition, change, said.as_deref())
        };
        changes.iter().map(one).collect()
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
            let (since, ended, among) = (now.0, Ended::Back, Vec::new());
            let change = Change { slice, state: "firing", reading, examples, since, fired, ended, among };
            let mut row = row_of(definition, &change, None);
            row.message = format!("{}; {}", known.sentence(), row.message);
            rows.push(row);
            all.push(known);
        }
        for known in &all {
            self.acknowledged.retain(|old| !old.is_about(&known.alert, &known.slice));
            self.acknowledged.push(known.clone());
            self.tell_again(definitions, (&known.alert, &known.slice), Some(known), now);
        }
        (all, rows)
    }

    /// Learns the baselines of an alert anew, in one slice or in all; how many, and the rows of what ends so. Messages are put in
    /// line.
    pub(super) fn rebase(
        &mut self,
        definitions: &[Definition],
        (name, slice): (&str, Option<&str>),
        anchors: &Anchors,
        now: UnixNanos,
    ) -> (usize, Vec<Row>) {
        let found = definitions.iter().find(|definition| definition.config.name == name);
        let Some((definition, alert)) = found.zip(self.alerts.get_mut(name)) else { return (0, Vec::new()) };
        let (count, changes) = alert.rebase(slice, &definition.config, now);
        (count, self.say(definition, &changes, anchors, now))
    }

    /// Makes the state smaller by a step, because no frame holds it: first without examples and what came of messages, then with
    /// half of the slices, again and again. What was done, in words; none if there is nothing left to go.
    pub(super) fn shrink(&mut self, step: usize) -> Option<String> {
        if step == 0 {
            self.alerts.values_mut().for_each(Alert::drop_examples);
            let all = self.notices.iter_mut().chain(&mut self.firing).chain(&mut self.held);
            all.for_each(|notice| notice.examples.clear());
            self.deliveries = Deliveries::default();
            return Some("without examples, and without what came of messages".to_owned());
        }
        let slices: usize = self.alerts.values_mut().map(Alert::halve).sum();
        let notices = self.notices.len().div_ceil(2);
        self.notices.drain(..notices);
        let alerts = &self.alerts;
        let fires =
            |notice: &Notice| alerts.get(&notice.alert).is_some_and(|alert| alert.is_firing(&notice.slice));
        self.firing.retain(fires);
        self.held.retain(fires);
        metrics::counter!("groundline_alert_messages_lost_total", "reason" => "state too large")
            .increment(notices as u64);
        (slices + notices > 0).then(|| format!("without {slices} slices and {notices} messages"))
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
fn row_of(definition: &Definition, change: &Change, anchors: Option<&str>) -> Row {
    let config = &definition.config;
    row(&config.name, &About::of(config), change, sentence(config, change, anchors))
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

    /// The first file was written by the release that introduced version 1; each other one is the state of version 1 as its own
    /// version writes it (`WRITE_ALERT_STATE=1`). They are never changed.
    #[test]
    fn states_of_all_versions_are_read() {
        for version in 1..=VERSION {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
            let path = format!("{folder}/alerts_state_v{version}.json");
            if version == VERSION && std::env::var_os("WRITE_ALERT_STATE").is_some() {
                let first = std::fs::read(format!("{folder}/alerts_state_v1.json")).unwrap();
                let first = Event::decode(&[&[1], first.as_slice()].concat()).unwrap();
                std::fs::write(&path, &first.encode().unwrap()[1..]).unwrap();
            }
            let json = std::fs::read(path).unwrap();
            let read = Event::decode(&[&[version], json.as_slice()].concat()).unwrap();
            let Event::State(state) = &read else { panic!("it is a state") };
            let names: Vec<&str> = state.alerts.keys().map(String::as_str).collect();
            assert_eq!((state.applied, names), (7, vec!["bets", "burns", "keeps", "learns", "window"]));
            assert_eq!(Event::decode(&read.encode().unwrap()).unwrap(), read);
        }
        let made = made().encode().unwrap();
        assert_eq!(Event::decode(&made).unwrap().encode().unwrap(), made);
    }

    /// What earlier releases wrote of `burn_rate` was 40 KB a slice.
    #[test]
    fn full_windows_are_stored_in_less_than_they_are_reckoned_with() {
        let config: AlertConfig =
            toml::from_str("name = \"burns\"\nmetric = \"m\"\nmethod = \"burn_rate\"\nobjective = 0.99")
                .unwrap();
        let mut alert = Alert::new(&config);
        for n in 0..20_000_i64 {
            let pi = [1.0, 0.37, 0.012][(n % 3) as usize];
            let example = None;
            assert!(alert.push(
                "",
                Seen { at: n * 14_000_000_000, failed: n % 9 == 0, pi, example },
                &config
            ));
        }
        let bytes = serde_json::to_vec(&alert).unwrap().len();
        assert!(bytes > 2_000 && bytes < 9_000, "{bytes}");
    }

    #[test]
    fn the_shape_of_the_state_is_that_of_the_format() {
        hold_shape("alerts", &serde_json::json!({"event": shape_of::<Event>(), "version": VERSION}));
    }

    #[test]
    fn a_later_version_is_refused_and_damage_is_told() {
        assert!(matches!(Event::decode(b"\x03{}"), Err(StateError::Version(3))));
        assert!(matches!(Event::decode(b"\x01{"), Err(StateError::Json(_))));
        assert!(Event::decode(b"").is_err());
    }
}
