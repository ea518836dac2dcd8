//! Known values, and coverage: exact for equal probabilities, by seeded simulation for others.

use super::super::seeded::Seeded;
use super::*;

fn of(items: &[(bool, f64)]) -> Rate {
    let mut all = Rate::new();
    for (one, pi) in items {
        assert!(all.push(*one, *pi));
    }
    all
}

#[test]
fn estimate_size_and_ends() {
    let got = of(&[(true, 0.5), (false, 1.0), (true, 0.25)]).estimate(0.95).unwrap();
    assert!((got.estimate - 6.0 / 7.0).abs() < 1e-12);
    assert!((got.n_eff - 49.0 / 21.0).abs() < 1e-12);
    assert_eq!(got.n, 3);
    let ones = of(&[(true, 1.0); 20]).estimate(0.95).unwrap();
    assert_eq!((ones.estimate, ones.upper), (1.0, Some(1.0)));
    assert!((ones.lower.unwrap() - 0.05f64.powf(0.05)).abs() < 1e-9);
    assert_eq!(Rate::new().estimate(0.95), None);
    assert_eq!((Rate::new().interval(0.95), Rate::new().n_eff()), ((0.0, 1.0), 0.0));
    let mut none = Rate::new();
    for pi in [0.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(!none.push(true, pi), "{pi}");
    }
    assert_eq!(none, Rate::new());
}

#[test]
fn equal_probabilities_are_a_plain_proportion() {
    let mut all = Rate::new();
    for at in 0..148 {
        assert!(all.push(at < 15, 0.1));
    }
    let (low, high) = all.interval(0.95);
    // Newcombe 1998, table I, method 6 (mid-P).
    assert!((low - 0.0601).abs() < 5e-5 && (high - 0.1581).abs() < 5e-5, "{low} {high}");
    assert!((all.worth() - 148.0).abs() < 1e-9);
}

/// A design by outcome alone: the sampled share of ones is binomial, and its interval goes through the odds.
#[test]
fn a_design_by_outcome_is_exact() {
    let mut all = Rate::new();
    for at in 0..100 {
        let one = at < 40;
        assert!(all.push(one, if one { 0.9 } else { 0.1 }));
    }
    let (low, high) = proportion::interval(40.0, 60.0, 0.95);
    let back = |theta: f64| theta / 0.9 / (theta / 0.9 + (1.0 - theta) / 0.1);
    let got = all.interval(0.95);
    assert!((got.0 - back(low)).abs() < 1e-9 && (got.1 - back(high)).abs() < 1e-9, "{got:?}");
}

#[test]
fn merging_parts_is_the_same_as_one_pass() {
    let mut random = Seeded::new(1);
    let items: Vec<_> = (0..1000).map(|_| (random.unit() < 0.2, 0.05 + 0.95 * random.unit())).collect();
    let whole = of(&items).interval(0.95);
    let mut merged = Rate::new();
    for part in items.chunks(37) {
        let [zeros, ones] = of(part).classes();
        merged.merge(&Rate::of(zeros, ones));
    }
    assert!(
        (whole.0 - merged.interval(0.95).0).abs() < 1e-9 && (whole.1 - merged.interval(0.95).1).abs() < 1e-9
    );
}

/// Light failures among heavy passes: by 1/w one is told from them, by w three are not.
#[test]
fn few_light_ones_are_told_by_the_inverses_of_weights() {
    let zeros: Vec<_> = (0..37).map(|at| (false, 0.06 + 0.24 * f64::from(at) / 36.0)).collect();
    let all = of(&[zeros, vec![(true, 0.5), (true, 0.7), (true, 0.9)]].concat());
    // The means of π are 0.18 and 0.7.
    let (squares, inverse) = (all.shape().inverse_square, 0.18 * 37.0);
    let within = (squares - inverse * inverse / 37.0 - 2.1 * 2.1 / 3.0) / 38.0;
    let wanted = 4.0 * within * (1.0 / 37.0 + 1.0 / 3.0) / (0.52 * 0.52);
    assert!((all.common_share_by_inverses() - wanted).abs() < 1e-9 && wanted < 0.1, "{wanted}");
    assert!(all.common_share() > 0.5);
    let [zeros, ones] = all.classes();
    let (ours, by_weight) = (all.two_sided_interval(0.95), Rate::of(zeros, ones).two_sided_interval(0.95));
    assert!(ours.1 - ours.0 < 0.8 * (by_weight.1 - by_weight.0), "{ours:?} {by_weight:?}");
    assert_eq!(Rate::of(zeros, ones).common_share_by_inverses(), 1.0, "not known");
}

/// What alerts store has no shape, and neither has what is merged with it.
#[test]
fn a_stored_sample_has_no_shape() {
    let all = of(&[(true, 0.5), (false, 1.0), (false, 0.25)]);
    let stored: Rate = serde_json::from_str(&serde_json::to_string(&all).unwrap()).unwrap();
    assert_eq!(stored, all);
    assert!(all.shape().is_known() && !stored.shape().is_known());
    let mut both = all;
    both.merge(&stored);
    assert!(!both.shape().is_known() && both.shape().cube > 0.0);
    let [zeros, ones] = both.classes();
    assert_eq!(both.two_sided_interval(0.95), Rate::of(zeros, ones).two_sided_interval(0.95));
}

/// The coverage of equal probabilities and a fixed size, summed over all outcomes. A sum of whole outcomes cannot be 0.95
/// everywhere: of 300 items at the rate 0.01 the interval holds for 1 to 6 ones (0.918), with 7 it would be 0.940; of 30 at
/// 0.005 it can hold for 0 (0.860) or for 0 and 1 (0.990).
#[test]
fn exact_coverage_of_a_binomial() {
    for n in [30u32, 100, 300, 1000] {
        for rate in [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5] {
            let (mut held, mut point) = (0.0, f64::from(n) * f64::ln_1p(-rate));
            for ones in 0..=n {
                let (low, high) = proportion::interval(f64::from(ones), f64::from(n - ones), 0.95);
                if low <= rate && rate <= high {
                    held += point.exp();
                }
                point += (f64::from(n - ones) / f64::from(ones + 1) * rate / (1.0 - rate)).ln();
            }
            let expected = f64::from(n) * rate;
            let most = if expected < 4.0 { 0.993 } else { 0.966 };
            assert!((0.915..=most).contains(&held), "{n} {rate}: {held}");
        }
    }
}

/// So many ones and zeros with equal weights.
fn plain(ones: u32, zeros: u32) -> Rate {
    let of = |n: u32| Class { n: u64::from(n), weight: f64::from(n), square: f64::from(n) };
    Rate::of(of(zeros), of(ones))
}

/// By SciPy 1.17, roots of its incomplete beta function: the exact bound at 0.06 up to the bound of a sample without ones, which is
/// that of seven of a hundred, beyond it what the other end leaves, and the equal-tailed bound of many counts. Bounds of unequal weights are roots of its power series, less
/// the part of what was seen that their step leaves out.
#[test]
fn one_end_that_cannot_err_leaves_its_share_to_the_other() {
    for (ones, zeros, lower, upper) in [
        (0, 20, 0.0, 0.139_108_340_668),
        (1, 28, 0.002_131_360_031, 0.158_537_383_682),
        (2, 98, 0.003_953_892_476, 0.064_500_717_030),
        (6, 94, 0.027_717_089_643, 0.120_590_775_797),
        (7, 93, 0.029_513_049_607, 0.133_543_576_110),
        (8, 92, 0.038_767_100_366, 0.146_236_158_166),
        (91, 9, 0.841_290_849_968, 0.951_713_894_755),
        (71, 69, 0.424_601_457_087, 0.590_424_368_937),
        (98, 2, 0.935_499_282_970, 0.996_046_107_524),
    ] {
        let got = plain(ones, zeros).two_sided_interval(0.95);
        assert!((got.0 - lower).abs() < 1e-9 && (got.1 - upper).abs() < 1e-9, "{ones} {zeros}: {got:?}");
    }
    // Weights that the outcome did not steer; failures drawn less, to which zeros alone set the limit; few items; a heavy one
    // among light ones, whose step is the least.
    let spread: Vec<_> = [1.0, 0.5, 0.25].iter().cycle().take(90).map(|pi| (false, *pi)).collect();
    let spread = of(&[spread, vec![(true, 0.5), (true, 0.25)]].concat());
    let less = of(&[vec![(false, 1.0); 50], vec![(true, 0.3); 2]].concat());
    let few = of(&[(false, 1.0), (false, 0.25), (true, 1.0), (true, 0.5)]);
    let light = [vec![(false, 1.0); 150], vec![(true, 1.0); 3]].concat();
    let skewed = of(&[light, vec![(false, 0.05); 7], vec![(true, 0.05)]].concat());
    for (sample, lower, upper) in [
        (spread, 0.005_803_450_754, 0.088_880_735_827),
        (less, 0.024_973_310_790, 0.315_149_194_190),
        (few, 0.032_259_217_290, 0.868_187_061_052),
        (skewed, 0.018_087_877_042, 0.215_258_260_069),
    ] {
        // With third powers see skewed_tests.rs.
        let [zeros, ones] = sample.classes();
        let got = Rate::of(zeros, ones).two_sided_interval(0.95);
        assert!((got.0 - lower).abs() < 1e-9 && (got.1 - upper).abs() < 1e-9, "{sample:?}: {got:?}");
    }
    let found = plain(2, 98).two_sided(0.95).unwrap();
    assert_eq!((found.estimate, found.n), (0.02, 100));
    assert_eq!((Rate::new().two_sided(0.95), Rate::new().two_sided_interval(0.95)), (None, (0.0, 1.0)));
}

/// Below the upper bound of no ones, and over the lower bound of no zeros, the exact coverage of equal weights is at least 0.94.
#[test]
fn two_sided_intervals_hold_rates_near_the_ends() {
    for n in [10_u32, 30, 100, 300] {
        let intervals: Vec<_> = (0..=n).map(|ones| plain(ones, n - ones).two_sided_interval(0.95)).collect();
        let limit = plain(0, n).interval(0.95).1;
        for step in 1..60 {
            let rate = limit * f64::from(step) / 60.0;
            let (mut held, mut mirrored, mut point) = (0.0, 0.0, f64::from(n) * (-rate).ln_1p());
            for (ones, (lower, upper)) in (0_u32..).zip(&intervals) {
                let (low, high) = intervals[(n - ones) as usize];
                let chance = point.exp();
                held += if *lower <= rate && rate <= *upper { chance } else { 0.0 };
                mirrored += if low <= 1.0 - rate && 1.0 - rate <= high { chance } else { 0.0 };
                point += (f64::from(n - ones) / f64::from(ones + 1) * rate / (1.0 - rate)).ln();
            }
            assert!(held >= 0.94 - 1e-9 && mirrored >= 0.94 - 1e-9, "{n} {rate}: {held} {mirrored}");
        }
    }
}

/// The numbers of ones among `items` with their probabilities, without those that change no digit.
fn likely(items: u32, rate: f64) -> Vec<(u32, f64)> {
    let mut ln = f64::from(items) * (-rate).ln_1p();
    let mut all = Vec::new();
    for ones in 0..=items {
        if ln > -32.0 {
            all.push((ones, ln.exp()));
        }
        ln += (f64::from(items - ones) / f64::from(ones + 1) * rate / (1.0 - rate)).ln();
    }
    all
}

/// What our interval of `items` equal weights holds of a rate.
fn held(items: u32, rate: f64) -> f64 {
    let holds = |ones: u32| {
        let (lower, upper) = plain(ones, items - ones).two_sided_interval(0.95);
        lower <= rate && rate <= upper
    };
    likely(items, rate).into_iter().filter(|(ones, _)| holds(*ones)).map(|(_, chance)| chance).sum()
}

/// Whether there are neighbouring counts that hold a rate from 0.94 to 0.965.
fn is_attainable(items: u32, rate: f64) -> bool {
    let chances = likely(items, rate);
    (0..chances.len()).any(|low| {
        let mut sums = chances[low..].iter().scan(0.0_f64, |sum, (_, chance)| {
            *sum += chance;
            Some(*sum)
        });
        sums.any(|sum| (0.94..=0.965).contains(&sum))
    })
}

/// Of the cells of docs/statistics.md, those that no interval of counts has from 0.94 to 0.965 are outside, and no others.
#[test]
fn every_cell_that_an_interval_can_have_inside_is_inside() {
    let mut beyond = Vec::new();
    for items in [30, 100, 300, 1_000, 3_000, 10_000] {
        for rate in [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5] {
            let (ours, mirrored) = (held(items, rate), held(items, 1.0 - rate));
            assert!((ours - mirrored).abs() < 1e-6, "{items} at {rate}: {ours}, mirrored {mirrored}");
            if is_attainable(items, rate) {
                assert!((0.94..=0.965).contains(&ours), "{items} at {rate}: {ours}");
            } else {
                beyond.push((items, rate));
            }
        }
    }
    let cells = [(30, 0.005), (30, 0.02), (30, 0.05), (100, 0.005), (100, 0.01), (300, 0.005)];
    assert_eq!(beyond, cells);
}

/// Whatever the number of items and the rate, equal weights are held in 94 % at least.
#[test]
fn no_rate_is_held_by_less_than_94_percent_of_equal_weights() {
    for items in [1, 2, 3, 5, 8, 11, 16, 20, 30, 50, 71, 100, 127, 150, 300] {
        let ends: Vec<_> =
            (0..=items).map(|ones| plain(ones, items - ones).two_sided_interval(0.95)).collect();
        let rises = |two: &[(f64, f64)]| two[0].0 <= two[1].0 + 1e-9 && two[0].1 <= two[1].1 + 1e-9;
        assert!(ends.windows(2).all(rises), "{items}");
        // Just before and after an end is where an interval holds least and most.
        let near = ends.iter().flat_map(|(lower, upper)| [lower - 1e-9, upper + 1e-9]);
        for rate in near.filter(|rate| *rate > 0.0 && *rate < 1.0) {
            let inside = |ones: u32| ends[ones as usize].0 <= rate && rate <= ends[ones as usize].1;
            let all = likely(items, rate).into_iter().filter(|(ones, _)| inside(*ones));
            let held: f64 = all.map(|(_, chance)| chance).sum();
            assert!(held >= 0.94 - 1e-6, "{items} at {rate}: {held}");
        }
    }
}

/// Share of simulated samples whose interval holds the true rate.
fn coverage(rate: f64, window: usize, draw: fn(&mut Seeded, bool) -> f64) -> f64 {
    const RUNS: usize = 500;
    let mut random = Seeded::new(7);
    let mut held = 0;
    for _ in 0..RUNS {
        let mut sample = Rate::new();
        for _ in 0..window {
            let one = random.unit() < rate;
            let pi = draw(&mut random, one);
            if random.unit() < pi {
                assert!(sample.push(one, pi));
            }
        }
        let (low, high) = sample.interval(0.95);
        held += usize::from(low <= rate && rate <= high);
    }
    held as f64 / RUNS as f64
}

/// `cargo run --release --example simulate` does this at length.
#[test]
fn intervals_hold_the_rate_under_skewed_designs() {
    type Draw = fn(&mut Seeded, bool) -> f64;
    let designs: [(&str, Draw); 5] = [
        ("skewed", |random, _| if random.unit() < 0.3 { 0.9 } else { 0.2 }),
        ("spread", |random, _| 0.1 + 0.9 * random.unit()),
        ("few large weights", |random, _| if random.unit() < 0.5 { 1.0 } else { 0.05 }),
        ("failures drawn more", |_, one| if one { 0.9 } else { 0.1 }),
        ("failures drawn less", |_, one| if one { 0.3 } else { 1.0 }),
    ];
    for (name, draw) in designs {
        for (rate, window) in [(0.02, 2000), (0.1, 600), (0.5, 300)] {
            let got = coverage(rate, window, draw);
            assert!((0.925..=0.98).contains(&got), "{name} {rate}: {got}");
        }
    }
}
