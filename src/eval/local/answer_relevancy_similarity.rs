//! `answer_relevancy_similarity`: is some sentence of the answer about the question?

use std::sync::Arc;

use crate::domain::score::{Better, Score};
use crate::domain::trace::EvalInput;
use crate::eval::evaluator::{Evaluator, Metric};
use crate::eval::model::{ModelError, Models, Slot, excerpt, segments, unit_cosine};

const METRIC: &str = "answer_relevancy";
const MAX_ANSWER_SENTENCES: usize = 200;
/// The best balanced accuracy on 450 everyday answers that are for choosing: 0.582, where 0.75 has 0.505 and fails 98 % of the
/// relevant ones.
const THRESHOLD: f64 = 0.25;

/// The maximum over the answer's sentences of the cosine similarity to the question.
///
/// From 0 to 1; a negative cosine counts as 0. A refusal that repeats the question scores high.
pub struct AnswerRelevancySimilarity {
    models: Arc<Models>,
    metrics: [Metric; 1],
    version: String,
}

impl AnswerRelevancySimilarity {
    /// With the default threshold.
    pub fn new(models: Arc<Models>) -> Self {
        let metric = Metric::new(METRIC, Better::Higher, Some(THRESHOLD));
        let version = format!("1+{}", models.version(Slot::Embedding));
        Self { models, metrics: [metric], version }
    }

    fn judge(&self, question: &str, answer: &str) -> Result<Score, ModelError> {
        let encoder = self.models.similarity();
        let known = |text: &&str| encoder.meaningful_tokens(text, 1) > 0;
        if !known(&question) {
            return Ok(Score::failed(METRIC, "question too short to embed"));
        }
        let cut = segments(answer, MAX_ANSWER_SENTENCES);
        let sentences: Vec<&str> = cut.pieces.into_iter().filter(known).collect();
        let texts: Vec<&str> = std::iter::once(question).chain(sentences.iter().copied()).collect();
        let vectors = encoder.embed(&texts)?;
        let similarities = vectors[1..].iter().map(|vector| f64::from(unit_cosine(&vectors[0], vector)));
        let Some((best, value)) = similarities.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)) else {
            return Ok(Score::failed(METRIC, "answer too short to embed"));
        };
        let threshold = self.metrics[0].threshold.unwrap_or(THRESHOLD);
        let number = if value >= threshold { "A" } else { "No" };
        let mut why = format!(
            "{number} sentence of the answer is about the question. Nearest to it: \"{}\".",
            excerpt(sentences[best])
        );
        if cut.left_out > 0 {
            why += &format!(" Only the first {MAX_ANSWER_SENTENCES} sentences of the answer were judged.");
        }
        Ok(Score::measured(METRIC, value.max(0.0), threshold, Better::Higher).because(why))
    }
}

impl Evaluator for AnswerRelevancySimilarity {
    fn id(&self) -> &str {
        "answer_relevancy_similarity"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn evaluate(&self, input: &EvalInput) -> Vec<Score> {
        let Some(question) = input.asked() else { return self.skip("question") };
        let Some(answer) = input.answered() else { return self.skip("answer") };
        self.or_failed(self.judge(question, answer).map(|score| vec![score]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::score::ScoreStatus;

    fn judged(question: &str, answer: &str) -> Score {
        let input = EvalInput {
            question: Some(question.to_owned()),
            answer: Some(answer.to_owned()),
            ..Default::default()
        };
        AnswerRelevancySimilarity::new(Models::embedded(1).unwrap()).evaluate(&input).remove(0)
    }

    #[test]
    fn the_best_sentence_decides() {
        let question = "When was the Eiffel Tower built?";
        let good = judged(question, "Good morning! The Eiffel Tower was built from 1887 to 1889.");
        let bad = judged(question, "Good morning! Bread needs flour, water and salt.");
        assert!(good.value.unwrap() > 0.75 && good.passed == Some(true), "{good:?}");
        assert!(bad.value.unwrap() < 0.25 && bad.passed == Some(false), "{bad:?}");
        assert!(good.rationale.unwrap().contains("from 1887 to 1889"));
    }

    #[test]
    fn what_is_missing_is_named() {
        let skipped = |score: Score| (score.status == ScoreStatus::Skipped).then_some(score.error).flatten();
        assert_eq!(skipped(judged(" ", "An answer.")).as_deref(), Some("question"));
        assert_eq!(skipped(judged("A question?", "")).as_deref(), Some("answer"));
    }

    #[test]
    fn text_without_words_is_a_fault() {
        let score = judged("What is this?", "\u{1f600} \u{1f600}");
        assert_eq!(
            (score.status, score.error.as_deref()),
            (ScoreStatus::Error, Some("answer too short to embed"))
        );
        assert_eq!(judged("???", "It is a test.").status, ScoreStatus::Error);
    }
}
