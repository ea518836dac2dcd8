//! The difference of two values of the same item: two evaluators, or one evaluator on two answers.
//!
//! The mean of a − b is Hájek's ratio with Student's interval, as any mean. Two verdicts are counted instead: what decides are
//! the items on which they differ, and with few of them Student's interval is too short; with none it would have no width.
//! So each discordant count gets one item more (Bonett and Price 2012): with p₁₂ = (n₁₂+1)/(n+2) and p₂₁ likewise the
//! interval is p₁₂ − p₂₁ ± z√((p₁₂ + p₂₁ − (p₁₂−p₂₁)²)/(n+2)), where n is the effective sample size.

use super::estimate::Estimate;
use super::normal;
use super::weighted::Weighted;

/// Collects pairs with their inclusion probabilities, in any order and in any number of parts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Paired {
    difference: Weighted,
    /// Of |a − b|, which for verdicts is the share of items on which they differ.
    distance: Weighted,
}

impl Paired {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The state of its two parts.
    pub fn of(difference: Weighted, distance: Weighted) -> Self {
        Self { difference, distance }
    }

    /// Its two parts: of a − b and of |a − b|.
    pub fn parts(&self) -> [Weighted; 2] {
        [self.difference, self.distance]
    }

    /// Adds the values `a` and `b` of an item that was selected with probability `pi`.
    ///
    /// Returns false and leaves everything as it was unless `pi` is above 0 and at most 1.
    #[must_use = "a probability outside (0, 1] is not counted"]
    pub fn push(&mut self, a: f64, b: f64, pi: f64) -> bool {
        self.difference.push(a - b, pi) && self.distance.push((a - b).abs(), pi)
    }

    /// Adds everything that `other` has seen.
    pub fn merge(&mut self, other: &Self) {
        self.difference.merge(&other.difference);
        self.distance.merge(&other.distance);
    }

    /// The mean of a − b with Student's interval, in the unit of the values; as [`Weighted::mean`].
    pub fn mean(&self, level: f64) -> Option<Estimate> {
        self.difference.mean(level)
    }

    /// The rate of a minus that of b, for values that are 0 or 1, at the confidence `level`; none when nothing was pushed.
    ///
    /// The sample size is Kish's, or the smaller one that the variance implies.
    pub fn rate(&self, level: f64) -> Option<Estimate> {
        self.rate_worth(1.0, level)
    }

    /// [`Paired::rate`] of items that are worth `gain` times as many independent ones, above 0 and at most 1; `n_eff` is Kish's
    /// size times `gain`.
    pub fn rate_worth(&self, gain: f64, level: f64) -> Option<Estimate> {
        let middle = self.difference.mean(level)?;
        let (apart, differ) = (middle.estimate, self.distance.mean(level)?.estimate);
        let variance = self.difference.variance();
        let implied = (differ - apart * apart) / variance;
        let n = gain * if variance > 0.0 { middle.n_eff.min(implied) } else { middle.n_eff };
        let share = |part: f64| (0.5 * part.max(0.0) * n + 1.0) / (n + 2.0);
        let (more, less) = (share(differ + apart), share(differ - apart));
        let spread = more + less - (more - less) * (more - less);
        let half = normal::critical(level) * (spread / (n + 2.0)).sqrt();
        let centre = more - less;
        Some(Estimate {
            lower: Some((centre - half).max(-1.0)),
            upper: Some((centre + half).min(1.0)),
            n_eff: middle.n_eff * gain,
            ..middle
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(f64, f64)], times: usize) -> Paired {
        let mut all = Paired::new();
        for (a, b) in pairs.iter().cycle().take(pairs.len() * times) {
            assert!(all.push(*a, *b, 0.5));
        }
        all
    }

    /// Fagerland, Lydersen and Laake 2014, table II: 1, 1, 7 and 12 pairs, without continuity correction.
    #[test]
    fn published_example() {
        let mut all = Paired::new();
        for (count, a, b) in [(1, 1.0, 1.0), (1, 1.0, 0.0), (7, 0.0, 1.0), (12, 0.0, 0.0)] {
            for _ in 0..count {
                assert!(all.push(a, b, 1.0));
            }
        }
        let got = all.rate(0.95).unwrap();
        assert!((got.estimate + 6.0 / 21.0).abs() < 1e-12);
        assert!((got.lower.unwrap() + 0.5080).abs() < 1e-3, "{got:?}");
        assert!((got.upper.unwrap() + 0.0137).abs() < 1e-3, "{got:?}");
    }

    #[test]
    fn agreement_everywhere_is_no_certainty() {
        let got = of(&[(1.0, 1.0), (0.0, 0.0)], 10).rate(0.95).unwrap();
        assert_eq!(got.estimate, 0.0);
        assert!(got.lower.unwrap() < -0.1 && got.upper.unwrap() > 0.1, "{got:?}");
    }

    #[test]
    fn a_mean_difference_is_that_of_the_differences() {
        let pairs = [(3.0, 1.0), (5.0, 4.0), (2.0, 2.5)];
        let mut plain = Weighted::new();
        for (a, b) in pairs {
            assert!(plain.push(a - b, 0.5));
        }
        assert_eq!(of(&pairs, 1).mean(0.9), plain.mean(0.9));
        let mut merged = of(&pairs[..1], 1);
        let [difference, distance] = of(&pairs[1..], 1).parts();
        merged.merge(&Paired::of(difference, distance));
        assert!((merged.mean(0.9).unwrap().estimate - plain.mean(0.9).unwrap().estimate).abs() < 1e-12);
        assert_eq!(Paired::new().rate(0.95), None);
        assert!(!Paired::new().push(1.0, 0.0, 2.0));
    }
}
