//! Items that are alike because they are of one trace: intervals that take each item for itself, and those that take the trace.

use crate::coverage::{BAND, LEVEL, header_of, mark};
use crate::work;
use groundline::stats::seeded::Seeded;
use groundline::stats::{ByCluster, Rate, Weighted};

/// The columns of the tables.
const RATES: [f64; 5] = [0.02, 0.05, 0.1, 0.2, 0.5];

/// The rows: traces with at least one item in the sample, about.
const TRACES: [u32; 4] = [30, 100, 300, 1_000];

/// A trace has from one to so many items.
const MOST_ITEMS: u64 = 8;

/// With which probability an item is drawn.
const PI: f64 = 0.5;

/// How alike items of a trace are: the correlation of two of them.
const ALIKE: [f64; 3] = [0.0, 0.1, 0.3];

/// The ways to an interval: of each item for itself, and of items that know their trace.
const WAYS: [&str; 3] =
    ["`quality_rate(passed, π)`", "`quality_rate(passed, π, trace_id)`", "`quality_mean(…, π, trace_id)`"];

/// Items of one trace: each fails the likelier, the more of those before it failed (Pólya's urn), so that two of them have the
/// correlation `alike`.
fn trace(random: &mut Seeded, rate: f64, alike: f64) -> Vec<bool> {
    let items = 1 + (random.unit() * MOST_ITEMS as f64) as u64;
    let mut ones = 0.0;
    let one = |before: u64| {
        let chance = (rate * (1.0 - alike) + alike * ones) / (1.0 - alike + alike * before as f64);
        let fails = random.unit() < chance;
        ones += f64::from(u8::from(fails));
        fails
    };
    (0..items).map(one).collect()
}

/// The share of simulated samples whose interval holds the rate, of each of [`WAYS`].
fn coverage((traces, rate): (u32, f64), alike: f64, (runs, seed): (usize, u64)) -> [f64; 3] {
    let mut random = Seeded::new(seed ^ (u64::from(traces) << 32) ^ (rate * 1e6) as u64);
    let mut held = [0.0; 3];
    for _ in 0..runs {
        let (mut rates, mut means) = (ByCluster::<Rate>::new(), ByCluster::<Weighted>::new());
        for key in 0..u128::from(traces) {
            for fails in trace(&mut random, rate, alike) {
                let (mut one, mut number) = (Rate::new(), Weighted::new());
                if random.unit() < PI && one.push(fails, PI) && number.push(f64::from(u8::from(fails)), PI) {
                    rates.push(Some(key), &one);
                    means.push(Some(key), &number);
                }
            }
        }
        let ways = [rates.items().two_sided(LEVEL), rates.rate(LEVEL), means.mean(LEVEL)];
        for (held, found) in held.iter_mut().zip(ways) {
            // One trace has no spread, and no interval leaves nothing out.
            let bounds = found.and_then(|found| found.lower.zip(found.upper));
            let holds = bounds.is_none_or(|(lower, upper)| lower <= rate && rate <= upper);
            *held += f64::from(u8::from(holds));
        }
    }
    held.map(|held| held / runs as f64)
}

/// Simulates and prints the tables, and how many of their cells hold what they should.
pub fn print(runs: usize, seed: u64) {
    let mut summary = Vec::new();
    for alike in ALIKE {
        let cells: Vec<(u32, f64)> =
            TRACES.iter().flat_map(|traces| RATES.map(|rate| (*traces, rate))).collect();
        let held = work::all("items of a trace", &cells, |cell| coverage(*cell, alike, (runs, seed)));
        for (at, way) in WAYS.into_iter().enumerate() {
            println!("### Items of a trace with the correlation {alike}: {way}\n");
            header_of("traces", &RATES);
            for (traces, row) in TRACES.iter().zip(held.chunks(RATES.len())) {
                let shares: Vec<String> = row.iter().map(|ways| mark(ways[at])).collect();
                println!("| {traces} | {} |", shares.join(" | "));
            }
            let inside = held.iter().filter(|ways| BAND.contains(&ways[at])).count();
            println!("\n{inside} of {} cells lie from 0.94 to 0.965.\n", held.len());
            let below = held.iter().filter(|ways| ways[at] < *BAND.start()).count();
            let lowest = held.iter().map(|ways| ways[at]).fold(1.0, f64::min);
            let above = held.len() - inside - below;
            summary.push(format!("| {way} | {alike} | {inside} | {below} | {above} | {lowest:.3} |"));
        }
    }
    println!("| interval | correlation | cells inside | below 0.94 | above 0.965 | lowest |");
    println!("|---|---|---|---|---|---|");
    summary.sort();
    println!("{}\n", summary.join("\n"));
}
