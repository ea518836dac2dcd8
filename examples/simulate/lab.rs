//! How often the interval of a paired difference holds it, and how often no difference is called one.
//!
//! Items differ in how hard they are. Both sides answer each item so many times, as an experiment does, and the difference is
//! taken as `groundline experiment compare` takes it: verdicts that were given once by Tango's interval and McNemar's test,
//! everything else over groups.

use crate::work;
use groundline::stats::difference::difference;
use groundline::stats::matched;
use groundline::stats::seeded::Seeded;

const LEVEL: f64 = 0.95;
const GROUPS: [usize; 6] = [6, 10, 15, 25, 60, 200];
const REPETITIONS: [usize; 4] = [1, 2, 3, 5];

/// What a nominal 95 % interval should hold.
const BAND: std::ops::RangeInclusive<f64> = 0.94..=0.965;

/// How the two sides of a group differ: the mean differences of its items, given the true difference.
struct Design {
    name: &'static str,
    is_rate: bool,
    truth: f64,
    draw: fn(&mut Seeded, usize, f64) -> Vec<f64>,
}

const DESIGNS: [Design; 4] = [
    Design {
        name: "verdicts, from 30 to 70 % pass, 10 points fewer now",
        is_rate: true,
        truth: -0.1,
        draw: |random, repetitions, truth| vec![verdicts(random, repetitions, truth)],
    },
    Design {
        name: "graded values, 0.05 less now",
        is_rate: false,
        truth: -0.05,
        draw: |random, repetitions, truth| {
            let own = 0.1 * (random.unit() - random.unit());
            let mut one = |_| 0.5 * random.unit().powi(2);
            let (now, then) =
                ((0..repetitions).map(&mut one).sum::<f64>(), (0..repetitions).map(one).sum::<f64>());
            vec![truth + own + (now - then) / repetitions as f64]
        },
    },
    Design {
        name: "skewed values, one item in three falls, by 0.15 on average",
        is_rate: false,
        truth: -0.05,
        draw: |random, repetitions, truth| {
            let falls = random.unit() < 1.0 / 3.0;
            let by = if falls { 3.0 * truth * -random.unit().max(f64::MIN_POSITIVE).ln() } else { 0.0 };
            let mut one = |_| 0.1 * random.unit();
            let (now, then) =
                ((0..repetitions).map(&mut one).sum::<f64>(), (0..repetitions).map(one).sum::<f64>());
            vec![by + (now - then) / repetitions as f64]
        },
    },
    Design {
        name: "verdicts in groups of 1 to 5 items that change together, 10 points fewer now",
        is_rate: true,
        truth: -0.1,
        draw: |random, repetitions, truth| {
            let items = 1 + (random.unit() * 5.0) as usize;
            let together = 0.2 * (random.unit() - random.unit());
            (0..items).map(|_| verdicts(random, repetitions, truth + together)).collect()
        },
    },
];

/// The share of `repetitions` that pass now, minus that of before, of an item that passes by `by` more often.
fn verdicts(random: &mut Seeded, repetitions: usize, by: f64) -> f64 {
    let ease = 0.3 + 0.4 * random.unit();
    let mut share =
        |p: f64| (0..repetitions).filter(|_| random.unit() < p).count() as f64 / repetitions as f64;
    share(ease + by) - share(ease)
}

struct Cell {
    design: &'static Design,
    groups: usize,
    repetitions: usize,
}

/// Simulates and prints the tables.
pub fn print(runs: usize, seed: u64) {
    let of = |design| {
        GROUPS
            .into_iter()
            .flat_map(move |groups| REPETITIONS.map(|repetitions| Cell { design, groups, repetitions }))
    };
    let cells: Vec<Cell> = DESIGNS.iter().flat_map(of).collect();
    let told = work::all("paired differences", &cells, |cell| {
        (coverage(cell, runs, seed), false_alarms(cell, runs, seed ^ 0xfa15e))
    });
    let rows: Vec<_> = cells.iter().zip(&told).collect();
    for table in rows.chunk_by(|a, b| std::ptr::eq(a.0.design, b.0.design)) {
        let Some((first, _)) = table.first() else { continue };
        println!("### Paired differences, {}\n", first.design.name);
        let heads = REPETITIONS.map(|r| format!("{r}×"));
        println!("| groups | {} | {} |", heads.join(" | "), heads.map(|h| format!("alarms {h}")).join(" | "));
        println!("|---|{}", "---|".repeat(2 * REPETITIONS.len()));
        for row in table.chunks(REPETITIONS.len()) {
            let held: Vec<String> = row.iter().map(|(_, (held, _))| mark(*held)).collect();
            let alarms: Vec<String> = row.iter().map(|(_, (_, alarms))| format!("{alarms:.3}")).collect();
            let groups = row.first().map_or(0, |(cell, _)| cell.groups);
            println!("| {groups} | {} | {} |", held.join(" | "), alarms.join(" | "));
        }
        let inside = table.iter().filter(|(_, (held, _))| BAND.contains(held)).count();
        println!("\n{inside} of {} cells lie from 0.94 to 0.965.\n", table.len());
    }
}

/// A share that is in the band plain, any other in italics.
fn mark(held: f64) -> String {
    if BAND.contains(&held) { format!("{held:.3}") } else { format!("*{held:.3}*") }
}

/// The share of simulated experiments whose interval holds the true difference.
fn coverage(cell: &Cell, runs: usize, seed: u64) -> f64 {
    let truth = cell.design.truth;
    let mut random = Seeded::new(cell.seed(seed));
    let held = (0..runs).filter(|_| {
        let (lower, upper, _) = cell.told(&mut random, truth);
        lower.is_some_and(|end| end <= truth) && upper.is_some_and(|end| truth <= end)
    });
    held.count() as f64 / runs as f64
}

/// The share of simulated experiments without a difference that have one at p below 0.05.
fn false_alarms(cell: &Cell, runs: usize, seed: u64) -> f64 {
    let mut random = Seeded::new(cell.seed(seed));
    (0..runs).filter(|_| cell.told(&mut random, 0.0).2 < 1.0 - LEVEL).count() as f64 / runs as f64
}

impl Cell {
    fn seed(&self, seed: u64) -> u64 {
        seed ^ ((self.groups as u64) << 32) ^ ((self.repetitions as u64) << 48)
    }

    /// The ends of the interval, and p, of one simulated pair of experiments.
    fn told(&self, random: &mut Seeded, truth: f64) -> (Option<f64>, Option<f64>, f64) {
        let drawn: Vec<Vec<f64>> =
            (0..self.groups).map(|_| (self.design.draw)(random, self.repetitions, truth)).collect();
        if self.design.is_rate && self.repetitions == 1 && drawn.iter().all(|items| items.len() == 1) {
            let count = |sign: f64| drawn.iter().flatten().filter(|d| **d == sign).count() as u64;
            let (gained, lost) = (count(1.0), count(-1.0));
            let ends = matched::interval(gained, lost, drawn.len() as u64, LEVEL);
            return (ends.map(|e| e.0), ends.map(|e| e.1), matched::p(gained, lost));
        }
        let mean = |items: &Vec<f64>| (items.iter().sum::<f64>() / items.len() as f64, items.len() as f64);
        let groups: Vec<(f64, f64)> = drawn.iter().map(mean).collect();
        difference(&groups, self.design.is_rate, LEVEL).map_or((None, None, 1.0), |d| (d.lower, d.upper, d.p))
    }
}
