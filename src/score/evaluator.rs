//! The one trait that every evaluator implements, and what a metric is.

use crate::domain::score::{Better, Score};
use crate::domain::trace::EvalInput;

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

    /// Whether `*` leaves it out: it fits some traffic only, or needs what traffic does not have.
    fn is_by_name_only(&self) -> bool {
        false
    }

    /// Judges `input`; blocks the thread for as long as it takes.
    ///
    /// Gives at least one score. A missing input gives a skipped score that names it, a fault an error score with
    /// its message: nothing is invented.
    fn evaluate(&self, input: &EvalInput) -> Vec<Score>;
}
