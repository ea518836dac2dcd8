//! Mean of values that were drawn with unequal, known probabilities.
//!
//! An item that was selected with probability π stands for w = 1/π items. The mean is Hájek's ratio Σwy / Σw. Its
//! variance by Taylor linearisation under independent (Poisson) selection is Σ(1−π)w²(y−ȳ)² / (Σw)² for the items of the
//! window itself; a statement about the rate behind the window needs the superpopulation term Σw(y−ȳ)² / (Σw)² on top.
//! Both add up to Σw²(y−ȳ)² / (Σw)², which is what [`Weighted`] keeps.

use super::estimate::{Estimate, is_probability};
use super::student;

/// Collects values with their inclusion probabilities, in any order and in any number of parts.
///
/// Means and squares are updated the way Welford and Chan did, relative to the running mean, because the difference of
/// two big sums of squares would lose all digits of, say, latencies in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Weighted {
    n: u64,
    /// Σw, and the mean of y under the weights w.
    weight: f64,
    mean: f64,
    /// Σw², the mean of y under the weights w², and Σw²(y − that mean)².
    square: f64,
    square_mean: f64,
    square_spread: f64,
}

impl Weighted {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value that was selected with probability `pi`.
    ///
    /// Returns false and leaves everything as it was unless `pi` is above 0 and at most 1.
    #[must_use = "a probability outside (0, 1] is not counted"]
    pub fn push(&mut self, value: f64, pi: f64) -> bool {
        if !is_probability(pi) {
            return false;
        }
        let w = 1.0 / pi;
        self.merge(&Self {
            n: 1,
            weight: w,
            mean: value,
            square: w * w,
            square_mean: value,
            square_spread: 0.0,
        });
        true
    }

    /// Adds everything that `other` has seen.
    pub fn merge(&mut self, other: &Self) {
        if other.n == 0 {
            return;
        }
        if self.n == 0 {
            *self = *other;
            return;
        }
        let weight = self.weight + other.weight;
        self.mean += (other.mean - self.mean) * (other.weight / weight);
        self.weight = weight;
        let square = self.square + other.square;
        let apart = other.square_mean - self.square_mean;
        self.square_spread += other.square_spread + apart * apart * self.square * (other.square / square);
        self.square_mean += apart * (other.square / square);
        self.square = square;
        self.n += other.n;
    }

    /// How many values were pushed.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The estimated number of items that the sample stands for, Σ1/π (Horvitz-Thompson).
    pub fn total(&self) -> f64 {
        self.weight
    }

    /// The weighted mean; 0 when nothing was pushed.
    pub fn value(&self) -> f64 {
        self.mean
    }

    /// Kish's effective sample size; 0 when nothing was pushed.
    pub fn n_eff(&self) -> f64 {
        if self.n == 0 { 0.0 } else { self.weight * self.weight / self.square }
    }

    /// Variance of the mean under inference to the superpopulation; 0 when nothing was pushed.
    pub fn variance(&self) -> f64 {
        if self.n == 0 {
            return 0.0;
        }
        let apart = self.square_mean - self.mean;
        (self.square_spread + self.square * apart * apart) / (self.weight * self.weight)
    }

    /// The weighted mean with a Student interval on `n_eff − 1` degrees of freedom.
    ///
    /// None when nothing was pushed; no bounds below two effective items, because one item says nothing about spread.
    pub fn mean(&self, level: f64) -> Option<Estimate> {
        if self.n == 0 {
            return None;
        }
        let n_eff = self.n_eff();
        let bounds = (n_eff >= 2.0).then(|| {
            let unbiased = n_eff / (n_eff - 1.0);
            student::critical(level, n_eff - 1.0) * (self.variance() * unbiased).sqrt()
        });
        Some(Estimate {
            estimate: self.mean,
            lower: bounds.map(|half| self.mean - half),
            upper: bounds.map(|half| self.mean + half),
            n: self.n,
            n_eff,
        })
    }

    /// The six numbers of the state: n, Σw, mean, Σw², mean under w², spread under w².
    pub fn parts(&self) -> (u64, [f64; 5]) {
        (self.n, [self.weight, self.mean, self.square, self.square_mean, self.square_spread])
    }

    /// The state that [`Weighted::parts`] gave.
    pub fn from_parts(n: u64, parts: [f64; 5]) -> Self {
        let [weight, mean, square, square_mean, square_spread] = parts;
        Self { n, weight, mean, square, square_mean, square_spread }
    }
}

#[cfg(test)]
#[path = "weighted_tests.rs"]
mod tests;
