//! Budgets by pacing: the probability falls as a budget is used, and never to nothing.
//!
//! At each match the items that the budget still allows are divided by those that are wanted until its period ends. What is
//! wanted is forecast from what was wanted lately, so a burst lowers the probability while it goes on, and what quiet hours
//! leave is spent later. The probability is proportional to what is left, so a wrong forecast uses the budget faster and
//! does not overdraw it: half of it is left when what was left is halved. One budget of n items is like n places that are
//! taken one by one (a pure death process).

use super::rule_config::Budget;
use crate::domain::time::{SECOND, UnixNanos};
use chrono::{DateTime, Datelike, Months};

const MINUTE: i64 = 60 * SECOND;
const DAY: i64 = 86_400 * SECOND;

/// How far back the forecast of a minute, of a day and of a month looks, nanoseconds: nights and days are in a month alike.
const MINUTE_MEMORY: i64 = MINUTE;
const DAY_MEMORY: i64 = 10 * MINUTE;
const MONTH_MEMORY: i64 = DAY;

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

/// What a budget is for; periods are those of UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    Minute,
    Day,
    Month,
}

/// One budget and what was used of it.
#[derive(Debug, Clone)]
struct Period {
    length: Length,
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
    /// The first moment that it knows, where its memory is long.
    since: Option<UnixNanos>,
}

impl Length {
    const ALL: [Self; 3] = [Self::Minute, Self::Day, Self::Month];

    /// Which one `now` is in, counted.
    fn at(self, now: UnixNanos) -> i64 {
        match self {
            Self::Minute => now.0.div_euclid(MINUTE),
            Self::Day => now.0.div_euclid(DAY),
            Self::Month => {
                let day = DateTime::from_timestamp_nanos(now.0).date_naive();
                i64::from(day.year()) * 12 + i64::from(day.month0())
            }
        }
    }

    /// Nanoseconds of the one that `now` is in which are left.
    fn left(self, now: UnixNanos) -> i64 {
        match self {
            Self::Minute => MINUTE - now.0.rem_euclid(MINUTE),
            Self::Day => DAY - now.0.rem_euclid(DAY),
            Self::Month => {
                let day = DateTime::from_timestamp_nanos(now.0).date_naive();
                let next = day.with_day(1).and_then(|first| first.checked_add_months(Months::new(1)));
                let days = next.map_or(1, |next| next.signed_duration_since(day).num_days());
                days * DAY - now.0.rem_euclid(DAY)
            }
        }
    }

    fn memory(self) -> i64 {
        match self {
            Self::Minute => MINUTE_MEMORY,
            Self::Day => DAY_MEMORY,
            Self::Month => MONTH_MEMORY,
        }
    }

    /// Items that `budget` allows at so many US dollars an item.
    fn most(self, budget: &Budget, price: Option<f64>) -> Option<f64> {
        match self {
            Self::Minute => budget.per_minute(price),
            Self::Day => budget.per_day(price),
            Self::Month => budget.per_month(price),
        }
    }
}

impl Pacer {
    /// A pacer of `budget` at its own price, nothing used; none without a budget.
    pub fn new(budget: &Budget) -> Option<Self> {
        let period = |length: Length| Some(Period::new(length, length.most(budget, budget.usd_per_item)?));
        let periods: Vec<Period> = Length::ALL.into_iter().filter_map(period).collect();
        (!periods.is_empty()).then_some(Self { periods })
    }

    /// An item costs `price` US dollars from now on, and so do those that were selected before in the same periods.
    pub fn reprice(&mut self, budget: &Budget, price: f64) {
        for period in &mut self.periods {
            if let Some(most) = period.length.most(budget, Some(price)) {
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

    /// Whether it has to know what was selected in the whole month.
    pub fn is_of_months(&self) -> bool {
        self.periods.iter().any(|period| period.length == Length::Month)
    }

    /// Counts an item that was selected at `now`.
    pub fn spend(&mut self, now: UnixNanos) {
        self.spend_many(1.0, now, now);
    }

    /// Counts `items` that were selected at `then`, as it stands at `now`; those of periods that have passed do not count.
    pub fn spend_many(&mut self, items: f64, then: UnixNanos, now: UnixNanos) {
        for period in &mut self.periods {
            period.turn(now);
            if period.length.at(then) == period.at {
                period.used += items;
            }
        }
    }
}

impl Period {
    fn new(length: Length, most: f64) -> Self {
        let wanted = Wanted { memory: length.memory(), sum: 0.0, at: UnixNanos(0), since: None };
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
        let at = self.length.at(now);
        if at > self.at || at.saturating_add(1) < self.at {
            (self.at, self.used, self.rest) = (at, 0.0, self.reserve * LAST_OF_RESERVE);
        }
    }

    fn left(&mut self, p: f64, now: UnixNanos) -> f64 {
        self.turn(now);
        let time_left = self.length.left(now) as f64;
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
        self.sum / self.seen(now)
    }

    /// The time that the sum is of, nanoseconds. A minute and ten are soon full; in the first hours of a day's memory most of
    /// it is missing, and would be taken for a time without matches.
    fn seen(&mut self, now: UnixNanos) -> f64 {
        let memory = self.memory as f64;
        if self.memory < MONTH_MEMORY {
            return memory;
        }
        let age = now.since(*self.since.get_or_insert(now)).max(DAY_MEMORY) as f64;
        memory * (1.0 - (-age / memory).exp())
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
        bursty(random, 20_000 * DAY, 1.0)
    }

    /// The same from `midnight` on, with so many times the matches.
    fn bursty(random: &mut Seeded, midnight: i64, times_as_many: f64) -> Vec<UnixNanos> {
        let mut times = Vec::new();
        for minute in 0..1_440_i64 {
            let hour = minute / 60;
            let usual = if (8..20).contains(&hour) { 6.0 } else { 0.5 };
            let burst = if minute % 173 == 0 { 100.0 } else { 1.0 };
            // The fraction is an arrival by chance.
            let count = times_as_many * usual * burst * 2.0 * random.unit() + random.unit();
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

    /// 1970-01-01 plus so many days.
    fn midnight(year: i32, month: u32, day: u32) -> i64 {
        let date = chrono::NaiveDate::from_ymd_opt(year, month, day).unwrap();
        i64::from(date.num_days_from_ce() - 719_163) * DAY
    }

    #[test]
    fn a_month_of_bursts_keeps_its_budget_and_is_sampled_to_its_last_day() {
        const DAYS: usize = 28;
        let first = midnight(2026, 2, 1);
        for seed in 0..3 {
            for most in [3_000.0, 300.0] {
                let budget = Budget { items_per_month: Some(most), ..Budget::default() };
                let (mut random, mut pacer) = (Seeded::new(seed), Pacer::new(&budget).unwrap());
                let mut days = [0u32; DAYS];
                for (day, selected) in days.iter_mut().enumerate() {
                    for now in bursty(&mut random, first + day as i64 * DAY, 0.3) {
                        if random.unit() < pacer.left(1.0, now) {
                            pacer.spend(now);
                            *selected += 1;
                        }
                    }
                }
                let used = f64::from(days.iter().sum::<u32>());
                assert!(used <= most && used > 0.9 * most, "seed {seed}: {used} of {most}: {days:?}");
                let even = most / DAYS as f64;
                let most_of_a_day = f64::from(days.iter().copied().max().unwrap());
                assert!(most_of_a_day < 4.0 * even && days[DAYS - 1] > 0, "seed {seed}: {days:?}");
            }
        }
    }

    #[test]
    fn months_are_those_of_the_calendar() {
        let noon = |day: i64| UnixNanos(day + DAY / 2);
        let (last, next) = (noon(midnight(2026, 12, 31)), noon(midnight(2027, 1, 1)));
        assert_eq!(Length::Month.at(next), Length::Month.at(last) + 1);
        assert_eq!(Length::Month.left(last), DAY / 2);
        assert_eq!(Length::Month.left(noon(midnight(2028, 2, 28))), DAY + DAY / 2);
        let budget = Budget { items_per_month: Some(10.0), items_per_day: Some(5.0), ..Budget::default() };
        let mut pacer = Pacer::new(&budget).unwrap();
        assert!(pacer.is_of_months());
        // Before a restart: earlier in the month, in another one, and today, in any order.
        pacer.spend_many(4.0, noon(midnight(2026, 12, 31)), last);
        pacer.spend_many(6.0, noon(midnight(2026, 12, 3)), last);
        pacer.spend_many(9.0, noon(midnight(2026, 11, 30)), last);
        let used: Vec<f64> = pacer.periods.iter().map(|period| period.used).collect();
        assert_eq!(used, [4.0, 10.0]);
        assert!(pacer.left(1.0, last) < 0.2);
        assert!(pacer.left(1.0, next) > 0.3, "a new day and a new month");
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
        pacer.spend_many(90.0, now, now);
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
        pacer.spend_many(10.0, morning, morning);
        let spent = pacer.left(1.0, morning);
        assert!(spent < 0.2, "{spent}");
        assert!(
            pacer.left(1.0, UnixNanos(morning.0 - 6 * MINUTE)) < 0.2,
            "yesterday's budget is not given again"
        );
        assert!(pacer.left(1.0, UnixNanos(morning.0 - 5 * DAY)) > 0.01);
        // What was spent before a restart counts in its own period only.
        let mut pacer = Pacer::new(&budget).unwrap();
        pacer.spend_many(10.0, UnixNanos(morning.0 - DAY), morning);
        assert_eq!(pacer.left(1.0, morning), 1.0);
    }
}
