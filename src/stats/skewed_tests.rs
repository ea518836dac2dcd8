//! Bounds by another computation, the quadrature by hand, and what exact sums of two weights hold.

use super::super::Rate;
use super::*;

/// A sample of two weights: so many light and heavy zeros, and light and heavy ones.
fn sample(weights: [f64; 2], zeros: [u32; 2], ones: [u32; 2]) -> Rate {
    let mut all = Rate::new();
    for (one, counts) in [(false, zeros), (true, ones)] {
        for (weight, count) in weights.into_iter().zip(counts) {
            (0..count).for_each(|_| assert!(all.push(one, 1.0 / weight)));
        }
    }
    all
}

fn of(weights: [f64; 2], items: [u32; 2], ones: [u32; 2]) -> Skewed {
    let power = |counts: [u32; 2], by: i32| {
        f64::from(counts[0]) * weights[0].powi(by) + f64::from(counts[1]) * weights[1].powi(by)
    };
    let n = f64::from(items[0] + items[1]);
    let [first, second, third] = [1, 2, 3].map(|by| power(items, by));
    Skewed {
        weights: Weights::of(n, [first, second, third]).unwrap(),
        ones: Ones { n: f64::from(ones[0] + ones[1]), weight: power(ones, 1), square: power(ones, 2) },
        size: first * first / second,
        scale: second / first,
        error: 0.05,
        spare: 0.01,
    }
}

#[test]
fn two_weights_are_found_again_and_others_are_told_by_two() {
    let found = of([1.0, 20.0], [525, 26], [1, 1]).weights;
    for (part, n, weight) in [(found.light, 525.0, 1.0), (found.heavy, 26.0, 20.0)] {
        assert!((part.n - n).abs() < 1e-8 && (part.weight - weight).abs() < 1e-9, "{found:?}");
    }
    // 1, 2 and 3 once each: their mean and a standard deviation to either side, with half of the items each.
    let three = Weights::of(3.0, [6.0, 14.0, 36.0]).unwrap();
    let half = (2.0_f64 / 3.0).sqrt();
    assert!(
        (three.light.weight - 2.0 + half).abs() < 1e-12 && (three.heavy.weight - 2.0 - half).abs() < 1e-12
    );
    assert!((three.light.n - 1.5).abs() < 1e-12 && (three.heavy.n - 1.5).abs() < 1e-12);
    assert_eq!(Weights::of(4.0, [8.0, 16.0, 32.0]), None, "equal");
    assert_eq!(Weights::of(3.0, [6.0, 14.0, f64::INFINITY]), None, "not known");
}

/// By enumeration of all pairs of counts with SciPy 1.17's binomial distribution, the least rate of 4,001 and bisection from there.
#[test]
fn bounds_by_another_computation() {
    for (weights, items, ones, expected) in [
        ([1.0, 20.0], [525, 26], [30, 0], 0.011_484_783_757),
        ([1.0, 20.0], [525, 26], [24, 1], 0.014_490_809_378),
        ([1.0, 20.0], [525, 26], [26, 2], 0.031_644_503_095),
        ([1.0, 20.0], [525, 26], [26, 4], 0.057_351_411_339),
        ([1.0 / 0.9, 5.0], [21, 10], [1, 0], 0.002_484_214_411),
        ([1.0 / 0.9, 5.0], [21, 10], [0, 1], 0.008_668_223_215),
        ([1.0 / 0.9, 5.0], [21, 10], [2, 1], 0.029_419_764_882),
        ([1.0, 20.0], [315, 15], [70, 3], 0.131_912_170_569),
    ] {
        let found = of(weights, items, ones).lower().unwrap();
        assert!((found / expected - 1.0).abs() < 1e-6, "{weights:?} {items:?} {ones:?}: {found}");
    }
}

/// What two_sided intervals hold with as many items of either weight as are expected, summed over all counts of ones.
#[test]
fn exact_sums_of_two_weights_hold_from_94_to_96_5_percent() {
    let binomial = |n: u32, p: f64| -> Vec<(u32, f64)> {
        (0..).zip(counts(f64::from(n), p)).filter(|(_, chance)| *chance > 1e-7).collect()
    };
    for (weights, items, rate) in [
        ([1.0, 20.0], [157_u32, 8], 0.1),
        ([1.0, 20.0], [157, 8], 0.2),
        ([1.0, 20.0], [525, 26], 0.01),
        ([1.0, 20.0], [525, 26], 0.05),
        ([1.0 / 0.9, 5.0], [31, 16], 0.01),
        ([1.0 / 0.9, 5.0], [104, 54], 0.005),
    ] {
        let mut held = 0.0;
        for (light, with) in binomial(items[0], rate) {
            for (heavy, chance) in binomial(items[1], rate) {
                let zeros = [items[0] - light, items[1] - heavy];
                let (lower, upper) = sample(weights, zeros, [light, heavy]).two_sided_interval(0.95);
                held += if lower <= rate && rate <= upper { with * chance } else { 0.0 };
            }
        }
        assert!((0.94..=0.965).contains(&held), "{weights:?} {items:?} at {rate}: {held}");
    }
}

/// Ones and zeros change places, and parts come to the same as one pass.
#[test]
fn the_other_end_is_the_mirror_and_parts_are_merged() {
    let (few, many) = (sample([1.0, 20.0], [490, 24], [26, 2]), sample([1.0, 20.0], [26, 2], [490, 24]));
    let (a, b) = (few.two_sided_interval(0.95), many.two_sided_interval(0.95));
    assert!((a.0 - 1.0 + b.1).abs() < 1e-9 && (a.1 - 1.0 + b.0).abs() < 1e-9, "{a:?} {b:?}");
    let mut merged = Rate::new();
    for part in [sample([1.0, 20.0], [400, 20], [6, 1]), sample([1.0, 20.0], [90, 4], [20, 1])] {
        let [zeros, ones] = part.classes();
        merged.merge(&Rate::of_shape(zeros, ones, part.shape()));
    }
    assert!((merged.two_sided_interval(0.95).0 - a.0).abs() < 1e-9);
    // Without third powers the lower end is that of a scaled Poisson count.
    let [zeros, ones] = few.classes();
    assert!(Rate::of(zeros, ones).two_sided_interval(0.95).0 < a.0);
}

/// A light one among more than two weights is worth a bound, and one that is heavier a higher one.
#[test]
fn sums_between_those_of_the_lattice_have_bounds_that_rise() {
    let mut before = 0.0;
    for weight in [1.0, 1.3, 1.8, 2.5, 3.5, 5.0, 7.0, 9.9] {
        let mut all = Rate::new();
        for at in 0..60 {
            assert!(all.push(false, 0.1 + 0.015 * f64::from(at)));
        }
        assert!(all.push(true, 1.0 / weight));
        let [zeros, ones] = all.classes();
        let sums = [zeros.weight + ones.weight, zeros.square + ones.square, all.shape().cube];
        let weights = Weights::of(61.0, sums).unwrap();
        let (size, scale) = (sums[0] * sums[0] / sums[1], sums[1] / sums[0]);
        let ones = Ones { n: 1.0, weight: ones.weight, square: ones.square };
        let found = Skewed { weights, ones, size, scale, error: 0.05, spare: 0.01 }.lower().unwrap();
        assert!(found > before && found < 0.1, "{weight}: {found} after {before}");
        before = found;
    }
}
