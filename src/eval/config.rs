//! Which evaluators run, and with which thresholds.

use super::custom::CustomConfig;
use super::ids::{IDS, JUDGE_IDS, asks_others};
use super::scale::{SCALES, Scale, scale_of};
use super::section::{EvaluatorConfig, SimilarityMethod};
use super::thresholds::{Lines, Thresholds};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// More runs of one question cost more than they tell.
const MAX_RUNS: u32 = 9;
/// The evaluator of [`PerplexityConfig`].
const PERPLEXITY: &str = "perplexity";
/// The evaluator that has a method.
const SIMILARITY: &str = "answer_semantic_similarity";

/// Settings of the evaluators.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Evaluators that do not run, by id.
    pub disabled: Vec<String>,
    /// Strings planted in system prompts; one of them in an answer is a leaked prompt.
    pub canaries: Vec<String>,
    /// Other thresholds than the default ones: by metric, or those of another system (`"h2o"`).
    pub thresholds: Thresholds,
    /// Judges' questions of your own.
    pub custom: Vec<CustomConfig>,
    /// The weight of factual F1 in `answer_correctness`; the rest is that of similarity.
    pub answer_correctness_weight: f64,
    /// How often `pairwise` asks in each order; of several runs the agreement is a metric.
    pub pairwise_runs: u32,
    /// The language model of `perplexity`.
    pub perplexity: PerplexityConfig,
    /// `[evaluator.<id>]`. The section stands beside `[eval]`, so whoever reads the file puts it here.
    #[serde(skip)]
    pub evaluator: BTreeMap<String, EvaluatorConfig>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            disabled: Vec::new(),
            canaries: Vec::new(),
            thresholds: Thresholds::default(),
            custom: Vec::new(),
            answer_correctness_weight: 0.75,
            pairwise_runs: 1,
            perplexity: PerplexityConfig::default(),
            evaluator: BTreeMap::new(),
        }
    }
}

/// The scale of the first metric of an evaluator, where `threshold` is beyond those of all its metrics.
fn beyond(id: &str, threshold: f64) -> Option<&'static Scale> {
    let own = SCALES.iter().filter(|scale| scale.evaluator == id).chain(scale_of(id, id));
    let scales: Vec<&'static Scale> = own.collect();
    let is_within = |scale: &&Scale| (scale.least..=scale.most).contains(&threshold);
    if scales.iter().any(is_within) { None } else { scales.first().copied() }
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
        let mut add = |fault: String| faults.push(format!("eval.perplexity.{fault}"));
        if self.model.is_empty() != self.tokenizer.is_empty() {
            add("model and eval.perplexity.tokenizer belong together: give both or neither".to_owned());
        }
        if !(2..=Self::MAX_WINDOW).contains(&self.window) {
            add(format!("window is {}, must be 2 to {}", self.window, Self::MAX_WINDOW));
        }
        if self.stride == 0 || self.stride >= self.window {
            add(format!(
                "stride is {}, must be 1 or more and below eval.perplexity.window: each token needs one before it",
                self.stride
            ));
        }
        if self.threshold != 0.0 && !(self.threshold.is_finite() && self.threshold > 1.0) {
            add(format!("threshold is {}, must be above 1, or 0 for no verdict", self.threshold));
        }
    }
}

impl Config {
    /// Every fault, each with the key and what to do.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let unknown = |key: &str, id: &str| {
            let (local, judges) = (IDS.join(", "), JUDGE_IDS.join(", "));
            let is_known = IDS.contains(&id) || asks_others(id);
            (!is_known).then(|| {
                format!(
                    "{key} names {id:?}, which is no evaluator; there are {local}, {judges}, and plugin/<name>"
                )
            })
        };
        faults.extend(self.disabled.iter().filter_map(|id| unknown("eval.disabled", id)));
        faults.extend(self.evaluator.keys().filter_map(|id| unknown("evaluator", id)));
        self.own_faults(&mut faults);
        if let Thresholds::ByMetric(values) = &self.thresholds {
            for (metric, threshold) in values.iter().filter(|(_, threshold)| !threshold.is_finite()) {
                faults.push(format!("eval.thresholds.{metric} is {threshold}: give a number"));
            }
        }
        let mut ids = BTreeSet::new();
        for (at, custom) in self.custom.iter().enumerate() {
            custom.faults(at, &mut faults);
            if !ids.insert(custom.id()) {
                faults.push(format!("eval.custom[{at}] {:?}: {} is there twice", custom.name, custom.id()));
            }
        }
        if !(0.0..=1.0).contains(&self.answer_correctness_weight) {
            let weight = self.answer_correctness_weight;
            faults.push(format!("eval.answer_correctness_weight is {weight}, must be 0 to 1"));
        }
        if !(1..=MAX_RUNS).contains(&self.pairwise_runs) {
            faults.push(format!("eval.pairwise_runs is {}, must be 1 to {MAX_RUNS}", self.pairwise_runs));
        }
        self.perplexity.faults(&mut faults);
        faults
    }

    /// Faults of `[evaluator.<id>]`; a threshold that two keys set is one that names both.
    fn own_faults(&self, faults: &mut Vec<String>) {
        for (id, one) in &self.evaluator {
            if one.method.is_some() && id != SIMILARITY {
                faults.push(format!("evaluator.{id}.method: only {SIMILARITY} has methods; leave it out"));
            }
            let Some(threshold) = one.metric_threshold else { continue };
            let key = format!("evaluator.{id}.metric_threshold");
            if !threshold.is_finite() {
                faults.push(format!("{key} is {threshold}: give a number"));
            } else if let Some(scale) = beyond(id, threshold) {
                let (least, most) = (scale.least, scale.most);
                faults.push(format!("{key} is {threshold}: its values are from {least} to {most}"));
            }
            let both = |other: &str| {
                format!("{key} and {other} both set the threshold of {id}: leave one of them out")
            };
            if let Thresholds::ByMetric(values) = &self.thresholds {
                let named = values.keys().filter(|metric| scale_of(id, metric).is_some());
                faults.extend(named.map(|metric| both(&format!("eval.thresholds.{metric}"))));
            }
            if id == PERPLEXITY && self.perplexity.threshold != 0.0 {
                faults.push(both("eval.perplexity.threshold"));
            }
        }
        if let Thresholds::ByMetric(values) = &self.thresholds
            && self.perplexity.threshold != 0.0
            && values.contains_key(PERPLEXITY)
        {
            let both = "eval.perplexity.threshold and eval.thresholds.perplexity both set the threshold of perplexity";
            faults.push(format!("{both}: leave one of them out"));
        }
    }

    /// How `answer_semantic_similarity` compares.
    pub fn similarity_method(&self) -> SimilarityMethod {
        self.evaluator.get(SIMILARITY).and_then(|one| one.method).unwrap_or_default()
    }

    /// The same for the program's own models alone: without the user's no cross-encoder is there.
    #[must_use]
    pub fn with_own_models(&self) -> Self {
        let mut config = self.clone();
        config.evaluator.values_mut().for_each(|one| one.method = None);
        config
    }

    /// What is said of thresholds. That of `[eval.perplexity]` is as much the evaluator's own as `[evaluator.perplexity]`.
    pub(super) fn lines(&self) -> Lines {
        let named = self.evaluator.iter();
        let mut own: BTreeMap<String, f64> =
            named.filter_map(|(id, one)| Some((id.clone(), one.metric_threshold?))).collect();
        if self.perplexity.threshold != 0.0 {
            own.entry(PERPLEXITY.to_owned()).or_insert(self.perplexity.threshold);
        }
        Lines::new(self.thresholds.clone(), own)
    }
}
