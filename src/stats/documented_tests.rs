//! The tables of docs/statistics.md are those of this code: a change of an estimator that bends them is seen here.

use super::ppi::Item;
use super::rate::Class;
use super::seeded::Seeded;
use super::{Ppi, Rate};

const DOCUMENT: &str = include_str!("../../docs/statistics.md");
const LEVEL: f64 = 0.95;
/// The columns of the tables of coverage.
const RATES: [f64; 7] = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];

/// The cells of the row that begins with `first`, of the first table under `heading`.
fn row(heading: &str, first: &str) -> Vec<String> {
    let (_, part) = DOCUMENT.split_once(heading).unwrap_or_else(|| panic!("no {heading}"));
    let line = part.lines().find(|line| line.starts_with(first));
    let line = line.unwrap_or_else(|| panic!("{heading} has no row {first}"));
    let cells = line[first.len()..].split('|').map(str::trim).filter(|cell| !cell.is_empty());
    cells.map(str::to_owned).collect()
}

/// The first number of a cell, which italics may mark.
fn number(cell: &str) -> f64 {
    cell.split(' ').next().unwrap().trim_matches('*').parse().unwrap()
}

#[test]
fn exact_coverage_is_as_documented() {
    for size in [30_u32, 100, 300, 1_000] {
        let cells = row("### Coverage of a fixed number of items, exact", &format!("| {size} |"));
        assert_eq!(cells.len(), RATES.len());
        let class = |n: u32| Class { n: u64::from(n), weight: f64::from(n), square: f64::from(n) };
        let intervals: Vec<(f64, f64)> = (0..=size)
            .map(|ones| Rate::of(class(size - ones), class(ones)).two_sided_interval(LEVEL))
            .collect();
        for (rate, cell) in RATES.into_iter().zip(&cells) {
            let (mut held, mut chance) = (0.0, f64::from(size) * (-rate).ln_1p());
            for (ones, (lower, upper)) in (0_u32..).zip(&intervals) {
                if *lower <= rate && rate <= *upper {
                    held += chance.exp();
                }
                chance += (f64::from(size - ones) / f64::from(ones + 1) * rate / (1.0 - rate)).ln();
            }
            assert!((held - number(cell)).abs() < 6e-4, "{size} items at {rate}: {held}, not {cell}");
        }
    }
}

/// With which probability an item is drawn, by chance and by outcome.
type Draw = fn(&mut Seeded, bool) -> f64;

/// Name, probability of a draw, and the mean of 1/π for zeros and ones: so many items are needed for an effective one.
const DESIGNS: [(&str, Draw, [f64; 2]); 7] = [
    ("uniform", |_, _| 0.5, [2.0; 2]),
    ("two strata", |random, _| if random.unit() < 0.3 { 0.9 } else { 0.2 }, [0.3 / 0.9 + 0.7 / 0.2; 2]),
    ("spread", |random, _| 0.1 + 0.9 * random.unit(), [std::f64::consts::LN_10 / 0.9; 2]),
    ("skewed", |random, _| if random.unit() < 0.5 { 1.0 } else { 0.05 }, [10.5; 2]),
    ("failures oversampled, ", |_, one| if one { 0.9 } else { 0.1 }, [10.0, 1.0 / 0.9]),
    (
        "failures oversampled with noise",
        |random, one| if one { 0.3 + 0.7 * random.unit() } else { 0.05 + 0.25 * random.unit() },
        [7.167_038, 1.719_961],
    ),
    ("failures undersampled", |_, one| if one { 0.3 } else { 1.0 }, [1.0, 1.0 / 0.3]),
];

/// Of 100 effective items, all rates of a design together, within 4.5 standard errors of both simulations.
#[test]
fn coverage_under_every_design_is_as_documented() {
    const RUNS: usize = 200;
    const DOCUMENTED_RUNS: f64 = 4_000.0;
    for (at, (name, draw, [zeros, ones])) in (1..).zip(DESIGNS) {
        let cells = row(&format!("### Coverage, {name}"), "| 100 |");
        let documented: Vec<f64> = cells.iter().map(|cell| number(cell)).collect();
        assert_eq!(documented.len(), RATES.len());
        let (mut random, mut held) = (Seeded::new(at), 0);
        for rate in RATES {
            let window = (100.0 * (zeros * (1.0 - rate) + ones * rate)).round() as usize;
            for _ in 0..RUNS {
                let mut sample = Rate::new();
                for _ in 0..window {
                    let one = random.unit() < rate;
                    let pi = draw(&mut random, one);
                    if random.unit() < pi {
                        assert!(sample.push(one, pi));
                    }
                }
                let (lower, upper) = sample.two_sided_interval(LEVEL);
                held += usize::from(lower <= rate && rate <= upper);
            }
        }
        let (cells, runs) = (RATES.len() as f64, RUNS as f64);
        let wanted = documented.iter().sum::<f64>() / cells;
        let variance = documented.iter().map(|p| p * (1.0 - p)).sum::<f64>() / cells;
        let error = (variance / cells * (1.0 / runs + 1.0 / DOCUMENTED_RUNS)).sqrt();
        let found = held as f64 / (cells * runs);
        assert!((found - wanted).abs() < 4.5 * error, "{name}: {found:.4}, not {wanted:.4} ± {error:.4}");
    }
}

/// 100 labels at 30 %: the widths of the labels alone and of the corrected rate.
#[test]
fn widths_of_corrected_rates_are_as_documented() {
    const WINDOW: u32 = 10_000;
    const RUNS: u32 = 60;
    let (rate, sensitivity, specificity) = (0.3, 0.7, 0.9);
    let called = rate * sensitivity + (1.0 - rate) * (1.0 - specificity);
    // What the evaluator calls a failure is sampled and labelled twice as often.
    let chance = |called: bool| if called { 0.9 } else { 0.45 };
    let base = 100.0 / f64::from(WINDOW) / ((1.0 - called) * 0.45 + 2.0 * called * 0.9);
    let mut random = Seeded::new(5);
    let (mut alone, mut corrected, mut estimate) = (0.0, 0.0, 0.0);
    for _ in 0..RUNS {
        let (mut labels, mut ppi) = (Rate::new(), Ppi::new());
        for _ in 0..WINDOW {
            let truth = random.unit() < rate;
            let called = random.unit() < if truth { sensitivity } else { 1.0 - specificity };
            let (pi, pi_label) = (chance(called), if called { 2.0 * base } else { base });
            if random.unit() >= pi {
                continue;
            }
            let is_labelled = random.unit() < pi_label;
            if is_labelled {
                assert!(labels.push(truth, pi * pi_label));
            }
            let number = |is: bool| f64::from(u8::from(is));
            let label = is_labelled.then_some((number(truth), pi_label));
            assert!(ppi.push(Item { score: number(called), pi, label }));
        }
        let (plain, better) = (labels.estimate(LEVEL).unwrap(), ppi.rate(LEVEL).unwrap());
        alone += plain.upper.unwrap() - plain.lower.unwrap();
        corrected += better.upper.unwrap() - better.lower.unwrap();
        estimate += better.estimate;
    }
    let cells = row("### Corrected rates, sensitivity 0.7, specificity 0.9", "| 30 % | 100 |");
    let width = |cell: &str| cell.rsplit(' ').next().unwrap().parse::<f64>().unwrap();
    let (per, ratio) = (100.0 / f64::from(RUNS), corrected / alone);
    for (found, cell) in [(alone * per, &cells[1]), (corrected * per, &cells[3])] {
        assert!((found / width(cell) - 1.0).abs() < 0.05, "{found:.2}, not {cell}");
    }
    assert!((ratio - number(&cells[4])).abs() < 0.03, "{ratio:.3}, not {}", cells[4]);
    assert!((estimate * per - number(&cells[3])).abs() < 3.0, "{}, not {}", estimate * per, cells[3]);
}
