//! What was recorded of a decision, and what a replay of it found.

use super::decide::{Draw, Drawn};
use crate::domain::decision::DecisionKind;
use crate::domain::id::{SpanId, TraceId};
use crate::domain::time::UnixNanos;

/// Most differences of a rule that are kept as examples.
const EXAMPLES: usize = 20;

/// A recorded decision.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Recorded {
    pub span_id: Option<SpanId>,
    pub version: String,
    pub kind: DecisionKind,
    pub reason: String,
    pub pi: f64,
    pub stratum: Option<String>,
    /// When, microseconds since 1970.
    pub at: i64,
}

/// How a rule of the configuration stands to what was recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is recorded of it.
    #[default]
    New,
    /// It is the one that decided.
    Same,
    /// It has changed: what is told is what it would have decided.
    Changed,
}

/// What a replay found about a rule.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// How it stands to what was recorded.
    pub standing: Standing,
    /// Matches and traces that were decided about again.
    pub decided: u64,
    /// Decisions that are as they are recorded.
    pub same: u64,
    /// Decisions that are not.
    pub different: u64,
    /// Recorded decisions that could not be made again: their spans are gone, or the scores that they were made from.
    pub unknown: u64,
    /// Items that were selected.
    pub items_then: u64,
    /// Items that would be selected now.
    pub items_now: u64,
    /// Items of now that were not selected then, and the other way round.
    pub gained: u64,
    /// Items of then that are not selected now.
    pub lost: u64,
    /// Some differences: the trace or trace/span, what was recorded, and what is decided now.
    pub examples: Vec<(String, String, String)>,
}

impl Findings {
    pub(super) fn note(
        &mut self,
        id: TraceId,
        one: &Drawn<'_>,
        recorded: Option<&Recorded>,
        is_same_rule: bool,
    ) {
        let is_selected = one.draw().is_some_and(Draw::is_selected);
        let was_selected = recorded.is_some_and(Recorded::was_selected);
        self.decided += 1;
        self.items_then += u64::from(was_selected);
        self.items_now += u64::from(is_selected);
        self.gained += u64::from(is_selected && !was_selected);
        self.lost += u64::from(was_selected && !is_selected);
        // Of a rule that was not there then nothing is recorded.
        let Some(recorded) = recorded else { return };
        let is_same = if is_same_rule { recorded.is_again(one) } else { is_selected == was_selected };
        if is_same {
            self.same += 1;
            return;
        }
        self.different += 1;
        let now = one.decision(UnixNanos(0));
        let name = item_name(id, (!one.rule().is_for_traces()).then_some(one.span_id()));
        let now = said(now.decision, &now.reason, now.inclusion_probability, now.stratum.as_deref());
        self.example(name, recorded.said(), now);
    }

    pub(super) fn example(&mut self, item: String, then: String, now: String) {
        if self.examples.len() < EXAMPLES {
            self.examples.push((item, then, now));
        }
    }
}

impl Recorded {
    pub(super) fn was_selected(&self) -> bool {
        !matches!(self.kind, DecisionKind::Filtered | DecisionKind::NotSampled | DecisionKind::OverBudget)
    }

    pub(super) fn said(&self) -> String {
        said(self.kind, &self.reason, self.pi, self.stratum.as_deref())
    }

    /// Whether `one` is this decision, bit for bit where nothing of it comes from the past.
    fn is_again(&self, one: &Drawn<'_>) -> bool {
        let now = one.decision(UnixNanos(0));
        let is_selected = now.decision == DecisionKind::Queued;
        if now.stratum != self.stratum || self.span_id != Some(one.span_id()) {
            return false;
        }
        if one.draw().is_none() || self.kind == DecisionKind::Filtered {
            return now.decision == self.kind && now.inclusion_probability.to_bits() == self.pi.to_bits();
        }
        if one.rule().config.has_memory() {
            return is_selected == self.was_selected();
        }
        // The queue's room is no part of the decision.
        let is_throttled = self.kind == DecisionKind::Throttled;
        let kind = now.decision == self.kind || (is_throttled && is_selected);
        let reason = now.reason == self.reason || is_throttled;
        kind && reason && now.inclusion_probability.to_bits() == self.pi.to_bits()
    }
}

fn said(kind: DecisionKind, reason: &str, pi: f64, stratum: Option<&str>) -> String {
    let stratum = stratum.map_or_else(String::new, |name| format!(", stratum {name}"));
    format!("{} (π {pi}{stratum}: {reason})", kind.as_str())
}

pub(super) fn item_name(trace: TraceId, span: Option<SpanId>) -> String {
    span.map_or_else(|| trace.to_string(), |span| format!("{trace}/{span}"))
}
