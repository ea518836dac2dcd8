//! Differences by hand and by simulation.

use super::*;

fn equal(values: &[f64]) -> Vec<(f64, f64)> {
    values.iter().map(|value| (*value, 1.0)).collect()
}

#[test]
fn a_collapse_without_spread_is_told_by_the_sign_test() {
    // By hand: eight groups on one side, 2·(1/2)^8.
    let got = difference(&equal(&[-1.0; 8]), true, 0.95).unwrap();
    assert_eq!((got.estimate, got.p, got.error), (-1.0, 1.0 / 128.0, 0.0));
    // By hand: (0+1)/10 − (8+1)/10 = −0.8, ± 1.96·√((1 − 0.64)/10).
    let half = 1.959_964 * 0.036_f64.sqrt();
    assert_eq!(got.lower, Some(-1.0));
    assert!((got.upper.unwrap() - (half - 0.8)).abs() < 1e-5, "{got:?}");
    // Five groups cannot show it, six can.
    assert_eq!(difference(&equal(&[-1.0; 5]), true, 0.95).unwrap().p, 0.0625);
    assert_eq!(difference(&equal(&[1.0 / 3.0; 6]), true, 0.95).unwrap().p, 0.03125);
    // An equal shift of values that may be any numbers: a sure direction, and no interval.
    let got = difference(&equal(&[-0.2; 40]), false, 0.95).unwrap();
    assert!(got.p < 1e-11 && got.lower.is_none() && got.upper.is_none(), "{got:?}");
    // Shares of repetitions are not exact: a third is the same third.
    let third = [2.0 / 3.0 - 1.0, 1.0 / 3.0 - 2.0 / 3.0, -1.0 / 3.0];
    let got = difference(&equal(&third.repeat(4)), true, 0.95).unwrap();
    assert_eq!((got.error, got.p), (0.0, 0.5_f64.powi(11)));
}

#[test]
fn no_difference_anywhere_has_a_width_and_no_verdict() {
    let got = difference(&equal(&[0.0; 20]), true, 0.95).unwrap();
    assert_eq!((got.estimate, got.p), (0.0, 1.0));
    assert!(got.lower.unwrap() < -0.05 && got.upper.unwrap() > 0.05, "{got:?}");
    assert_eq!(difference(&equal(&[0.0; 20]), false, 0.95).unwrap().p, 1.0);
    assert_eq!(difference(&[], true, 0.95), None);
    let one = difference(&equal(&[-1.0]), true, 0.95).unwrap();
    assert!(one.p == 1.0 && one.lower == Some(-1.0) && one.upper.unwrap() > 0.0, "{one:?}");
}

#[test]
fn many_groups_and_very_few_have_students_interval() {
    for n in [5_i32, 40] {
        let values: Vec<f64> = (0..n).map(|at| f64::from(at % 5) * 0.1 - 0.3).collect();
        let got = difference(&equal(&values), true, 0.95).unwrap();
        let mut plain = Weighted::new();
        assert!(values.iter().all(|value| plain.push(*value, 1.0)));
        let wanted = plain.mean(0.95).unwrap();
        assert_eq!((got.lower, got.upper), (wanted.lower, wanted.upper), "{n}");
    }
    // A difference of rates cannot leave [-1, 1].
    let got = difference(&equal(&[-1.0, -1.0, -0.8]), true, 0.95).unwrap();
    assert_eq!(got.lower, Some(-1.0));
}

#[test]
fn the_bootstrap_is_repeatable_and_agrees_with_its_p() {
    let mut random = Seeded::new(3);
    for _ in 0..40 {
        let shift = random.unit() - 0.5;
        let groups: Vec<(f64, f64)> =
            (0..15).map(|_| (shift + random.unit().powi(3), 0.5 + random.unit())).collect();
        let got = difference(&groups, false, 0.95).unwrap();
        assert_eq!(Some(got), difference(&groups, false, 0.95));
        let is_sure = got.lower.unwrap() > 0.0 || got.upper.unwrap() < 0.0;
        // The two meet at the resolution of the draws.
        assert!(is_sure == (got.p < 0.05) || (got.p - 0.05).abs() < 0.005, "{got:?}");
    }
    // Skewed differences have a skewed interval.
    let skewed: Vec<f64> = (0..12).map(|at| if at == 0 { 1.0 } else { 0.01 * f64::from(at) }).collect();
    let got = difference(&equal(&skewed), false, 0.95).unwrap();
    assert!(got.upper.unwrap() - got.estimate > 1.5 * (got.estimate - got.lower.unwrap()), "{got:?}");
}

/// A small grid of what `cargo run --release --example simulate -- --only lab` measures in full: the share of 400 seeded
/// draws whose interval holds the true difference, and of draws without a difference that are called one.
#[test]
fn intervals_hold_and_false_alarms_are_few() {
    type Draw = fn(&mut Seeded) -> f64;
    let shares: Draw = |random| {
        let ease = 0.2 + 0.7 * random.unit();
        let mut one = |p: f64| (0..3).filter(|_| random.unit() < p).count() as f64 / 3.0;
        one(ease - 0.1) - one(ease)
    };
    let graded: Draw = |random| random.unit().powi(2) - random.unit();
    let same: Draw = |random| random.unit().powi(3) - random.unit().powi(3);
    let cells = [(shares, true, -0.1), (graded, false, -1.0 / 6.0), (same, false, 0.0)];
    for (at, (draw, is_rate, truth)) in cells.into_iter().enumerate() {
        for groups in [12, 60] {
            let mut random = Seeded::new(41 + at as u64);
            let (mut held, mut alarms) = (0, 0);
            for _ in 0..400 {
                let values: Vec<(f64, f64)> = (0..groups).map(|_| (draw(&mut random), 1.0)).collect();
                let got = difference_of(&values, is_rate, 0.95, 1_000).unwrap();
                held += usize::from(got.lower.unwrap() <= truth && truth <= got.upper.unwrap());
                alarms += usize::from(got.p < 0.05);
            }
            assert!((368..=394).contains(&held), "cell {at}, {groups} groups: {held} of 400");
            assert!(truth != 0.0 || alarms <= 32, "cell {at}, {groups} groups: {alarms} alarms of 400");
        }
    }
}
