//! Items that are alike because they are of one trace: intervals that take each item for itself, and those that take the trace.

use crate::coverage::{BAND, LEVEL, header_of, mark};
use crate::work;
use groundline::stats::seeded::Seeded;
use groundline::stats::{Rate, Weighted};

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

/// The share of simulated samples whose interval holds the rate: `quality_rate` of the items, and `quality_mean` of the traces.
fn coverage((traces, rate): (u32, f64), alike: f64, (runs, seed): (usize, u64)) -> [f64; 2] {
    let mut random = Seeded::new(seed ^ (u64::from(traces) << 32) ^ (rate * 1e6) as u64);
    let mut held = [0.0; 2];
    for _ in 0..runs {
        let (mut items, mut means) = (Rate::new(), Weighted::new());
        for _ in 0..traces {
            let (mut weight, mut failed) = (0.0, 0.0);
            for fails in trace(&mut random, rate, alike) {
                if random.unit() < PI && items.push(fails, PI) {
                    weight += 1.0 / PI;
                    failed += f64::from(u8::from(fails)) / PI;
                }
            }
            if weight > 0.0 {
                let _counted = means.push(failed / weight, 1.0 / weight);
            }
        }
        let (lower, upper) = items.two_sided_interval(LEVEL);
        held[0] += f64::from(u8::from(lower <= rate && rate <= upper));
        // One trace has no spread, and no interval leaves nothing out.
        let bounds = means.mean(LEVEL).and_then(|found| found.lower.zip(found.upper));
        held[1] += f64::from(u8::from(bounds.is_none_or(|(lower, upper)| lower <= rate && rate <= upper)));
    }
    held.map(|held| held / runs as f64)
}

/// Simulates and prints the tables.
pub fn print(runs: usize, seed: u64) {
    for alike in ALIKE {
        let cells: Vec<(u32, f64)> =
            TRACES.iter().flat_map(|traces| RATES.map(|rate| (*traces, rate))).collect();
        let held = work::all("items of a trace", &cells, |cell| coverage(*cell, alike, (runs, seed)));
        for (at, way) in
            ["`quality_rate` of the items", "`quality_mean` of the traces"].into_iter().enumerate()
        {
            println!("### Items of a trace with the correlation {alike}: {way}\n");
            header_of("traces", &RATES);
            for (traces, row) in TRACES.iter().zip(held.chunks(RATES.len())) {
                let shares: Vec<String> = row.iter().map(|ways| mark(ways[at])).collect();
                println!("| {traces} | {} |", shares.join(" | "));
            }
            let inside = held.iter().filter(|ways| BAND.contains(&ways[at])).count();
            println!("\n{inside} of {} cells lie from 0.94 to 0.965.\n", held.len());
        }
    }
}
