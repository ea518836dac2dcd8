//! One alert over all its slices: which of them exceed, together.

use super::config::{AlertConfig, Method};
use super::slice::{Example, Phase, Reading, Seen, Slice};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// The state of one alert.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Alert {
    /// The definition that the state belongs to: with another one it begins anew.
    version: String,
    /// By name, such as `service_name=shop, request_model=m`.
    slices: BTreeMap<String, Slice>,
    /// Slices with news since the last look.
    #[serde(skip)]
    touched: BTreeSet<String>,
    /// How many slices there were then.
    #[serde(default)]
    shared: usize,
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
}

impl Alert {
    pub(super) fn new(config: &AlertConfig) -> Self {
        Self { version: version(config), slices: BTreeMap::new(), touched: BTreeSet::new(), shared: 0 }
    }

    /// Whether the state belongs to this definition.
    pub(super) fn fits(&self, config: &AlertConfig) -> bool {
        self.version == version(config)
    }

    /// Counts one score of a slice; false if there are too many slices.
    pub(super) fn push(&mut self, slice: &str, seen: Seen, config: &AlertConfig) -> bool {
        if !self.slices.contains_key(slice) {
            if self.slices.len() >= config.max_slices {
                return false;
            }
            self.slices.insert(slice.to_owned(), Slice::new(config, seen.at));
        }
        if let Some(found) = self.slices.get_mut(slice) {
            found.push(seen, config);
        }
        if !self.touched.contains(slice) {
            self.touched.insert(slice.to_owned());
        }
        true
    }

    /// Whether it fires in `slice`.
    pub(super) fn is_firing(&self, slice: &str) -> bool {
        self.slices.get(slice).is_some_and(|found| found.phase == Phase::Firing)
    }

    /// Looks at the slices that can have changed, and says what did.
    ///
    /// Evidence is weighed against that of all slices, so each of them may come to exceed; a window without new scores
    /// stays as it is, unless α is divided among more slices than before.
    pub(super) fn look(&mut self, config: &AlertConfig) -> Vec<Change> {
        let touched = std::mem::take(&mut self.touched);
        let (count, least) = (self.slices.len(), self.least_evidence(config));
        let is_shared_anew = std::mem::replace(&mut self.shared, count) != count;
        let weighs = matches!(config.method, Method::Objective | Method::Change);
        let mut changes = Vec::new();
        for (name, slice) in &mut self.slices {
            if !weighs && !is_shared_anew && !touched.contains(name) {
                continue;
            }
            let exceeds = match slice.evidence(config) {
                Some(evidence) => evidence >= least,
                None => slice.exceeds(config, count),
            };
            let Some(next) = slice.due(config, exceeds) else { continue };
            let (reading, examples) = (slice.read(config, count), slice.examples().to_vec());
            let (before, fired) = (slice.phase, slice.since);
            slice.enter(next, config);
            let state = match (before, next) {
                (_, Phase::Firing) => "firing",
                (_, Phase::Pending) => "pending",
                (Phase::Firing, Phase::Ok) => "resolved",
                (_, Phase::Ok) => "ok",
            };
            changes.push(Change { slice: name.clone(), state, reading, examples, since: slice.since, fired });
        }
        changes
    }

    /// The evidence from which on a slice exceeds, by the e-BH procedure (Wang and Ramdas 2022): of K slices those k with
    /// the most evidence exceed, for the greatest k with evidence of K/(αk) or more in each of them.
    ///
    /// If none has changed, one exceeds only where the mean of all evidence is 1/α or more; the mean of e-processes is an
    /// e-process and that of e-detectors an e-detector, so α holds for all slices together.
    fn least_evidence(&self, config: &AlertConfig) -> f64 {
        let mut all: Vec<f64> = self.slices.values().filter_map(|slice| slice.evidence(config)).collect();
        all.sort_by(|a, b| b.total_cmp(a));
        let count = self.slices.len() as f64;
        let needed = |k: usize| count / (config.alpha * k as f64);
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

    /// Forgets the baseline of `slice`, or of all; how many there were.
    pub(super) fn rebase(&mut self, slice: Option<&str>, config: &AlertConfig) -> usize {
        let wanted = self.slices.iter_mut().filter(|(name, _)| slice.is_none_or(|slice| slice == *name));
        let anew = wanted.map(|(name, found)| {
            found.rebase(config);
            name.clone()
        });
        let anew: Vec<String> = anew.collect();
        let count = anew.len();
        self.touched.extend(anew);
        count
    }
}

/// A hash of everything that changes what the alert decides; who is told may change.
fn version(config: &AlertConfig) -> String {
    let text = format!(
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
    hex::encode(&Sha256::digest(text)[..6])
}

#[cfg(test)]
#[path = "alert_tests.rs"]
mod tests;
