//! `context_relevancy_soft`: are the retrieved chunks about the question?

use std::sync::Arc;

use crate::domain::document::Document;
use crate::domain::score::{Better, Score};
use crate::domain::trace::EvalInput;
use crate::eval::evaluator::{Evaluator, Metric};
use crate::eval::model::{ModelError, Models, Slot, excerpt, segments, unit_cosine};

const RECALL: &str = "recall_relevancy";
const PRECISION: &str = "precision_relevancy";
const MAX_CONTEXT_SENTENCES: usize = 2_000;
/// The best balanced accuracy on 600 dev rows of SelQA: 0.837, where 0.75 has 0.686 and fails 62 % of the relevant ones.
const THRESHOLD: f64 = 0.5;

/// A chunk's relevancy is the highest cosine similarity of one of its sentences to the question, from 0 to 1 (a
/// negative cosine counts as 0). Recall is the best chunk's relevancy, precision the mean over the chunks with text.
pub struct ContextRelevancySoft {
    models: Arc<Models>,
    metrics: [Metric; 2],
    version: String,
}

/// One chunk with text: its place in the input, and its sentences.
struct Chunk<'a> {
    place: usize,
    document: &'a Document,
    sentences: Vec<&'a str>,
}

/// How relevant a chunk is, and by which sentence.
struct Relevancy {
    chunk: usize,
    sentence: usize,
    value: f64,
}

impl ContextRelevancySoft {
    /// With the default thresholds.
    pub fn new(models: Arc<Models>) -> Self {
        let metric = |name| Metric::new(name, Better::Higher, Some(THRESHOLD));
        let version = format!("1+{}", models.version(Slot::Embedding));
        Self { models, metrics: [metric(RECALL), metric(PRECISION)], version }
    }

    fn relevancies(&self, question: &str, chunks: &[Chunk<'_>]) -> Result<Vec<Relevancy>, ModelError> {
        let sentences = chunks.iter().flat_map(|chunk| chunk.sentences.iter().copied());
        let texts: Vec<&str> = std::iter::once(question).chain(sentences).collect();
        let vectors = self.models.similarity().embed(&texts)?;
        let (question, mut rest) = (&vectors[0], &vectors[1..]);
        let mut found = Vec::with_capacity(chunks.len());
        for (chunk, item) in chunks.iter().enumerate() {
            let (own, after) = rest.split_at(item.sentences.len());
            rest = after;
            let similarities = own.iter().map(|vector| f64::from(unit_cosine(question, vector)));
            let best = similarities.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
            found.extend(best.map(|(sentence, value)| Relevancy { chunk, sentence, value: value.max(0.0) }));
        }
        Ok(found)
    }

    fn judge(&self, question: &str, input: &EvalInput) -> Result<Vec<Score>, ModelError> {
        let Chunks { found: chunks, without_text, left_out } = chunks(input);
        if chunks.is_empty() {
            return Ok(self.skip("contexts"));
        }
        if self.models.similarity().meaningful_tokens(question, 1) == 0 {
            return Ok(self.fail("question too short to embed"));
        }
        let found = self.relevancies(question, &chunks)?;
        let by_value = |a: &&Relevancy, b: &&Relevancy| a.value.total_cmp(&b.value);
        let (Some(best), Some(worst)) = (found.iter().max_by(by_value), found.iter().min_by(by_value)) else {
            return Ok(self.fail("contexts too short to embed"));
        };
        let mean = found.iter().map(|relevancy| relevancy.value).sum::<f64>() / found.len() as f64;
        let mut notes = String::new();
        if without_text > 0 {
            notes += &format!(" {without_text} of {} chunks had no text.", input.contexts.len());
        }
        if left_out {
            notes += &format!(" Only the first {MAX_CONTEXT_SENTENCES} sentences of the context were read.");
        }
        let told = |verdict: &str, title: &str, relevancy: &Relevancy| {
            let chunk = &chunks[relevancy.chunk];
            let sentence = excerpt(chunk.sentences[relevancy.sentence]);
            format!(
                "{verdict} {title}: {}, {:.3}, by \"{sentence}\".{notes}",
                name_of(chunk),
                relevancy.value
            )
        };
        let [recall, precision] = self.metrics.each_ref().map(|metric| metric.threshold.unwrap_or(THRESHOLD));
        let is_found = if best.value >= recall { "A chunk is" } else { "No chunk is" };
        let are_all = if mean >= precision { "The chunks are" } else { "The chunks are not all" };
        let [is_found, are_all] = [is_found, are_all].map(|what| format!("{what} about the question."));
        Ok(vec![
            Score::measured(RECALL, best.value, recall, Better::Higher).because(told(
                &is_found,
                "Most relevant chunk",
                best,
            )),
            Score::measured(PRECISION, mean, precision, Better::Higher).because(told(
                &are_all,
                "Least relevant chunk",
                worst,
            )),
        ])
    }
}

impl Evaluator for ContextRelevancySoft {
    fn id(&self) -> &str {
        "context_relevancy_soft"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn evaluate(&self, input: &EvalInput) -> Vec<Score> {
        let Some(question) = input.asked() else { return self.skip("question") };
        self.or_failed(self.judge(question, input))
    }
}

/// What is read of the context.
struct Chunks<'a> {
    /// The chunks of which at least a sentence is read.
    found: Vec<Chunk<'a>>,
    /// How many have no sentence.
    without_text: usize,
    /// Whether sentences were left out.
    left_out: bool,
}

fn chunks(input: &EvalInput) -> Chunks<'_> {
    let (mut found, mut room, mut without_text, mut left_out) = (Vec::new(), MAX_CONTEXT_SENTENCES, 0, false);
    for (place, document) in input.contexts.iter().enumerate() {
        let cut = segments(document.content.as_deref().unwrap_or(""), room);
        room -= cut.pieces.len();
        left_out |= cut.left_out > 0;
        if !cut.pieces.is_empty() {
            found.push(Chunk { place, document, sentences: cut.pieces });
        } else if cut.left_out == 0 {
            without_text += 1;
        }
    }
    Chunks { found, without_text, left_out }
}

fn name_of(chunk: &Chunk<'_>) -> String {
    match chunk.document.id.as_ref().or(chunk.document.uri.as_ref()) {
        Some(name) => format!("chunk {} ({})", chunk.place + 1, excerpt(name)),
        None => format!("chunk {}", chunk.place + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::score::ScoreStatus;

    fn judged(question: &str, contexts: &[Option<&str>]) -> Vec<Score> {
        let document = |(place, text): (usize, &Option<&str>)| Document {
            id: Some(format!("doc-{place}")),
            content: text.map(str::to_owned),
            ..Default::default()
        };
        let input = EvalInput {
            question: Some(question.to_owned()),
            contexts: contexts.iter().enumerate().map(document).collect(),
            ..Default::default()
        };
        ContextRelevancySoft::new(Models::embedded(1).unwrap()).evaluate(&input)
    }

    const QUESTION: &str = "How often should I water a cactus?";
    const GOOD: &str = "Cacti store water in their stems. A cactus should be watered every two weeks.";
    const BAD: &str = "The parliament of Iceland was founded in 930.";

    #[test]
    fn recall_is_the_best_chunk_and_precision_the_mean() {
        let both = judged(QUESTION, &[Some(BAD), Some(GOOD)]);
        let (good, bad) = (judged(QUESTION, &[Some(GOOD)]), judged(QUESTION, &[Some(BAD)]));
        let value = |scores: &[Score], at: usize| scores[at].value.unwrap();
        assert!(value(&good, 0) > 0.75 && value(&bad, 0) < 0.25, "{good:?} {bad:?}");
        assert!((value(&both, 0) - value(&good, 0)).abs() < 1e-4);
        assert!((value(&both, 1) - (value(&good, 0) + value(&bad, 0)) / 2.0).abs() < 1e-4);
        assert!(both[0].rationale.as_deref().unwrap().contains("chunk 2 (doc-1)"));
        assert!(both[1].rationale.as_deref().unwrap().contains("chunk 1 (doc-0)"));
        assert_eq!((both[0].metric.as_str(), both[1].metric.as_str()), (RECALL, PRECISION));
    }

    #[test]
    fn a_chunk_without_text_is_told_and_not_counted() {
        let scores = judged(QUESTION, &[None, Some(GOOD)]);
        assert_eq!(scores[0].value, scores[1].value);
        assert!(scores[1].rationale.as_deref().unwrap().contains("1 of 2 chunks had no text"));
    }

    #[test]
    fn a_chunk_beyond_the_limit_is_not_told_to_be_empty() {
        let document = |text: String| Document { content: Some(text), ..Default::default() };
        let long = "A cactus needs little water. ".repeat(MAX_CONTEXT_SENTENCES + 1);
        let contexts = vec![document(long), document(GOOD.to_owned()), document(" ".to_owned())];
        let input = EvalInput { contexts, ..Default::default() };
        let read = chunks(&input);
        assert_eq!((read.found.len(), read.without_text, read.left_out), (1, 1, true));
    }

    #[test]
    fn what_is_missing_is_named() {
        for (scores, missing) in [
            (judged(QUESTION, &[None]), "contexts"),
            (judged(QUESTION, &[]), "contexts"),
            (judged(" ", &[Some(GOOD)]), "question"),
        ] {
            assert_eq!(scores.len(), 2);
            for score in scores {
                assert_eq!((score.status, score.error.as_deref()), (ScoreStatus::Skipped, Some(missing)));
            }
        }
    }
}
