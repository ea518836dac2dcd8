//! The root of a function between two points where it has different signs.

/// It takes about ten.
const MAX_STEPS: usize = 200;

/// The root of `of` between two points, each with its value, the first below 0 and the second not; up to the part `accuracy` of
/// itself, on the side where `of` is not below 0.
///
/// By the Illinois form of the rule of false position (Dowell and Jarratt 1971): an end that stays counts half.
pub fn between(
    (mut low, mut at_low): (f64, f64),
    (mut high, mut at_high): (f64, f64),
    accuracy: f64,
    of: impl Fn(f64) -> f64,
) -> f64 {
    let mut stayed = 0;
    for _ in 0..MAX_STEPS {
        if high - low <= accuracy * high.abs() || at_high == 0.0 {
            break;
        }
        let line = low + (high - low) * at_low / (at_low - at_high);
        let next = if line > low && line < high { line } else { 0.5 * (low + high) };
        let value = of(next);
        if value < 0.0 {
            (low, at_low) = (next, value);
            at_high *= if stayed > 0 { 0.5 } else { 1.0 };
            stayed = 1;
        } else {
            (high, at_high) = (next, value);
            at_low *= if stayed < 0 { 0.5 } else { 1.0 };
            stayed = -1;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_found_from_the_side_that_is_not_below() {
        let found = between((0.0, -2.0), (2.0, 2.0), 1e-13, |x| x * x - 2.0);
        assert!((found - 2.0_f64.sqrt()).abs() < 1e-12 && found * found >= 2.0 - 1e-12, "{found}");
        // A flat end does not hold the search up.
        let found =
            between((-30.0, (-30.0_f64).exp() - 1.0), (5.0, 5.0_f64.exp() - 1.0), 1e-10, |x| x.exp() - 1.0);
        assert!(found.abs() < 1e-8, "{found}");
        let found = between((0.0, -1.0), (1.0, 0.0), 1e-10, |x| x - 1.0);
        assert!((found - 1.0).abs() < 1e-15, "{found}");
    }
}
