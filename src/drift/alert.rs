//! One alert over all its slices: which of them exceed, together.

use super::config::{AlertConfig, Method};
use super::slice::{Example, Phase, Reading, Seen, Slice};
use crate::domain::time::UnixNanos;
use crate::units::{nanos, words};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// About so many slices get parts of α of the same size; those that come later get less.
const EVEN: f64 = 4.0;

/// Units of capital that one score brings in at most: after a pause of 1/α units the first score alone would be an alarm,
/// whatever it says. Less capital than the time allows breaks no promise.
const MOST_UNITS: f64 = 1.0;

/// A score so many nanoseconds before the latest one tells of a clock that was ahead and was set right. Scores become durable
/// moments after they are made; without this, windows would take none until the time that the clock had shown comes.
const SET_BACK: i64 = 3_600 * 1_000_000_000;

/// The state of one alert.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Alert {
    /// The definition that the state belongs to: with another one it begins anew.
    version: String,
    /// What can be said of it when its definition is gone; none in what earlier releases wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    about: Option<About>,
    /// By name, such as `service_name=shop, request_model=m`.
    slices: BTreeMap<String, Slice>,
    /// The time of the latest score of all slices, nanoseconds since 1970.
    #[serde(default)]
    last: i64,
    /// The capital that has come in for each slice: one unit a unit of time, parted among the slices that there were.
    #[serde(default)]
    credit: f64,
    /// How many slices there ever were, those that left included.
    #[serde(default)]
    ever: u64,
    /// Slices with news since the last look.
    #[serde(skip)]
    touched: BTreeSet<String>,
    /// How many slices there were then.
    #[serde(default)]
    shared: usize,
}

/// What rows say of a definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct About {
    pub metric: String,
    pub method: Method,
    pub severity: String,
    pub alpha: f64,
    /// The share that may fail; none without an objective.
    pub bound: Option<f64>,
}

impl About {
    pub(super) fn of(config: &AlertConfig) -> Self {
        Self {
            metric: config.metric.clone(),
            method: config.method,
            severity: config.severity.clone(),
            alpha: config.alpha,
            bound: config.bound(),
        }
    }
}

/// Why something fires no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// What fails is within what is allowed again.
    Back,
    /// No score has come for too long.
    NoData,
    /// The alert is defined in another way.
    Changed,
    /// The alert is no longer defined.
    Removed,
    /// Who was told is no longer among the alert's receivers.
    Unsubscribed,
    /// A person had the baseline learned anew.
    Rebased,
}

impl Ended {
    /// The reason in words, with the time without data.
    pub(super) fn words(self, without: std::time::Duration) -> String {
        match self {
            Ended::Back => "back within what is allowed".to_owned(),
            Ended::NoData => {
                format!(
                    "no data: no score for {} or longer, so nobody knows whether it still exceeds",
                    words(without)
                )
            }
            Ended::Changed => {
                "the definition of the alert was changed: it begins anew, and fires again if it still exceeds"
                    .to_owned()
            }
            Ended::Removed => "the alert is no longer defined".to_owned(),
            Ended::Unsubscribed => "this receiver is no longer told of the alert".to_owned(),
            Ended::Rebased => {
                "ended by hand with a rebase: the baseline is learned anew from the next scores, as bad as they may be"
                    .to_owned()
            }
        }
    }
}

/// An alert went from one state to another in a slice.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    pub slice: String,
    /// What `alerts.state` says: ok, pending, firing or resolved.
    pub state: &'static str,
    pub reading: Reading,
    pub examples: Vec<Example>,
    /// When the state began, nanoseconds since 1970.
    pub since: i64,
    /// Since when it fired, for one that is resolved.
    pub fired: i64,
    /// Why it fires no longer, for one that does not.
    pub ended: Ended,
    /// Of one that fires, all slices that do with the share that fails in them, the worst first.
    pub among: Vec<(String, f64)>,
}

impl Alert {
    pub(super) fn new(config: &AlertConfig) -> Self {
        Self {
            version: version(config),
            about: Some(About::of(config)),
            slices: BTreeMap::new(),
            last: 0,
            credit: 0.0,
            ever: 0,
            touched: BTreeSet::new(),
            shared: 0,
        }
    }

    /// Whether the state belongs to this definition.
    pub(super) fn fits(&self, config: &AlertConfig) -> bool {
        self.version == version(config)
    }

    /// Goes on under `config`, which decides as before, and takes over what an earlier release wrote.
    pub(super) fn adopt(&mut self, config: &AlertConfig) {
        self.about = Some(About::of(config));
        if self.ever > 0 {
            return;
        }
        let count = self.slices.len();
        for slice in self.slices.values_mut() {
            self.last = self.last.max(slice.last);
            self.ever += 1;
            slice.adopt(part(self.ever, config), count);
        }
    }

    /// What rows say of its definition; none in what earlier releases wrote.
    pub(super) fn about(&self) -> Option<&About> {
        self.about.as_ref()
    }

    /// Counts one score of a slice; false if there are too many slices.
    pub(super) fn push(&mut self, slice: &str, seen: Seen, config: &AlertConfig) -> bool {
        if !self.slices.contains_key(slice) && self.slices.len() >= config.max_slices {
            return false;
        }
        if self.last.saturating_sub(seen.at) > SET_BACK {
            self.last = seen.at;
            self.slices.values_mut().for_each(|slice| slice.set_back(seen.at));
        }
        if !self.slices.is_empty() {
            let elapsed = seen.at.saturating_sub(self.last).max(0) as f64 / nanos(config.per) as f64;
            self.credit += elapsed.min(MOST_UNITS) / self.slices.len() as f64;
        }
        self.last = self.last.max(seen.at);
        if !self.slices.contains_key(slice) {
            self.ever += 1;
            let fresh = Slice::new(config, seen.at, part(self.ever, config), self.credit);
            self.slices.insert(slice.to_owned(), fresh);
        }
        let most = MOST_UNITS / self.slices.len() as f64;
        if let Some(found) = self.slices.get_mut(slice) {
            found.push(seen, config, (self.credit, most));
        }
        if !self.touched.contains(slice) {
            self.touched.insert(slice.to_owned());
        }
        true
    }

    /// Lets slices leave that have had no score for too long, by the time of the scores.
    fn forget(&mut self, config: &AlertConfig) {
        let (last, most) = (self.last, nanos(config.forgets()));
        let before = self.slices.len();
        self.slices.retain(|_, slice| slice.phase != Phase::Ok || last.saturating_sub(slice.last) <= most);
        let left = before - self.slices.len();
        if left > 0 {
            self.touched.retain(|name| self.slices.contains_key(name));
            metrics::counter!("groundline_alert_slices_left_total").increment(left as u64);
        }
    }

    /// Ends what has had no score for too long: by `now`, and not sooner than that time after `opened`, because scores come
    /// late after a start.
    pub(super) fn end_without_data(
        &mut self,
        config: &AlertConfig,
        opened: UnixNanos,
        now: UnixNanos,
    ) -> Vec<Change> {
        let (count, most) = (self.slices.len(), nanos(config.no_data_after));
        let mut changes = Vec::new();
        for (name, slice) in &mut self.slices {
            let seen = slice.last.max(opened.0);
            if slice.phase == Phase::Ok || now.0.saturating_sub(seen) <= most {
                continue;
            }
            let (reading, examples) = (slice.read(config, count), slice.examples().to_vec());
            let (before, fired) = (slice.phase, slice.since);
            slice.enter(Phase::Ok, now.0, config);
            let state = if before == Phase::Firing { "resolved" } else { "ok" };
            let (slice, since, ended, among) = (name.clone(), now.0, Ended::NoData, Vec::new());
            changes.push(Change { slice, state, reading, examples, since, fired, ended, among });
        }
        changes
    }

    /// What fires, as the end of it at `now`, for an alert whose definition is gone.
    pub(super) fn ends(&self, ended: Ended, now: UnixNanos) -> Vec<Change> {
        let firing = self.slices.iter().filter(|(_, slice)| slice.phase == Phase::Firing);
        let change = |(name, slice): (&String, &Slice)| Change {
            slice: name.clone(),
            state: "resolved",
            reading: slice.remembered(),
            examples: slice.examples().to_vec(),
            since: now.0,
            fired: slice.since,
            ended,
            among: Vec::new(),
        };
        firing.map(change).collect()
    }

    /// What fires in `slice`, as it stands now; none if it does not fire.
    pub(super) fn firing(&self, slice: &str, config: &AlertConfig) -> Option<Change> {
        let (count, found) = (self.slices.len(), self.slices.get(slice)?);
        (found.phase == Phase::Firing).then(|| Change {
            slice: slice.to_owned(),
            state: "firing",
            reading: found.read(config, count),
            examples: found.examples().to_vec(),
            since: found.since,
            fired: found.since,
            ended: Ended::Back,
            among: self.ranked(config),
        })
    }

    /// The slices that fire, with the share that fails in each: first those that surely fail most, by the lower end of their
    /// intervals, so that a slice of few scores does not come first by chance.
    fn ranked(&self, config: &AlertConfig) -> Vec<(String, f64)> {
        let count = self.slices.len();
        let firing = self.slices.iter().filter(|(_, slice)| slice.phase == Phase::Firing);
        let mut all: Vec<(String, f64, f64)> = firing
            .map(|(name, slice)| {
                let estimate = slice.read(config, count).estimate;
                let share = estimate.map_or(0.0, |found| found.estimate);
                (name.clone(), share, estimate.and_then(|found| found.lower).unwrap_or(share))
            })
            .collect();
        all.sort_by(|a, b| b.2.total_cmp(&a.2));
        all.into_iter().map(|(name, share, _)| (name, share)).collect()
    }

    /// The slices in which it fires.
    pub(super) fn firing_slices(&self) -> impl Iterator<Item = &str> {
        let firing = self.slices.iter().filter(|(_, slice)| slice.phase == Phase::Firing);
        firing.map(|(name, _)| name.as_str())
    }

    /// Forgets the examples of all slices, so that the state is smaller.
    pub(super) fn drop_examples(&mut self) {
        self.slices.values_mut().for_each(Slice::drop_examples);
    }

    /// Forgets half of its slices, those without news for longest first, and what fires last; how many.
    pub(super) fn halve(&mut self) -> usize {
        let mut order: Vec<(bool, i64, String)> =
            self.slices.iter().map(|(name, s)| (s.phase != Phase::Ok, s.last, name.clone())).collect();
        order.sort();
        order.truncate(self.slices.len().div_ceil(2));
        order.iter().for_each(|(_, _, name)| {
            self.slices.remove(name);
        });
        order.len()
    }

    /// Whether it fires in `slice`.
    pub(super) fn is_firing(&self, slice: &str) -> bool {
        self.slices.get(slice).is_some_and(|found| found.phase == Phase::Firing)
    }

    /// Looks at the slices that can have changed, and says what did.
    ///
    /// Evidence is weighed against that of all slices, so each of them may come to exceed; a window without new scores
    /// stays as it is, unless α is divided among more slices than before. What ended without data waits for a score of its own.
    pub(super) fn look(&mut self, config: &AlertConfig) -> Vec<Change> {
        self.forget(config);
        let touched = std::mem::take(&mut self.touched);
        let (count, least, last) = (self.slices.len(), self.least_evidence(config, &touched), self.last);
        let is_shared_anew = std::mem::replace(&mut self.shared, count) != count;
        let weighs = matches!(config.method, Method::Objective | Method::Change);
        let mut changes = Vec::new();
        for (name, slice) in &mut self.slices {
            let is_looked_at = (weighs || is_shared_anew) && !is_without_data(slice, last, config);
            if !is_looked_at && !touched.contains(name) {
                continue;
            }
            let exceeds = match slice.evidence(config) {
                Some(evidence) => evidence >= least,
                None => slice.exceeds(config, count),
            };
            let Some(next) = slice.due(config, exceeds) else { continue };
            let (reading, examples) = (slice.read(config, count), slice.examples().to_vec());
            let (before, fired) = (slice.phase, slice.since);
            slice.enter(next, slice.last, config);
            let state = match (before, next) {
                (_, Phase::Firing) => "firing",
                (_, Phase::Pending) => "pending",
                (Phase::Firing, Phase::Ok) => "resolved",
                (_, Phase::Ok) => "ok",
            };
            let (since, ended, slice, among) = (slice.since, Ended::Back, name.clone(), Vec::new());
            changes.push(Change { slice, state, reading, examples, since, fired, ended, among });
        }
        if changes.iter().any(|change| change.state == "firing") {
            let among = self.ranked(config);
            let begun = changes.iter_mut().filter(|change| change.state == "firing");
            begun.for_each(|change| change.among.clone_from(&among));
        }
        changes
    }

    /// The evidence from which on a slice exceeds, by the e-BH procedure (Wang and Ramdas 2022): those k with the most evidence
    /// exceed, for the greatest k with evidence of 1/(αk) or more in each of them.
    ///
    /// What a slice shows is its evidence times its part of α; the parts of all slices that ever come are 1 together (see
    /// [`part`]), and so is the steady capital that comes in for all of them in a unit of time. If none has changed, one
    /// exceeds only where the sum is 1/α or more, and the sum is an e-process (or an e-detector), so α holds for all together.
    ///
    /// Only those that are looked at count: the `touched` ones, and those that do not wait for a score of their own.
    fn least_evidence(&self, config: &AlertConfig, touched: &BTreeSet<String>) -> f64 {
        let counts = |(name, slice): &(&String, &Slice)| {
            touched.contains(*name) || !is_without_data(slice, self.last, config)
        };
        let looked_at = self.slices.iter().filter(counts);
        let mut all: Vec<f64> = looked_at.filter_map(|(_, slice)| slice.evidence(config)).collect();
        all.sort_by(|a, b| b.total_cmp(a));
        let needed = |k: usize| 1.0 / (config.alpha * k as f64);
        let most = (1..=all.len()).rev().find(|k| all[k - 1] >= needed(*k));
        most.map_or(f64::INFINITY, needed)
    }

    /// Every slice with its phase, when that began, and what is known of it.
    pub(super) fn readings(
        &self,
        config: &AlertConfig,
    ) -> impl Iterator<Item = (&str, Phase, i64, Reading, &[Example])> {
        let count = self.slices.len();
        let config = config.clone();
        self.slices.iter().map(move |(name, slice)| {
            (name.as_str(), slice.phase, slice.since, slice.read(&config, count), slice.examples())
        })
    }

    /// Forgets the baseline of `slice`, or of all, at `now`; how many there were, and what fired or was pending and ends so.
    /// Nothing happens to an alert whose method has no baseline.
    pub(super) fn rebase(
        &mut self,
        slice: Option<&str>,
        config: &AlertConfig,
        now: UnixNanos,
    ) -> (usize, Vec<Change>) {
        // An earlier release took the wish for any method, and it may stand in the journal.
        if config.method != Method::Change {
            return (0, Vec::new());
        }
        let (count, mut anew, mut changes) = (self.slices.len(), 0, Vec::new());
        for (name, found) in &mut self.slices {
            if slice.is_some_and(|wanted| wanted != name.as_str()) {
                continue;
            }
            let (reading, examples) = (found.read(config, count), found.examples().to_vec());
            let (before, fired) = (found.phase, found.since);
            found.rebase(config, now.0);
            anew += 1;
            let state = match before {
                Phase::Ok => continue,
                Phase::Pending => "ok",
                Phase::Firing => "resolved",
            };
            let (slice, since, ended, among) = (name.clone(), now.0, Ended::Rebased, Vec::new());
            changes.push(Change { slice, state, reading, examples, since, fired, ended, among });
        }
        (anew, changes)
    }
}

/// Whether a slice waits for a score of its own, when the latest one of all came at `last`: what ended for want of scores has none
/// by which it could exceed again, and what has had none for so long would end as soon as it began.
fn is_without_data(slice: &Slice, last: i64, config: &AlertConfig) -> bool {
    let is_old = last.saturating_sub(slice.last) > nanos(config.no_data_after);
    slice.phase == Phase::Ok && (slice.since > slice.last || is_old)
}

/// The part of α of the slice that came as number `at`, from 1: the parts of all that ever come are 1 together, however many
/// leave and come, because c/((k+c−1)(k+c)) summed over k is a telescope.
fn part(at: u64, config: &AlertConfig) -> f64 {
    if config.slices.is_empty() {
        return 1.0;
    }
    let k = at as f64;
    EVEN / ((k + EVEN - 1.0) * (k + EVEN))
}

/// A hash of everything that changes what the alert decides; who is told may change.
fn version(config: &AlertConfig) -> String {
    let mut text = format!(
        "{}\0{}\0{:?}\0{:?}\0{:?}\0{}\0{:?}\0{}\0{}\0{:?}\0{}",
        config.metric,
        config.filter,
        config.slices,
        config.method,
        config.objective,
        config.alpha,
        config.per,
        config.baseline_n,
        config.min_n,
        config.window,
        config.max_weight
    );
    // Without margins the state of earlier releases goes on.
    if config.margins {
        text.push_str("\0margins");
    }
    hex::encode(&Sha256::digest(text)[..6])
}

#[cfg(test)]
#[path = "alert_tests.rs"]
mod tests;
