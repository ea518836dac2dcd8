//! Traces that were decided, and of which more has come since: they wait a moment for the rest of it, and are few.

use crate::domain::id::{SpanId, TraceId};
use crate::domain::time::{SECOND, UnixNanos};
use crate::units::{Time, nanos};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// Spans of a trace that are remembered as late; those beyond it count as if they had been there before.
const MOST_SPANS: usize = 1_000;
/// How often a trace waits again for an evaluation that is under way.
const MOST_WAITS: u32 = 10;

/// Settings of what comes after the decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LateConfig {
    /// How often the item of a trace is evaluated again because spans that came late change what is evaluated; 0 for never.
    pub max_versions: u32,
    /// The trace waits until nothing more has come for so long.
    #[serde(with = "Time")]
    pub debounce: Duration,
    /// Most traces that wait at once; more are left as they are, and counted.
    pub max_traces: usize,
    /// Most traces that are looked at again in a minute; more are left as they are, and counted.
    pub max_per_minute: u32,
}

impl Default for LateConfig {
    fn default() -> Self {
        Self { max_versions: 2, debounce: Duration::from_secs(30), max_traces: 1_000, max_per_minute: 60 }
    }
}

impl LateConfig {
    /// Every fault, each with the key and what to do.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.max_versions > 0 && (self.max_traces == 0 || self.max_per_minute == 0) {
            faults.push(
                "sample.late.max_traces and max_per_minute must be above 0; max_versions = 0 switches it off"
                    .to_owned(),
            );
        }
        if self.debounce > Duration::from_mins(10) {
            faults.push(
                "sample.late.debounce is above 10m: the journal would keep all that came meanwhile"
                    .to_owned(),
            );
        }
        faults
    }
}

/// What came late of one trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Late {
    /// The first frame that had some of it.
    pub first_seq: u64,
    /// The spans that came late, and those of which log records spoke late.
    pub spans: HashSet<SpanId>,
    pub said: HashSet<SpanId>,
    /// When it is looked at, nanoseconds since 1970.
    due: i64,
    /// And at the latest.
    at_last: i64,
    waits: u32,
}

/// The traces of which something came late.
pub(super) struct Latecomers {
    config: LateConfig,
    waiting: HashMap<TraceId, Late>,
    /// The first frame of what is being looked at.
    busy: HashMap<TraceId, u64>,
    /// How many may be looked at now, and when that was counted.
    left: f64,
    counted: Option<UnixNanos>,
}

/// Counts traces with late spans by what became of them.
pub(super) fn count(outcome: &'static str) {
    metrics::counter!("groundline_late_traces_total", "outcome" => outcome).increment(1);
}

impl Latecomers {
    pub(super) fn new(config: LateConfig) -> Self {
        let left = f64::from(config.max_per_minute);
        Self { config, waiting: HashMap::new(), busy: HashMap::new(), left, counted: None }
    }

    /// Whether anything is evaluated again.
    pub(super) fn is_on(&self) -> bool {
        self.config.max_versions > 0
    }

    /// A span of a decided trace came with the frame `seq`, or a log record that speaks of it.
    pub(super) fn note(&mut self, trace: TraceId, span: SpanId, is_span: bool, seq: u64, now: UnixNanos) {
        if !self.is_on() {
            return;
        }
        let wait = nanos(self.config.debounce);
        let due = now.0.saturating_add(wait);
        if !self.waiting.contains_key(&trace) && self.waiting.len() >= self.config.max_traces {
            count("too many");
            return;
        }
        let late = self.waiting.entry(trace).or_insert_with(|| Late {
            first_seq: seq,
            spans: HashSet::new(),
            said: HashSet::new(),
            due,
            at_last: now.0.saturating_add(wait.saturating_mul(10)),
            waits: 0,
        });
        let set = if is_span { &mut late.spans } else { &mut late.said };
        if set.len() < MOST_SPANS {
            set.insert(span);
        }
        late.due = due.min(late.at_last);
    }

    /// A trace that is to be looked at now; none if none is due, or no more may be looked at in this minute.
    pub(super) fn take(&mut self, now: UnixNanos) -> Option<(TraceId, Late)> {
        // Nothing waits longer for its turn: of what would, the clock was set back meanwhile.
        let longest = nanos(self.config.debounce).max(SECOND);
        let is_time = |due: i64| due <= now.0 || due.saturating_sub(now.0) > longest;
        let busy = &self.busy;
        let is_due = |(trace, late): &(&TraceId, &Late)| is_time(late.due) && !busy.contains_key(*trace);
        let trace = *self.waiting.iter().filter(is_due).min_by_key(|(_, late)| late.due)?.0;
        let most = f64::from(self.config.max_per_minute);
        let passed = self.counted.map_or(0, |then| now.since(then).max(0));
        self.left = (self.left + passed as f64 / (60 * SECOND) as f64 * most).min(most);
        self.counted = Some(now);
        if self.left < 1.0 {
            // None of those that are due has its turn, however many they are.
            let due: Vec<TraceId> = self.waiting.iter().filter(is_due).map(|(trace, _)| *trace).collect();
            for trace in due {
                self.waiting.remove(&trace);
                count("too many");
            }
            return None;
        }
        let late = self.waiting.remove(&trace)?;
        self.left -= 1.0;
        self.busy.insert(trace, late.first_seq);
        Some((trace, late))
    }

    /// How many are being looked at.
    pub(super) fn busy(&self) -> usize {
        self.busy.len()
    }

    /// What was taken has been dealt with.
    pub(super) fn done(&mut self, trace: &TraceId) {
        self.busy.remove(trace);
    }

    /// What was taken has to wait for an evaluation that is under way; false if it has waited too often.
    pub(super) fn put_back(&mut self, trace: TraceId, mut late: Late, now: UnixNanos) -> bool {
        self.done(&trace);
        late.waits += 1;
        if late.waits > MOST_WAITS {
            return false;
        }
        late.due = now.0.saturating_add(nanos(self.config.debounce).max(SECOND));
        late.at_last = late.due;
        match self.waiting.get_mut(&trace) {
            // More has come meanwhile.
            Some(newer) => {
                newer.spans.extend(late.spans);
                newer.said.extend(late.said);
                (newer.first_seq, newer.waits) = (newer.first_seq.min(late.first_seq), late.waits);
            }
            None => drop(self.waiting.insert(trace, late)),
        }
        true
    }

    /// The first frame that is still needed.
    pub(super) fn first_seq(&self) -> Option<u64> {
        self.waiting.values().map(|late| late.first_seq).chain(self.busy.values().copied()).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u8) -> TraceId {
        TraceId([n; 16])
    }

    fn at(seconds: i64) -> UnixNanos {
        UnixNanos(seconds * SECOND)
    }

    fn span(n: u8) -> SpanId {
        SpanId([n; 8])
    }

    #[test]
    fn a_trace_waits_for_the_rest_of_it_and_not_for_ever() {
        let mut all = Latecomers::new(LateConfig::default());
        all.note(id(1), span(1), true, 7, at(0));
        all.note(id(1), span(2), true, 8, at(20));
        assert_eq!((all.take(at(30)), all.first_seq()), (None, Some(7)));
        let (trace, late) = all.take(at(50)).unwrap();
        assert_eq!((trace, late.first_seq, late.spans.len()), (id(1), 7, 2));
        assert_eq!(all.first_seq(), Some(7), "it is not dealt with yet");
        assert!(all.put_back(trace, late, at(50)) && all.take(at(79)).is_none());
        let (_, late) = all.take(at(80)).unwrap();
        all.done(&trace);
        assert_eq!(all.first_seq(), None);
        // Spans without an end do not keep it waiting.
        (0..1_000).for_each(|n| all.note(id(2), span(3), true, 9, at(100 + n)));
        assert!(all.take(at(400)).is_some());
        let mut late = late;
        late.waits = MOST_WAITS;
        assert!(!all.put_back(trace, late, at(500)), "it has waited often enough");
    }

    #[test]
    fn a_clock_that_is_set_right_keeps_no_trace_waiting() {
        let mut all = Latecomers::new(LateConfig::default());
        all.note(id(1), span(1), true, 7, at(1_000_000));
        assert!(all.take(at(1_000_000)).is_none());
        assert!(all.take(at(5)).is_some());
    }

    #[test]
    fn there_are_few_at_once_and_few_in_a_minute() {
        let config = LateConfig { max_traces: 3, max_per_minute: 2, ..LateConfig::default() };
        let mut all = Latecomers::new(config);
        (1..=9).for_each(|n| all.note(id(n), span(1), false, u64::from(n), at(0)));
        let taken: Vec<u8> = std::iter::from_fn(|| all.take(at(30))).map(|(id, _)| id.0[0]).collect();
        assert_eq!(taken.len(), 2);
        taken.iter().for_each(|n| all.done(&id(*n)));
        assert_eq!(all.first_seq(), None, "the third is left as it is");
        all.note(id(4), span(1), true, 4, at(31));
        assert!(all.take(at(61)).is_some(), "a minute gives two more, half a minute one");
        let mut off = Latecomers::new(LateConfig { max_versions: 0, ..LateConfig::default() });
        off.note(id(1), span(1), true, 1, at(0));
        assert_eq!(off.take(at(1_000)), None);
    }

    /// Each one that had no turn took a step of the stack, and a look at all others.
    #[test]
    fn many_that_have_no_turn_are_left_at_once() {
        let config = LateConfig { max_traces: 40_000, max_per_minute: 1, ..LateConfig::default() };
        let mut all = Latecomers::new(config);
        for n in 0..40_000_u128 {
            all.note(TraceId(n.to_be_bytes()), span(1), true, 7, at(0));
        }
        let (trace, _) = all.take(at(30)).unwrap();
        assert!(all.take(at(30)).is_none());
        all.done(&trace);
        assert_eq!(all.first_seq(), None);
    }
}
