//! What people see of an item: a row of the table `queue`.

use super::entries::Entry;
use super::event::Outcome;
use crate::domain::time::UnixNanos;
use crate::schema::batch::QueueRow;

/// The row of an item.
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
