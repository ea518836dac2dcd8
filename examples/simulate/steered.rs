//! The interval of a rate where the outcome goes with the weight: by chance, or because a stratum fails more often.

use crate::coverage::{BAND, LEVEL, header_of, mark};
use crate::work;
use groundline::stats::Rate;
use groundline::stats::seeded::Seeded;

/// The columns of these tables.
const RATES: [f64; 8] = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5];

/// The rows, effective sample sizes: in larger ones chance and design are told apart.
const SIZES: [u32; 6] = [15, 30, 100, 200, 300, 1_000];

/// How the items of a window fail and are drawn.
struct Design {
    name: &'static str,
    /// Whether an item fails, at a rate, and the probability of its draw.
    draw: fn(&mut Seeded, f64) -> (bool, f64),
    /// The mean of 1/π of the zeros and of the ones.
    inverse: [f64; 2],
}

const DESIGNS: [Design; 4] = [
    Design {
        name: "failures oversampled with noise, π 0.3 to 1 against 0.05 to 0.3",
        draw: |random, rate| {
            let one = random.unit() < rate;
            (one, if one { 0.3 + 0.7 * random.unit() } else { 0.05 + 0.25 * random.unit() })
        },
        inverse: [7.167_038, 1.719_961],
    },
    Design {
        name: "spread, π from 0.1 to 1",
        draw: |random, rate| (random.unit() < rate, 0.1 + 0.9 * random.unit()),
        inverse: [std::f64::consts::LN_10 / 0.9; 2],
    },
    Design {
        name: "π 1 for one half, 0.05 for the other, which fails three times as often",
        draw: |random, rate| stratum(random, rate, 0.5, [1.0, 0.05]),
        inverse: [10.5; 2],
    },
    Design {
        name: "π 0.9 for 30 %, 0.2 for the rest, which fails three times as often",
        draw: |random, rate| stratum(random, rate, 0.3, [0.9, 0.2]),
        inverse: [0.3 / 0.9 + 0.7 / 0.2; 2],
    },
];

/// An item of two strata, of which the second fails three times as often; `first` is the share of the first.
fn stratum(random: &mut Seeded, rate: f64, first: f64, pi: [f64; 2]) -> (bool, f64) {
    let is_first = random.unit() < first;
    let rate_of_first = rate / (first + 3.0 * (1.0 - first));
    let fails = random.unit() < if is_first { rate_of_first } else { 3.0 * rate_of_first };
    (fails, if is_first { pi[0] } else { pi[1] })
}

/// The share of simulated samples whose interval holds the rate: that of `quality_rate`, and that of the classes' n, Σw and Σw² alone.
fn coverage(design: &Design, size: u32, rate: f64, (runs, seed): (usize, u64)) -> [f64; 2] {
    let mut random = Seeded::new(seed ^ (u64::from(size) << 32) ^ (rate * 1e6) as u64);
    let [zeros, ones] = design.inverse;
    let window = (f64::from(size) * (zeros * (1.0 - rate) + ones * rate)).round() as usize;
    let mut held = [0.0; 2];
    for _ in 0..runs {
        let mut sample = Rate::new();
        for _ in 0..window {
            let (one, pi) = (design.draw)(&mut random, rate);
            if random.unit() < pi {
                let _drawn = sample.push(one, pi);
            }
        }
        let [zeros, ones] = sample.classes();
        for (held, sample) in held.iter_mut().zip([sample, Rate::of(zeros, ones)]) {
            let (lower, upper) = sample.two_sided_interval(LEVEL);
            *held += f64::from(u8::from(lower <= rate && rate <= upper));
        }
    }
    held.map(|held| held / runs as f64)
}

/// Simulates and prints the tables.
pub fn print(runs: usize, max_size: u32, seed: u64) {
    for design in &DESIGNS {
        let sizes = || SIZES.into_iter().filter(|size| *size <= max_size);
        let cells: Vec<(u32, f64)> = sizes().flat_map(|size| RATES.map(|rate| (size, rate))).collect();
        let held = work::all("outcome and weight", &cells, |(size, rate)| {
            coverage(design, *size, *rate, (runs, seed))
        });
        for (at, way) in ["quality_rate", "without the shape of the weights"].into_iter().enumerate() {
            println!("### {}: {way}\n", design.name);
            header_of("n_eff", &RATES);
            for (size, row) in sizes().zip(held.chunks(RATES.len())) {
                let shares: Vec<String> = row.iter().map(|ways| mark(ways[at])).collect();
                println!("| {size} | {} |", shares.join(" | "));
            }
            let shares = || held.iter().map(|ways| ways[at]);
            let least = shares().fold(f64::INFINITY, f64::min);
            let (below, above) = (
                shares().filter(|held| held < BAND.start()).count(),
                shares().filter(|held| held > BAND.end()).count(),
            );
            let all = held.len();
            println!(
                "\nOf {all} cells {below} lie below 0.94, {above} above 0.965; the least is {least:.3}.\n"
            );
        }
    }
}
