//! Decisions and items on their way into a frame of the journal, and what becomes of those that cannot be written.

use crate::domain::decision::{Decision, DecisionKind};
use crate::queue::{Item, Lane, QueueEvent};

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
    pub fn push(&mut self, item: Item, bytes: usize) {
        let lane = &mut self.lanes[item.lane as usize];
        *lane = (lane.0 + 1, lane.1 + bytes);
        self.items.push(item);
    }

    /// Roughly the bytes of the items.
    pub fn bytes(&self) -> usize {
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

/// The decision, for an item that cannot be written; one without an item is as it was.
pub(super) fn given_up(decision: Decision, reason: &str) -> Decision {
    match decision.decision {
        DecisionKind::Queued => {
            Decision { decision: DecisionKind::Failed, reason: reason.to_owned(), ..decision }
        }
        _ => decision,
    }
}
