//! Evaluators by id.

use super::config::Config;
use super::evaluator::{Away, Evaluator, Metric, Pace, Said, Waits};
use super::ids::{asks_judge, is_plugin};
use super::local;
use super::model::{ModelError, Models, ModelsConfig};
use super::thresholds::Lines;
use crate::detect::Policy;
use crate::domain::score::{Better, Score, ScoreStatus};
use crate::domain::trace::EvalInput;
use futures::FutureExt;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::time::Instant;

/// What a panic is told as.
const PANICKED: &str = "the evaluator panicked; see the server's log";
/// What is missing for an evaluator that asks a judge.
const NEEDS_JUDGE: &str =
    " without an LLM judge (or it is disabled): configure [[judges]], see docs/judges.md";

/// What is missing for a plug-in.
const NEEDS_PLUGIN: &str = " (or it is disabled): configure [[plugins]], see docs/plugins.md";

/// An id that names no evaluator.
#[derive(Debug, thiserror::Error)]
#[error("no evaluator {id:?}{hint}; there are {known}")]
pub struct RegistryError {
    id: String,
    hint: &'static str,
    known: String,
}

/// The evaluators that run.
pub struct Registry {
    evaluators: BTreeMap<String, Arc<dyn Evaluator>>,
    lines: Lines,
    /// Embeddings compared, whatever method is configured; none where that evaluator is disabled.
    similarity: Option<Arc<dyn Evaluator>>,
}

impl Registry {
    /// Builds every evaluator that `config` does not disable, and opens the user's model if there is one. The embedded
    /// models are opened when an evaluator first needs them; at most `workers` of their batches run at a time.
    ///
    /// # Errors
    /// When stored constants are damaged, or a file of the configuration is not there or cannot be used.
    pub fn new(config: &Config, workers: usize) -> Result<Self, ModelError> {
        Self::with_policy(config, workers, &Arc::default())
    }

    /// As [`Registry::new`]; values that `policy` lets through are no leaks.
    pub fn with_policy(config: &Config, workers: usize, policy: &Arc<Policy>) -> Result<Self, ModelError> {
        Self::with_models(config, &ModelsConfig::default(), workers, policy)
    }

    /// As [`Registry::with_policy`], with the user's models in the places of the program's own.
    pub fn with_models(
        config: &Config,
        models: &ModelsConfig,
        workers: usize,
        policy: &Arc<Policy>,
    ) -> Result<Self, ModelError> {
        let models = Models::open(workers, models)?;
        let mut all: Vec<Arc<dyn Evaluator>> = vec![
            Arc::new(local::Groundedness::new(models.clone())),
            Arc::new(local::AnswerRelevancySimilarity::new(models.clone())),
            Arc::new(local::ContextRelevancySoft::new(models.clone())),
            Arc::new(local::toxicity(models.clone())?),
            Arc::new(local::fairness_bias(models.clone())?),
            Arc::new(local::Hallucination::new(models.clone())?),
            Arc::new(local::AnswerRelevance::new(models.clone())?),
            Arc::new(local::ContextRelevance::new(models.clone())?),
            Arc::new(local::Summarization::new(models.clone())?),
            Arc::new(local::CrossTenantLeakage::new(models.clone())),
            Arc::new(local::AnswerSemanticSimilarity::new(models.clone(), config.similarity_method())?),
            Arc::new(local::bleu()),
            Arc::new(local::rouge()),
            Arc::new(local::Classification),
            Arc::new(local::DocumentRecall),
            Arc::new(local::pii_leakage(Arc::clone(policy))),
            Arc::new(local::sensitive_data_leakage(Arc::clone(policy))),
            Arc::new(local::PromptLeakage::new().with_canaries(config.canaries.clone())),
            Arc::new(local::LanguageMismatch::new()),
            Arc::new(local::Looping::new()),
            Arc::new(local::ToolLoop),
            Arc::new(local::TokensPresence::new()),
        ];
        let is_disabled = |id: &str| config.disabled.iter().any(|disabled| disabled == id);
        // The user's files are opened only for an evaluator that runs.
        if !is_disabled(local::Perplexity::ID) {
            all.push(Arc::new(local::Perplexity::new(&models, &config.perplexity)?));
        }
        let embedded: Arc<dyn Evaluator> = Arc::new(local::AnswerSemanticSimilarity::embeddings(models));
        let similarity = (!is_disabled(embedded.id())).then_some(embedded);
        let evaluators =
            all.into_iter().filter(|e| !is_disabled(e.id())).map(|e| (e.id().to_owned(), e)).collect();
        Ok(Self { evaluators, lines: config.lines(), similarity })
    }

    /// The same with `more` evaluators, but for those that are disabled.
    #[must_use]
    pub fn with(mut self, more: Vec<Arc<dyn Evaluator>>, config: &Config) -> Self {
        let runs = more.into_iter().filter(|e| config.disabled.iter().all(|id| id != e.id()));
        self.evaluators.extend(runs.map(|e| (e.id().to_owned(), e)));
        self
    }

    /// These evaluators alone.
    #[cfg(test)]
    pub(crate) fn of(evaluators: Vec<Arc<dyn Evaluator>>) -> Self {
        let evaluators = evaluators.into_iter().map(|e| (e.id().to_owned(), e)).collect();
        Self { evaluators, lines: Lines::default(), similarity: None }
    }

    /// What tells how similar two texts are for formulas that say so: the cosine of their embeddings.
    pub fn similarity(&self) -> Option<Arc<dyn Evaluator>> {
        self.similarity.clone()
    }

    /// The ids of all that run.
    pub fn ids(&self) -> Vec<String> {
        self.evaluators.keys().cloned().collect()
    }

    /// The evaluators that `ids` name, each once; `*` stands for all that fit any traffic.
    pub fn select(&self, ids: &[String]) -> Result<Vec<Arc<dyn Evaluator>>, RegistryError> {
        let mut chosen: BTreeMap<&str, Arc<dyn Evaluator>> = BTreeMap::new();
        for id in ids {
            if id == "*" {
                let fits = self.evaluators.iter().filter(|(_, e)| !e.is_by_name_only());
                chosen.extend(fits.map(|(id, e)| (id.as_str(), e.clone())));
                continue;
            }
            let (id, evaluator) =
                self.evaluators.get_key_value(id.as_str()).ok_or_else(|| self.unknown(id))?;
            chosen.insert(id, evaluator.clone());
        }
        Ok(chosen.into_values().collect())
    }

    fn unknown(&self, id: &str) -> RegistryError {
        let hint = match id {
            id if asks_judge(id) => NEEDS_JUDGE,
            id if is_plugin(id) => NEEDS_PLUGIN,
            _ => "",
        };
        RegistryError { id: id.to_owned(), hint, known: self.ids().join(", ") }
    }

    /// Those of [`Registry::select`] that have this pace.
    pub fn select_paced(&self, ids: &[String], pace: Pace) -> Result<Vec<Arc<dyn Evaluator>>, RegistryError> {
        Ok(self.select(ids)?.into_iter().filter(|evaluator| evaluator.pace() == pace).collect())
    }

    /// Whether one of them is slow.
    pub fn has_slow(&self, ids: &[String]) -> bool {
        self.select_paced(ids, Pace::Slow).is_ok_and(|slow| !slow.is_empty())
    }

    /// Whether one of them is fast, or unknown.
    pub fn has_fast(&self, ids: &[String]) -> bool {
        self.select_paced(ids, Pace::Fast).map_or(true, |fast| !fast.is_empty())
    }

    /// Runs one evaluator. A panic inside it is a failed score for each metric, not a lost worker.
    pub fn evaluate(&self, evaluator: &dyn Evaluator, input: &EvalInput) -> Vec<Score> {
        let result = catch_unwind(AssertUnwindSafe(|| evaluator.evaluate(input)));
        let scores = result.unwrap_or_else(|_| evaluator.fail(PANICKED));
        self.with_thresholds(evaluator, scores)
    }

    /// Asks one evaluator that waits for others, until `until`. A panic inside it is a failed score for each metric.
    ///
    /// # Errors
    /// When another try later may help.
    pub async fn ask(
        &self,
        evaluator: &dyn Evaluator,
        waits: &dyn Waits,
        input: &EvalInput,
        until: Instant,
    ) -> Result<Said, Away> {
        let asked = AssertUnwindSafe(waits.ask(input, until)).catch_unwind().await;
        let said = asked
            .unwrap_or_else(|_| Ok(Said { scores: evaluator.fail(PANICKED), usage: None, version: None }))?;
        Ok(Said { scores: self.with_thresholds(evaluator, said.scores), ..said })
    }

    fn with_thresholds(&self, evaluator: &dyn Evaluator, mut scores: Vec<Score>) -> Vec<Score> {
        for score in &mut scores {
            self.apply_threshold(evaluator, score);
        }
        scores
    }

    /// The threshold of a metric of `evaluator`: the configured one, else its own; none where there is neither. That of a
    /// pass or fail is what the share of passes is held against.
    pub fn threshold(&self, evaluator: &dyn Evaluator, metric: &Metric) -> Option<f64> {
        self.lines.configured(evaluator, metric, metric.threshold).or(metric.threshold)
    }

    /// A configured threshold replaces the evaluator's own, and the verdict follows it. A pass or fail without a scale stays.
    fn apply_threshold(&self, evaluator: &dyn Evaluator, score: &mut Score) {
        let metric = evaluator.metrics().iter().find(|m| m.name == score.metric);
        let (Some(metric), Some(value)) = (metric, score.value) else { return };
        let is_verdict = score.threshold.is_none() && score.passed.is_some();
        if score.status != ScoreStatus::Ok || is_verdict {
            return;
        }
        let Some(threshold) = self.lines.configured(evaluator, metric, score.threshold) else { return };
        let passed = match metric.better {
            Better::Higher => value >= threshold,
            Better::Lower => value < threshold,
        };
        let is_turned = score.passed != Some(passed);
        (score.threshold, score.passed) = (Some(threshold), Some(passed));
        if is_turned && let Some(why) = &mut score.rationale {
            // The evaluator's first sentence is of its own threshold.
            let verdict = if passed { "Passes" } else { "Fails" };
            *why = format!("{verdict} at the configured threshold {threshold}. {why}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::document::Document;
    use crate::eval::{EvaluatorConfig, System, Thresholds};

    #[test]
    fn a_configured_threshold_that_turns_a_verdict_is_told_first() {
        let ticket = "A ticket costs twelve euros.";
        let document = Document { content: Some(ticket.to_owned()), ..Document::default() };
        let input =
            EvalInput { answer: Some(ticket.to_owned()), contexts: vec![document], ..EvalInput::default() };
        let judged = |threshold: f64| {
            let thresholds = Thresholds::ByMetric(BTreeMap::from([("groundedness".to_owned(), threshold)]));
            let registry = Registry::new(&Config { thresholds, ..Config::default() }, 1).unwrap();
            let evaluator = registry.select(&["groundedness".to_owned()]).unwrap().remove(0);
            registry.evaluate(&*evaluator, &input).remove(0)
        };
        let (kept, turned) = (judged(0.5), judged(1.5));
        assert_eq!((kept.passed, turned.passed), (Some(true), Some(false)));
        assert!(kept.rationale.unwrap().starts_with("Each sentence of the answer "));
        assert!(turned.rationale.unwrap().starts_with("Fails at the configured threshold 1.5. Each "));
    }

    /// Those of another system, that of one evaluator before them, and a pass that has none.
    #[test]
    fn thresholds_of_h2o_and_of_one_evaluator_hold() {
        let own = EvaluatorConfig { metric_threshold: Some(0.1), ..EvaluatorConfig::default() };
        let config = Config {
            thresholds: Thresholds::Of(System::H2o),
            evaluator: BTreeMap::from([("looping".to_owned(), own)]),
            ..Config::default()
        };
        let (usual, registry) =
            (Registry::new(&Config::default(), 1).unwrap(), Registry::new(&config, 1).unwrap());
        let held = |registry: &Registry, id: &str| {
            let evaluator = registry.select(&[id.to_owned()]).unwrap().remove(0);
            registry.threshold(evaluator.as_ref(), &evaluator.metrics()[0])
        };
        for (id, threshold) in [
            ("groundedness", Some(0.75)),
            ("looping", Some(0.1)),
            ("pii_leakage", Some(0.5)),
            ("perplexity", Some(0.5)),
            ("answer_relevance", held(&usual, "answer_relevance")),
            ("cross_tenant_leakage", None),
        ] {
            assert_eq!(held(&registry, id), threshold, "{id}");
        }
        assert_ne!(held(&usual, "groundedness"), Some(0.75));
        let input = EvalInput {
            answer: Some("It opens at nine. It closes at five.".to_owned()),
            ..EvalInput::default()
        };
        let judged = |id: &str| {
            let evaluator = registry.select(&[id.to_owned()]).unwrap().remove(0);
            registry.evaluate(evaluator.as_ref(), &input)
        };
        let looping = judged("looping");
        assert!(looping.iter().all(|score| score.threshold == Some(0.1)), "{looping:?}");
        // The share of passes has the threshold, not a pass.
        let leak = judged("pii_leakage").remove(0);
        assert_eq!((leak.threshold, leak.passed), (None, Some(true)));
    }
}
