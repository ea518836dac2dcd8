//! Width and coverage of corrected rates beside the evaluator alone and the labels alone.

use crate::{svg, work};
use groundline::stats::ppi::Item;
use groundline::stats::prevalence::{Share, corrected};
use groundline::stats::seeded::Seeded;
use groundline::stats::{Estimate, Ppi, Rate};

const LEVEL: f64 = 0.95;
const LABELS: [u32; 5] = [50, 100, 200, 500, 1_000];
const RATES: [f64; 3] = [0.05, 0.1, 0.3];

/// Items in the window; of those that the evaluator calls failures 90 % are sampled, of the others 45 %.
const WINDOW: u32 = 10_000;
const PI: [f64; 2] = [0.45, 0.9];

/// An item that the evaluator calls a failure is labelled so many times as often as another.
const FAVOUR: f64 = 2.0;

/// Sensitivity and specificity.
const EVALUATORS: [(f64, f64); 2] = [(0.7, 0.9), (0.6, 0.7)];

/// The ways to a rate, in the order of the columns.
const WAYS: [&str; 4] = ["evaluator alone", "labels alone", "Rogan-Gladen", "ppi_rate"];

/// One setting and what came of it.
pub struct Cell {
    evaluator: (f64, f64),
    rate: f64,
    labels: u32,
    seen: [Seen; WAYS.len()],
}

/// Sums over samples of one way.
#[derive(Default, Clone, Copy)]
struct Seen {
    held: u32,
    estimate: f64,
    width: f64,
    answers: u32,
}

impl Seen {
    fn add(&mut self, found: Option<Estimate>, rate: f64) {
        if let Some((found, (lower, upper))) = found.and_then(|e| Some((e, e.lower.zip(e.upper)?))) {
            self.held += u32::from(lower <= rate && rate <= upper);
            self.estimate += found.estimate;
            self.width += upper - lower;
            self.answers += 1;
        }
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / f64::from(self.answers.max(1))
    }
}

/// Simulates and prints the tables.
pub fn print(runs: usize, seed: u64) -> Vec<Cell> {
    let of =
        |evaluator| RATES.into_iter().flat_map(move |rate| LABELS.map(|labels| (evaluator, rate, labels)));
    let settings: Vec<_> = EVALUATORS.into_iter().flat_map(of).collect();
    // A sample has thousands of items, and each gives four intervals.
    let runs = (runs / 2).max(1);
    let cells = work::all("corrected rates", &settings, |(evaluator, rate, labels)| {
        simulate(*evaluator, *rate, *labels, runs, seed)
    });
    for table in cells.chunk_by(|a, b| a.evaluator == b.evaluator) {
        let Some(first) = table.first() else { continue };
        let (se, sp) = first.evaluator;
        println!("### Corrected rates, sensitivity {se}, specificity {sp}\n");
        println!("Mean estimate, coverage, mean width of the 95 % interval.\n");
        println!("| rate | labels | {} | width by labels alone |", WAYS.join(" | "));
        println!("|---|---|{}---|", "---|".repeat(WAYS.len()));
        for cell in table {
            let ways: Vec<String> = cell.seen.iter().map(seen_as_text).collect();
            let ratio = cell.width(3) / cell.width(1);
            println!("| {} % | {} | {} | {ratio:.2} |", cell.rate * 100.0, cell.labels, ways.join(" | "));
        }
        println!();
    }
    cells
}

fn seen_as_text(seen: &Seen) -> String {
    let held = seen.mean(f64::from(seen.held));
    let percent = |sum: f64| 100.0 * seen.mean(sum);
    format!("{:.1} %, {held:.3}, {:.1}", percent(seen.estimate), percent(seen.width))
}

impl Cell {
    fn width(&self, way: usize) -> f64 {
        self.seen[way].mean(self.seen[way].width)
    }
}

fn simulate(evaluator: (f64, f64), rate: f64, labels: u32, runs: usize, seed: u64) -> Cell {
    let mut random = Seeded::new(seed ^ (u64::from(labels) << 32) ^ (rate * 1e6 + evaluator.0 * 1e3) as u64);
    let mut seen = [Seen::default(); WAYS.len()];
    let pi_label = label_probabilities(evaluator, rate, labels);
    for _ in 0..runs {
        let sample = Sample::draw(&mut random, evaluator, rate, pi_label);
        seen[0].add(sample.called.estimate(LEVEL), rate);
        seen[1].add(sample.labelled.estimate(LEVEL), rate);
        seen[2].add(sample.rogan_gladen(), rate);
        seen[3].add(sample.ppi.rate(LEVEL), rate);
    }
    Cell { evaluator, rate, labels, seen }
}

/// With which probability a sampled item is labelled, by what the evaluator calls it, for `labels` expected labels.
fn label_probabilities((se, sp): (f64, f64), rate: f64, labels: u32) -> [f64; 2] {
    let called = rate * se + (1.0 - rate) * (1.0 - sp);
    let sampled = [(1.0 - called) * PI[0], called * PI[1]].map(|share| share * f64::from(WINDOW));
    let base = f64::from(labels) / (sampled[0] + FAVOUR * sampled[1]);
    [base.min(1.0), (FAVOUR * base).min(1.0)]
}

/// A sampled window in the forms that the ways need.
#[derive(Default)]
struct Sample {
    called: Rate,
    labelled: Rate,
    /// What the evaluator calls those that are labelled as good, and as failures.
    by_label: [Rate; 2],
    ppi: Ppi,
}

impl Sample {
    fn draw(random: &mut Seeded, (se, sp): (f64, f64), rate: f64, pi_label: [f64; 2]) -> Self {
        let mut sample = Self::default();
        for _ in 0..WINDOW {
            let truth = random.unit() < rate;
            let called = random.unit() < if truth { se } else { 1.0 - sp };
            let pi = PI[usize::from(called)];
            if random.unit() >= pi {
                continue;
            }
            let label = (random.unit() < pi_label[usize::from(called)])
                .then_some((f64::from(u8::from(truth)), pi_label[usize::from(called)]));
            let mut drawn = sample.called.push(called, pi);
            if let Some((_, pi_label)) = label {
                drawn &= sample.labelled.push(truth, pi * pi_label);
                drawn &= sample.by_label[usize::from(truth)].push(called, pi * pi_label);
            }
            let item = Item { score: f64::from(u8::from(called)), pi, label };
            drawn &= sample.ppi.push(item);
            debug_assert!(drawn, "the probabilities are above 0");
        }
        sample
    }

    /// On the same labels, with counts of the size that the weighted shares are worth.
    fn rogan_gladen(&self) -> Option<Estimate> {
        let share = |rate: &Rate, hits: fn(f64) -> f64| {
            let found = rate.estimate(LEVEL)?;
            Some(Share { hits: hits(found.estimate) * rate.worth(), of: rate.worth() })
        };
        let [good, bad] = &self.by_label;
        let called = share(&self.called, |rate| rate)?;
        corrected(called, share(bad, |rate| rate)?, share(good, |rate| 1.0 - rate)?, LEVEL)
    }
}

/// The widths over the number of labels, one picture an evaluator, at the rate of 10 %.
pub fn pictures(cells: &[Cell]) -> Vec<(String, String)> {
    let tables = cells.chunk_by(|a, b| a.evaluator == b.evaluator);
    let of = |table: &[Cell]| {
        let (se, sp) = table.first()?.evaluator;
        let curve = |way: usize| svg::Curve {
            name: WAYS[way],
            points: table
                .iter()
                .filter(|cell| cell.rate == 0.1)
                .map(|cell| (f64::from(cell.labels), 100.0 * cell.width(way)))
                .collect(),
        };
        let title =
            format!("Width of the 95 % interval of a rate of 10 %, sensitivity {se}, specificity {sp}");
        let picture = svg::draw(&title, "labels", "percentage points", &[curve(1), curve(2), curve(3)]);
        Some((format!("ppi-{}-{}.svg", se * 100.0, sp * 100.0), picture))
    };
    tables.filter_map(of).collect()
}
