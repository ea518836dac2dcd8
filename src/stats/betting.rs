//! Tests by betting: is the rate of failures above a bound, looked at after every item.
//!
//! A gambler starts with capital 1 and bets on each item that it fails. If the weighted rate is at most `bound`, no
//! strategy can be expected to win, so a capital of 1/α comes with probability at most α, however often one looks (Ville's
//! inequality; Waudby-Smith and Ramdas 2023, "Estimating means of bounded random variables by betting"). Here the factor of
//! an item with weight w = 1/π and y = 1 for a failure is 1 + λ·w·(y − bound). The weight makes a bet fair under unequal
//! selection (Horvitz-Thompson); λ must not depend on the item and must keep the factor above 0, so it is a share of
//! 1 / (bound · W), where W is the greatest weight that was seen before. Nothing is bet until a weight is known, by
//! [`Betting::weigh`] or the first item, and a reset does not forget it: where failures are preferred, the light ones come
//! first, and bets at their scale would be unfair. The capital is spread over several shares, because nobody knows how far the
//! rate will rise.
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

/// A capital grows no further. An alert on slices asks of the one that came as number k for k²/(4α) and more.
const MOST: f64 = 1e18;

/// The age before the first bet: then all of the capital is held back.
const UNBEGUN: f64 = -1.0;

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
    /// Units of time that have passed since the first bet; [`UNBEGUN`] before it.
    age: f64,
    /// The greatest weight so far, up to `max_weight`; 0 while none is known.
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
            age: UNBEGUN,
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

    /// Takes note of the weight of an item that was selected with probability `pi`, without a bet on it.
    ///
    /// Leaves everything as it was unless `pi` is above 0 and at most 1.
    pub fn weigh(&mut self, pi: f64) {
        if pi > 0.0 && pi <= 1.0 {
            self.know(1.0 / pi);
        }
    }

    /// Takes note of the greatest weight that is known from elsewhere; 0 says nothing.
    pub fn know(&mut self, weight: f64) {
        if self.weight == 0.0 {
            // What an earlier release wrote after a reset has the age 0.
            self.age = UNBEGUN;
        }
        self.weight = self.weight.max(weight.min(self.max_weight));
    }

    /// Bets on one item that was selected with probability `pi`, `elapsed` units of time after the one before. While no weight
    /// is known it is not bet on and only tells its own.
    ///
    /// Returns false and leaves everything as it was unless `pi` is above 0 and at most 1. A negative or unknown `elapsed`
    /// counts as none: clocks go back.
    #[must_use = "a probability outside (0, 1] is not counted"]
    pub fn push(&mut self, failed: bool, pi: f64, elapsed: f64) -> bool {
        if !(pi > 0.0 && pi <= 1.0) {
            return false;
        }
        // What scales the bet must not depend on the item: a greater weight counts as the greatest before it, once.
        let limit = self.weight;
        if limit > 0.0 {
            let fresh = self.fresh(if elapsed.is_finite() { elapsed.max(0.0) } else { 0.0 });
            let gain = (1.0 / pi).min(limit) / limit * (f64::from(u8::from(failed)) / self.bound - 1.0);
            for (capital, share) in self.capital.iter_mut().zip(SHARES) {
                *capital = ((*capital + fresh) * (1.0 + share * gain)).min(MOST);
            }
        }
        self.know(1.0 / pi);
        true
    }

    /// The capital that comes in when so much time passes.
    fn fresh(&mut self, elapsed: f64) -> f64 {
        let before = self.age;
        self.age = before.max(0.0) + elapsed;
        match self.stakes {
            Stakes::Steady => elapsed,
            Stakes::Once => held_back(before) - held_back(self.age),
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

    /// Starts anew, as after an alarm. The size of weights stays known.
    pub fn reset(&mut self) {
        (self.age, self.capital) = (UNBEGUN, [0.0; SHARES.len()]);
    }
}

/// The part of the capital that is not bet yet after so many units of time: all of it before the first bet.
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

    /// Nothing was seen yet, but it is known that weights go up to `weight`.
    pub fn knowing(bound: f64, weight: f64) -> Self {
        Self { weight, ..Self::new(bound) }
    }

    /// The greatest weight so far; 0 while none is known.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Takes note of the weight of an item that says nothing of a change.
    pub fn weigh(&mut self, pi: f64) {
        if pi > 0.0 && pi <= 1.0 {
            self.weight = self.weight.max(1.0 / pi);
        }
    }

    /// Takes the greatest weight so far for `most` at most, as weights are counted from now on.
    pub fn limit(&mut self, most: f64) {
        self.weight = self.weight.min(most);
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
        self.weigh(pi);
        let gain = weight / self.weight * (f64::from(u8::from(failed)) / self.bound - 1.0);
        self.sum = (self.sum + (self.share * gain).ln_1p()).clamp(0.0, most);
        self.sum == 0.0
    }
}

#[cfg(test)]
#[path = "betting_tests.rs"]
mod tests;
