//! How often the interval of a rate holds the rate.

use crate::work;
use groundline::stats::seeded::Seeded;
use groundline::stats::{Rate, proportion};

const LEVEL: f64 = 0.95;
const RATES: [f64; 7] = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];
const SIZES: [u32; 6] = [30, 100, 300, 1_000, 3_000, 10_000];

/// What a nominal 95 % interval should hold.
const BAND: std::ops::RangeInclusive<f64> = 0.94..=0.965;

/// With which probability an item is drawn, by chance and by outcome.
struct Design {
    name: &'static str,
    draw: fn(&mut Seeded, bool) -> f64,
    /// The mean of 1/π for zeros and ones: so many items are needed for an effective one.
    inverse: [f64; 2],
}

const DESIGNS: [Design; 7] = [
    Design { name: "uniform, π 0.5", draw: |_, _| 0.5, inverse: [2.0, 2.0] },
    Design {
        name: "two strata, π 0.9 for 30 %, 0.2 for the rest",
        draw: |random, _| if random.unit() < 0.3 { 0.9 } else { 0.2 },
        inverse: [0.3 / 0.9 + 0.7 / 0.2; 2],
    },
    Design {
        name: "spread, π from 0.1 to 1",
        draw: |random, _| 0.1 + 0.9 * random.unit(),
        inverse: [std::f64::consts::LN_10 / 0.9; 2],
    },
    Design {
        name: "skewed, π 1 for one half, 0.05 for the other",
        draw: |random, _| if random.unit() < 0.5 { 1.0 } else { 0.05 },
        inverse: [10.5; 2],
    },
    Design {
        name: "failures oversampled, π 0.9 against 0.1",
        draw: |_, one| if one { 0.9 } else { 0.1 },
        inverse: [10.0, 1.0 / 0.9],
    },
    Design {
        name: "failures oversampled with noise, π 0.3 to 1 against 0.05 to 0.3",
        draw: |random, one| if one { 0.3 + 0.7 * random.unit() } else { 0.05 + 0.25 * random.unit() },
        inverse: [7.167_038, 1.719_961],
    },
    Design {
        name: "failures undersampled, π 0.3 against 1",
        draw: |_, one| if one { 0.3 } else { 1.0 },
        inverse: [1.0, 1.0 / 0.3],
    },
];

struct Cell {
    design: &'static Design,
    size: u32,
    rate: f64,
}

impl Cell {
    /// Items in the window for the effective size.
    fn window(&self) -> usize {
        let [zeros, ones] = self.design.inverse;
        (f64::from(self.size) * (zeros * (1.0 - self.rate) + ones * self.rate)).round() as usize
    }
}

/// Simulates and prints the tables.
pub fn print(runs: usize, max_size: u32, seed: u64) {
    exact();
    let sizes = || SIZES.into_iter().filter(|size| *size <= max_size);
    let of = |design| sizes().flat_map(move |size| RATES.map(|rate| Cell { design, size, rate }));
    let cells: Vec<Cell> = DESIGNS.iter().flat_map(of).collect();
    let held = work::all("coverage of rates", &cells, |cell| coverage(cell, runs, seed));
    let rows: Vec<_> = cells.iter().zip(&held).collect();
    for table in rows.chunk_by(|a, b| std::ptr::eq(a.0.design, b.0.design)) {
        let Some((first, _)) = table.first() else { continue };
        println!("### Coverage, {}\n", first.design.name);
        header("n_eff");
        for row in table.chunks(RATES.len()) {
            let shares: Vec<String> = row.iter().map(|(_, held)| mark(**held)).collect();
            println!("| {} | {} |", row.first().map_or(0, |(cell, _)| cell.size), shares.join(" | "));
        }
        let inside = table.iter().filter(|(_, held)| BAND.contains(*held)).count();
        println!("\n{inside} of {} cells lie from 0.94 to 0.965.\n", table.len());
    }
}

fn header(first: &str) {
    let rates: Vec<String> = RATES.iter().map(|rate| format!("{} %", rate * 100.0)).collect();
    println!("| {first} | {} |", rates.join(" | "));
    println!("|---|{}", "---|".repeat(RATES.len()));
}

/// A share that is in the band plain, any other in italics.
fn mark(held: f64) -> String {
    if BAND.contains(&held) { format!("{held:.3}") } else { format!("*{held:.3}*") }
}

/// The share of simulated samples whose interval holds the rate.
fn coverage(cell: &Cell, runs: usize, seed: u64) -> f64 {
    let mut random = Seeded::new(seed ^ (u64::from(cell.size) << 32) ^ (cell.rate * 1e6) as u64);
    let window = cell.window();
    let held = (0..runs)
        .filter(|_| {
            let mut sample = Rate::new();
            for _ in 0..window {
                let one = random.unit() < cell.rate;
                let pi = (cell.design.draw)(&mut random, one);
                if random.unit() < pi {
                    let _drawn = sample.push(one, pi);
                }
            }
            let (lower, upper) = sample.interval(LEVEL);
            lower <= cell.rate && cell.rate <= upper
        })
        .count();
    held as f64 / runs as f64
}

/// A sample of a fixed size and equal weights: exact, and what is nearest to the level of all sums of neighbouring outcomes.
fn exact() {
    println!(
        "### Coverage of a fixed number of items, exact; in brackets the nearest that any interval can have\n"
    );
    header("items");
    for size in SIZES {
        let shares = RATES.map(|rate| {
            let chances = binomial(size, rate);
            let inside = |ones: usize| {
                let (lower, upper) = proportion::interval(ones as f64, f64::from(size) - ones as f64, LEVEL);
                lower <= rate && rate <= upper
            };
            let held: f64 =
                chances.iter().enumerate().filter(|(ones, _)| inside(*ones)).map(|(_, p)| p).sum();
            format!("{} ({:.3})", mark(held), nearest(&chances))
        });
        println!("| {size} | {} |", shares.join(" | "));
    }
    println!();
}

/// The probabilities of 0, 1, … ones.
fn binomial(size: u32, rate: f64) -> Vec<f64> {
    let mut ln = f64::from(size) * (-rate).ln_1p();
    (0..=size)
        .map(|ones| {
            let chance = ln.exp();
            ln += (f64::from(size - ones) / f64::from(ones + 1) * rate / (1.0 - rate)).ln();
            chance
        })
        .collect()
}

/// The sum of neighbouring chances, the likeliest among them, that is nearest to the level.
fn nearest(chances: &[f64]) -> f64 {
    let top = (0..chances.len()).max_by(|a, b| chances[*a].total_cmp(&chances[*b])).unwrap_or(0);
    let mut best = f64::INFINITY;
    let mut below = 0.0;
    for low in (0..=top).rev() {
        below += chances[low];
        let mut sum = below;
        for chance in std::iter::once(&0.0).chain(&chances[top + 1..]) {
            sum += chance;
            if (sum - LEVEL).abs() < (best - LEVEL).abs() {
                best = sum;
            }
            if sum > LEVEL + 0.05 {
                break;
            }
        }
    }
    best
}
