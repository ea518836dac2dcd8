//! What is on its way into one frame: decisions, and the items that follow from them.

use crate::domain::decision::{Decision, DecisionKind};
use crate::queue::{Item, Lane, Queue, QueueEvent};
use crate::schema::batch::decisions_to_batch;
use crate::schema::columns::Table;
use crate::schema::frame::{self, FrameError, FrameKind, Part};
use arrow::error::ArrowError;
use bytes::Bytes;

/// Decisions that go into one frame, and bytes of items: an item carries all that is judged.
pub(super) const DECISIONS_A_FRAME: usize = 500;
pub(super) const ITEM_BYTES_A_FRAME: usize = 8 << 20;

/// Decisions on their way into one frame, and the items that follow from them.
#[derive(Default)]
pub(super) struct Outgoing {
    pub decisions: Vec<Decision>,
    pub items: Vec<Item>,
    /// Items of each lane, and roughly their bytes.
    pub lanes: [(usize, usize); Lane::ALL.len()],
    /// The first frame of the traces that the decisions are about.
    pub first_seq: Option<u64>,
}

impl Outgoing {
    /// Adds an item of so many bytes.
    pub(super) fn push(&mut self, item: Item, bytes: usize) {
        let lane = &mut self.lanes[item.lane as usize];
        *lane = (lane.0 + 1, lane.1 + bytes);
        self.items.push(item);
    }

    /// Whether a trace with so many decisions may find no room, so that they would be in two frames. What its items take is not
    /// known before they are made: half of the room is kept for them.
    pub(super) fn is_too_full_for(&self, decisions: usize) -> bool {
        let is_full = self.decisions.len() + decisions > DECISIONS_A_FRAME;
        !self.decisions.is_empty() && (is_full || self.bytes() > ITEM_BYTES_A_FRAME / 2)
    }

    /// Roughly the bytes of the items.
    pub(super) fn bytes(&self) -> usize {
        self.lanes.iter().map(|(_, bytes)| bytes).sum()
    }
}

/// Each decision with the items that follow from it; those without items together.
pub(super) fn one_by_one(
    decisions: Vec<Decision>,
    mut events: Vec<QueueEvent>,
) -> Vec<(Vec<Decision>, Vec<QueueEvent>)> {
    let (mut frames, mut without) = (Vec::new(), Vec::new());
    for decision in decisions {
        let is_of = |event: &mut QueueEvent| match event {
            QueueEvent::Queued(item) => {
                item.trace_id == decision.trace_id
                    && Some(item.span_id) == decision.span_id
                    && item.rule == decision.rule
            }
            _ => false,
        };
        let theirs: Vec<QueueEvent> = events.extract_if(.., is_of).collect();
        match theirs.is_empty() {
            true => without.push(decision),
            false => frames.push((vec![decision], theirs)),
        }
    }
    frames.push((without, events));
    frames.retain(|(decisions, events)| !decisions.is_empty() || !events.is_empty());
    frames
}

/// The frame of decisions and of the queue events that follow from them.
pub(super) fn encoded(
    decisions: &[Decision],
    events: &[QueueEvent],
) -> Result<(FrameKind, Bytes), FrameError> {
    let mut parts = vec![Part::Rows(Table::Decisions, decisions_to_batch(decisions)?)];
    if !events.is_empty() {
        let events = QueueEvent::encode(events).map_err(|e| ArrowError::ExternalError(Box::new(e)))?;
        parts.push(Part::Queue(events));
    }
    frame::encode(&parts)
}

/// The item that `build` makes, if it fits into the queue beside `more` items of `more_bytes` that are on their way. A
/// queue that is full costs no building.
pub(super) fn fitting(
    queue: &Queue,
    lane: Lane,
    more: usize,
    more_bytes: usize,
    build: impl FnOnce() -> Option<Item>,
) -> Option<Item> {
    if queue.is_full(lane, more, more_bytes) {
        return None;
    }
    build().filter(|item| queue.has_room(item, more, more_bytes))
}

/// Counts decisions that are durable.
pub(super) fn count(decisions: &[Decision]) {
    for decision in decisions {
        metrics::counter!("groundline_decisions_total", "rule" => decision.rule.clone(),
            "decision" => decision.decision.as_str())
        .increment(1);
    }
}

/// Counts items that are durable in the queue.
pub(super) fn count_queued(events: &[QueueEvent]) {
    for event in events {
        if let QueueEvent::Queued(item) = event {
            metrics::counter!("groundline_items_total", "rule" => item.rule.clone(),
                "lane" => item.lane.as_str(), "outcome" => "queued")
            .increment(1);
        }
    }
}

/// The decision about an item for which the lane has no room.
pub(super) fn throttled(decision: Decision, lane: Lane) -> Decision {
    let lane = lane.as_str();
    let reason = format!("the queue is full (queue.{lane}.max_items, queue.{lane}.max_size)");
    Decision { decision: DecisionKind::Throttled, reason, ..decision }
}

/// The decision about an item that cannot be written down.
pub(super) fn given_up(decision: Decision, reason: &str) -> Decision {
    match decision.decision {
        DecisionKind::Queued => {
            Decision { decision: DecisionKind::Failed, reason: reason.to_owned(), ..decision }
        }
        _ => decision,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::trace::EvalInput;
    use crate::queue::LaneConfig;
    use crate::units::ByteSize;

    fn item(id: &str, answer: usize) -> Item {
        let input = EvalInput { answer: Some("x".repeat(answer)), ..EvalInput::default() };
        Item { input, ..crate::queue::test_item(id) }
    }

    #[test]
    fn a_full_queue_costs_no_item() {
        let holding = |max_items, max_bytes| {
            let fast = LaneConfig { max_items, max_size: ByteSize::new(max_bytes), ..LaneConfig::default() };
            let queue = Queue::new(crate::queue::Config { fast, ..crate::queue::Config::default() });
            queue.apply(QueueEvent::Queued(Box::new(item("a", 100))));
            queue
        };
        let fitting = |queue: &Queue, more, bytes, build: &dyn Fn() -> Option<Item>| {
            super::fitting(queue, Lane::Fast, more, bytes, build)
        };
        let never = || -> Option<Item> { panic!("it is built") };
        // Full by number, and full by bytes, also with what is on its way.
        assert!(fitting(&holding(1, 1 << 20), 0, 0, &never).is_none());
        assert!(fitting(&holding(2, 1 << 20), 1, 600, &never).is_none());
        assert!(fitting(&holding(9, 1_000), 0, 0, &never).is_none());
        assert!(fitting(&holding(9, 1_500), 1, 600, &never).is_none());
        // What may fit is built, and then asked for by its size.
        let queue = holding(9, 2_000);
        assert!(fitting(&queue, 0, 0, &|| Some(item("b", 1_000))).is_none());
        assert_eq!(fitting(&queue, 0, 0, &|| Some(item("b", 100))).map(|item| item.id), Some("b".to_owned()));
    }
}
