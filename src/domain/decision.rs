//! Whether a trace is judged, by which rule, and with which probability.

use super::id::{SpanId, TenantId, TraceId};
use super::span::names;
use super::time::UnixNanos;

names!(
    /// What became of one (trace, rule).
    DecisionKind {
        /// The rule's filter did not hold.
        Filtered = "filtered",
        /// The draw said no.
        NotSampled = "not_sampled",
        /// The item waits for its evaluators.
        Queued = "queued",
        /// The queue was full.
        Throttled = "throttled",
        /// The rule's budget was used up.
        OverBudget = "over_budget",
        /// The item waited too long.
        Expired = "expired",
        /// Every attempt failed, or the evaluators took too long together.
        Failed = "failed",
        /// All scores are stored.
        Scored = "scored",
    }
);

/// The reason of a decision that has an item evaluated again because somebody asked for that.
pub const PUT_BACK: &str = "put back by request";

/// How the reason begins of a decision that has an item evaluated again because spans came late.
pub const CAME_LATE: &str = "spans came late: ";

/// A row of the table `decisions`.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The trace.
    pub trace_id: TraceId,
    /// The span, for rules on spans; the root for rules on traces, if it was seen.
    pub span_id: Option<SpanId>,
    /// The rule.
    pub rule: String,
    /// A hash of the rule as it was then.
    pub rule_version: String,
    /// What was decided.
    pub decision: DecisionKind,
    /// Why, for a person to read.
    pub reason: String,
    /// The probability with which the item would be selected, above 0 and up to 1.
    pub inclusion_probability: f64,
    /// The stratum that it was drawn from.
    pub stratum: Option<String>,
    /// When it was decided.
    pub decided_at: UnixNanos,
    /// When the span began.
    pub span_time: UnixNanos,
    /// Whose span it is.
    pub tenant: TenantId,
}
