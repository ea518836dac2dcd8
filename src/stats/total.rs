//! The total over a window of which a part was drawn.
//!
//! Horvitz and Thompson 1952: Σy/π. Under independent (Poisson) selection its variance is estimated by Σ(1−π)(y/π)². Items
//! with π = 1 are known and add none.
//!
//! Of values that are nowhere negative the sum that was seen is certain; only what was not seen, U = Σy(1/π − 1), is
//! estimated. It behaves like a Poisson count of e = U²/V that is scaled by V/U, with V the variance (Fay and Feuer 1997),
//! and gets the score interval of a Poisson mean, e + z²/2 ± z√(e + z²/4) (Molenaar 1970): the total never lies below what
//! was seen, and few large items give a bound that is wider above. Values of both signs get Student's interval.

use super::estimate::{Estimate, is_probability};
use super::{normal, student};

/// Collects values with their inclusion probabilities, in any order and in any number of parts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Total {
    n: u64,
    weight: f64,
    square: f64,
    seen: f64,
    unseen: f64,
    /// Σ(1−π)y²/π², and the same of y⁴ over its square, for the degrees of freedom.
    variance: f64,
    fourth: f64,
    negative: u64,
}

impl Total {
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
        let weight = 1.0 / pi;
        let part = (1.0 - pi) * (value * weight) * (value * weight);
        self.merge(&Self {
            n: 1,
            weight,
            square: weight * weight,
            seen: value,
            unseen: value * (weight - 1.0),
            variance: part,
            fourth: part * part,
            negative: u64::from(value < 0.0),
        });
        true
    }

    /// Adds everything that `other` has seen.
    pub fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.weight += other.weight;
        self.square += other.square;
        self.seen += other.seen;
        self.unseen += other.unseen;
        self.variance += other.variance;
        self.fourth += other.fourth;
        self.negative += other.negative;
    }

    /// How many values were pushed.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The estimated total over all items, seen or not, with its interval at the confidence `level`; none when nothing was
    /// pushed. The unit is that of the values.
    ///
    /// No bounds where items were left out and every value that was seen is 0: nothing tells how large others may be. No
    /// bounds for values of both signs that come to less than two effective ones.
    pub fn estimate(&self, level: f64) -> Option<Estimate> {
        if self.n == 0 {
            return None;
        }
        let bounds = self.bounds(level);
        Some(Estimate {
            estimate: self.seen + self.unseen,
            lower: bounds.map(|b| b.0),
            upper: bounds.map(|b| b.1),
            n: self.n,
            n_eff: self.weight * self.weight / self.square,
        })
    }

    fn bounds(&self, level: f64) -> Option<(f64, f64)> {
        let total = self.seen + self.unseen;
        if self.variance == 0.0 {
            let all_seen = self.weight <= self.n as f64;
            return all_seen.then_some((total, total));
        }
        if self.negative == 0 {
            let scale = self.variance / self.unseen;
            let events = self.unseen / scale;
            let z = normal::critical(level);
            let (middle, half) = (events + 0.5 * z * z, z * (events + 0.25 * z * z).sqrt());
            return Some((self.seen + scale * (middle - half), self.seen + scale * (middle + half)));
        }
        let terms = self.variance * self.variance / self.fourth;
        let half = student::critical(level, terms - 1.0) * self.variance.sqrt();
        (terms >= 2.0).then_some((total - half, total + half))
    }

    /// The numbers of the state: n and negative values; Σw, Σw², what was seen, what was not, variance, fourth powers.
    pub fn parts(&self) -> ([u64; 2], [f64; 6]) {
        let sums = [self.weight, self.square, self.seen, self.unseen, self.variance, self.fourth];
        ([self.n, self.negative], sums)
    }

    /// The state that [`Total::parts`] gave.
    pub fn from_parts([n, negative]: [u64; 2], parts: [f64; 6]) -> Self {
        let [weight, square, seen, unseen, variance, fourth] = parts;
        Self { n, weight, square, seen, unseen, variance, fourth, negative }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(items: &[(f64, f64)]) -> Total {
        let mut all = Total::new();
        for (value, pi) in items {
            assert!(all.push(*value, *pi));
        }
        all
    }

    #[test]
    fn horvitz_thompson_by_hand() {
        let got = of(&[(2.0, 0.5), (3.0, 1.0), (1.0, 0.25)]).estimate(0.95).unwrap();
        assert_eq!((got.estimate, got.n), (11.0, 3));
        // Unseen: 2·1 + 1·3 = 5 with variance 0.5·16 + 0.75·16 = 20: 1.25 events of 4.
        let half = 1.959_964 * (1.25f64 + 0.960_365).sqrt();
        assert!((got.lower.unwrap() - (6.0 + 4.0 * (1.25 + 1.920_729 - half))).abs() < 1e-4);
        assert!((got.upper.unwrap() - (6.0 + 4.0 * (1.25 + 1.920_729 + half))).abs() < 1e-4);
    }

    #[test]
    fn what_is_certain_and_what_is_unknown() {
        let all = of(&[(2.0, 1.0), (-3.0, 1.0)]).estimate(0.95).unwrap();
        assert_eq!((all.estimate, all.lower, all.upper), (-1.0, Some(-1.0), Some(-1.0)));
        let none = of(&[(0.0, 0.1), (0.0, 0.1)]).estimate(0.95).unwrap();
        assert_eq!((none.estimate, none.lower, none.upper), (0.0, None, None));
        assert_eq!(of(&[(-1.0, 0.5)]).estimate(0.95).unwrap().lower, None);
        let both = of(&[(1.0, 0.5), (-1.0, 0.5), (2.0, 0.5), (1.0, 0.5)]).estimate(0.95).unwrap();
        assert!(both.lower.unwrap() < 6.0 && both.upper.unwrap() > 6.0 && both.estimate == 6.0);
        assert_eq!(Total::new().estimate(0.95), None);
        let mut refused = Total::new();
        assert!(!refused.push(1.0, f64::NAN) && !refused.push(1.0, 0.0) && refused == Total::new());
    }

    #[test]
    fn parts_and_merging() {
        let (a, b) = (of(&[(2.0, 0.5), (3.0, 1.0)]), of(&[(-1.0, 0.25)]));
        let (counts, numbers) = a.parts();
        let mut merged = Total::from_parts(counts, numbers);
        merged.merge(&b);
        assert_eq!(merged, of(&[(2.0, 0.5), (3.0, 1.0), (-1.0, 0.25)]));
    }
}
