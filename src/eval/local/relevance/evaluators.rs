//! `context_relevance`: does the context contain what answers the question? `answer_relevance`: does the answer address
//! the question?

use std::sync::Arc;

use super::super::documents::document_name;
use super::super::english::{not_english, start_of};
use super::reader::{RelevanceReader, TextKind};
use crate::domain::score::{Better, Score};
use crate::domain::trace::EvalInput;
use crate::eval::evaluator::{Evaluator, Metric};
use crate::eval::model::{
    ENCODER_VERSION, ModelError, Models, REFUSAL_VERSION, RELEVANCE_COMBINERS_VERSION, Slot, excerpt,
};

/// No more chunks than this are judged.
const MAX_CHUNKS: usize = 64;

/// The probability that a chunk contains what answers the question: the highest of all chunks, and their mean.
///
/// A cross-encoder reads the question with the sentences of the chunk that are nearest to it; a logistic regression adds
/// the similarity and the share of the question's words that the chunk has.
pub struct ContextRelevance {
    reader: RelevanceReader,
    metrics: [Metric; 2],
    version: String,
}

/// The probability that the answer addresses the question, from 0 to 1. A refusal, an echo of the question and an answer
/// to something else do not, and an answer that strays does so less; a wrong answer may.
pub struct AnswerRelevance {
    reader: RelevanceReader,
    metrics: [Metric; 1],
    version: String,
}

impl ContextRelevance {
    /// With the threshold that was chosen on held-out rows.
    ///
    /// # Errors
    /// When the stored combiner is damaged.
    pub fn new(models: Arc<Models>) -> Result<Self, ModelError> {
        let relevance = models.version(Slot::Relevance);
        let version = format!("3+{ENCODER_VERSION}+{relevance}+{RELEVANCE_COMBINERS_VERSION}");
        let reader = RelevanceReader::new(models, "context_relevance", TextKind::Passage)?;
        let metric = |name| Metric::new(name, Better::Higher, Some(reader.product.threshold));
        let metrics = [metric("context_relevance"), metric("context_relevance_mean")];
        Ok(Self { reader, metrics, version })
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
        let start = start_of(texts.iter().copied());
        if self.reader.reads_english()
            && let Some(why) = not_english([question, &start])?
        {
            return Ok(self.skip(&why));
        }
        let judged = self.reader.judge(question, &texts)?;
        let found: Vec<f64> = judged.iter().map(|text| text.probability).collect();
        let best = found.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((at, best)) = best else {
            return Ok(self.skip("contexts"));
        };
        let threshold = self.reader.product.threshold;
        let relevant = found.iter().filter(|value| **value >= threshold).count();
        let why = format!(
            "{relevant} of {} chunks are relevant; most relevant: {}.",
            found.len(),
            document_name(input, chunks[at].0)
        );
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        let score = |(metric, value): (&Metric, f64)| {
            Score::measured(&metric.name, value, threshold, Better::Higher).because(&why)
        };
        Ok(self.metrics.iter().zip([best, mean]).map(score).collect())
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
        let Some(question) = input.asked() else { return self.skip("question") };
        self.or_failed(self.judge(question, input))
    }
}

impl AnswerRelevance {
    /// With the threshold that was chosen on held-out rows.
    ///
    /// # Errors
    /// When the stored combiner is damaged.
    pub fn new(models: Arc<Models>) -> Result<Self, ModelError> {
        let relevance = models.version(Slot::Relevance);
        let version =
            format!("3+{ENCODER_VERSION}+{relevance}+{REFUSAL_VERSION}+{RELEVANCE_COMBINERS_VERSION}");
        let reader = RelevanceReader::new(models, "answer_relevance", TextKind::Answer)?;
        let threshold = Some(reader.product.threshold);
        let metrics = [Metric::new("answer_relevance", Better::Higher, threshold)];
        Ok(Self { reader, metrics, version })
    }

    fn judge(&self, question: &str, answer: &str) -> Result<Vec<Score>, ModelError> {
        if self.reader.reads_english()
            && let Some(why) = not_english([question, answer])?
        {
            return Ok(self.skip(&why));
        }
        let found = self.reader.judge(question, &[answer])?;
        let (value, weakest) = found.first().map_or((0.0, ""), |judged| (judged.probability, judged.weakest));
        let threshold = self.reader.product.threshold;
        let verdict = if value < threshold { doubt(weakest) } else { "The answer addresses the question." };
        let why = format!("{verdict} Judged: \"{}\".", excerpt(answer));
        Ok(vec![Score::measured(&self.metrics[0].name, value, threshold, Better::Higher).because(why)])
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
        let Some(question) = input.asked() else { return self.skip("question") };
        let Some(answer) = input.answered() else { return self.skip("answer") };
        self.or_failed(self.judge(question, answer))
    }
}

/// What is said of an answer below the threshold, by its weakest factor.
fn doubt(factor: &str) -> &'static str {
    match factor {
        "no_refusal" => "The answer reads like a refusal.",
        "keeps_to_it" => "Parts of the answer are far from the question.",
        _ => "The answer hardly addresses the question.",
    }
}
