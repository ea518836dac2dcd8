//! How often the interval of a rate holds the rate: summed over all numbers of zeros and ones where the outcome alone tells the weight,
//! else simulated.

use crate::{exact, intervals, work};
use groundline::stats::Rate;
use groundline::stats::seeded::Seeded;

/// The level of all intervals.
pub const LEVEL: f64 = 0.95;
/// The columns of the tables.
pub const RATES: [f64; 7] = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];

/// The rows of the tables, effective sample sizes.
pub const SIZES: [u32; 6] = [30, 100, 300, 1_000, 3_000, 10_000];

/// What a nominal 95 % interval should hold.
pub const BAND: std::ops::RangeInclusive<f64> = 0.94..=0.965;

/// With which probability an item is drawn, by chance and by outcome.
struct Design {
    name: &'static str,
    draw: fn(&mut Seeded, bool) -> f64,
    /// The mean of 1/π for zeros and ones: so many items are needed for an effective one.
    inverse: [f64; 2],
    /// The π of zeros and of ones where there is one each.
    by_outcome: Option<[f64; 2]>,
}

const DESIGNS: [Design; 7] = [
    Design { name: "uniform, π 0.5", draw: |_, _| 0.5, inverse: [2.0, 2.0], by_outcome: Some([0.5; 2]) },
    Design {
        name: "two strata, π 0.9 for 30 %, 0.2 for the rest",
        draw: |random, _| if random.unit() < 0.3 { 0.9 } else { 0.2 },
        inverse: [0.3 / 0.9 + 0.7 / 0.2; 2],
        by_outcome: None,
    },
    Design {
        name: "spread, π from 0.1 to 1",
        draw: |random, _| 0.1 + 0.9 * random.unit(),
        inverse: [std::f64::consts::LN_10 / 0.9; 2],
        by_outcome: None,
    },
    Design {
        name: "skewed, π 1 for one half, 0.05 for the other",
        draw: |random, _| if random.unit() < 0.5 { 1.0 } else { 0.05 },
        inverse: [10.5; 2],
        by_outcome: None,
    },
    Design {
        name: "failures oversampled, π 0.9 against 0.1",
        draw: |_, one| if one { 0.9 } else { 0.1 },
        inverse: [10.0, 1.0 / 0.9],
        by_outcome: Some([0.1, 0.9]),
    },
    Design {
        name: "failures oversampled with noise, π 0.3 to 1 against 0.05 to 0.3",
        draw: |random, one| if one { 0.3 + 0.7 * random.unit() } else { 0.05 + 0.25 * random.unit() },
        inverse: [7.167_038, 1.719_961],
        by_outcome: None,
    },
    Design {
        name: "failures undersampled, π 0.3 against 1",
        draw: |_, one| if one { 0.3 } else { 1.0 },
        inverse: [1.0, 1.0 / 0.3],
        by_outcome: Some([1.0, 0.3]),
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
    let sizes = || SIZES.into_iter().filter(|size| *size <= max_size);
    let of = |design| sizes().flat_map(move |size| RATES.map(|rate| Cell { design, size, rate }));
    let cells: Vec<Cell> = DESIGNS.iter().flat_map(of).collect();
    let held = work::all("coverage of rates", &cells, |cell| coverage(cell, runs, seed));
    // The first interval is ours.
    let rows: Vec<_> = cells.iter().zip(held.iter().map(|ways| ways[0])).collect();
    for table in rows.chunk_by(|a, b| std::ptr::eq(a.0.design, b.0.design)) {
        let Some((first, _)) = table.first() else { continue };
        println!("### Coverage, {}\n", first.design.name);
        header("n_eff");
        for row in table.chunks(RATES.len()) {
            let shares: Vec<String> = row.iter().map(|(_, held)| mark(*held)).collect();
            println!("| {} | {} |", row.first().map_or(0, |(cell, _)| cell.size), shares.join(" | "));
        }
        let inside = table.iter().filter(|(_, held)| BAND.contains(held)).count();
        println!("\n{inside} of {} cells lie from 0.94 to 0.965.\n", table.len());
    }
    let steered = |cell: &Cell| cell.design.name.starts_with("failures undersampled");
    intervals::print(cells.iter().map(steered).zip(&held));
}

/// Prints the head of a table whose columns are [`RATES`].
pub fn header(first: &str) {
    header_of(first, &RATES);
}

/// Prints the head of a table whose columns are `rates`.
pub fn header_of(first: &str, rates: &[f64]) {
    let names: Vec<String> = rates.iter().map(|rate| format!("{} %", rate * 100.0)).collect();
    println!("| {first} | {} |", names.join(" | "));
    println!("|---|{}", "---|".repeat(rates.len()));
}

/// A share that is in the band plain, any other in italics.
pub fn mark(held: f64) -> String {
    if BAND.contains(&held) { format!("{held:.3}") } else { format!("*{held:.3}*") }
}

/// The share of simulated samples whose interval holds the rate, of each way to an interval; of ours exactly where it can be summed.
fn coverage(cell: &Cell, runs: usize, seed: u64) -> [f64; intervals::COUNT] {
    let mut random = Seeded::new(seed ^ (u64::from(cell.size) << 32) ^ (cell.rate * 1e6) as u64);
    let window = cell.window();
    let mut held = [0.0; intervals::COUNT];
    for _ in 0..runs {
        let mut sample = Rate::new();
        for _ in 0..window {
            let one = random.unit() < cell.rate;
            let pi = (cell.design.draw)(&mut random, one);
            if random.unit() < pi {
                let _drawn = sample.push(one, pi);
            }
        }
        for (held, way) in held.iter_mut().zip(&intervals::WAYS) {
            *held += f64::from(u8::from((way.holds)(&sample, cell.rate)));
        }
    }
    let mut held = held.map(|held| held / runs as f64);
    if let Some(pi) = cell.design.by_outcome {
        held[0] = exact::coverage(cell.size, pi, cell.rate);
    }
    held
}
