//! How much a judge may be asked: requests a minute, and dollars a day.

use crate::domain::time::UnixNanos;
use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// A tenth of a minute's requests may go out at once.
const BURST: u32 = 10;
/// Nanoseconds of a day.
const DAY: i64 = 86_400 * 1_000_000_000;

/// Requests a minute, evenly but for a small burst (the generic cell rate algorithm).
#[derive(Debug)]
pub(super) struct Rate {
    /// The time between two requests; zero without a limit.
    every: Duration,
    burst: Duration,
    /// When the next request would go out without a burst.
    next: Mutex<Option<Instant>>,
}

impl Rate {
    pub(super) fn new(per_minute: u32) -> Self {
        let every = Duration::from_mins(1).checked_div(per_minute).unwrap_or_default();
        let burst = every * (per_minute / BURST).saturating_sub(1);
        Self { every, burst, next: Mutex::new(None) }
    }

    /// When a request that comes at `now` may go out; none if not by `until`, and then nothing is taken.
    pub(super) fn take(&self, now: Instant, until: Instant) -> Option<Instant> {
        if self.every.is_zero() {
            return Some(now);
        }
        let mut next = self.next.lock();
        let turn = next.map_or(now, |next| next.max(now));
        let at = turn.checked_sub(self.burst).map_or(now, |at| at.max(now));
        if at > until {
            return None;
        }
        *next = Some(turn + self.every);
        Some(at)
    }
}

/// Dollars of one day.
#[derive(Debug, Default)]
struct Spent {
    day: i64,
    usd: f64,
    /// What calls that are under way may cost at most.
    reserved: f64,
}

/// Dollars a day (UTC).
#[derive(Debug)]
pub(super) struct Budget {
    most: Option<f64>,
    spent: Mutex<Spent>,
}

/// What one call may cost; given back when the call ends.
#[derive(Debug)]
pub(super) struct Reservation<'a> {
    budget: &'a Budget,
    usd: f64,
}

impl Budget {
    pub(super) fn new(most: Option<f64>) -> Self {
        Self { most, spent: Mutex::default() }
    }

    /// Reserves what a call may cost at most; none if that is more than what is left of the day.
    pub(super) fn reserve(&self, usd: f64, now: UnixNanos) -> Option<Reservation<'_>> {
        let mut spent = self.spent.lock();
        spent.turn(now);
        if self.most.is_some_and(|most| spent.usd + spent.reserved + usd > most) {
            return None;
        }
        spent.reserved += usd;
        Some(Reservation { budget: self, usd })
    }

    /// Counts what was spent, dollars; gives the sum of the day.
    pub(super) fn spend(&self, usd: f64, now: UnixNanos) -> f64 {
        let mut spent = self.spent.lock();
        spent.turn(now);
        spent.usd += usd;
        spent.usd
    }
}

impl Spent {
    fn turn(&mut self, now: UnixNanos) {
        let day = now.0.div_euclid(DAY);
        if day != self.day {
            (self.day, self.usd) = (day, 0.0);
        }
    }
}

impl Reservation<'_> {
    /// What is reserved, dollars.
    pub(super) fn usd(&self) -> f64 {
        self.usd
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut spent = self.budget.spent.lock();
        spent.reserved = (spent.reserved - self.usd).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_spread_over_the_minute() {
        let (rate, now) = (Rate::new(60), Instant::now());
        let far = now + Duration::from_hours(1);
        let waits: Vec<u64> =
            (0..8).map(|_| rate.take(now, far).unwrap().duration_since(now).as_secs()).collect();
        assert_eq!(waits, [0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(rate.take(now, now + Duration::from_secs(1)), None);
        assert_eq!(rate.take(now, far).unwrap(), now + Duration::from_secs(3));
        assert_eq!(Rate::new(0).take(now, now), Some(now));
        let slow = Rate::new(1);
        assert_eq!(
            (slow.take(now, far), slow.take(now, far)),
            (Some(now), Some(now + Duration::from_mins(1)))
        );
    }

    #[test]
    fn a_day_has_its_own_budget_and_calls_under_way_count() {
        let (budget, day) = (Budget::new(Some(1.0)), UnixNanos(DAY * 20_000));
        let held = budget.reserve(0.6, day).unwrap();
        assert!(budget.reserve(0.6, day).is_none());
        drop(held);
        assert!((budget.spend(0.9, day) - 0.9).abs() < 1e-12);
        assert!(budget.reserve(0.2, day).is_none() && budget.reserve(0.1, day).is_some());
        assert!(budget.reserve(0.9, UnixNanos(day.0 + DAY)).is_some());
        assert!(Budget::new(None).reserve(1e9, day).is_some());
    }
}
