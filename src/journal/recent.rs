//! The frames that became durable last, for readers that keep up with the writer.

use super::record::Frame;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// Keeps frames in memory until every reader has passed them, or until they take too many bytes. Whoever finds nothing
/// here reads from the disk.
pub(super) struct Recent {
    most_bytes: u64,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// Without a gap, the oldest first.
    frames: VecDeque<Frame>,
    bytes: u64,
    /// The next frame of each reader.
    readers: Vec<Weak<AtomicU64>>,
}

impl Recent {
    /// Keeps at most `most_bytes` of payload.
    pub(super) fn new(most_bytes: u64) -> Self {
        Self { most_bytes, kept: Mutex::default() }
    }

    /// A reader whose next frame is `next`; it moves the number. It counts until the number is dropped.
    pub(super) fn register(&self, next: u64) -> Arc<AtomicU64> {
        let place = Arc::new(AtomicU64::new(next));
        self.kept.lock().readers.push(Arc::downgrade(&place));
        place
    }

    /// Frames that follow each other. Call it before readers hear that they are durable.
    pub(super) fn push(&self, frames: impl Iterator<Item = Frame>) {
        let mut kept = self.kept.lock();
        kept.readers.retain(|reader| reader.strong_count() > 0);
        for frame in frames {
            if kept.frames.back().is_some_and(|last| last.seq + 1 != frame.seq) {
                kept.frames.clear();
                kept.bytes = 0;
            }
            kept.bytes += frame.payload.len() as u64;
            kept.frames.push_back(frame);
        }
        kept.drop_passed(self.most_bytes);
    }

    /// The frame `seq`, if it is here.
    pub(super) fn get(&self, seq: u64) -> Option<Frame> {
        let mut kept = self.kept.lock();
        kept.drop_passed(self.most_bytes);
        let at = seq.checked_sub(kept.frames.front()?.seq)?;
        kept.frames.get(usize::try_from(at).ok()?).cloned()
    }
}

impl Kept {
    fn drop_passed(&mut self, most_bytes: u64) {
        let places = self.readers.iter().filter_map(Weak::upgrade);
        let slowest = places.map(|place| place.load(Ordering::Relaxed)).min().unwrap_or(u64::MAX);
        while let Some(first) = self.frames.front()
            && (first.seq < slowest || self.bytes > most_bytes)
        {
            self.bytes -= first.payload.len() as u64;
            self.frames.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn frames(seqs: std::ops::RangeInclusive<u64>) -> impl Iterator<Item = Frame> {
        seqs.map(|seq| Frame { seq, kind: 0, payload: Bytes::from(vec![seq as u8; 10]) })
    }

    fn kept(recent: &Recent) -> Vec<u64> {
        recent.kept.lock().frames.iter().map(|frame| frame.seq).collect()
    }

    #[test]
    fn frames_stay_until_the_slowest_reader_has_passed_them() {
        let recent = Recent::new(1_000);
        recent.push(frames(1..=3));
        assert!(kept(&recent).is_empty(), "nobody reads");
        let (slow, fast) = (recent.register(4), recent.register(4));
        recent.push(frames(4..=8));
        fast.store(9, Ordering::Relaxed);
        assert_eq!(recent.get(9), None);
        slow.store(6, Ordering::Relaxed);
        assert_eq!(recent.get(6).map(|frame| frame.seq), Some(6));
        assert_eq!(kept(&recent), [6, 7, 8]);
        assert_eq!(recent.get(5), None, "it was passed");
        drop(slow);
        assert_eq!(recent.get(8), None, "the one that is left has passed everything");
        assert!(kept(&recent).is_empty());
    }

    #[test]
    fn a_reader_that_stands_still_costs_a_bounded_amount() {
        let recent = Recent::new(35);
        let _place = recent.register(1);
        recent.push(frames(1..=9));
        assert_eq!(kept(&recent), [7, 8, 9]);
        recent.push(frames(20..=20));
        assert_eq!(kept(&recent), [20], "there is a gap before it");
        assert_eq!(recent.kept.lock().bytes, 10);
        let none = Recent::new(0);
        let _place = none.register(1);
        none.push(frames(1..=2));
        assert_eq!(none.get(2), None);
    }
}
