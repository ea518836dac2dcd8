//! The values of an earlier run, out of its JSON report.

use super::outcome::Outcome;
use super::summary::{cluster, is_rate};
use crate::stats::{Estimate, Paired};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::Path;

/// Longest report, bytes.
const MAX_REPORT: u64 = 1 << 30;

/// An earlier run's values by test.
#[derive(Debug, Clone, Default)]
pub struct Baseline {
    runs: Vec<Run>,
}

#[derive(Debug, Clone, Deserialize)]
struct Run {
    test: String,
    hash: String,
    values: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
struct Report {
    runs: Vec<Run>,
}

/// The difference to a baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Difference {
    /// New minus baseline; none without a pair.
    pub estimate: Option<Estimate>,
    /// Tests that changed since, or that one side lacks.
    pub unpaired: usize,
}

impl Baseline {
    /// Reads a report that `groundline test --json` wrote.
    ///
    /// # Errors
    /// When the file cannot be read or is no such report.
    pub fn read(path: &Path) -> Result<Self, String> {
        let report: Report = report(path)?;
        Ok(Self { runs: report.runs })
    }

    /// Adds the values of a run of a test whose content has this hash.
    pub(super) fn add(&mut self, test: &str, hash: &str, values: BTreeMap<String, f64>) {
        self.runs.push(Run { test: test.to_owned(), hash: hash.to_owned(), values });
    }

    /// Whether it has no run.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The difference of a metric, paired by test: a test is itself only as long as what it asks and expects is the same.
    pub(super) fn difference<'a>(
        &self,
        metric: &str,
        outcomes: impl Iterator<Item = &'a Outcome> + Clone,
        level: f64,
    ) -> Difference {
        let mut before: BTreeMap<(&str, &str), Mean> = BTreeMap::new();
        for run in &self.runs {
            if let Some(value) = run.values.get(metric) {
                before.entry((&run.test, &run.hash)).or_default().add(*value, 1.0);
            }
        }
        let mut now: BTreeMap<(&str, &str), Now<'_>> = BTreeMap::new();
        for outcome in outcomes.clone() {
            if let Some(value) = outcome.values.get(metric) {
                let entry = now.entry((&outcome.test, &outcome.hash));
                entry.or_insert((Mean::default(), cluster(outcome), outcome.weight)).0.add(*value, 1.0);
            }
        }
        let mut groups: BTreeMap<(bool, &str), (Mean, Mean)> = BTreeMap::new();
        let mut pairs = 0;
        for (key, (new, group, weight)) in &now {
            let Some(old) = before.get(key) else { continue };
            pairs += 1;
            let entry = groups.entry(*group).or_default();
            entry.0.add(new.value(), *weight);
            entry.1.add(old.value(), *weight);
        }
        let unpaired = now.len() - pairs;
        let all = before.values().map(Mean::value).chain(now.values().map(|(mean, ..)| mean.value()));
        let is_rate = is_rate(metric, all);
        Difference { estimate: paired(&groups, is_rate, level), unpaired }
    }
}

/// What a reader wants of a report that `groundline test --json` wrote.
///
/// # Errors
/// When the file cannot be read or is no such report.
pub(super) fn report<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let told = |why: String| format!("{}: {why}", path.display());
    let length = std::fs::metadata(path).map_err(|e| told(e.to_string()))?.len();
    if length > MAX_REPORT {
        return Err(told(format!("{length} bytes are too many for a report")));
    }
    let text = std::fs::read_to_string(path).map_err(|e| told(e.to_string()))?;
    serde_json::from_str(&text).map_err(|e| told(format!("no report of groundline test --json: {e}")))
}

fn paired(groups: &BTreeMap<(bool, &str), (Mean, Mean)>, is_rate: bool, level: f64) -> Option<Estimate> {
    let heaviest = groups.values().map(|(new, _)| new.weight).fold(0.0, f64::max);
    let lightest = groups.values().map(|(new, _)| new.weight).filter(|w| *w > 0.0).fold(heaviest, f64::min);
    let mut paired = Paired::new();
    for (new, old) in groups.values().filter(|(new, _)| new.weight > 0.0) {
        // A weight is one over a probability; only the proportions matter.
        let is_counted = paired.push(new.value(), old.value(), (lightest / new.weight).min(1.0));
        debug_assert!(is_counted, "the proportion of two weights lies above 0 and at most at 1");
    }
    if is_rate { paired.rate(level) } else { paired.mean(level) }
}

/// The mean of a case now, its cluster and its weight.
type Now<'a> = (Mean, (bool, &'a str), f64);

#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    sum: f64,
    weight: f64,
}

impl Mean {
    fn add(&mut self, value: f64, weight: f64) {
        self.sum += value * weight;
        self.weight += weight;
    }

    fn value(&self) -> f64 {
        if self.weight > 0.0 { self.sum / self.weight } else { 0.0 }
    }
}
