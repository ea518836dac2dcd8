//! What was seen in the last so much time, in buckets.

use crate::stats::Rate;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Buckets of a window: the oldest leaves whole, so a window is too long by one bucket at most.
const BUCKETS: i64 = 60;

/// A window that moves with the scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct MovingWindow {
    /// Nanoseconds of a bucket.
    width: i64,
    /// Number of the bucket since 1970, and what fell into it; in order.
    buckets: VecDeque<(i64, Rate)>,
}

impl MovingWindow {
    /// The last `length` nanoseconds.
    pub(super) fn new(length: i64) -> Self {
        Self { width: (length / BUCKETS).max(1), buckets: VecDeque::new() }
    }

    /// Counts an outcome at `at`, nanoseconds since 1970. One that comes late enters its own bucket; one that is too late for
    /// the window enters none.
    pub(super) fn push(&mut self, at: i64, failed: bool, pi: f64) {
        let number = at.div_euclid(self.width);
        let newest = self.buckets.back().map_or(number, |(newest, _)| (*newest).max(number));
        if number <= newest - BUCKETS {
            return;
        }
        while self.buckets.front().is_some_and(|(oldest, _)| *oldest <= newest - BUCKETS) {
            self.buckets.pop_front();
        }
        let place = self.buckets.partition_point(|(other, _)| *other < number);
        if self.buckets.get(place).is_none_or(|(other, _)| *other != number) {
            self.buckets.insert(place, (number, Rate::new()));
        }
        if let Some((_, seen)) = self.buckets.get_mut(place) {
            // Who calls has looked at the probability.
            let _ = seen.push(failed, pi);
        }
    }

    /// Everything in the window.
    pub(super) fn total(&self) -> Rate {
        self.buckets.iter().fold(Rate::new(), |mut all, (_, seen)| {
            all.merge(seen);
            all
        })
    }

    /// When the oldest bucket begins, nanoseconds since 1970.
    pub(super) fn begins(&self) -> Option<i64> {
        self.buckets.front().map(|(number, _)| number * self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_buckets_leave_and_late_values_find_theirs() {
        let mut window = MovingWindow::new(60);
        for at in 0..200 {
            window.push(at, true, 0.5);
        }
        assert_eq!((window.total().n(), window.begins()), (60, Some(140)));
        window.push(150, false, 1.0);
        window.push(100, false, 1.0);
        assert_eq!((window.total().n(), window.buckets.len()), (61, 60));
        window.push(1_000, false, 1.0);
        assert_eq!((window.total().n(), window.begins()), (1, Some(1_000)));
    }
}
