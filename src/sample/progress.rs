//! How far the loop is, for those who wait for it.

use super::assemble::{Open, OpenTrace};
use crate::domain::id::TraceId;
use crate::domain::time::UnixNanos;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How often the starts of all open traces are looked at.
const LOOK: Duration = Duration::from_millis(500);

/// How far the loop is.
#[derive(Debug)]
pub struct Progress {
    position: AtomicU64,
    open: AtomicUsize,
    horizon: Mutex<Horizon>,
    floor: AtomicI64,
    looked: Mutex<Option<Instant>>,
}

/// What is still open at one place of the journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Horizon {
    /// The last frame that was read.
    pub position: u64,
    /// What of its spans is neither decided about nor queued begins here or later; none if nothing is open.
    pub earliest: Option<UnixNanos>,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            position: AtomicU64::new(0),
            open: AtomicUsize::new(0),
            horizon: Mutex::default(),
            floor: AtomicI64::new(i64::MIN),
            looked: Mutex::new(None),
        }
    }
}

impl Progress {
    /// The last frame that was read, and how many traces were open after it.
    pub fn now(&self) -> (u64, usize) {
        let position = self.position.load(Ordering::Acquire);
        (position, self.open.load(Ordering::Acquire))
    }

    /// What was open when it was looked at last, at most a second ago while the loop runs.
    pub fn horizon(&self) -> Horizon {
        *self.horizon.lock()
    }

    /// Has traces left out of the horizon that ended before `floor`: they came too late.
    pub fn set_floor(&self, floor: UnixNanos) {
        self.floor.store(floor.0, Ordering::Relaxed);
    }

    /// Tells that the frames up to `position` were read, and that `open` and what waits in `suspect` for the tables are what is
    /// left of them: what is in neither is decided about, and its items are in the queue.
    pub(super) fn publish(&self, position: u64, open: &Open, suspect: &VecDeque<(TraceId, OpenTrace)>) {
        let mut looked = self.looked.lock();
        if looked.is_none_or(|at| at.elapsed() > LOOK) {
            let floor = UnixNanos(self.floor.load(Ordering::Relaxed));
            let waiting = suspect.iter().filter_map(|(_, trace)| trace.earliest(floor));
            let earliest = waiting.chain(open.earliest(floor)).min();
            *self.horizon.lock() = Horizon { position, earliest };
            *looked = Some(Instant::now());
        }
        self.open.store(open.len() + suspect.len(), Ordering::Release);
        self.position.store(position, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::Config;
    use super::super::rule_config::Target;
    use super::super::tests::{NOW, closed, retrieval_and_calls, rules};
    use super::*;

    #[test]
    fn a_trace_that_waits_for_the_tables_is_not_decided_yet() {
        let rules = rules("operation = 'llm'", Target::Trace, 1.0);
        let trace = closed(&retrieval_and_calls(1, 10), &rules);
        let (progress, open) = (Progress::default(), Open::new(Config::default()));
        progress.publish(7, &open, &VecDeque::from([(TraceId([7; 16]), trace)]));
        assert_eq!(progress.horizon(), Horizon { position: 7, earliest: Some(NOW) });
        assert_eq!(progress.now(), (7, 1));
    }
}
