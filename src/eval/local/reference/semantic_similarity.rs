//! `answer_semantic_similarity`: do the answer and the expected answer mean the same?

use super::shared::{both, measured};
use crate::domain::score::{Better, Score};
use crate::domain::trace::EvalInput;
use crate::eval::evaluator::{Evaluator, Metric};
use crate::eval::model::{ModelError, Models, Slot, segments, unit_cosine, unit_mean};
use crate::eval::section::SimilarityMethod;
use std::sync::Arc;

static METRIC: Metric = Metric::new("answer_similarity", Better::Higher, Some(0.75));
const MAX_SENTENCES: usize = 500;
/// A text up to this many tokens is embedded whole.
const WHOLE: usize = 254;
/// Special tokens around it.
const FRAME: usize = 2;
/// Special tokens around two texts, at most.
const FRAME_OF_TWO: usize = 4;
/// What is missing for a cross-encoder.
const NO_MODEL: &str = "method = \"cross_encoder\" needs a model: name its file in [models.similarity]";

/// The cosine of the two answers' embeddings, from 0 to 1; a negative one counts as 0. Or the number, from 0 to 1, that the
/// user's cross-encoder gives for both together. The version and the rationale tell which: the two are different scales.
///
/// A text that is longer than the encoder reads is the mean of its sentences; of one that a cross-encoder cannot read whole
/// the beginning is read, which the rationale tells. Similarity is not agreement: a swapped number hardly moves it.
pub struct AnswerSemanticSimilarity {
    models: Arc<Models>,
    method: SimilarityMethod,
    version: String,
}

impl AnswerSemanticSimilarity {
    /// With the default threshold, 0.75, whatever the method: it was not chosen for a model of the user.
    ///
    /// # Errors
    /// When a cross-encoder is asked for and there is none.
    pub fn new(models: Arc<Models>, method: SimilarityMethod) -> Result<Self, ModelError> {
        if method == SimilarityMethod::Embeddings {
            return Ok(Self::embeddings(models));
        }
        if models.cross_encoder().is_none() {
            return Err(ModelError::open("similarity", NO_MODEL));
        }
        let version = format!("1+cross_encoder+{}", models.version(Slot::Similarity));
        Ok(Self { models, method, version })
    }

    /// By the cosine of embeddings.
    pub fn embeddings(models: Arc<Models>) -> Self {
        let version = format!("1+{}", models.version(Slot::Embedding));
        Self { models, method: SimilarityMethod::Embeddings, version }
    }

    /// By the model that reads both together.
    fn read(&self, answer: &str, expected: &str) -> Result<Score, ModelError> {
        let Some(model) = self.models.cross_encoder() else {
            return Ok(Score::failed(&METRIC.name, NO_MODEL));
        };
        for (text, which) in [(answer, "answer"), (expected, "expected answer")] {
            if !text.chars().any(char::is_alphanumeric) {
                return Ok(Score::failed(&METRIC.name, &format!("{which} without a letter or digit")));
            }
        }
        let found = model.of_pairs(&[(answer, expected)])?;
        let Some(value) = found.first().and_then(|numbers| numbers.first()) else {
            return Ok(Score::failed(&METRIC.name, "the cross-encoder said nothing"));
        };
        let room = model.max_tokens().saturating_sub(FRAME_OF_TWO);
        let (said, wanted) = (model.token_count(answer), model.token_count(expected));
        let cut = if wanted > room / 2 || said + wanted > room {
            format!("; with {said} and {wanted} tokens, of which it reads {room}, not to their end")
        } else {
            String::new()
        };
        let name = self.models.version(Slot::Similarity);
        let why = format!("A cross-encoder ({name}) read both answers together{cut}.");
        Ok(measured(&METRIC, f64::from(*value)).because(why))
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
        if self.method == SimilarityMethod::CrossEncoder {
            return self.read(answer, expected);
        }
        let Some(answer) = self.vector(answer)? else {
            return Ok(Score::failed(&METRIC.name, "answer too short to embed"));
        };
        let Some(expected) = self.vector(expected)? else {
            return Ok(Score::failed(&METRIC.name, "expected answer too short to embed"));
        };
        let cosine = f64::from(unit_cosine(&answer, &expected)).max(0.0);
        Ok(measured(&METRIC, cosine).because("The cosine of the embeddings of both answers."))
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
    use crate::eval::{FileConfig, ModelsConfig};

    fn value(answer: &str, expected: &str) -> Option<f64> {
        let input = EvalInput {
            answer: Some(answer.to_owned()),
            expected: Some(expected.to_owned()),
            ..EvalInput::default()
        };
        AnswerSemanticSimilarity::embeddings(Models::embedded(1).unwrap()).evaluate(&input)[0].value
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

    /// The number is that of the file: a small model with random weights, whose logits PyTorch told.
    #[test]
    fn a_cross_encoder_reads_both_answers_and_its_rows_say_so() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/models/bert");
        let labels = ["similarity", "other", "none"].map(str::to_owned).to_vec();
        let file = FileConfig { labels, ..FileConfig::of(format!("{folder}/model.onnx")) };
        let models = Models::open(1, &ModelsConfig::only(Slot::Similarity, file)).unwrap();
        let cross = AnswerSemanticSimilarity::new(models.clone(), SimilarityMethod::CrossEncoder).unwrap();
        let told: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(format!("{folder}/expected.json")).unwrap())
                .unwrap();
        let judged = |answer: &str, expected: &str| {
            let (answer, expected) = (Some(answer.to_owned()), Some(expected.to_owned()));
            cross.evaluate(&EvalInput { answer, expected, ..EvalInput::default() }).remove(0)
        };
        // What is longer than the model reads is cut in another way there.
        let pairs = told["pairs"].as_array().unwrap().iter().filter(|one| {
            let words = one["pair"].as_array().unwrap().iter().map(|text| text.as_str().unwrap());
            words.clone().all(|text| text.chars().any(char::is_alphanumeric))
                && words.map(|text| text.len()).sum::<usize>() < 200
        });
        let mut count = 0;
        for one in pairs {
            let text = |at: usize| one["pair"][at].as_str().unwrap();
            let powers: Vec<f64> =
                one["logits"].as_array().unwrap().iter().map(|logit| logit.as_f64().unwrap().exp()).collect();
            let score = judged(text(0), text(1));
            let wanted = powers[0] / powers.iter().sum::<f64>();
            assert!((score.value.unwrap() - wanted).abs() < 1e-3, "{}: {score:?}, {wanted}", text(0));
            assert!(score.rationale.unwrap().starts_with("A cross-encoder (model-"));
            count += 1;
        }
        assert!(count > 0);
        let long = judged(&"The museum opens at nine. ".repeat(200), "It opens at nine.");
        assert!(long.rationale.unwrap().contains("not to their end"));
        assert!(judged("...", "It opens.").error.unwrap().contains("without a letter or digit"));
        let cosine = AnswerSemanticSimilarity::embeddings(models);
        assert!(cross.version().starts_with("1+cross_encoder+model-") && cross.version() != cosine.version());
        let missing =
            AnswerSemanticSimilarity::new(Models::embedded(1).unwrap(), SimilarityMethod::CrossEncoder);
        assert!(missing.err().unwrap().to_string().contains("[models.similarity]"));
    }
}
