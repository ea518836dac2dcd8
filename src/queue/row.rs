//! What people see of an item: a row of the table `queue`.

use super::entries::Entry;
use super::event::Outcome;
use crate::domain::id::{SpanId, TraceId};
use crate::domain::time::UnixNanos;

/// One item.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueRow {
    /// Its id.
    pub item: String,
    /// Where it waits.
    pub lane: &'static str,
    /// The trace.
    pub trace_id: TraceId,
    /// The span.
    pub span_id: SpanId,
    /// The rule that selected it.
    pub rule: String,
    /// Evaluators by id, separated by commas.
    pub evaluators: String,
    /// `waiting`, `leased`, `failed` or `expired`.
    pub state: &'static str,
    /// Attempts that have failed.
    pub attempt: i64,
    /// When it was queued.
    pub queued_at: UnixNanos,
    /// When the next attempt may begin; none for at once.
    pub not_before: Option<UnixNanos>,
    /// Why the last attempt failed.
    pub error: Option<String>,
    /// The tenant.
    pub tenant: String,
}

pub(super) fn row(entry: &Entry) -> QueueRow {
    let item = &entry.item;
    let state = match entry.ended {
        Some(Outcome::Failed) => "failed",
        Some(Outcome::Expired) => "expired",
        Some(Outcome::Scored) => "scored",
        None if entry.leased_until.is_some() || entry.finishing => "leased",
        None => "waiting",
    };
    QueueRow {
        item: item.id.clone(),
        lane: item.lane.as_str(),
        trace_id: item.trace_id,
        span_id: item.span_id,
        rule: item.rule.clone(),
        evaluators: item.evaluators.join(","),
        state,
        attempt: i64::from(entry.failed),
        queued_at: UnixNanos(item.queued_at),
        not_before: (entry.not_before > 0).then_some(UnixNanos(entry.not_before)),
        error: entry.error.clone(),
        tenant: item.tenant.clone(),
    }
}
