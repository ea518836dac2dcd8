//! Which evaluators run, and with which thresholds.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Settings of evaluation.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How many items are evaluated at once; 0 for one a core.
    pub workers: usize,
    /// An evaluation of one item by one evaluator that takes longer is an error, milliseconds.
    pub timeout_ms: u64,
    /// Evaluators that do not run, by id.
    pub disabled: Vec<String>,
    /// Strings planted in system prompts; one of them in an answer is a leaked prompt.
    pub canaries: Vec<String>,
    /// Other thresholds than the default ones, by metric.
    pub thresholds: BTreeMap<String, f64>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            workers: 0,
            timeout_ms: 60_000,
            disabled: Vec::new(),
            canaries: Vec::new(),
            thresholds: BTreeMap::new(),
        }
    }
}

impl Config {
    /// Every fault, each with the key and what to do.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.timeout_ms == 0 {
            faults.push("score.timeout_ms is 0: every evaluation would time out".to_owned());
        }
        for id in &self.disabled {
            if !super::registry::IDS.contains(&id.as_str()) {
                faults.push(format!(
                    "score.disabled names {id:?}, which is no evaluator; there are {}",
                    super::registry::IDS.join(", ")
                ));
            }
        }
        for (metric, threshold) in &self.thresholds {
            if !threshold.is_finite() {
                faults.push(format!("score.thresholds.{metric} is {threshold}: give a number"));
            }
        }
        faults
    }

    /// The number of workers on this machine.
    pub fn worker_count(&self) -> usize {
        if self.workers > 0 {
            return self.workers;
        }
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
    }
}
