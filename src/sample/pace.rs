//! Budgets by pacing: the probability falls as a budget is used, and never to nothing.
//!
//! At each match the items that the budget still allows are divided by those that are wanted until its period ends. What is
//! wanted is forecast from what was wanted lately, so a burst lowers the probability while it goes on, and what quiet hours
//! leave is spent later. The probability is proportional to what is left, so a wrong forecast uses the budget faster and
//! does not overdraw it: half of it is left when what was left is halved. One budget of n items is like n places that are
//! taken one by one (a pure death process).

use super::rule_config::Budget;
use crate::domain::time::{SECOND, UnixNanos};

const MINUTE: i64 = 60 * SECOND;
const DAY: i64 = 86_400 * SECOND;

/// How far back the forecast of a minute and of a day looks, nanoseconds.
const MINUTE_MEMORY: i64 = MINUTE;
const DAY_MEMORY: i64 = 10 * MINUTE;

/// Items that are held back, because draws scatter; at most this share of the budget.
const RESERVE: f64 = 2.0;
const RESERVE_SHARE: f64 = 0.2;
/// When all is used, this part of the reserve is spread over the matches that still come, however many there are.
const LAST_OF_RESERVE: f64 = 0.0625;

/// The budgets of one rule.
#[derive(Debug, Clone)]
pub struct Pacer {
    periods: Vec<Period>,
}

/// One budget and what was used of it.
#[derive(Debug, Clone)]
struct Period {
    length: i64,
    /// Items that may be selected, and those that are held back beside them.
    most: f64,
    reserve: f64,
    at: i64,
    used: f64,
    /// What is expected to be selected yet when all is used.
    rest: f64,
    wanted: Wanted,
}

/// Items that were wanted lately: a sum that decays.
#[derive(Debug, Clone)]
struct Wanted {
    memory: i64,
    sum: f64,
    at: UnixNanos,
}

impl Pacer {
    /// A pacer of `budget` at its own price, nothing used; none without a budget.
    pub fn new(budget: &Budget) -> Option<Self> {
        let price = budget.usd_per_item;
        let minute = budget.per_minute(price).map(|most| Period::new(MINUTE, most, MINUTE_MEMORY));
        let day = budget.per_day(price).map(|most| Period::new(DAY, most, DAY_MEMORY));
        let periods: Vec<Period> = minute.into_iter().chain(day).collect();
        (!periods.is_empty()).then_some(Self { periods })
    }

    /// An item costs `price` US dollars from now on, and so do those that were selected before in the same periods.
    pub fn reprice(&mut self, budget: &Budget, price: f64) {
        for period in &mut self.periods {
            let most = if period.length == MINUTE {
                budget.per_minute(Some(price))
            } else {
                budget.per_day(Some(price))
            };
            if let Some(most) = most {
                period.allow(most);
            }
        }
    }

    /// Which part of the probability `p` the budgets leave a match at `now`, above 0 and up to 1. The match counts as wanted.
    pub fn left(&mut self, p: f64, now: UnixNanos) -> f64 {
        let left = self.periods.iter_mut().map(|period| period.left(p, now)).fold(1.0, f64::min);
        self.periods.iter_mut().for_each(|period| period.wanted.add(p, now));
        left
    }

    /// Counts an item that was selected at `now`.
    pub fn spend(&mut self, now: UnixNanos) {
        self.spend_many(1.0, now);
    }

    /// Counts `items` that were selected at `then`; those of periods that have passed do not count.
    pub fn spend_many(&mut self, items: f64, then: UnixNanos) {
        for period in &mut self.periods {
            period.turn(then);
            if then.0.div_euclid(period.length) == period.at {
                period.used += items;
            }
        }
    }
}

impl Period {
    fn new(length: i64, most: f64, memory: i64) -> Self {
        let wanted = Wanted { memory, sum: 0.0, at: UnixNanos(0) };
        let mut period = Self { length, most: 0.0, at: i64::MIN, used: 0.0, rest: 0.0, reserve: 0.0, wanted };
        period.allow(most);
        period.rest = period.reserve * LAST_OF_RESERVE;
        period
    }

    /// Allows `most` items in all; what was used stays used.
    fn allow(&mut self, most: f64) {
        self.reserve = RESERVE.min(most * RESERVE_SHARE);
        self.most = most - self.reserve;
        self.rest = self.rest.min(self.reserve * LAST_OF_RESERVE);
    }

    /// Begins a new period. A clock that went back into the one before does not give its budget again; one that was set
    /// right after it had been far ahead begins anew.
    fn turn(&mut self, now: UnixNanos) {
        let at = now.0.div_euclid(self.length);
        if at > self.at || at.saturating_add(1) < self.at {
            (self.at, self.used, self.rest) = (at, 0.0, self.reserve * LAST_OF_RESERVE);
        }
    }

    fn left(&mut self, p: f64, now: UnixNanos) -> f64 {
        self.turn(now);
        let time_left = (self.length - now.0.rem_euclid(self.length)) as f64;
        let wanted = (self.wanted.per_nano(now) * time_left).max(p);
        let room = self.most - self.used;
        if room > self.rest {
            return (room / wanted).min(1.0);
        }
        let left = (self.rest / (2.0 * wanted)).clamp(f64::MIN_POSITIVE, 1.0);
        self.rest -= p * left;
        left
    }
}

impl Wanted {
    fn per_nano(&mut self, now: UnixNanos) -> f64 {
        let passed = now.since(self.at);
        // A clock that goes back forgets nothing.
        if passed > 0 {
            self.sum *= (-(passed as f64) / self.memory as f64).exp();
        }
        self.at = now;
        self.sum / self.memory as f64
    }

    fn add(&mut self, p: f64, now: UnixNanos) {
        self.per_nano(now);
        self.sum += p;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::seeded::Seeded;

    /// A day with a quiet night, busy hours and bursts of a hundredfold; the times of its matches.
    fn bursty_day(random: &mut Seeded) -> Vec<UnixNanos> {
        let midnight = 20_000 * DAY;
        let mut times = Vec::new();
        for minute in 0..1_440_i64 {
            let hour = minute / 60;
            let usual = if (8..20).contains(&hour) { 6.0 } else { 0.5 };
            let burst = if minute % 173 == 0 { 100.0 } else { 1.0 };
            // The fraction is an arrival by chance.
            let count = usual * burst * 2.0 * random.unit() + random.unit();
            for _ in 0..count as u64 {
                times.push(UnixNanos(midnight + minute * MINUTE + (random.unit() * MINUTE as f64) as i64));
            }
        }
        times.sort();
        times
    }

    /// Items that are selected of a day, by hour, and the greatest number of a minute.
    fn day(budget: Budget, p: f64, seed: u64) -> ([u32; 24], u32) {
        let (mut random, mut pacer) = (Seeded::new(seed), Pacer::new(&budget).unwrap());
        let (mut hours, mut minutes) = ([0; 24], std::collections::HashMap::<i64, u32>::new());
        for now in bursty_day(&mut random) {
            let left = pacer.left(p, now);
            assert!(left > 0.0 && left <= 1.0, "{left}");
            if random.unit() < p * left {
                pacer.spend(now);
                hours[usize::try_from(now.0.rem_euclid(DAY) / (60 * MINUTE)).unwrap()] += 1;
                *minutes.entry(now.0.div_euclid(MINUTE)).or_default() += 1;
            }
        }
        (hours, minutes.into_values().max().unwrap_or(0))
    }

    #[test]
    fn a_day_of_bursts_keeps_its_budget_and_is_sampled_to_the_end() {
        let mut least_used = f64::INFINITY;
        for seed in 0..40 {
            for (most, p) in [(1_000.0, 1.0), (1_000.0, 0.4), (100.0, 1.0)] {
                let budget = Budget { items_per_day: Some(most), ..Budget::default() };
                let (hours, _) = day(budget, p, seed);
                let used = f64::from(hours.iter().sum::<u32>());
                assert!(used <= most, "seed {seed}: {used} of {most}: {hours:?}");
                least_used = least_used.min(used / most);
                if most > 500.0 {
                    assert!(hours[23] > 0, "seed {seed}: the last hour is not sampled: {hours:?}");
                }
            }
        }
        assert!(least_used > 0.75, "{least_used}");
    }

    #[test]
    fn minutes_of_bursts_keep_theirs() {
        for seed in 0..40 {
            let budget = Budget { items_per_minute: Some(10.0), ..Budget::default() };
            let (hours, most) = day(budget, 1.0, seed);
            assert!(most <= 10, "seed {seed}: {most} in a minute");
            assert!(hours.iter().all(|items| *items > 0), "seed {seed}: {hours:?}");
        }
    }

    #[test]
    fn a_budget_that_is_not_met_takes_nothing_away() {
        let budget = Budget { items_per_day: Some(1e6), items_per_minute: Some(1e5), ..Budget::default() };
        let (mut pacer, mut random) = (Pacer::new(&budget).unwrap(), Seeded::new(1));
        for now in bursty_day(&mut random) {
            assert_eq!(pacer.left(1.0, now), 1.0);
            pacer.spend(now);
        }
        assert!(Pacer::new(&Budget::default()).is_none());
    }

    #[test]
    fn a_price_that_turns_out_higher_leaves_fewer_items() {
        let budget = Budget { usd_per_day: Some(10.0), usd_per_item: Some(0.01), ..Budget::default() };
        let (mut pacer, now) = (Pacer::new(&budget).unwrap(), UnixNanos(20_000 * DAY + 5 * MINUTE));
        assert_eq!(pacer.left(1.0, now), 1.0);
        pacer.spend_many(90.0, now);
        // 90 of 1,000 items are used, or 90 of 100.
        pacer.reprice(&budget, 0.1);
        let dear = (0..50).map(|_| pacer.left(1.0, now)).last().unwrap();
        assert!(dear < 0.2, "{dear}");
        pacer.reprice(&budget, 0.2);
        assert!(pacer.left(1.0, now) < 0.01, "more was used than may be");
        pacer.reprice(&budget, 0.001);
        assert_eq!(pacer.left(1.0, now), 1.0);
    }

    #[test]
    fn the_probability_falls_smoothly_in_a_burst() {
        let budget = Budget { items_per_day: Some(1_000.0), ..Budget::default() };
        let (mut pacer, start) = (Pacer::new(&budget).unwrap(), 20_000 * DAY);
        let mut before = 1.0;
        for n in 0..100_000 {
            let left = pacer.left(1.0, UnixNanos(start + n * 1_000_000));
            assert!(left <= before && left > before * 0.7, "match {n}: {before} then {left}");
            before = left;
        }
        assert!(before < 0.01, "{before}");
    }

    #[test]
    fn a_clock_that_goes_back_gives_no_budget_twice_and_one_set_right_begins_anew() {
        let budget = Budget { items_per_day: Some(10.0), ..Budget::default() };
        let (mut pacer, morning) = (Pacer::new(&budget).unwrap(), UnixNanos(20_000 * DAY + 5 * MINUTE));
        pacer.spend_many(10.0, morning);
        let spent = pacer.left(1.0, morning);
        assert!(spent < 0.2, "{spent}");
        assert!(
            pacer.left(1.0, UnixNanos(morning.0 - 6 * MINUTE)) < 0.2,
            "yesterday's budget is not given again"
        );
        assert!(pacer.left(1.0, UnixNanos(morning.0 - 5 * DAY)) > 0.01);
        // What was spent before a restart counts in its own period only.
        let mut pacer = Pacer::new(&budget).unwrap();
        pacer.spend_many(0.0, morning);
        pacer.spend_many(10.0, UnixNanos(morning.0 - DAY));
        assert_eq!(pacer.left(1.0, morning), 1.0);
    }
}
