//! Which traces were decided about before.
//!
//! The newest are known for sure, those before them to a filter of bits that errs on one side only: it may take a new trace
//! for one that was decided, never the other way round. Who must be sure asks the tables, which is needed for few traces.

use crate::domain::id::TraceId;
use crate::domain::time::{SECOND, UnixNanos};
use arrow::array::{AsArray, RecordBatch};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

/// Traces that were decided are known for sure for this long at most.
pub const REMEMBERED: Duration = Duration::from_hours(1);
pub(super) const REMEMBER_NANOS: i64 = 3_600 * SECOND;
/// And so many of them.
const REMEMBER_TRACES: usize = 500_000;
/// Traces of one filter; there are two, and the older one goes when the newer one is full.
const FILTER_TRACES: usize = 2_000_000;
/// Bits of a filter for each trace, and places of a trace in it: 1 of 120 new traces is taken for a known one.
const BITS: usize = 10;
const PLACES: u64 = 7;

/// Traces that were decided, oldest first.
pub(super) struct Decided {
    /// When, and whether an item of it may have been selected.
    when: HashMap<TraceId, (UnixNanos, bool)>,
    order: VecDeque<(UnixNanos, TraceId)>,
    filters: VecDeque<Filter>,
}

/// A trace, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// It was decided.
    Yes,
    /// Maybe it was: only the tables can tell.
    Maybe,
    /// It was not decided in the time that is remembered.
    No,
}

impl Decided {
    /// Nothing is known of what was decided before `since`.
    pub(super) fn since(since: UnixNanos) -> Self {
        Self { when: HashMap::new(), order: VecDeque::new(), filters: VecDeque::from([Filter::new(since)]) }
    }

    /// All that was decided from here on is remembered, by the filters at least.
    pub(super) fn horizon(&self) -> UnixNanos {
        self.filters.front().map_or(UnixNanos(i64::MAX), |filter| filter.since)
    }

    /// Whether the trace was decided for sure. The filters are not asked: this is called for every span.
    pub(super) fn is_sure(&self, id: &TraceId) -> bool {
        self.when.contains_key(id)
    }

    /// Whether the trace was decided.
    pub(super) fn knows(&self, id: &TraceId) -> Known {
        if self.is_sure(id) {
            return Known::Yes;
        }
        if self.filters.iter().any(|filter| filter.has(id)) { Known::Maybe } else { Known::No }
    }

    /// Remembers a trace that goes on from `now` on; whether an item of it may have been selected.
    pub(super) fn renew(&mut self, id: TraceId, now: UnixNanos) -> bool {
        let is_selected = self.when.get(&id).is_none_or(|(_, is_selected)| *is_selected);
        self.note(id, is_selected, now);
        is_selected
    }

    /// Remembers the trace from `now` on, and whether an item of it may have been selected.
    pub(super) fn note(&mut self, id: TraceId, is_selected: bool, now: UnixNanos) {
        let before = self.when.get(&id).copied();
        let is_selected = is_selected || before.is_some_and(|(_, before)| before);
        self.when.insert(id, (now, is_selected));
        if before.is_none() {
            self.order.push_back((now, id));
            if self.filters.back().is_none_or(|filter| filter.count >= FILTER_TRACES) {
                self.filters.push_back(Filter::new(now));
                while self.filters.len() > 2 {
                    self.filters.pop_front();
                }
            }
            if let Some(filter) = self.filters.back_mut() {
                filter.add(&id);
            }
        }
        while let Some((when, old)) = self.order.front() {
            if self.order.len() <= REMEMBER_TRACES && now.since(*when) <= REMEMBER_NANOS {
                break;
            }
            let (when, old) = (*when, *old);
            self.order.pop_front();
            match self.when.get(&old) {
                // It has gone on since.
                Some((newer, _)) if *newer > when && self.order.len() < REMEMBER_TRACES => {
                    self.order.push_back((*newer, old));
                }
                _ => drop(self.when.remove(&old)),
            }
        }
    }

    /// Remembers the traces of rows of `decisions`: what is decided at once, and `scored` and its like that follow.
    pub(super) fn note_rows(&mut self, batch: &RecordBatch, now: UnixNanos) {
        let Some(ids) = batch.column_by_name("trace_id").and_then(|c| c.as_string_opt::<i32>()) else {
            return;
        };
        let kinds = batch.column_by_name("decision").and_then(|c| c.as_string_opt::<i32>());
        for (row, text) in ids.iter().enumerate() {
            let Some(id) = text.and_then(|text| TraceId::from_hex(text).ok()) else { continue };
            let is_selected = kinds.is_none_or(|kinds| matches!(kinds.value(row), "queued" | "scored"));
            self.note(id, is_selected, now);
        }
    }
}

/// Bloom's filter (1970): bits that are set for what is in it.
struct Filter {
    /// When the first was added.
    since: UnixNanos,
    count: usize,
    /// Made when the first is added: a server without rules needs none.
    words: Vec<u64>,
}

impl Filter {
    fn new(since: UnixNanos) -> Self {
        Self { since, count: 0, words: Vec::new() }
    }

    /// The places of a trace, by two parts of its id that a sender may choose; who chooses them badly has more of his own
    /// traces looked up in the tables.
    fn places(id: &TraceId) -> impl Iterator<Item = usize> {
        let bits = (FILTER_TRACES * BITS) as u64;
        let (mut first, mut second) = ([0; 8], [0; 8]);
        first.copy_from_slice(&id.0[..8]);
        second.copy_from_slice(&id.0[8..]);
        let spread = |part: [u8; 8]| {
            // The finalizer of SplitMix64: ids with a counter in them would share their places.
            let mut n = u64::from_be_bytes(part).wrapping_add(0x9e37_79b9_7f4a_7c15);
            n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            n ^ (n >> 31)
        };
        let (first, second) = (spread(first), spread(second) | 1);
        (0..PLACES).map(move |n| (first.wrapping_add(second.wrapping_mul(n)) % bits) as usize)
    }

    fn add(&mut self, id: &TraceId) {
        if self.words.is_empty() {
            self.words = vec![0; (FILTER_TRACES * BITS).div_ceil(64)];
        }
        for place in Self::places(id) {
            self.words[place / 64] |= 1 << (place % 64);
        }
        self.count += 1;
    }

    fn has(&self, id: &TraceId) -> bool {
        !self.words.is_empty()
            && Self::places(id).all(|place| self.words[place / 64] & (1 << (place % 64)) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u128) -> TraceId {
        TraceId(n.to_be_bytes())
    }

    #[test]
    fn what_was_decided_is_never_taken_for_new() {
        let mut decided = Decided::since(UnixNanos(5));
        for n in 1..=1_000 {
            decided.note(id(n), true, UnixNanos(10));
        }
        assert!((1..=1_000).all(|n| decided.knows(&id(n)) == Known::Yes));
        // After the hour only the filter knows them.
        decided.note(id(5_000), false, UnixNanos(11 + REMEMBER_NANOS));
        assert!((1..=1_000).all(|n| decided.knows(&id(n)) == Known::Maybe));
        assert_eq!((decided.knows(&id(5_000)), decided.horizon()), (Known::Yes, UnixNanos(5)));
        assert!(!decided.renew(id(5_000), UnixNanos(12 + REMEMBER_NANOS)), "no item of it was selected");
        // What goes on is known for longer.
        decided.note(id(6_000), true, UnixNanos(12 + 2 * REMEMBER_NANOS));
        assert_eq!(decided.knows(&id(5_000)), Known::Yes);
        let wrong = (10_000..30_000).filter(|n| decided.knows(&id(*n)) != Known::No).count();
        assert_eq!(wrong, 0, "of a filter that is nearly empty");
    }

    #[test]
    fn a_full_filter_is_followed_by_another_and_errs_seldom() {
        let mut filter = Filter::new(UnixNanos(0));
        // Ids as a counter makes them, and as a random number.
        let made = |n: u64| id(u128::from(n) | u128::from(n.wrapping_mul(0x9e37_79b9)) << 64);
        (0..FILTER_TRACES as u64).for_each(|n| filter.add(&made(n)));
        let wrong = (0..50_000).filter(|n| filter.has(&made(10_000_000 + n))).count();
        assert!(wrong < 1_000, "{wrong} of 50000");
    }
}
