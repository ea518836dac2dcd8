//! What the evaluators of this room share.

use crate::domain::score::Score;
use crate::domain::trace::EvalInput;
use crate::eval::evaluator::{Evaluator, Metric};

/// A value for each metric, and the reason of all; or what makes them impossible.
pub type Compared = Result<(Vec<f64>, String), &'static str>;

/// An evaluator by name only that compares the words of the answer with those of the expected answer.
#[derive(Debug, Clone, Copy)]
pub struct Comparison {
    pub(super) id: &'static str,
    pub(super) metrics: &'static [Metric],
    /// The comparison itself.
    pub(super) compare: fn(answer: &str, expected: &str) -> Compared,
}

impl Evaluator for Comparison {
    fn id(&self) -> &str {
        self.id
    }

    fn version(&self) -> &str {
        "2"
    }

    fn metrics(&self) -> &[Metric] {
        self.metrics
    }

    fn is_by_name_only(&self) -> bool {
        true
    }

    fn evaluate(&self, input: &EvalInput) -> Vec<Score> {
        let (answer, expected) = match both(input, self.metrics) {
            Ok(both) => both,
            Err(skipped) => return skipped,
        };
        if expected.trim().is_empty() {
            return self.skip("expected answer");
        }
        match (self.compare)(answer, expected) {
            Ok((values, why)) => {
                let scored = self.metrics.iter().zip(values);
                scored.map(|(metric, value)| measured(metric, value).because(&why)).collect()
            }
            Err(fault) => self.metrics.iter().map(|metric| Score::failed(&metric.name, fault)).collect(),
        }
    }
}

/// The answer and the expected answer, or a skipped score for each metric that names what is missing.
pub(super) fn both<'a>(input: &'a EvalInput, metrics: &[Metric]) -> Result<(&'a str, &'a str), Vec<Score>> {
    let skipped = |what: &str| -> Vec<Score> {
        metrics.iter().map(|metric| Score::skipped(&metric.name, what)).collect()
    };
    let answer = input.answer.as_deref().ok_or_else(|| skipped("answer"))?;
    let expected = input.expected.as_deref().ok_or_else(|| skipped("expected answer"))?;
    Ok((answer, expected))
}

/// A value with the verdict of its metric's own threshold.
pub(super) fn measured(metric: &Metric, value: f64) -> Score {
    Score::measured(&metric.name, value, metric.threshold.unwrap_or(0.75), metric.better)
}
