//! How much a judge may be asked: requests and tokens a minute, and dollars a day and a month.

use crate::domain::time::UnixNanos;
use chrono::{DateTime, Datelike};
use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// A tenth of what a minute allows may go out at once.
const BURST: u32 = 10;
/// Nanoseconds of a day.
const DAY: i64 = 86_400 * 1_000_000_000;

/// Requests or tokens a minute, evenly but for a small burst (the generic cell rate algorithm).
#[derive(Debug)]
pub(super) struct Rate {
    /// The time that one takes; zero without a limit.
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

    /// When a request that comes at `now` and takes `amount` may go out; none if not by `until`, and then nothing is taken.
    /// One that takes more than a burst goes out too, and those after it wait longer.
    pub(super) fn take(&self, amount: u32, now: Instant, until: Instant) -> Option<Instant> {
        if self.every.is_zero() {
            return Some(now);
        }
        let mut next = self.next.lock();
        let turn = next.map_or(now, |next| next.max(now));
        let at = turn.checked_sub(self.burst).map_or(now, |at| at.max(now));
        if at > until {
            return None;
        }
        *next = Some(turn + self.every * amount);
        Some(at)
    }

    /// Counts `amount` that was needed beyond what was taken: those who come later wait for it.
    pub(super) fn add(&self, amount: u32, now: Instant) {
        let mut next = self.next.lock();
        *next = Some(next.map_or(now, |next| next.max(now)) + self.every * amount);
    }

    /// Gives back `amount` of what was taken: it was not needed.
    pub(super) fn give_back(&self, amount: u32) {
        let mut next = self.next.lock();
        *next = next.and_then(|next| next.checked_sub(self.every * amount));
    }
}

/// Waits until `at`, or not at all: a timer for what has come would end with the millisecond, and wake a thread for that.
pub(super) async fn wait_until(at: Instant) {
    if at > Instant::now() {
        sleep_until(at).await;
    }
}

/// What a budget is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Period {
    /// A day (UTC).
    Day,
    /// A month (UTC).
    Month,
}

impl Period {
    /// Its key in the configuration.
    pub(super) fn key(self) -> &'static str {
        match self {
            Period::Day => "judges.max_usd_per_day",
            Period::Month => "judges.max_usd_per_month",
        }
    }

    /// When the next one begins.
    pub(super) fn ends(self) -> &'static str {
        match self {
            Period::Day => "at midnight UTC",
            Period::Month => "on the first of the month UTC",
        }
    }

    /// The number of the one that `now` is in.
    fn number(self, now: UnixNanos) -> i64 {
        match self {
            Period::Day => now.0.div_euclid(DAY),
            Period::Month => {
                let date = DateTime::from_timestamp_nanos(now.0);
                i64::from(date.year()) * 12 + i64::from(date.month0())
            }
        }
    }
}

/// Dollars of one period.
#[derive(Debug)]
struct Spent {
    period: Period,
    most: Option<f64>,
    /// The number of the period.
    number: i64,
    usd: f64,
}

impl Spent {
    fn new(period: Period, most: Option<f64>) -> Self {
        Self { period, most, number: 0, usd: 0.0 }
    }

    fn turn(&mut self, now: UnixNanos) {
        let number = self.period.number(now);
        if number != self.number {
            (self.number, self.usd) = (number, 0.0);
        }
    }
}

#[derive(Debug)]
struct Ledger {
    day: Spent,
    month: Spent,
    /// What calls that are under way may cost at most.
    reserved: f64,
}

/// Dollars a day and a month (UTC).
#[derive(Debug)]
pub(super) struct Budget {
    ledger: Mutex<Ledger>,
}

/// What one call may cost; given back when the call ends.
#[derive(Debug)]
pub(super) struct Reservation<'a> {
    budget: &'a Budget,
    usd: f64,
}

impl Budget {
    pub(super) fn new(day: Option<f64>, month: Option<f64>) -> Self {
        let (day, month) = (Spent::new(Period::Day, day), Spent::new(Period::Month, month));
        Self { ledger: Mutex::new(Ledger { day, month, reserved: 0.0 }) }
    }

    /// Reserves what a call may cost at most.
    ///
    /// # Errors
    /// The period of which less is left, with what it has, dollars.
    pub(super) fn reserve(&self, usd: f64, now: UnixNanos) -> Result<Reservation<'_>, (Period, f64)> {
        let mut ledger = self.ledger.lock();
        let Ledger { day, month, reserved } = &mut *ledger;
        for spent in [day, month] {
            spent.turn(now);
            if let Some(most) = spent.most.filter(|most| spent.usd + *reserved + usd > *most) {
                return Err((spent.period, most));
            }
        }
        *reserved += usd;
        Ok(Reservation { budget: self, usd })
    }

    /// Counts what was spent, dollars; gives the sum of the day.
    pub(super) fn spend(&self, usd: f64, now: UnixNanos) -> f64 {
        self.count(usd, usd, now)
    }

    /// Counts what was spent before: today, and earlier days of the month included.
    pub(super) fn count(&self, day_usd: f64, month_usd: f64, now: UnixNanos) -> f64 {
        let mut ledger = self.ledger.lock();
        ledger.day.turn(now);
        ledger.month.turn(now);
        ledger.day.usd += day_usd;
        ledger.month.usd += month_usd;
        ledger.day.usd
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
        let mut ledger = self.budget.ledger.lock();
        ledger.reserved = (ledger.reserved - self.usd).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[tokio::test]
    async fn nobody_waits_for_a_moment_that_has_come() {
        let now = Instant::now();
        assert!(wait_until(now).now_or_never().is_some());
        assert!(wait_until(now + Duration::from_hours(1)).now_or_never().is_none());
    }

    #[test]
    fn requests_are_spread_over_the_minute() {
        let (rate, now) = (Rate::new(60), Instant::now());
        let far = now + Duration::from_hours(1);
        let waits: Vec<u64> =
            (0..8).map(|_| rate.take(1, now, far).unwrap().duration_since(now).as_secs()).collect();
        assert_eq!(waits, [0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(rate.take(1, now, now + Duration::from_secs(1)), None);
        assert_eq!(rate.take(1, now, far).unwrap(), now + Duration::from_secs(3));
        assert_eq!(Rate::new(0).take(1, now, now), Some(now));
        let slow = Rate::new(1);
        assert_eq!(
            (slow.take(1, now, far), slow.take(1, now, far)),
            (Some(now), Some(now + Duration::from_mins(1)))
        );
    }

    #[test]
    fn tokens_that_were_not_needed_are_given_back() {
        // 1 000 a second.
        let (rate, now) = (Rate::new(60_000), Instant::now());
        let far = now + Duration::from_hours(1);
        let wait = |amount| rate.take(amount, now, far).unwrap().duration_since(now).as_millis();
        // More than a burst of six seconds goes out at once, and the next one waits for what is beyond it.
        assert_eq!((wait(20_000), wait(1_000)), (0, 14_001));
        rate.give_back(15_000);
        assert_eq!(wait(1), 1);
        // And what an answer had beyond it is waited for.
        rate.add(2_000, now);
        assert_eq!(wait(1), 2_002);
    }

    #[test]
    fn a_day_has_its_own_budget_and_calls_under_way_count() {
        let (budget, day) = (Budget::new(Some(1.0), None), UnixNanos(DAY * 20_000));
        let held = budget.reserve(0.6, day).unwrap();
        assert_eq!(budget.reserve(0.6, day).err(), Some((Period::Day, 1.0)));
        drop(held);
        assert!((budget.spend(0.9, day) - 0.9).abs() < 1e-12);
        assert!(budget.reserve(0.2, day).is_err() && budget.reserve(0.1, day).is_ok());
        assert!(budget.reserve(0.9, UnixNanos(day.0 + DAY)).is_ok());
        assert!(Budget::new(None, None).reserve(1e9, day).is_ok());
    }

    #[test]
    fn a_month_has_its_own_budget_whatever_its_days_have() {
        let at = |text: &str| {
            let time = DateTime::parse_from_rfc3339(&format!("{text}T12:00:00Z")).unwrap();
            UnixNanos(time.timestamp_nanos_opt().unwrap())
        };
        let budget = Budget::new(Some(1.0), Some(1.5));
        budget.spend(0.9, at("2026-02-27"));
        budget.spend(0.5, at("2026-02-28"));
        assert_eq!(budget.reserve(0.2, at("2026-02-28")).err(), Some((Period::Month, 1.5)));
        assert!(budget.reserve(0.9, at("2026-03-01")).is_ok());
        // What was spent before a restart: of the month, and of today.
        budget.count(0.1, 1.4, at("2026-03-01"));
        assert_eq!(budget.reserve(0.2, at("2026-03-01")).err(), Some((Period::Month, 1.5)));
    }
}
