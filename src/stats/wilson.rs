//! The score interval of a proportion.

use super::normal;

/// The Wilson score interval of a proportion `rate` seen in `n` independent observations.
///
/// Solves |p̂ − p| = z·√(p(1 − p)/n) for p (Wilson 1927), so that it stays inside 0..=1 and keeps its coverage for rates
/// near either end. `n` may be an effective sample size, which need not be whole. `rate` and the answer are shares in
/// 0..=1; the answer is (lower, upper). `None` unless `n` is above zero and `rate` lies in 0..=1.
pub fn interval(rate: f64, n: f64, level: f64) -> Option<(f64, f64)> {
    if !n.is_finite() || n <= 0.0 || !(0.0..=1.0).contains(&rate) {
        return None;
    }
    let z2 = normal::critical(level).powi(2);
    let centre = (rate + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = (z2 * (rate * (1.0 - rate) / n + z2 / (4.0 * n * n))).sqrt() / (1.0 + z2 / n);
    // At the ends the bound is exactly 0 or 1; rounding must not say otherwise.
    let lower = if rate == 0.0 { 0.0 } else { (centre - half).max(0.0) };
    let upper = if rate == 1.0 { 1.0 } else { (centre + half).min(1.0) };
    Some((lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(x: f64, n: f64, lower: f64, upper: f64) {
        let (l, u) = interval(x / n, n, 0.95).expect("a valid proportion");
        assert!((l - lower).abs() < 5e-5 && (u - upper).abs() < 5e-5, "{x}/{n}: {l}..{u}");
    }

    #[test]
    fn published_examples() {
        // Newcombe 1998, table I, method 3.
        check(81.0, 263.0, 0.2553, 0.3662);
        check(15.0, 148.0, 0.0624, 0.1605);
        check(0.0, 20.0, 0.0, 0.1611);
        check(1.0, 29.0, 0.0061, 0.1718);
    }

    #[test]
    fn the_ends_are_mirror_images() {
        let low = interval(0.0, 10.0, 0.95).expect("valid");
        let high = interval(1.0, 10.0, 0.95).expect("valid");
        assert_eq!(low.0, 0.0);
        assert_eq!(high.1, 1.0);
        assert!((low.1 - (1.0 - high.0)).abs() < 1e-12);
    }

    #[test]
    fn nonsense_has_no_interval() {
        assert_eq!(interval(0.5, 0.0, 0.95), None);
        assert_eq!(interval(1.5, 10.0, 0.95), None);
        assert_eq!(interval(f64::NAN, 10.0, 0.95), None);
    }
}
