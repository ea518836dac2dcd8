//! The mid-P and the exact interval of a proportion, and those between, for counts that need not be whole.

use super::{beta, wilson};

/// Where both counts are larger, Wilson's interval gives the same bounds to a hundredth of their width.
const LARGE: f64 = 10_000.0;

/// Newton steps; from Wilson's bound it takes four to eight.
const MAX_STEPS: usize = 100;

/// The part of what was seen itself that counts as more extreme, of the mid-P interval.
pub const HALF: f64 = 0.5;

/// The same, of the exact interval.
pub const WHOLE: f64 = 1.0;

/// The mid-P interval of the probability of a one, after `ones` and `zeros` of either kind.
///
/// Each bound is the probability under which what was seen, counted half, and what is more extreme have probability
/// (1 − level)/2 together (Lancaster 1961; Agresti and Gottard 2005). The exact interval of Clopper and Pearson 1934 counts
/// it whole, and so holds its level everywhere and much more than that for small counts. The binomial tail is written as an
/// incomplete beta function, so that effective counts may be fractions (Korn and Graubard 1998).
///
/// The answer is (lower, upper), shares in 0..=1; (0, 1) without counts.
pub fn interval(ones: f64, zeros: f64, level: f64) -> (f64, f64) {
    bounds(ones, zeros, level, HALF)
}

/// The exact interval of Clopper and Pearson 1934, for counts as those of [`interval`]: at whole counts neither end errs more
/// often than (1 − level)/2.
///
/// The answer is (lower, upper), shares in 0..=1; (0, 1) without counts.
pub fn exact(ones: f64, zeros: f64, level: f64) -> (f64, f64) {
    bounds(ones, zeros, level, WHOLE)
}

/// Between [`interval`] and [`exact`], for counts whose values lie `step` apart.
///
/// At whole counts the next value is a full count away, and what was seen counts whole, as in [`exact`]. A sum of unequal weights
/// takes values in between: the nearer they lie, the less of the binomial's chance of one whole count is that of what was seen.
/// With the tail of x + ½ − `step`/2 (the correction for continuity) that is ½ + `step`/2 of it, half of it where values are dense.
/// `step` is taken into 0..=1.
///
/// The answer is (lower, upper), shares in 0..=1; (0, 1) without counts.
pub fn stepped(ones: f64, zeros: f64, level: f64, step: f64) -> (f64, f64) {
    bounds(ones, zeros, level, HALF + (WHOLE - HALF) * step.clamp(0.0, 1.0))
}

/// The probability of a one at which `ones`, of which the part `itself` counts, and more of them have the probability `tail`.
///
/// `ones` and `zeros` are counts as those of [`interval`], not both 0; `tail` is above 0 and below one half, `itself` [`HALF`]
/// to [`WHOLE`]. 0 without ones.
pub fn lower(ones: f64, zeros: f64, tail: f64, itself: f64) -> f64 {
    let n = ones + zeros;
    let rough = wilson::interval(ones / n, n, 1.0 - 2.0 * tail).map_or(0.0, |(lower, _)| lower);
    Binomial::new(ones, zeros, itself).lower(tail, rough)
}

/// The interval that counts the part `itself` of what was seen as more extreme.
fn bounds(ones: f64, zeros: f64, level: f64, itself: f64) -> (f64, f64) {
    let n = ones + zeros;
    if !(n > 0.0 && ones >= 0.0 && zeros >= 0.0 && n.is_finite()) {
        return (0.0, 1.0);
    }
    let rough = wilson::interval(ones / n, n, level).unwrap_or((0.0, 1.0));
    if ones.min(zeros) > LARGE {
        return rough;
    }
    let tail = 0.5 * (1.0 - level);
    let (low, high) = (Binomial::new(ones, zeros, itself), Binomial::new(zeros, ones, itself));
    (low.lower(tail, rough.0), 1.0 - high.lower(tail, 1.0 - rough.1))
}

struct Binomial {
    ones: f64,
    zeros: f64,
    ln_choices: f64,
    /// The part of what was seen itself that counts as more extreme.
    itself: f64,
}

impl Binomial {
    fn new(ones: f64, zeros: f64, itself: f64) -> Self {
        let ln_choices =
            beta::ln_gamma(ones + zeros + 1.0) - beta::ln_gamma(ones + 1.0) - beta::ln_gamma(zeros + 1.0);
        Self { ones, zeros, ln_choices, itself }
    }

    /// The probability at which the tail of what was seen is `tail`.
    ///
    /// Newton on the logarithm of the tail over that of the probability: it is concave and rises, so the steps come from below
    /// after the first.
    fn lower(&self, tail: f64, start: f64) -> f64 {
        if self.ones <= 0.0 {
            return 0.0;
        }
        let (mut low, mut high) = (f64::NEG_INFINITY, (self.ones / (self.ones + self.zeros)).ln());
        let mut at = start.clamp(1e-300, 1.0 - 1e-16).ln().min(high);
        for _ in 0..MAX_STEPS {
            let (seen, slope) = self.tail(at);
            if seen > tail {
                high = at
            } else {
                low = at
            }
            let newton = at - (seen / tail).ln() / slope;
            let middle = if low.is_finite() { 0.5 * (low + high) } else { 2.0 * high - 1.0 };
            let next = if newton > low && newton < high { newton } else { middle };
            let step = (next - at).abs();
            at = next;
            if step < 1e-12 || at < -690.0 {
                break;
            }
        }
        at.exp()
    }

    /// P(X > ones) and the part of P(X = ones) that counts, at the probability exp(`ln_p`), and the slope of the logarithm of
    /// their sum over `ln_p`.
    fn tail(&self, ln_p: f64) -> (f64, f64) {
        let (p, q) = (ln_p.exp(), -ln_p.exp_m1());
        let point = (self.ones * ln_p + self.zeros * q.ln() + self.ln_choices).exp();
        let apart = 1.0 - self.itself;
        let seen = beta::regularized(p, self.ones, self.zeros + 1.0) - apart * point;
        let seen = seen.max(f64::MIN_POSITIVE);
        let slope = point * (self.itself * self.ones + apart * self.zeros * p / q) / seen;
        (seen, slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b} within {tolerance}");
    }

    /// Newcombe 1998, table I, method 6 (mid-P).
    #[test]
    fn published_examples() {
        for (x, n, low, high) in [
            (81.0, 263.0, 0.2544, 0.3658),
            (15.0, 148.0, 0.0601, 0.1581),
            (0.0, 20.0, 0.0, 0.1391),
            (1.0, 29.0, 0.0017, 0.1585),
        ] {
            let got = interval(x, n - x, 0.95);
            near(got.0, low, 5e-5);
            near(got.1, high, 5e-5);
        }
    }

    /// Newcombe 1998, table I, method 5 (Clopper and Pearson), and beta quantiles of SciPy 1.17: `beta.ppf(0.06, x, n - x + 1)`.
    #[test]
    fn exact_bounds() {
        for (x, n, low, high) in [
            (81.0, 263.0, 0.2527, 0.3676),
            (15.0, 148.0, 0.0578, 0.1617),
            (0.0, 20.0, 0.0, 0.1684),
            (1.0, 29.0, 0.0009, 0.1776),
        ] {
            let got = exact(x, n - x, 0.95);
            near(got.0, low, 5e-5);
            near(got.1, high, 5e-5);
        }
        for (ones, zeros, low) in [
            (1.0, 28.0, 0.002_131_360_030_637),
            (2.0, 98.0, 0.003_953_892_476_071),
            (6.0, 94.0, 0.027_717_089_642_878),
            (2.5, 17.5, 0.031_965_878_405_936),
        ] {
            near(exact(ones, zeros, 0.88).0, low, 1e-10);
            near(exact(zeros, ones, 0.88).1, 1.0 - low, 1e-10);
        }
    }

    /// The tail at a bound, written out for one of 29: all of two and more, and the part of one.
    #[test]
    fn the_part_of_what_was_seen_goes_by_the_step() {
        for step in [0.0, 0.3, 1.0] {
            let (low, high) = stepped(1.0, 28.0, 0.88, step);
            let (point, none) = (29.0 * low * (1.0 - low).powi(28), (1.0 - low).powi(29));
            near(1.0 - none - (0.5 - 0.5 * step) * point, 0.06, 1e-10);
            near(stepped(28.0, 1.0, 0.88, step).0, 1.0 - high, 1e-12);
        }
        let (dense, whole) = (interval(2.5, 17.5, 0.95), exact(2.5, 17.5, 0.95));
        assert_eq!((stepped(2.5, 17.5, 0.95, -1.0), stepped(2.5, 17.5, 0.95, 7.0)), (dense, whole));
        let middle = stepped(2.5, 17.5, 0.95, 0.5);
        assert!(whole.0 < middle.0 && middle.0 < dense.0 && dense.1 < middle.1 && middle.1 < whole.1);
        assert_eq!(stepped(0.0, 0.0, 0.95, 1.0), (0.0, 1.0));
    }

    #[test]
    fn ends_halves_and_large_counts() {
        let (low, high) = (interval(0.0, 10.0, 0.95), interval(10.0, 0.0, 0.95));
        assert_eq!((low.0, high.1), (0.0, 1.0));
        near(low.1, 1.0 - 0.05f64.powf(0.1), 1e-10);
        near(low.1, 1.0 - high.0, 1e-12);
        // Between the bounds of its whole neighbours.
        let half = interval(2.5, 17.5, 0.95);
        assert!(half.0 > interval(2.0, 18.0, 0.95).0 && half.0 < interval(3.0, 17.0, 0.95).0);
        let (a, b) = (interval(9_999.0, 2e6, 0.95), interval(10_001.0, 2e6, 0.95));
        near(a.0 / b.0, 1.0, 5e-4);
        near(a.1 / b.1, 1.0, 5e-4);
        let rare = interval(3.0, 1e9, 0.95);
        assert!(rare.0 > 0.7e-9 && rare.1 < 8.3e-9, "{rare:?}");
        assert_eq!(interval(0.0, 0.0, 0.95), (0.0, 1.0));
        assert_eq!(interval(f64::NAN, 1.0, 0.95), (0.0, 1.0));
    }
}
