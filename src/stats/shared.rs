//! The lower end of an interval of whole counts, where both ends share what the interval may err.
//!
//! Counts take few values where few ones are expected, and each value in or out changes what an interval holds by percents. At a
//! rate below one half the values that are too low for it are those of the mid-P interval: its upper end errs with A = P(X ≤ k − 1).
//! A value x is then too high for the rate where A + P(X ≥ x) is at most `most`, so that no rate is held less often than
//! 1 − `most`, and where A and the mid-P tail of x are at most `error` together, so that the interval holds 1 − `error` on average.
//! By A alone there would be nothing left for the lower end where A comes near `error`: it keeps `most` − `error` in any case.
//!
//! The rates for which x is not too high may have gaps; the bound is the least of them.

use super::{beta, proportion, root};

/// Where more ones were seen a count is a small step: what equal tails of mid-P hold at some rate is not less than 1 − `most` then.
pub const MANY: f64 = 70.0;

/// From here on the upper end is the one that takes what is left.
pub const MIDDLE: f64 = 0.5;

/// The bound is found up to this part of itself.
const ACCURACY: f64 = 1e-13;

/// What was seen, and how often the interval may err.
#[derive(Debug, Clone, Copy)]
pub struct Shared {
    /// The ones, a whole number from 1 to [`MANY`].
    pub ones: f64,
    /// The zeros, a whole number.
    pub zeros: f64,
    /// How often the interval may err on average.
    pub error: f64,
    /// How often it may err at any rate, more than `error` and less than 1.
    pub most: f64,
}

impl Shared {
    /// The least rate from the upper bound of a sample without ones to one half that the ones are not too many for; None where they
    /// are too many for all of these.
    pub fn lower(&self) -> Option<f64> {
        let spare = self.most - self.error;
        // Below the first all of what was seen fits into what is always left, below the second its mid-P tail does.
        let first = proportion::lower(self.ones, self.zeros, spare, proportion::WHOLE);
        let second = proportion::lower(self.ones, self.zeros, spare, proportion::HALF);
        let mut missed = self.missed(first).max(1.0);
        let mut from = first.max(self.upper(0.0));
        while from < MIDDLE && missed <= self.ones {
            let to = self.upper(missed).min(MIDDLE);
            let between = second.max(from).min(to);
            let found = self.first_over(missed, (from, between), false);
            if let Some(found) = found.or_else(|| self.first_over(missed, (between, to), true)) {
                return Some(found);
            }
            (from, missed) = (to, missed + 1.0);
        }
        None
    }

    /// The mid-P upper bound of a sample of this size with `ones` ones.
    fn upper(&self, ones: f64) -> f64 {
        let items = self.ones + self.zeros;
        1.0 - proportion::lower(items - ones, ones, 0.5 * self.error, proportion::HALF)
    }

    /// How many values, from no ones on, are too low for the rate `p`.
    fn missed(&self, p: f64) -> f64 {
        let (mut count, mut below) = (0.0, 0.0);
        let mut chance = self.none(p);
        while below + 0.5 * chance <= 0.5 * self.error && count < self.ones {
            below += chance;
            chance *= self.next(count, p);
            count += 1.0;
        }
        count
    }

    /// The least rate of a range at which the ones are not too many, where the `missed` lowest values are too low. The tails of one
    /// side fall with the rate and those of the other rise, ever faster beside them: there is at most one way out of "too many".
    fn first_over(&self, missed: f64, (low, high): (f64, f64), on_average: bool) -> Option<f64> {
        if low >= high {
            return None;
        }
        let over = |p| self.over(p, missed, on_average);
        let (at_low, at_high) = (over(low), over(high));
        if at_low >= 0.0 {
            return Some(low);
        }
        if at_high < 0.0 {
            return None;
        }
        Some(root::between((low, at_low), (high, at_high), ACCURACY, over))
    }

    /// How much more than it may the interval would err if the ones were too many for the rate `p`.
    fn over(&self, p: f64, missed: f64, on_average: bool) -> f64 {
        let (mut count, mut below) = (0.0, 0.0);
        let mut chance = self.none(p);
        while count < missed {
            below += chance;
            chance *= self.next(count, p);
            count += 1.0;
        }
        let above = beta::regularized(p, self.ones, self.zeros + 1.0);
        let over = below + above - self.most;
        if !on_average {
            return over;
        }
        while count < self.ones {
            chance *= self.next(count, p);
            count += 1.0;
        }
        over.max(below + above - 0.5 * chance - self.error)
    }

    /// The probability of no ones.
    fn none(&self, p: f64) -> f64 {
        ((self.ones + self.zeros) * (-p).ln_1p()).exp()
    }

    /// By how much one more than `count` ones are likelier than `count`.
    fn next(&self, count: f64, p: f64) -> f64 {
        (self.ones + self.zeros - count) / (count + 1.0) * p / (1.0 - p)
    }
}

#[cfg(test)]
#[path = "shared_tests.rs"]
mod tests;
