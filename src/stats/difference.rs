//! The mean of differences between two sides of the same items, a value for each independent group.
//!
//! From eight groups on the interval is Student's with the skewness of the differences taken out by Hall's transformation (1992,
//! Journal of the Royal Statistical Society B 54): with t the distance of the mean from the truth in standard errors, and
//! k = Σu³/(Σu²)^(3/2) over what each group adds to the sum, u = w·(value − mean), it is
//! z = t + k·t²/3 + k²·t³/27 + k/6 that is as Student's t. z rises with t, so that its inverse is closed,
//! t = 3/k·(∛(1 + k·(z − k/6)) − 1), and p and interval agree. Fewer groups do not tell how skewed they are, and have Student's
//! interval as it is.
//!
//! Where all groups differ by the same there is no spread to go by, and no spread is no certainty. Then p is that of the
//! exact sign test, 2^(1−k) for k groups on one side; differences of rates have the interval of counted pairs, each group
//! counted once ([`Paired::rate`]), and other values have none.

use super::{Paired, Weighted, student};

/// Effective groups from which their skewness is taken out.
const FEW: f64 = 8.0;
/// Below this skewness its transformation is taken by its series: the closed form would lose digits.
const STRAIGHT: f64 = 1e-5;
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
    let statistic = known.estimate / known.error;
    if n < FEW {
        return Some(Difference { p: student::p(statistic, n - 1.0), ..known }.within(is_rate));
    }
    let (skew, far) = (skewness(groups, known.estimate), student::critical(level, n - 1.0));
    let end = |z: f64| Some(known.estimate - known.error * skewed(z, skew));
    let p = student::p(straightened(statistic, skew), n - 1.0);
    Some(Difference { lower: end(far), upper: end(-far), p, ..known }.within(is_rate))
}

/// The skewness of the mean of `groups`: that of the differences over the root of their number.
fn skewness(groups: &[(f64, f64)], estimate: f64) -> f64 {
    let part = move |(value, weight): &(f64, f64)| weight * (value - estimate);
    // Beside the largest the cubes of very large and very small ones are numbers, too.
    let most = groups.iter().map(part).map(f64::abs).fold(0.0, f64::max);
    let scaled = groups.iter().map(part).map(|part| part / most);
    let (square, cube) = scaled.fold((0.0, 0.0), |(s, c), u| (s + u * u, c + u * u * u));
    if square > 0.0 { cube / square.powf(1.5) } else { 0.0 }
}

/// What of the statistic `t` is left without the skewness `k`.
fn straightened(t: f64, k: f64) -> f64 {
    t + k * t * t / 3.0 + k * k * t.powi(3) / 27.0 + k / 6.0
}

/// The statistic of which `z` is left.
fn skewed(z: f64, k: f64) -> f64 {
    let y = z - k / 6.0;
    if k.abs() < STRAIGHT {
        return y - k * y * y / 3.0 + 5.0 * k * k * y.powi(3) / 27.0;
    }
    3.0 / k * ((1.0 + k * y).cbrt() - 1.0)
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

#[cfg(test)]
#[path = "difference_tests.rs"]
mod tests;
