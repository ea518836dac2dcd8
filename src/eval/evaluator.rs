//! The one trait that every evaluator implements, and what a metric is.

use crate::domain::score::{Better, Score};
use crate::domain::trace::EvalInput;
use std::fmt::Display;

/// How long an evaluator takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Up to seconds, on this machine.
    Fast,
    /// Longer, or as long as others take.
    Slow,
}

/// A metric that an evaluator reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    /// Its name in `scores.metric`.
    pub name: &'static str,
    /// Which side of the threshold is good.
    pub better: Better,
    /// The default threshold; none for a pass/fail metric and for counts.
    pub threshold: Option<f64>,
}

/// Judges one item. Implementations hold no state of an item and are shared between threads.
pub trait Evaluator: Send + Sync {
    /// The name in rules, on the command line and in `scores.evaluator`.
    fn id(&self) -> &str;

    /// Changes whenever the same input may give another value.
    fn version(&self) -> &str;

    /// What it reports, the primary metric first.
    fn metrics(&self) -> &[Metric];

    /// How long an answer takes: slow ones wait in a lane of their own.
    fn pace(&self) -> Pace {
        Pace::Fast
    }

    /// Whether `*` leaves it out: it fits some traffic only, or needs what traffic does not have.
    fn is_by_name_only(&self) -> bool {
        false
    }

    /// Judges `input`; blocks the thread for as long as it takes.
    ///
    /// Gives at least one score. A missing input gives a skipped score that names it, a fault an error score with
    /// its message: nothing is invented.
    fn evaluate(&self, input: &EvalInput) -> Vec<Score>;

    /// A skipped score for each metric: `missing` is not in the input.
    fn skip(&self, missing: &str) -> Vec<Score> {
        self.metrics().iter().map(|metric| Score::skipped(metric.name, missing)).collect()
    }

    /// An error score for each metric.
    fn fail(&self, why: &str) -> Vec<Score> {
        self.metrics().iter().map(|metric| Score::failed(metric.name, why)).collect()
    }

    /// The scores, or an error score for each metric.
    fn or_failed<E: Display>(&self, judged: Result<Vec<Score>, E>) -> Vec<Score>
    where
        Self: Sized,
    {
        judged.unwrap_or_else(|error| self.fail(&error.to_string()))
    }
}
