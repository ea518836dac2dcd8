//! What an evaluator that asks a judge says, as scores.

use super::shape::Finding;
use crate::domain::score::{Score, Usage};
use crate::eval::Metric;

/// What was said of one input, and what it took.
pub(super) struct Told {
    pub scores: Vec<Score>,
    /// None if nobody was asked.
    pub usage: Option<Usage>,
}

/// The score of a finding.
pub(super) fn score(metric: &Metric, finding: Finding) -> Score {
    let score = match metric.threshold {
        Some(threshold) => Score::measured(&metric.name, finding.value, threshold, metric.better),
        None => Score::verdict(&metric.name, finding.value >= 1.0),
    };
    let score = score.because(finding.rationale).with_ratings(finding.ratings);
    match finding.label {
        Some(label) => score.labelled(label),
        None => score,
    }
}

/// `usage` with what one more question took.
pub(super) fn add(usage: &mut Option<Usage>, more: Option<Usage>) {
    match (usage.as_mut(), more) {
        (Some(usage), Some(more)) => usage.add(more),
        (None, more) => *usage = more,
        (Some(_), None) => {}
    }
}
