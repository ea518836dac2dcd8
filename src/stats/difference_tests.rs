//! Differences by hand and by simulation.

use super::super::seeded::Seeded;
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
fn few_groups_and_differences_without_skew_have_students_interval() {
    for (n, skewed) in [(5_i32, 0.3), (40, 0.0)] {
        let mut values: Vec<f64> = (0..n).map(|at| f64::from(at % 5) * 0.1 - 0.3).collect();
        values[0] -= skewed;
        let got = difference(&equal(&values), false, 0.95).unwrap();
        let mut plain = Weighted::new();
        assert!(values.iter().all(|value| plain.push(*value, 1.0)));
        let wanted = plain.mean(0.95).unwrap();
        for (end, wanted) in [(got.lower, wanted.lower), (got.upper, wanted.upper)] {
            assert!((end.unwrap() - wanted.unwrap()).abs() < 1e-12, "{n}: {got:?}");
        }
    }
    // A difference of rates cannot leave [-1, 1].
    let got = difference(&equal(&[-1.0, -1.0, -0.8]), true, 0.95).unwrap();
    assert_eq!(got.lower, Some(-1.0));
}

/// By hand: of 0 nine times and 1 the mean is 0.1, its error 0.1, Σu² 0.9 and Σu³ 0.72, so that k is 0.843274; with t(9) = 2.262157
/// the statistic goes from 3/k·(∛(1 − k·2.402703) − 1) = −7.145853 to 3/k·(∛(1 + k·2.121611) − 1) = 1.450163.
#[test]
fn skewed_differences_have_halls_interval() {
    let mut values = [0.0; 10];
    values[3] = 1.0;
    let got = difference(&equal(&values), false, 0.95).unwrap();
    assert!((got.lower.unwrap() + 0.045_016).abs() < 1e-6, "{got:?}");
    assert!((got.upper.unwrap() - 0.814_585).abs() < 1e-6, "{got:?}");
    let low = difference(&equal(&values.map(|value| -value)), false, 0.95).unwrap();
    assert!((low.lower.unwrap() + got.upper.unwrap()).abs() < 1e-12 && (low.p - got.p).abs() < 1e-12);
    // The two are each other's inverse, also where the series is taken.
    for k in [-1.0, -1e-2, -1.01e-5, -0.99e-5, 0.0, 1e-7, 0.99e-5, 1.01e-5, 0.3] {
        for z in [-3.0, -0.5, 0.0, 2.0] {
            assert!((straightened(skewed(z, k), k) - z).abs() < 1e-9, "{k} {z}");
        }
    }
}

/// Cubes of these are no numbers.
#[test]
fn very_large_and_very_small_differences_have_the_same_interval() {
    let values: Vec<f64> = (0..12).map(|at| if at == 0 { 1.0 } else { 0.01 * f64::from(at) }).collect();
    let wanted = difference(&equal(&values), false, 0.95).unwrap();
    for scale in [1e-120, 1e120] {
        let scaled: Vec<f64> = values.iter().map(|value| value * scale).collect();
        let got = difference(&equal(&scaled), false, 0.95).unwrap();
        for (end, wanted) in [(got.lower, wanted.lower), (got.upper, wanted.upper)] {
            assert!((end.unwrap() / scale - wanted.unwrap()).abs() < 1e-12, "{scale}: {got:?}");
        }
        assert!((got.p - wanted.p).abs() < 1e-12, "{scale}: {got:?}");
    }
}

/// One group far outside, two sides, all weights on few: the ends are numbers, in order, around the estimate.
#[test]
fn the_interval_is_always_in_order_around_the_estimate() {
    let mut random = Seeded::new(9);
    for n in [8_u32, 9, 30, 1_000] {
        for far in [-1e9, -1.0, 1.0, 1e9] {
            for weight in [1e-6, 1.0, 1e6] {
                let one = |at| if at == 0 { (far, 1.0) } else { (random.unit() - 0.5, 1.0) };
                let mut groups: Vec<(f64, f64)> = (0..n).map(one).collect();
                groups[1].1 = weight;
                for level in [0.5, 0.95, 0.999] {
                    let got = difference(&groups, false, level).unwrap();
                    // Below two effective groups nothing tells the spread.
                    let (Some(lower), Some(upper)) = (got.lower, got.upper) else {
                        assert!(got.groups < 2.0, "{got:?}");
                        continue;
                    };
                    let is_ordered = lower <= got.estimate && got.estimate <= upper;
                    assert!(
                        is_ordered && lower.is_finite() && upper.is_finite(),
                        "{n} {far} {weight}: {got:?}"
                    );
                    assert!((0.0..=1.0).contains(&got.p), "{got:?}");
                }
            }
        }
    }
}

#[test]
fn the_interval_agrees_with_its_p() {
    let mut random = Seeded::new(3);
    for _ in 0..40 {
        let shift = random.unit() - 0.5;
        let groups: Vec<(f64, f64)> =
            (0..15).map(|_| (shift + random.unit().powi(3), 0.5 + random.unit())).collect();
        let got = difference(&groups, false, 0.95).unwrap();
        let is_sure = got.lower.unwrap() > 0.0 || got.upper.unwrap() < 0.0;
        assert_eq!(is_sure, got.p < 0.05, "{got:?}");
    }
}

/// One item in three falls, by 0.15 on average: of 1,000 draws of sixty items Student's interval holds it in 924.
#[test]
fn skewed_differences_are_held() {
    let (mut random, mut held) = (Seeded::new(5), 0);
    for _ in 0..1_000 {
        let one = |_| {
            let falls = random.unit() < 1.0 / 3.0;
            let by = if falls { 0.15 * random.unit().max(f64::MIN_POSITIVE).ln() } else { 0.0 };
            (by + 0.1 * random.unit() - 0.1 * random.unit(), 1.0)
        };
        let groups: Vec<(f64, f64)> = (0..60).map(one).collect();
        let got = difference(&groups, false, 0.95).unwrap();
        held += usize::from(got.lower.unwrap() <= -0.05 && -0.05 <= got.upper.unwrap());
    }
    assert!((940..=965).contains(&held), "{held}");
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
                let got = difference(&values, is_rate, 0.95).unwrap();
                held += usize::from(got.lower.unwrap() <= truth && truth <= got.upper.unwrap());
                alarms += usize::from(got.p < 0.05);
            }
            assert!((368..=394).contains(&held), "cell {at}, {groups} groups: {held} of 400");
            assert!(truth != 0.0 || alarms <= 32, "cell {at}, {groups} groups: {alarms} alarms of 400");
        }
    }
}
