//! What an evaluator answers, and the row that is stored.

use super::id::{SpanId, TenantId, TraceId};
use super::prompt::Prompt;
use super::span::names;
use super::time::UnixNanos;
use serde_json::json;

names!(
    /// How an evaluation ended.
    ScoreStatus {
        /// There is a value.
        Ok = "ok",
        /// The evaluator failed.
        Error = "error",
        /// An input was missing; nothing was invented.
        Skipped = "skipped",
    }
);

names!(
    /// Where a score came from.
    ScoreSource {
        /// A sampling rule of this server.
        Rule = "rule",
        /// A person.
        Annotation = "annotation",
        /// Another system, over OTLP.
        Ingested = "ingested",
        /// An offline experiment.
        Experiment = "experiment",
        /// A plug-in.
        Plugin = "plugin",
    }
);

/// One metric of one evaluation.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The metric's name (table of docs/evaluators.md).
    pub metric: String,
    /// The value in the metric's own scale, never rounded to a verdict. None unless `status` is `Ok`.
    pub value: Option<f64>,
    /// A class, where the metric has one.
    pub label: Option<String>,
    /// Whether the value is on the right side of the threshold. None without a value or a threshold.
    pub passed: Option<bool>,
    /// The threshold that was used.
    pub threshold: Option<f64>,
    /// How it ended.
    pub status: ScoreStatus,
    /// Why the value is what it is, for a person to read.
    pub rationale: Option<String>,
    /// What went wrong, or which input was missing.
    pub error: Option<String>,
    /// The parts of the answer that failed it; empty where an evaluator does not tell them.
    pub evidence: Vec<Unsupported>,
    /// What was said of each part, such as a retrieved chunk, where parts were judged one by one.
    pub ratings: Vec<Rated>,
}

/// A part that was judged by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rated {
    /// Its place among the parts, from 1.
    pub number: usize,
    /// The verdict.
    pub is_yes: bool,
    /// Why.
    pub rationale: String,
}

impl Rated {
    /// The verdict as a word: yes or no.
    pub fn rating(&self) -> &'static str {
        if self.is_yes { "yes" } else { "no" }
    }

    /// The parts of an evidence that is stored, in their order; none where it has other parts.
    pub fn of_evidence(json: &str) -> Vec<Self> {
        let parts: Vec<serde_json::Value> = serde_json::from_str(json).unwrap_or_default();
        let part = |part: &serde_json::Value| {
            let number = usize::try_from(part["number"].as_u64()?).ok()?;
            let (rating, rationale) = (part["rating"].as_str()?, part["rationale"].as_str()?.to_owned());
            Some(Self { number, is_yes: rating == "yes", rationale })
        };
        parts.iter().filter_map(part).collect()
    }
}

/// A part of an answer that the context does not support, and what of the context comes nearest. Ranges are start and
/// end in bytes of UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Unsupported {
    /// The part of the answer.
    pub answer: [usize; 2],
    /// The place of a document among those that were retrieved, from 0.
    pub document: usize,
    /// The part of its text.
    pub context: [usize; 2],
}

impl Score {
    /// A value, with the verdict that follows from `threshold` and the direction.
    pub fn measured(metric: &str, value: f64, threshold: f64, better: Better) -> Self {
        let passed = match better {
            Better::Higher => value >= threshold,
            Better::Lower => value < threshold,
        };
        Self {
            metric: metric.to_owned(),
            value: Some(value),
            label: None,
            passed: Some(passed),
            threshold: Some(threshold),
            status: ScoreStatus::Ok,
            rationale: None,
            error: None,
            evidence: Vec::new(),
            ratings: Vec::new(),
        }
    }

    /// A pass or a fail without a scale: value 1.0 for a pass, 0.0 for a fail.
    pub fn verdict(metric: &str, passed: bool) -> Self {
        Self {
            metric: metric.to_owned(),
            value: Some(if passed { 1.0 } else { 0.0 }),
            label: Some(if passed { "pass" } else { "fail" }.to_owned()),
            passed: Some(passed),
            threshold: None,
            status: ScoreStatus::Ok,
            rationale: None,
            error: None,
            evidence: Vec::new(),
            ratings: Vec::new(),
        }
    }

    /// A number that is only told, without threshold or verdict.
    pub fn told(metric: &str, value: f64) -> Self {
        let mut score = Self::verdict(metric, true);
        (score.value, score.label, score.passed) = (Some(value), None, None);
        score
    }

    /// Not evaluated, because `missing` was not there.
    pub fn skipped(metric: &str, missing: &str) -> Self {
        Self::without_value(metric, ScoreStatus::Skipped, missing)
    }

    /// Not evaluated, because the evaluator failed.
    pub fn failed(metric: &str, error: &str) -> Self {
        Self::without_value(metric, ScoreStatus::Error, error)
    }

    /// Adds the reason.
    #[must_use]
    pub fn because(mut self, rationale: impl Into<String>) -> Self {
        self.rationale = Some(rationale.into());
        self
    }

    /// Adds the parts that failed it.
    #[must_use]
    pub fn with_evidence(mut self, evidence: Vec<Unsupported>) -> Self {
        self.evidence = evidence;
        self
    }

    /// Adds what was said of each part.
    #[must_use]
    pub fn with_ratings(mut self, ratings: Vec<Rated>) -> Self {
        self.ratings = ratings;
        self
    }

    /// The evidence as it is stored, a JSON array of failed parts, or of all parts with their ratings; none if there is none.
    pub fn evidence_json(&self) -> Option<String> {
        if !self.ratings.is_empty() {
            let rated = |one: &Rated| json!({"number": one.number, "rating": one.rating(), "rationale": one.rationale});
            return Some(self.ratings.iter().map(rated).collect::<serde_json::Value>().to_string());
        }
        (!self.evidence.is_empty()).then(|| json!(self.evidence).to_string())
    }

    /// Adds a label.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    fn without_value(metric: &str, status: ScoreStatus, error: &str) -> Self {
        Self {
            metric: metric.to_owned(),
            value: None,
            label: None,
            passed: None,
            threshold: None,
            status,
            rationale: None,
            error: Some(error.to_owned()),
            evidence: Vec::new(),
            ratings: Vec::new(),
        }
    }
}

/// What an LLM judge read and wrote for one evaluation, and what that cost.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// The model that answered.
    pub model: String,
    /// Tokens that it read; none if the server did not say.
    pub input_tokens: Option<i64>,
    /// Tokens that it wrote; none if the server did not say.
    pub output_tokens: Option<i64>,
    /// US dollars; none without tokens or prices.
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Adds another call of the same evaluation; the model is that of the last call.
    pub fn add(&mut self, more: Usage) {
        fn sum<T: std::ops::Add<Output = T>>(a: Option<T>, b: Option<T>) -> Option<T> {
            match (a, b) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            }
        }
        self.model = more.model;
        self.input_tokens = sum(self.input_tokens, more.input_tokens);
        self.output_tokens = sum(self.output_tokens, more.output_tokens);
        self.cost_usd = sum(self.cost_usd, more.cost_usd);
    }
}

/// Which side of a threshold is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// A high value is good; at the threshold passes.
    Higher,
    /// A low value is good; at the threshold fails.
    Lower,
}

/// A row of the table `scores`.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreRow {
    /// Identity: the same item, evaluator, metric and version give the same id.
    pub score_id: String,
    /// The trace.
    pub trace_id: Option<TraceId>,
    /// The span that was judged; the root for a whole trace.
    pub span_id: Option<SpanId>,
    /// When that span began.
    pub span_time: UnixNanos,
    /// When it was evaluated.
    pub evaluated_at: UnixNanos,
    /// `service.name` of the span.
    pub service_name: String,
    /// The model that was asked for.
    pub request_model: Option<String>,
    /// The tenant.
    pub tenant: TenantId,
    /// The rule that selected the item.
    pub rule: Option<String>,
    /// A hash of the rule as it was then.
    pub rule_version: Option<String>,
    /// The evaluator.
    pub evaluator: String,
    /// Its version.
    pub evaluator_version: String,
    /// The result.
    pub score: Score,
    /// The probability with which the item was selected, above 0 and up to 1.
    pub inclusion_probability: f64,
    /// The stratum that it was drawn from.
    pub stratum: Option<String>,
    /// Why it was selected.
    pub sampling_reason: Option<String>,
    /// Counts the evaluations of one item, from 1: one that is put back gets the next. Late spans cause none.
    pub score_version: i32,
    /// The attempt that succeeded, from 1.
    pub attempt: i32,
    /// How long the evaluator took, in milliseconds.
    pub latency_ms: f64,
    /// The judge's model, for judges.
    pub judge_model: Option<String>,
    /// Tokens that the judge read.
    pub input_tokens: Option<i64>,
    /// Tokens that the judge wrote.
    pub output_tokens: Option<i64>,
    /// What the judge cost, US dollars.
    pub cost_usd: Option<f64>,
    /// Where the score came from.
    pub source: ScoreSource,
    /// The prompt template of the span whose answer was judged.
    pub prompt: Prompt,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratings_are_stored_as_evidence_and_read_again() {
        let part =
            |number, is_yes, rationale: &str| Rated { number, is_yes, rationale: rationale.to_owned() };
        let ratings =
            vec![part(1, true, "it says so (twice); 2 no (not this)"), part(2, false, "another: town")];
        let score = Score::told("m", 0.5).with_ratings(ratings.clone());
        assert_eq!(Rated::of_evidence(&score.evidence_json().unwrap()), ratings);
        let failed = Unsupported { answer: [0, 1], document: 0, context: [0, 1] };
        let failed = Score::told("m", 0.5).with_evidence(vec![failed]).evidence_json().unwrap();
        assert!(Rated::of_evidence(&failed).is_empty() && Rated::of_evidence("").is_empty());
        assert_eq!(Score::told("m", 0.5).evidence_json(), None);
    }
}
