//! The evaluator `perplexity`: how expected is the answer to a language model that the user brings?

use std::path::Path;

use crate::domain::score::{Better, Score};
use crate::domain::trace::EvalInput;
use crate::eval::config::PerplexityConfig;
use crate::eval::evaluator::{Evaluator, Metric, Pace};
use crate::eval::model::{CausalFiles, CausalModel, MAX_CAUSAL_TOKENS, ModelError, Models, Reading, excerpt};

const METRIC: &str = "perplexity";

/// What a score without a model names as missing.
const NO_MODEL: &str = "eval.perplexity.model and eval.perplexity.tokenizer in the configuration: an ONNX file and the \
                        tokenizer.json of a causal language model";

/// exp of the mean cross-entropy of the answer's tokens, natural logarithm, from 1 up; lower is more expected.
///
/// The first token has no context and is not counted. Values of two models, or of two tokenizers, are not comparable.
pub struct Perplexity {
    model: Option<CausalModel>,
    metrics: [Metric; 1],
    version: String,
}

impl Perplexity {
    /// Its id.
    pub const ID: &str = "perplexity";

    /// With the model that the configuration names, if it names one.
    ///
    /// # Errors
    /// When the files are not there or are no causal language model.
    pub fn new(models: &Models, config: &PerplexityConfig) -> Result<Self, ModelError> {
        let files = CausalFiles {
            model: Path::new(&config.model),
            tokenizer: Path::new(&config.tokenizer),
            window: config.window,
            stride: config.stride,
        };
        let model = config.is_set().then(|| models.causal(&files)).transpose()?;
        let version = model.as_ref().map_or_else(|| "1".to_owned(), |model| format!("1+{}", model.version()));
        let threshold = Some(config.threshold).filter(|threshold| *threshold > 0.0);
        Ok(Self { model, metrics: [Metric::new(METRIC, Better::Lower, threshold)], version })
    }

    fn score(&self, found: &Reading) -> Score {
        let Some(mean) = found.mean else {
            return Score::skipped(METRIC, "answer of two tokens or more");
        };
        let value = mean.exp();
        if !value.is_finite() {
            return Score::failed(METRIC, &format!("the mean cross-entropy is {mean}: too high to be told"));
        }
        let mut why = if found.is_cut {
            format!("Only the first {} tokens were read (at most {MAX_CAUSAL_TOKENS} are).", found.tokens)
        } else {
            format!("{} tokens.", found.tokens)
        };
        if let Some((passage, mean)) = &found.worst {
            why += &format!(" Least expected (perplexity {:.1}): \"{}\".", mean.exp(), excerpt(passage));
        }
        match self.metrics[0].threshold {
            Some(threshold) => Score::measured(METRIC, value, threshold, Better::Lower),
            None => Score::told(METRIC, value),
        }
        .because(why)
    }
}

impl Evaluator for Perplexity {
    fn id(&self) -> &str {
        Self::ID
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn pace(&self) -> Pace {
        // The user's model may be of any size.
        if self.model.is_some() { Pace::Slow } else { Pace::Fast }
    }

    fn is_by_name_only(&self) -> bool {
        self.model.is_none()
    }

    fn evaluate(&self, input: &EvalInput) -> Vec<Score> {
        let answer = input.answer.as_deref().map(str::trim).filter(|answer| !answer.is_empty());
        let score = match (&self.model, answer) {
            (None, _) => Score::skipped(METRIC, NO_MODEL),
            (Some(_), None) => Score::skipped(METRIC, "answer"),
            (Some(model), Some(answer)) => match model.read(answer) {
                Ok(found) => self.score(&found),
                Err(error) => Score::failed(METRIC, &error.to_string()),
            },
        };
        vec![score]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::score::ScoreStatus;
    use crate::eval::{Config, Registry};

    fn config(threshold: f64) -> PerplexityConfig {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/perplexity");
        PerplexityConfig {
            model: format!("{folder}/model.onnx"),
            tokenizer: format!("{folder}/tokenizer.json"),
            window: 16,
            stride: 8,
            threshold,
        }
    }

    fn judged(config: &PerplexityConfig, answer: &str) -> Score {
        let evaluator = Perplexity::new(&Models::embedded(1).unwrap(), config).unwrap();
        let input = EvalInput { answer: Some(answer.to_owned()), ..EvalInput::default() };
        evaluator.evaluate(&input).remove(0)
    }

    /// exp of the mean of 14 tokens, 8.28478 by PyTorch (`training/perplexity_fixture.py`).
    #[test]
    fn the_value_is_the_exponential_of_the_mean() {
        let score = judged(&config(0.0), "The museum opens at nine.");
        let value = score.value.unwrap();
        assert!((value / 8.284_776_9_f64.exp() - 1.0).abs() < 1e-3, "{value}");
        assert_eq!((score.passed, score.threshold), (None, None));
        let why = score.rationale.unwrap();
        assert!(why.starts_with("14 tokens.") && why.contains("Least expected (perplexity "), "{why}");
    }

    #[test]
    fn a_threshold_gives_a_verdict() {
        assert_eq!(judged(&config(5_000.0), "The museum opens at nine.").passed, Some(true));
        assert_eq!(judged(&config(100.0), "The museum opens at nine.").passed, Some(false));
    }

    #[test]
    fn what_is_missing_is_named() {
        for (answer, missing) in [(" ", "answer"), ("a", "answer of two tokens or more")] {
            let score = judged(&config(0.0), answer);
            assert_eq!((score.status, score.error.as_deref()), (ScoreStatus::Skipped, Some(missing)));
        }
        let score = judged(&PerplexityConfig::default(), "An answer.");
        assert_eq!(score.status, ScoreStatus::Skipped);
        assert!(score.error.unwrap().contains("eval.perplexity.model"));
    }

    #[test]
    fn a_long_answer_is_cut_and_it_is_said() {
        let config = PerplexityConfig { window: 64, stride: 63, ..config(0.0) };
        let why = judged(&config, &"The museum opens. ".repeat(500)).rationale.unwrap();
        assert!(why.starts_with("Only the first 2048 tokens were read"), "{why}");
    }

    #[test]
    fn the_star_includes_it_only_with_a_model() {
        let has = |perplexity: PerplexityConfig, disabled: &[&str]| {
            let disabled = disabled.iter().map(|id| (*id).to_owned()).collect();
            let config = Config { perplexity, disabled, ..Config::default() };
            let registry = Registry::new(&config, 1).unwrap();
            registry.select(&["*".to_owned()]).unwrap().iter().any(|e| e.id() == Perplexity::ID)
        };
        assert!(has(config(0.0), &[]) && !has(PerplexityConfig::default(), &[]));
        let wrong = PerplexityConfig { model: "/nowhere.onnx".to_owned(), ..config(0.0) };
        assert!(!has(wrong.clone(), &["perplexity"]), "files of a disabled evaluator are not opened");
        let config = Config { perplexity: wrong, ..Config::default() };
        let error = Registry::new(&config, 1).err().unwrap().to_string();
        assert!(error.contains("eval.perplexity.model: /nowhere.onnx"), "{error}");
    }

    #[test]
    fn faults_name_their_key() {
        let fault =
            |perplexity: PerplexityConfig| Config { perplexity, ..Config::default() }.faults().join("\n");
        assert_eq!(fault(config(50.0)), "");
        assert!(
            fault(PerplexityConfig { tokenizer: String::new(), ..config(0.0) }).contains("belong together")
        );
        assert!(fault(PerplexityConfig { window: 1, ..config(0.0) }).contains("eval.perplexity.window"));
        for stride in [0, 16] {
            assert!(fault(PerplexityConfig { stride, ..config(0.0) }).contains("eval.perplexity.stride"));
        }
        for threshold in [-1.0, 0.5, f64::NAN] {
            assert!(fault(config(threshold)).contains("eval.perplexity.threshold"));
        }
    }
}
