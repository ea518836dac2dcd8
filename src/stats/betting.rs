//! Tests by betting: is the rate of failures above a bound, looked at after every item.
//!
//! A gambler starts with capital 1 and bets on each item that it fails. If the weighted rate is at most `bound`, no
//! strategy can be expected to win, so a capital of 1/α comes with probability at most α, however often one looks (Ville's
//! inequality; Waudby-Smith and Ramdas 2023, "Estimating means of bounded random variables by betting"). Here the factor of
//! an item with weight w = 1/π and y = 1 for a failure is 1 + λ·w·(y − bound). The weight makes a bet fair under unequal
//! selection (Horvitz-Thompson); λ must not depend on the item and must keep the factor above 0, so it is a share of
//! 1 / (bound · W), where W is the greatest weight that was seen before. The capital is spread over several shares, because
//! nobody knows how far the rate will rise.
//!
//! New capital comes in over time, so that a long good past does not hide a change:
//!
//! * [`Stakes::Steady`]: one unit for each unit of time. The sum is a Shiryaev-Roberts e-detector (Shin, Ramdas and Rinaldo
//!   2023, "E-detectors"): on a stream without a change the mean time to capital 1/α is at least 1/α units.
//! * [`Stakes::Once`]: 1 in all, of which half is bet at once and 1/(t+2) is held back after t units of time. That stays an
//!   e-process: the probability that it ever reaches 1/α is at most α.

use serde::{Deserialize, Serialize};

/// Shares of the greatest bet that is allowed. The best one against a rate p₁ is (p₁ − p₀)/(1 − p₀): from a change that is
/// hardly one to failures only.
const SHARES: [f64; 12] = [0.006, 0.01, 0.016, 0.026, 0.042, 0.068, 0.11, 0.18, 0.29, 0.45, 0.68, 0.9];

/// Beyond this a capital is as good as infinite.
const MOST: f64 = 1e12;

/// How new capital comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stakes {
    /// 1 in all: a false alarm ever has probability α at most.
    Once,
    /// 1 for each unit of time: false alarms are 1/α units apart on average, at least.
    Steady,
}

/// Bets against "the rate of failures is at most `bound`".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Betting {
    bound: f64,
    max_weight: f64,
    stakes: Stakes,
    /// Units of time that have passed.
    age: f64,
    /// The greatest weight so far, up to `max_weight`.
    weight: f64,
    capital: [f64; SHARES.len()],
}

impl Betting {
    /// Nothing was seen yet. `bound` lies above 0 and below 1; weights above `max_weight` count as that.
    ///
    /// None if `bound` or `max_weight` (at least 1) lies elsewhere.
    pub fn new(bound: f64, max_weight: f64, stakes: Stakes) -> Option<Self> {
        let fits = bound > 0.0 && bound < 1.0 && max_weight >= 1.0 && max_weight.is_finite();
        fits.then_some(Self {
            bound,
            max_weight,
            stakes,
            age: 0.0,
            weight: 0.0,
            capital: [0.0; SHARES.len()],
        })
    }

    /// The rate that is bet against.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// How new capital comes in.
    pub fn stakes(&self) -> Stakes {
        self.stakes
    }

    /// Bets on one item that was selected with probability `pi`, `elapsed` units of time after the one before.
    ///
    /// Returns false and leaves everything as it was unless `pi` is above 0 and at most 1. A negative or unknown `elapsed`
    /// counts as none: clocks go back.
    #[must_use = "a probability outside (0, 1] is not counted"]
    pub fn push(&mut self, failed: bool, pi: f64, elapsed: f64) -> bool {
        if !(pi > 0.0 && pi <= 1.0) {
            return false;
        }
        let weight = (1.0 / pi).min(self.max_weight);
        // The first item tells the size of weights; later a greater one counts as the greatest before it, once.
        let limit = if self.weight > 0.0 { self.weight } else { weight };
        let fresh = self.fresh(if elapsed.is_finite() { elapsed.max(0.0) } else { 0.0 });
        let gain = weight.min(limit) / limit * (f64::from(u8::from(failed)) / self.bound - 1.0);
        for (capital, share) in self.capital.iter_mut().zip(SHARES) {
            *capital = ((*capital + fresh) * (1.0 + share * gain)).min(MOST);
        }
        self.weight = self.weight.max(weight);
        true
    }

    /// The capital that comes in when so much time passes.
    fn fresh(&mut self, elapsed: f64) -> f64 {
        let before = self.age;
        match self.stakes {
            Stakes::Steady => {
                self.age += elapsed;
                elapsed
            }
            Stakes::Once => {
                let first = self.weight == 0.0;
                self.age += elapsed;
                (if first { 1.0 } else { held_back(before) }) - held_back(self.age)
            }
        }
    }

    /// What the capital is worth: the evidence against the bound.
    pub fn evidence(&self) -> f64 {
        let won = self.capital.iter().sum::<f64>() / SHARES.len() as f64;
        match self.stakes {
            Stakes::Steady => won,
            Stakes::Once if self.weight == 0.0 => 1.0,
            Stakes::Once => won + held_back(self.age),
        }
    }

    /// Multiplies all capital by `share`, between 0 and 1: what was one's own becomes a share of what several have together.
    pub fn scale(&mut self, share: f64) {
        self.capital.iter_mut().for_each(|capital| *capital *= share);
    }

    /// Starts anew, as after an alarm.
    pub fn reset(&mut self) {
        (self.age, self.capital) = (0.0, [0.0; SHARES.len()]);
        // The first item after it brings the first unit again; the size of weights stays known.
        self.weight = 0.0;
    }
}

/// The part of the capital that is not bet yet after so many units of time.
fn held_back(age: f64) -> f64 {
    1.0 / (age + 2.0)
}

/// Since when a rate has been above a bound: the cumulative sum of Page 1954, on the log of one bet.
///
/// The bet is the best one against twice the bound. While the stream is good the sum is at 0; `since` is when it left it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChangePoint {
    share: f64,
    bound: f64,
    sum: f64,
    weight: f64,
}

impl ChangePoint {
    /// Nothing was seen yet. `bound` lies above 0 and below 1.
    pub fn new(bound: f64) -> Self {
        let twice = (2.0 * bound).min(f64::midpoint(1.0, bound));
        Self { share: ((twice - bound) / (1.0 - bound)).min(0.9), bound, sum: 0.0, weight: 0.0 }
    }

    /// Whether there is no evidence left.
    pub fn is_quiet(&self) -> bool {
        self.sum == 0.0
    }

    /// Puts the evidence at `most`, as after an alarm: it has to be used up before all is well again.
    pub fn fill(&mut self, most: f64) {
        self.sum = most;
    }

    /// Counts one item; true if there is no evidence of a change at or before it. The sum stays below `most`.
    pub fn push(&mut self, failed: bool, pi: f64, most: f64) -> bool {
        let weight = if pi > 0.0 && pi <= 1.0 { 1.0 / pi } else { return self.sum == 0.0 };
        self.weight = self.weight.max(weight);
        let gain = weight / self.weight * (f64::from(u8::from(failed)) / self.bound - 1.0);
        self.sum = (self.sum + (self.share * gain).ln_1p()).clamp(0.0, most);
        self.sum == 0.0
    }
}

#[cfg(test)]
#[path = "betting_tests.rs"]
mod tests;
