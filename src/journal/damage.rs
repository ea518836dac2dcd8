//! Which sequence numbers were found unreadable. Several readers meet the same damage; it counts once.

use std::collections::{BTreeMap, BTreeSet};

/// Beyond this many separate gaps they are only summed up, so that a ruined disk cannot fill the memory.
const MAX_GAPS: usize = 10_000;

/// What could not be served so far.
#[derive(Debug, Default)]
pub(super) struct Damage {
    /// First to last number of each gap, apart from each other.
    gaps: BTreeMap<u64, u64>,
    segments: BTreeSet<u64>,
    frames: u64,
}

impl Damage {
    /// Frames that were lost.
    pub(super) fn frames(&self) -> u64 {
        self.frames
    }

    /// Segments in which something was lost.
    pub(super) fn segments(&self) -> u64 {
        self.segments.len() as u64
    }

    /// The segment that begins with `first_seq` has damage; true if that is news.
    pub(super) fn note_segment(&mut self, first_seq: u64) -> bool {
        self.segments.insert(first_seq)
    }

    /// The frames `from..=to` cannot be served; returns how many of them are news.
    pub(super) fn note_gap(&mut self, from: u64, to: u64) -> u64 {
        if to < from {
            return 0;
        }
        let (mut low, mut high, mut known) = (from, to, 0);
        let touching: Vec<(u64, u64)> = self
            .gaps
            .range(..=to)
            .rev()
            .take_while(|(_, end)| **end >= from)
            .map(|(start, end)| (*start, *end))
            .collect();
        for (start, end) in touching {
            known += end.min(to) - start.max(from) + 1;
            low = low.min(start);
            high = high.max(end);
            self.gaps.remove(&start);
        }
        if self.gaps.len() < MAX_GAPS {
            self.gaps.insert(low, high);
        }
        let news = to - from + 1 - known;
        self.frames += news;
        news
    }

    /// Nobody will read up to `seq` again; its gaps need not be told apart any longer.
    pub(super) fn forget_through(&mut self, seq: u64) {
        self.gaps.retain(|_, end| *end > seq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_gaps_count_once() {
        let mut damage = Damage::default();
        assert_eq!(damage.note_gap(5, 7), 3);
        assert_eq!(damage.note_gap(6, 6), 0);
        assert_eq!(damage.note_gap(10, 12), 3);
        assert_eq!(damage.note_gap(6, 11), 2);
        assert_eq!(damage.note_gap(1, 20), 20 - 8);
        assert_eq!(damage.note_gap(9, 8), 0);
        assert_eq!(damage.frames(), 20);
        damage.forget_through(20);
        assert_eq!(damage.frames(), 20);
    }
}
