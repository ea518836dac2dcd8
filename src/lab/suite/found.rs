//! What a test found, and what the scores of an evaluator say.

use super::check::Bounds;
use super::outcome::{CheckOutcome, Confidence, Status};
use crate::domain::score::{Score, ScoreStatus};

/// Evaluators whose value is a calibrated probability, and where in the middle of it nobody is sure.
const CALIBRATED: &[&str] = &["hallucination", "answer_relevance"];
const UNSURE: std::ops::RangeInclusive<f64> = 0.3..=0.7;
/// What is missing for a judged check.
pub(super) const NEEDS_JUDGE: &str = "it needs a judge: configure [[judges]], see docs/judges.md";

/// What a test found.
pub(super) struct Found {
    pub status: Status,
    pub value: Option<f64>,
    pub engine: String,
    pub why: String,
    pub confidence: Option<Confidence>,
    pub of: Vec<CheckOutcome>,
}

impl Found {
    pub fn new(status: Status, engine: &str, why: impl Into<String>) -> Self {
        let engine = engine.to_owned();
        Self { status, value: None, engine, why: why.into(), confidence: None, of: Vec::new() }
    }

    pub fn passed(passed: bool, engine: &str, why: impl Into<String>) -> Self {
        Self::new(if passed { Status::Pass } else { Status::Fail }, engine, why)
    }

    /// A pass is a fail and the other way round; what is no verdict stays none.
    pub fn negated(self, is_negated: bool) -> Self {
        let status = match self.status {
            Status::Pass if is_negated => Status::Fail,
            Status::Fail if is_negated => Status::Pass,
            other => other,
        };
        Self { status, ..self }
    }
}

/// The second is asked only where the first passes; the lower value of both is told.
pub(super) fn worse(first: Found, second: impl FnOnce() -> Found) -> Found {
    if first.status != Status::Pass {
        return first;
    }
    let second = second();
    let is_second = second.status != Status::Pass || second.value < first.value;
    if is_second { second } else { first }
}

/// The verdict of an evaluator's metric, the first one if none is named.
pub(super) fn read(id: &str, metric: Option<&str>, scores: Option<&[Score]>, bounds: Bounds) -> Found {
    let Some(scores) = scores else {
        return Found::new(Status::Error, id, missing(id));
    };
    let score = match metric {
        None => scores.first(),
        Some(metric) => scores.iter().find(|score| score.metric == metric),
    };
    let Some(score) = score else {
        let there: Vec<&str> = scores.iter().map(|score| score.metric.as_str()).collect();
        return Found::new(Status::Error, id, format!("no such metric; it has {}", there.join(", ")));
    };
    of_score(id, score, bounds)
}

/// The verdict of all metrics: the first that fails.
pub(super) fn every(id: &str, scores: Option<&[Score]>, bounds: Bounds) -> Found {
    let Some(scores) = scores else { return Found::new(Status::Error, id, missing(id)) };
    let mut found = scores.iter().map(|score| of_score(id, score, bounds));
    let first = found.next().unwrap_or_else(|| Found::new(Status::Error, id, "no score"));
    if first.status != Status::Pass {
        return first;
    }
    found.find(|found| found.status != Status::Pass).unwrap_or(first)
}

fn missing(id: &str) -> String {
    if crate::eval::asks_judge(id) {
        return NEEDS_JUDGE.to_owned();
    }
    format!("no evaluator {id:?} here: is it disabled, or a plug-in that is not configured?")
}

fn of_score(id: &str, score: &Score, bounds: Bounds) -> Found {
    let why = score.error.clone().or_else(|| score.rationale.clone()).unwrap_or_default();
    let held = score.value.and_then(|value| bounds.hold(value)).or(score.passed);
    let found = match (score.status, held) {
        (ScoreStatus::Skipped, _) => Found::new(Status::Skipped, id, format!("not there: {why}")),
        (ScoreStatus::Error, _) => Found::new(Status::Error, id, why),
        (ScoreStatus::Ok, Some(passed)) => Found::passed(passed, id, why),
        (ScoreStatus::Ok, None) => {
            Found::new(Status::Error, id, "it has no verdict of its own: give the check min or max")
        }
    };
    let is_calibrated = CALIBRATED.contains(&id) && score.status == ScoreStatus::Ok;
    let confidence = score
        .value
        .filter(|_| is_calibrated)
        .map(|value| if UNSURE.contains(&value) { Confidence::Low } else { Confidence::High });
    Found { value: score.value, confidence, ..found }
}
