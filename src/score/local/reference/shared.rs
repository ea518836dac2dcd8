//! What the evaluators of this room share.

use crate::domain::score::Score;
use crate::domain::trace::EvalInput;
use crate::score::evaluator::Metric;

/// The answer and the expected answer, or a skipped score for each metric that names what is missing.
pub(super) fn both<'a>(input: &'a EvalInput, metrics: &[Metric]) -> Result<(&'a str, &'a str), Vec<Score>> {
    let skipped = |what: &str| -> Vec<Score> {
        metrics.iter().map(|metric| Score::skipped(metric.name, what)).collect()
    };
    let answer = input.answer.as_deref().ok_or_else(|| skipped("answer"))?;
    let expected = input.expected.as_deref().ok_or_else(|| skipped("expected answer"))?;
    Ok((answer, expected))
}

/// A value with the verdict of its metric's own threshold.
pub(super) fn measured(metric: &Metric, value: f64) -> Score {
    Score::measured(metric.name, value, metric.threshold.unwrap_or(0.75), metric.better)
}
