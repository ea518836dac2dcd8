//! Verdicts in pairs: the same items, judged twice, and how often only one of the two passes.
//!
//! The interval of the difference of two rates is Tango's (1998, Statistics in Medicine 17, 891-908): every difference δ that
//! the score test does not reject. With n pairs, b of which pass only the first time and c only the second time, the
//! statistic is (b − c − nδ) / √(n(2q + δ(1 − δ))), where q is the share of c that is most likely if the difference is δ:
//! the larger root of 2n·q² + ((2n − b + c)δ − b − c)·q − cδ(1 − δ) = 0. It holds its level with few pairs, and with no
//! pair that differs it still has a width. The test of no difference is McNemar's exact one.

use super::{beta, normal};

/// Halvings of a bracket that is at most 2 wide: the last bits of a double.
const STEPS: usize = 60;

/// The interval of the first rate minus the second at the confidence `level`, of `pairs` items of which `first` pass only
/// the first time and `second` only the second time; none without pairs.
pub fn interval(first: u64, second: u64, pairs: u64, level: f64) -> Option<(f64, f64)> {
    if pairs == 0 || first + second > pairs {
        return None;
    }
    let (b, c, n) = (first as f64, second as f64, pairs as f64);
    let estimate = (b - c) / n;
    let z = normal::critical(level);
    let end = |mut inside: f64, mut outside: f64| {
        for _ in 0..STEPS {
            let middle = 0.5 * (inside + outside);
            if statistic(b, c, n, middle).abs() <= z { inside = middle } else { outside = middle }
        }
        inside
    };
    Some((end(estimate, -1.0), end(estimate, 1.0)))
}

fn statistic(b: f64, c: f64, n: f64, difference: f64) -> f64 {
    let above = b - c - n * difference;
    if above == 0.0 {
        return 0.0;
    }
    let (linear, constant) = ((2.0 * n - b + c) * difference - b - c, -c * difference * (1.0 - difference));
    let root = (linear * linear - 8.0 * n * constant).max(0.0).sqrt();
    let share = (root - linear) / (4.0 * n);
    above / (n * (2.0 * share + difference * (1.0 - difference))).max(0.0).sqrt()
}

/// McNemar's exact two-sided p of no difference: of the items on which the two differ, `first` pass only the first time
/// and `second` only the second time.
pub fn p(first: u64, second: u64) -> f64 {
    let (fewer, all) = (first.min(second) as f64, (first + second) as f64);
    if first == second {
        return 1.0;
    }
    // P(X ≤ k) of n throws of a coin is I(1/2; n − k, k + 1).
    (2.0 * beta::regularized(0.5, all - fewer, fewer + 1.0)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::seeded::Seeded;
    use super::*;

    /// Airway hyper-responsiveness before and after stem cell transplantation, 21 children: Fagerland, Lydersen and Laake
    /// 2014, table III.
    #[test]
    fn published_example() {
        let (lower, upper) = interval(1, 7, 21, 0.95).unwrap();
        assert!((lower + 0.5172).abs() < 1e-4 && (upper + 0.0260).abs() < 1e-4, "{lower} {upper}");
        assert!((p(1, 7) - 0.0703).abs() < 1e-4);
    }

    #[test]
    fn no_pair_that_differs_is_no_certainty() {
        let (lower, upper) = interval(0, 0, 20, 0.95).unwrap();
        assert!((lower + 0.1611).abs() < 1e-4 && (upper - 0.1611).abs() < 1e-4, "{lower} {upper}");
        let (lower, upper) = interval(20, 0, 20, 0.95).unwrap();
        assert!((lower - 0.6777).abs() < 1e-4 && upper > 0.999_999, "{lower} {upper}");
        assert_eq!((interval(0, 0, 0, 0.95), interval(2, 2, 3, 0.95)), (None, None));
        assert_eq!((p(0, 0), p(3, 3)), (1.0, 1.0));
        assert!((p(200, 150) - 0.008_720).abs() < 1e-6);
    }

    /// Of 4,000 draws of 40 pairs with a true difference of 0.1 the interval holds it in 94 to 96.5 %.
    #[test]
    fn it_covers() {
        let (mut draw, mut held) = (Seeded::new(7), 0);
        for _ in 0..4_000 {
            let (mut first, mut second) = (0, 0);
            for _ in 0..40 {
                match draw.unit() {
                    u if u < 0.2 => first += 1,
                    u if u < 0.3 => second += 1,
                    _ => {}
                }
            }
            let (lower, upper) = interval(first, second, 40, 0.95).unwrap();
            held += usize::from(lower <= 0.1 && 0.1 <= upper);
        }
        assert!((3_760..=3_860).contains(&held), "{held}");
    }
}
