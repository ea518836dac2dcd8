//! `answer_semantic_similarity`: do the answer and the expected answer mean the same?

use super::shared::{both, measured};
use crate::domain::score::{Better, Score};
use crate::domain::trace::EvalInput;
use crate::eval::evaluator::{Evaluator, Metric};
use crate::eval::model::{ModelError, Models, Slot, segments, unit_cosine, unit_mean};
use std::sync::Arc;

static METRIC: Metric = Metric::new("answer_similarity", Better::Higher, Some(0.75));
const MAX_SENTENCES: usize = 500;
/// A text up to this many tokens is embedded whole.
const WHOLE: usize = 254;
/// Special tokens around it.
const FRAME: usize = 2;

/// The cosine of the two answers' embeddings, from 0 to 1; a negative one counts as 0.
///
/// A text that is longer than the encoder reads is the mean of its sentences. Similarity is not agreement: a swapped
/// number hardly moves it.
pub struct AnswerSemanticSimilarity {
    models: Arc<Models>,
    version: String,
}

impl AnswerSemanticSimilarity {
    /// With the default threshold, 0.75.
    pub fn new(models: Arc<Models>) -> Self {
        let version = format!("1+{}", models.version(Slot::Embedding));
        Self { models, version }
    }

    fn vector(&self, text: &str) -> Result<Option<Vec<f32>>, ModelError> {
        let encoder = self.models.similarity();
        if encoder.meaningful_tokens(text, 1) == 0 {
            return Ok(None);
        }
        if encoder.token_count(text) <= WHOLE.min(encoder.max_tokens().saturating_sub(FRAME)) {
            return Ok(encoder.embed(&[text])?.pop());
        }
        let vectors = encoder.embed(&segments(text, MAX_SENTENCES).pieces)?;
        Ok(Some(unit_mean(&vectors)))
    }

    fn judge(&self, answer: &str, expected: &str) -> Result<Score, ModelError> {
        let Some(answer) = self.vector(answer)? else {
            return Ok(Score::failed(&METRIC.name, "answer too short to embed"));
        };
        let Some(expected) = self.vector(expected)? else {
            return Ok(Score::failed(&METRIC.name, "expected answer too short to embed"));
        };
        Ok(measured(&METRIC, f64::from(unit_cosine(&answer, &expected)).max(0.0)))
    }
}

impl Evaluator for AnswerSemanticSimilarity {
    fn id(&self) -> &str {
        "answer_semantic_similarity"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn metrics(&self) -> &[Metric] {
        std::slice::from_ref(&METRIC)
    }

    fn is_by_name_only(&self) -> bool {
        true
    }

    fn evaluate(&self, input: &EvalInput) -> Vec<Score> {
        let (answer, expected) = match both(input, self.metrics()) {
            Ok(both) => both,
            Err(skipped) => return skipped,
        };
        vec![
            self.judge(answer, expected)
                .unwrap_or_else(|error| Score::failed(&METRIC.name, &error.to_string())),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(answer: &str, expected: &str) -> Option<f64> {
        let input = EvalInput {
            answer: Some(answer.to_owned()),
            expected: Some(expected.to_owned()),
            ..EvalInput::default()
        };
        AnswerSemanticSimilarity::new(Models::embedded(1).unwrap()).evaluate(&input)[0].value
    }

    #[test]
    fn a_paraphrase_is_nearer_than_another_topic() {
        let near = value("Paris is the capital of France.", "The capital city of France is Paris.").unwrap();
        let far = value("Paris is the capital of France.", "Penguins breed on ice.").unwrap();
        assert!(near > 0.9 && far < 0.3, "{near} {far}");
    }

    #[test]
    fn long_texts_are_read_to_their_end() {
        let long = "The museum opens at nine in the morning. ".repeat(60);
        let other = format!("{long}{}", "Whales sing under water for many hours. ".repeat(60));
        let (same, changed) = (value(&long, &long).unwrap(), value(&long, &other).unwrap());
        assert!(same > 0.999 && changed < 0.95, "{same} {changed}");
        assert_eq!(value("...", "x"), None);
    }
}
