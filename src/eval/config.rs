//! Which evaluators run, and with which thresholds.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Settings of evaluation.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How many items are evaluated at once; 0 for one a core.
    pub workers: usize,
    /// How many items of slow evaluators are evaluated at once, beside the others.
    pub slow_workers: usize,
    /// The longest evaluation of one item by all its evaluators together, milliseconds. Evaluators that have not answered
    /// by then give errors, and the item is not tried again. The one that is running cannot be stopped: its worker takes
    /// no other item until it ends.
    pub timeout_ms: u64,
    /// Evaluators that do not run, by id.
    pub disabled: Vec<String>,
    /// Strings planted in system prompts; one of them in an answer is a leaked prompt.
    pub canaries: Vec<String>,
    /// Other thresholds than the default ones, by metric.
    pub thresholds: BTreeMap<String, f64>,
    /// The language model of `perplexity`.
    pub perplexity: PerplexityConfig,
}

/// The causal language model of `perplexity`, which the program does not carry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PerplexityConfig {
    /// An ONNX file with `input_ids` and `logits`, without a cache; empty for none.
    pub model: String,
    /// Its `tokenizer.json`, byte-level BPE.
    pub tokenizer: String,
    /// Tokens that the model reads at once.
    pub window: usize,
    /// Tokens that the window moves on; what is left of it is context.
    pub stride: usize,
    /// A perplexity below it passes; 0 for no verdict.
    pub threshold: f64,
}

impl Default for PerplexityConfig {
    fn default() -> Self {
        Self { model: String::new(), tokenizer: String::new(), window: 512, stride: 256, threshold: 0.0 }
    }
}

impl PerplexityConfig {
    /// The logits of one window are so many times a vocabulary of numbers.
    const MAX_WINDOW: usize = 4_096;

    /// Whether there is a model.
    pub fn is_set(&self) -> bool {
        !self.model.is_empty()
    }

    fn faults(&self, faults: &mut Vec<String>) {
        let mut add = |fault: String| faults.push(format!("score.perplexity.{fault}"));
        if self.model.is_empty() != self.tokenizer.is_empty() {
            add("model and score.perplexity.tokenizer belong together: give both or neither".to_owned());
        }
        if !(2..=Self::MAX_WINDOW).contains(&self.window) {
            add(format!("window is {}, must be 2 to {}", self.window, Self::MAX_WINDOW));
        }
        if self.stride == 0 || self.stride >= self.window {
            add(format!(
                "stride is {}, must be 1 or more and below score.perplexity.window: each token needs one before it",
                self.stride
            ));
        }
        if self.threshold != 0.0 && !(self.threshold.is_finite() && self.threshold > 1.0) {
            add(format!("threshold is {}, must be above 1, or 0 for no verdict", self.threshold));
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            workers: 0,
            slow_workers: 1,
            timeout_ms: 60_000,
            disabled: Vec::new(),
            canaries: Vec::new(),
            thresholds: BTreeMap::new(),
            perplexity: PerplexityConfig::default(),
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
        if self.slow_workers == 0 {
            faults.push("score.slow_workers is 0: slow evaluators would never be asked".to_owned());
        }
        for id in &self.disabled {
            if !super::ids::IDS.contains(&id.as_str()) {
                faults.push(format!(
                    "score.disabled names {id:?}, which is no evaluator; there are {}",
                    super::ids::IDS.join(", ")
                ));
            }
        }
        for (metric, threshold) in &self.thresholds {
            if !threshold.is_finite() {
                faults.push(format!("score.thresholds.{metric} is {threshold}: give a number"));
            }
        }
        self.perplexity.faults(&mut faults);
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
