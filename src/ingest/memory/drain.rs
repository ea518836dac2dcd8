//! When a client that is refused should come back: after the time that what is in front of it takes.

use crate::domain::time::{SECOND, UnixNanos};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The last so many seconds tell how fast bytes drain.
const SLOTS: i64 = 10;

/// Hints differ by up to this share, so that clients which were refused together do not come back together.
const JITTER: f64 = 0.2;

/// How fast accepted bytes become durable.
#[derive(Default)]
pub struct Drain {
    past: Mutex<Past>,
    hints: AtomicU64,
}

#[derive(Default)]
struct Past {
    /// Bytes of a second, at the second modulo [`SLOTS`].
    slots: [(i64, u64); SLOTS as usize],
    first: Option<UnixNanos>,
}

impl Past {
    /// Bytes a second; none if nothing was ever drained.
    fn rate(&self, now: UnixNanos) -> Option<f64> {
        let second = now.0.div_euclid(SECOND);
        let recent = self.slots.iter().filter(|(at, _)| (second - SLOTS + 1..=second).contains(at));
        let bytes: u64 = recent.map(|(_, bytes)| bytes).sum();
        let seconds = now.since(self.first?) as f64 / SECOND as f64;
        Some(bytes as f64 / seconds.clamp(1.0, SLOTS as f64))
    }
}

impl Drain {
    /// `bytes` have become durable.
    pub fn note(&self, bytes: usize, now: UnixNanos) {
        let second = now.0.div_euclid(SECOND);
        let mut past = self.past.lock();
        past.first.get_or_insert(now);
        let slot = &mut past.slots[usize::try_from(second.rem_euclid(SLOTS)).unwrap_or(0)];
        if slot.0 != second {
            *slot = (second, 0);
        }
        slot.1 = slot.1.saturating_add(bytes as u64);
    }

    /// How long a client should wait that has `in_front` bytes before it: at the rate of the last seconds, at least
    /// `least` and at most `most`. Before anything was drained there is no rate, and it is `least`; when nothing drains any
    /// more it is `most`.
    pub fn hint(&self, in_front: u64, now: UnixNanos, least: Duration, most: Duration) -> Duration {
        let seconds = match self.past.lock().rate(now) {
            None => 0.0,
            Some(rate) => in_front as f64 / rate.max(1.0),
        };
        let least = least.as_secs_f64();
        let most = most.as_secs_f64().max(least);
        let spread = 1.0 + JITTER * fraction(self.hints.fetch_add(1, Ordering::Relaxed));
        Duration::from_secs_f64((seconds.clamp(least, most) * spread).min(most))
    }
}

/// A number in [0, 1) for the `n`th hint; neighbours are far apart (multiples of the golden ratio).
fn fraction(n: u64) -> f64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    (n.wrapping_mul(GOLDEN) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::{Clock, ManualClock};

    const LEAST: Duration = Duration::from_secs(1);
    const MOST: Duration = Duration::from_secs(30);

    fn within(hint: Duration, seconds: f64) -> bool {
        (seconds..=seconds * (1.0 + JITTER)).contains(&hint.as_secs_f64())
    }

    #[test]
    fn the_hint_is_what_is_in_front_at_the_rate_of_the_last_seconds() {
        let (drain, clock) = (Drain::default(), ManualClock::at(UnixNanos(1_000 * SECOND)));
        assert!(within(drain.hint(1 << 30, clock.now(), LEAST, MOST), 1.0), "no rate is known yet");
        for _ in 0..20 {
            drain.note(1_000_000, clock.now());
            clock.advance(SECOND);
        }
        let hint = |bytes| drain.hint(bytes, clock.now(), LEAST, MOST);
        // Nine full seconds of the last ten: the present one has brought nothing yet.
        assert!(within(hint(9_000_000), 10.0), "{:?}", hint(9_000_000));
        assert!(within(hint(10), 1.0));
        assert_eq!(hint(1 << 40), MOST);
        clock.advance(5 * SECOND);
        assert!(within(hint(4_000_000), 10.0), "{:?}", hint(4_000_000));
        clock.advance(60 * SECOND);
        assert_eq!(hint(1 << 20), MOST, "nothing drains any more");
    }

    #[test]
    fn hints_differ_and_keep_their_bounds() {
        let (drain, now) = (Drain::default(), UnixNanos(0));
        let hints: Vec<Duration> = (0..100).map(|_| drain.hint(1, now, LEAST, MOST)).collect();
        let mut sorted = hints.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), hints.len());
        assert!(hints.iter().all(|h| within(*h, 1.0)));
        assert_eq!(drain.hint(1, now, LEAST, LEAST), LEAST);
    }
}
