//! The mean of differences between two sides of the same items, a value for each independent group.
//!
//! From thirty groups on, and with fewer than eight, the interval is Student's. In between it is that of the BCa bootstrap
//! (Efron 1987), which follows skewed differences, and from a fixed seed. As it is written down it is too short for so few
//! groups, because the spread of n draws is too small by (n−1)/n and because it knows no degrees of freedom. So its tails
//! are those of √(n/(n−1))·t(n−1) in place of z (Hesterberg 2015, "expanded"). p is the level at which the same interval
//! would end at 0.
//!
//! Where all groups differ by the same there is no spread to go by, and no spread is no certainty. Then p is that of the
//! exact sign test, 2^(1−k) for k groups on one side; differences of rates have the interval of counted pairs, each group
//! counted once ([`Paired::rate`]), and other values have none.

use super::seeded::Seeded;
use super::{Paired, Weighted, normal, student};

/// Draws of the bootstrap.
const DRAWS: usize = 10_000;
/// The seed of every bootstrap: the same differences have the same interval.
const SEED: u64 = 0x6c61_6221;
/// Effective groups from which the bootstrap is taken, and those from which it is not any more.
const FEW: f64 = 8.0;
const ENOUGH: f64 = 30.0;
/// Differences that lie nearer to each other than this part of the largest are the same; arithmetic parts them further.
const SAME: f64 = 1e-9;

/// What is known of a mean difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The weighted mean.
    pub estimate: f64,
    /// Lower end of its interval; none where nothing tells the spread.
    pub lower: Option<f64>,
    /// Upper end of its interval; none where nothing tells the spread.
    pub upper: Option<f64>,
    /// The p-value of no difference, above 0.
    pub p: f64,
    /// Its standard error; 0 where nothing tells the spread.
    pub error: f64,
    /// Kish's effective number of groups.
    pub groups: f64,
}

/// The difference over `groups`, each with its own mean difference and a weight above 0, at the confidence `level`. `is_rate`
/// says that each is a difference of two rates, from -1 to 1. None without groups.
pub fn difference(groups: &[(f64, f64)], is_rate: bool, level: f64) -> Option<Difference> {
    difference_of(groups, is_rate, level, DRAWS)
}

/// [`difference`] with another number of draws.
fn difference_of(groups: &[(f64, f64)], is_rate: bool, level: f64, draws: usize) -> Option<Difference> {
    let least = groups.iter().map(|(_, weight)| *weight).fold(f64::INFINITY, f64::min);
    let mut all = Weighted::new();
    for (value, weight) in groups {
        // The least weight over any is above 0 and at most 1.
        let _ = all.push(*value, least / weight);
    }
    let middle = all.mean(level)?;
    let n = middle.n_eff;
    let known = Difference {
        estimate: middle.estimate,
        lower: middle.lower,
        upper: middle.upper,
        p: 1.0,
        error: (all.variance() * n / (n - 1.0).max(1.0)).sqrt(),
        groups: n,
    };
    if is_same(groups) {
        return Some(known.without_spread(groups, is_rate.then_some(least), level));
    }
    let student = Difference { p: student::p(known.estimate / known.error, n - 1.0), ..known };
    if !(FEW..ENOUGH).contains(&n) {
        return Some(student.within(is_rate));
    }
    let bootstrap = Bootstrap::of(groups, known.estimate, draws);
    let (lower, upper) = bootstrap.interval(level, n);
    let p = bootstrap.p(n).unwrap_or(student.p);
    Some(Difference { lower: Some(lower), upper: Some(upper), p, ..known }.within(is_rate))
}

fn is_same(groups: &[(f64, f64)]) -> bool {
    let ends = groups.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (value, _)| {
        (low.min(*value), high.max(*value))
    });
    ends.1 - ends.0 <= SAME * ends.0.abs().max(ends.1.abs())
}

impl Difference {
    /// `least` is the least weight, for rates.
    fn without_spread(self, groups: &[(f64, f64)], least: Option<f64>, level: f64) -> Self {
        let sign = 0.5_f64.powi(i32::try_from(groups.len()).unwrap_or(i32::MAX).saturating_sub(1));
        let p = if self.estimate == 0.0 { 1.0 } else { sign.clamp(f64::MIN_POSITIVE, 1.0) };
        let ends = least.and_then(|least| {
            let mut counted = Paired::new();
            for (value, weight) in groups {
                let _ = counted.push(value.max(0.0), (-value).max(0.0), least / weight);
            }
            counted.rate(level)
        });
        let (lower, upper) = (ends.and_then(|e| e.lower), ends.and_then(|e| e.upper));
        Self { lower, upper, p, error: 0.0, ..self }
    }

    /// A difference of rates lies from -1 to 1, and so does its interval.
    fn within(self, is_rate: bool) -> Self {
        let held = |end: f64| if is_rate { end.clamp(-1.0, 1.0) } else { end };
        Self { lower: self.lower.map(held), upper: self.upper.map(held), ..self }
    }
}

/// Means of drawn groups, in rising order, and what BCa corrects them by.
struct Bootstrap {
    means: Vec<f64>,
    bias: f64,
    acceleration: f64,
}

impl Bootstrap {
    fn of(groups: &[(f64, f64)], estimate: f64, draws: usize) -> Self {
        let mut random = Seeded::new(SEED);
        let one = |random: &mut Seeded| {
            let (mut sum, mut total) = (0.0, 0.0);
            for _ in 0..groups.len() {
                let at = ((u128::from(random.bits()) * groups.len() as u128) >> 64) as usize;
                let (value, weight) = groups.get(at).copied().unwrap_or_default();
                (sum, total) = (sum + weight * value, total + weight);
            }
            sum / total
        };
        let mut means: Vec<f64> = (0..draws).map(|_| one(&mut random)).collect();
        means.sort_by(f64::total_cmp);
        // The influence of each group on the mean: what leaving it out would change, but for its size.
        let moved = groups.iter().map(|(value, weight)| weight * (value - estimate));
        let (square, cube) = moved.fold((0.0, 0.0), |(s, c), u| (s + u * u, c + u * u * u));
        let acceleration = if square > 0.0 { cube / (6.0 * square.powf(1.5)) } else { 0.0 };
        let bias = normal::quantile(held_back(share_below(&means, estimate), draws));
        Self { means, bias, acceleration }
    }

    fn interval(&self, level: f64, n: f64) -> (f64, f64) {
        let far = (n / (n - 1.0)).sqrt() * student::critical(level, n - 1.0);
        (self.end(-far), self.end(far))
    }

    /// The mean at the place that stands for `z` of an unbiased normal distribution.
    fn end(&self, z: f64) -> f64 {
        let moved = self.bias + z;
        let stretch = 1.0 - self.acceleration * moved;
        let place = if stretch > 0.0 {
            normal::cdf(self.bias + moved / stretch)
        } else if moved > 0.0 {
            1.0
        } else {
            0.0
        };
        let at = (place * self.means.len() as f64) as usize;
        self.means.get(at.min(self.means.len().saturating_sub(1))).copied().unwrap_or_default()
    }

    /// The p at which the interval would end at 0; none where the draws cannot tell, as where all means lie on one side of it.
    fn p(&self, n: f64) -> Option<f64> {
        let below = share_below(&self.means, 0.0);
        if below <= 0.0 || below >= 1.0 {
            return None;
        }
        let moved = normal::quantile(below) - self.bias;
        let stretch = 1.0 + self.acceleration * moved;
        // Beyond that no place of the draws stands for 0.
        let z = (stretch > 0.0).then(|| moved / stretch - self.bias)?;
        Some(student::p(z * ((n - 1.0) / n).sqrt(), n - 1.0))
    }
}

/// The share of rising `means` below `line`; one that lies on it counts half.
fn share_below(means: &[f64], line: f64) -> f64 {
    let near = SAME * line.abs().max(1e-3);
    let (below, up_to) =
        (means.partition_point(|m| *m < line - near), means.partition_point(|m| *m <= line + near));
    0.5 * (below + up_to) as f64 / means.len().max(1) as f64
}

/// A share that is neither 0 nor 1, as so many draws can tell it.
fn held_back(share: f64, draws: usize) -> f64 {
    let least = 0.5 / draws as f64;
    share.clamp(least, 1.0 - least)
}

#[cfg(test)]
#[path = "difference_tests.rs"]
mod tests;
