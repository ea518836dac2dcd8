//! The named guarantees. ARCHITECTURE.md explains them; code and tests cite them by number.

/// A guarantee that the whole product gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// P1: no acknowledged span is lost: the receiver answers only after the frame is on the disk.
    AcknowledgedIsDurable,
    /// P2: one stored span per trace and span id within the deduplication window.
    StoredOnce,
    /// P3: a bad span costs only itself, and the answer counts it.
    BadSpanCostsItself,
    /// P4: an acknowledged span is visible to SQL within two seconds, flushed or not.
    VisibleSoon,
    /// P5: what a rule draws is a pure function of its salt, the trace id and its version, and the decision one of the draw
    /// and the recorded probability; rules that share a salt share the draw, whatever their versions.
    DecisionIsPure,
    /// P6: every sampled item is scored exactly once per score version, crash or not.
    ScoredOnce,
    /// P7: no score is invented: a missing input is a skipped row that names it.
    NothingInvented,
    /// P8: every queue, body, retry and query has a limit.
    EverythingHasALimit,
    /// P9: SQL reads; it writes nothing and reaches no file.
    SqlOnlyReads,
}

impl Promise {
    /// Every promise, in order.
    pub const ALL: [Promise; 9] = [
        Promise::AcknowledgedIsDurable,
        Promise::StoredOnce,
        Promise::BadSpanCostsItself,
        Promise::VisibleSoon,
        Promise::DecisionIsPure,
        Promise::ScoredOnce,
        Promise::NothingInvented,
        Promise::EverythingHasALimit,
        Promise::SqlOnlyReads,
    ];

    /// The short name, as ARCHITECTURE.md spells it.
    pub fn code(self) -> &'static str {
        match self {
            Promise::AcknowledgedIsDurable => "P1",
            Promise::StoredOnce => "P2",
            Promise::BadSpanCostsItself => "P3",
            Promise::VisibleSoon => "P4",
            Promise::DecisionIsPure => "P5",
            Promise::ScoredOnce => "P6",
            Promise::NothingInvented => "P7",
            Promise::EverythingHasALimit => "P8",
            Promise::SqlOnlyReads => "P9",
        }
    }
}
