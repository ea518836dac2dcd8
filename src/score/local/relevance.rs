//! `context_relevance`: does the context contain what answers the question? `answer_relevance`: does the answer address
//! the question?

use std::collections::HashMap;
use std::sync::Arc;

use super::documents::document_name;
use crate::domain::score::{Better, Score};
use crate::domain::trace::EvalInput;
use crate::score::evaluator::{Evaluator, Metric};
use crate::score::evidence::{Combiner, content, share_missing, words};
use crate::score::model::{
    ENCODER_VERSION, ModelError, Models, RELEVANCE_VERSION, excerpt, segments, unit_cosine,
};

/// A passage is read in windows of whole sentences with at most this many tokens, of which the best counts.
const WINDOW_TOKENS: usize = 160;
const MAX_WINDOWS: usize = 8;
/// Of a question of many sentences (a conversation) the last ones are compared by words and similarity.
const TAIL_SENTENCES: usize = 3;
const MAX_SENTENCES: usize = 200;
/// No more chunks than this are judged.
const MAX_CHUNKS: usize = 64;
const FEATURES: [&str; 4] = ["logit", "cosine", "coverage", "log_words"];

/// What the two evaluators share: one cross-encoder, and a combiner each.
struct Relevance {
    models: Arc<Models>,
    combiner: Combiner,
    /// Which of the cross-encoder's logits.
    logit: usize,
}

/// The probability that a chunk contains what answers the question: the highest of all chunks, and their mean.
///
/// A cross-encoder reads the question with windows of the chunk; a logistic regression adds the similarity and the share
/// of the question's words that the chunk has.
pub struct ContextRelevance {
    shared: Relevance,
    metrics: [Metric; 2],
    version: String,
}

/// The probability that the answer addresses the question, from 0 to 1. A refusal, an echo of the question and an answer
/// to something else do not; a wrong answer may.
pub struct AnswerRelevance {
    shared: Relevance,
    metrics: [Metric; 1],
    version: String,
}

impl Relevance {
    fn new(models: Arc<Models>, name: &'static str, logit: usize) -> Result<Self, ModelError> {
        let damaged = |reason: String| ModelError::Open { model: "relevance", reason };
        let mut stored: HashMap<String, Combiner> =
            serde_json::from_str(models.relevance_combiners()).map_err(|e| damaged(e.to_string()))?;
        let combiner = stored.remove(name).ok_or_else(|| damaged(format!("there is no combiner {name}")))?;
        Ok(Self { models, combiner: combiner.checked(|feature| FEATURES.contains(&feature))?, logit })
    }

    /// The probability for each text, of which each window was read.
    fn probabilities(&self, question: &str, texts: &[&str], is_cut: bool) -> Result<Vec<f64>, ModelError> {
        let (mut pairs, mut places) = (Vec::new(), Vec::new());
        for (at, text) in texts.iter().enumerate() {
            let windows = if is_cut { self.windows(text) } else { vec![(*text).to_owned()] };
            for window in windows {
                pairs.push((window, question.to_owned()));
                places.push(at);
            }
        }
        let mut logits = vec![f64::NEG_INFINITY; texts.len()];
        for (at, row) in places.into_iter().zip(self.models.relevance()?.of_pairs(&pairs)?) {
            logits[at] = logits[at].max(f64::from(row[self.logit]));
        }
        let asked = tail(question);
        let wanted = content(&asked);
        let vector = self.models.encoder.embed(&[&asked])?.pop().unwrap_or_default();
        let mut found = Vec::with_capacity(texts.len());
        for (text, logit) in texts.iter().zip(logits) {
            let vectors = self.models.encoder.embed(&segments(text, MAX_SENTENCES).pieces)?;
            let cosine = vectors.iter().map(|other| unit_cosine(&vector, other)).fold(0.0, f32::max);
            let coverage = 1.0 - share_missing(&wanted, &content(text));
            let value = |name: &str| match name {
                "logit" => Some(logit),
                "cosine" => Some(f64::from(cosine)),
                "coverage" => Some(coverage),
                "log_words" => Some((1.0 + words(text).len() as f64).ln()),
                _ => None,
            };
            found.push(self.combiner.probability(value).0);
        }
        Ok(found)
    }

    /// Windows of whole sentences, in order.
    fn windows(&self, text: &str) -> Vec<String> {
        let (mut windows, mut now, mut total) = (Vec::new(), Vec::new(), 0);
        for sentence in segments(text, MAX_SENTENCES).pieces {
            let tokens = self.models.encoder.token_count(sentence);
            if !now.is_empty() && total + tokens > WINDOW_TOKENS {
                windows.push(std::mem::take(&mut now).join(" "));
                total = 0;
            }
            now.push(sentence);
            total += tokens;
        }
        windows.push(if windows.is_empty() && now.is_empty() { text.to_owned() } else { now.join(" ") });
        windows.truncate(MAX_WINDOWS);
        windows
    }
}

fn tail(question: &str) -> String {
    let sentences = segments(question, usize::MAX).pieces;
    if sentences.len() <= TAIL_SENTENCES {
        return question.to_owned();
    }
    sentences[sentences.len() - TAIL_SENTENCES..].join(" ")
}

impl ContextRelevance {
    /// With the threshold that was chosen on held-out rows.
    ///
    /// # Errors
    /// When the stored combiner is damaged.
    pub fn new(models: Arc<Models>) -> Result<Self, ModelError> {
        let shared = Relevance::new(models, "context_relevance", 0)?;
        let metric =
            |name| Metric { name, better: Better::Higher, threshold: Some(shared.combiner.threshold) };
        let metrics = [metric("context_relevance"), metric("context_relevance_mean")];
        Ok(Self { shared, metrics, version: format!("1+{ENCODER_VERSION}+{RELEVANCE_VERSION}") })
    }

    fn judge(&self, question: &str, input: &EvalInput) -> Result<Vec<Score>, ModelError> {
        let chunks: Vec<(usize, &str)> = input
            .contexts
            .iter()
            .enumerate()
            .filter_map(|(at, document)| Some((at, document.content.as_deref()?)))
            .filter(|(_, text)| !text.trim().is_empty())
            .take(MAX_CHUNKS)
            .collect();
        let texts: Vec<&str> = chunks.iter().map(|(_, text)| *text).collect();
        let found = self.shared.probabilities(question, &texts, true)?;
        let best = found.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((at, best)) = best else {
            return Ok(self.all(|metric| Score::skipped(metric, "contexts")));
        };
        let threshold = self.shared.combiner.threshold;
        let relevant = found.iter().filter(|value| **value >= threshold).count();
        let why = format!(
            "{relevant} of {} chunks are relevant; most relevant: {}.",
            found.len(),
            document_name(input, chunks[at].0)
        );
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        let score = |(metric, value): (&Metric, f64)| {
            Score::measured(metric.name, value, threshold, Better::Higher).because(&why)
        };
        Ok(self.metrics.iter().zip([best, mean]).map(score).collect())
    }

    fn all(&self, score: impl Fn(&str) -> Score) -> Vec<Score> {
        self.metrics.iter().map(|metric| score(metric.name)).collect()
    }
}

impl Evaluator for ContextRelevance {
    fn id(&self) -> &str {
        "context_relevance"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn evaluate(&self, input: &EvalInput) -> Vec<Score> {
        let Some(question) = input.question.as_deref().filter(|text| !text.trim().is_empty()) else {
            return self.all(|metric| Score::skipped(metric, "question"));
        };
        self.judge(question, input)
            .unwrap_or_else(|error| self.all(|metric| Score::failed(metric, &error.to_string())))
    }
}

impl AnswerRelevance {
    /// With the threshold that was chosen on held-out rows.
    ///
    /// # Errors
    /// When the stored combiner is damaged.
    pub fn new(models: Arc<Models>) -> Result<Self, ModelError> {
        let shared = Relevance::new(models, "answer_relevance", 1)?;
        let threshold = Some(shared.combiner.threshold);
        let metrics = [Metric { name: "answer_relevance", better: Better::Higher, threshold }];
        Ok(Self { shared, metrics, version: format!("1+{ENCODER_VERSION}+{RELEVANCE_VERSION}") })
    }
}

impl Evaluator for AnswerRelevance {
    fn id(&self) -> &str {
        "answer_relevance"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn evaluate(&self, input: &EvalInput) -> Vec<Score> {
        let name = self.metrics[0].name;
        let present = |text: &&str| !text.trim().is_empty();
        let Some(question) = input.question.as_deref().filter(present) else {
            return vec![Score::skipped(name, "question")];
        };
        let Some(answer) = input.answer.as_deref().filter(present) else {
            return vec![Score::skipped(name, "answer")];
        };
        let threshold = self.shared.combiner.threshold;
        vec![match self.shared.probabilities(question, &[answer], false) {
            Err(error) => Score::failed(name, &error.to_string()),
            Ok(found) => {
                let value = found.first().copied().unwrap_or_default();
                let why = format!("Judged: \"{}\".", excerpt(answer));
                Score::measured(name, value, threshold, Better::Higher).because(why)
            }
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::document::Document;
    use crate::domain::score::ScoreStatus;

    fn input(question: &str, answer: &str, contexts: &[&str]) -> EvalInput {
        let document = |text: &&str| Document { content: Some((*text).to_owned()), ..Document::default() };
        EvalInput {
            question: Some(question.to_owned()),
            answer: Some(answer.to_owned()),
            contexts: contexts.iter().map(document).collect(),
            ..EvalInput::default()
        }
    }

    const QUESTION: &str = "When does the museum open on Sundays?";

    #[test]
    fn a_chunk_with_the_answer_is_more_relevant_than_another() {
        let evaluator = ContextRelevance::new(Models::embedded(1).unwrap()).unwrap();
        let value = |contexts: &[&str]| evaluator.evaluate(&input(QUESTION, "", contexts))[0].value.unwrap();
        let good = value(&["The museum opens at ten o'clock on Sundays and at nine on other days."]);
        let bad = value(&["Penguins breed on the ice and eat fish and krill."]);
        assert!(good > bad + 0.3, "{good} {bad}");
        let scores =
            evaluator.evaluate(&input(QUESTION, "", &["Penguins eat fish.", "It opens on Sundays at ten."]));
        assert!(scores[0].rationale.as_deref().unwrap().contains("document 2"), "{scores:?}");
        assert!(scores[1].value < scores[0].value);
        assert_eq!(evaluator.evaluate(&input(QUESTION, "", &[]))[0].status, ScoreStatus::Skipped);
    }

    #[test]
    fn an_answer_is_more_relevant_than_a_refusal_or_another_topic() {
        let evaluator = AnswerRelevance::new(Models::embedded(1).unwrap()).unwrap();
        let value = |answer: &str| evaluator.evaluate(&input(QUESTION, answer, &[]))[0].value.unwrap();
        let good = value("The museum opens at ten o'clock on Sundays.");
        for other in ["I'm sorry, but I can't help with that.", "Penguins breed on the ice in winter."] {
            assert!(good > value(other) + 0.3, "{other}: {good} {}", value(other));
        }
        assert_eq!(evaluator.evaluate(&input(" ", "x", &[]))[0].error.as_deref(), Some("question"));
    }

    #[test]
    fn long_texts_are_read_in_windows() {
        let shared = Relevance::new(Models::embedded(1).unwrap(), "context_relevance", 0).unwrap();
        let windows = shared.windows(&"The museum is closed on Mondays in winter. ".repeat(100));
        assert!(windows.len() > 3 && windows.len() <= MAX_WINDOWS);
        assert_eq!(shared.windows("..."), ["..."]);
        assert_eq!(tail("One. Two. Three. Four. Five?"), "Three. Four. Five?");
    }
}
