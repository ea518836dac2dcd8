//! False alarms and delays of alarms that are looked at after every score, beside what else is in use.

use crate::{svg, work};
use groundline::stats::Rate;
use groundline::stats::betting::{Betting, Stakes};
use groundline::stats::seeded::Seeded;
use std::collections::VecDeque;

/// The share that fails before the change.
const BEFORE: f64 = 0.05;
/// Scores from which the baseline is learned.
const BASELINE: usize = 1_000;
/// Scores of the rolling windows.
const WINDOW: usize = 200;
/// Scores of one unit of time, the unit of α.
const UNIT: f64 = 100.0;
/// Scores before the change.
const QUIET: usize = 2_000;
/// The false-alarm rate at which methods are compared: one in so many scores.
const APART: usize = 10_000;
/// A change that is not seen after so many scores counts with this delay.
const MOST: usize = 5_000;
/// The shares after the change.
const AFTER: [f64; 4] = [0.075, 0.1, 0.15, 0.2];

/// One score: whether it fails, and its value between 0 and 1, for methods that look at values.
#[derive(Clone, Copy)]
struct Score {
    failed: bool,
    value: f64,
}

fn score(random: &mut Seeded, rate: f64) -> Score {
    let failed = random.unit() < rate;
    // Failures lie below one half, the rest above.
    let value = random.unit() / 2.0 + if failed { 0.0 } else { 0.5 };
    Score { failed, value }
}

/// A statistic that rises with evidence of a change.
trait Method {
    fn push(&mut self, score: Score) -> f64;
}

/// What a method knows of the time before.
struct Baseline {
    rate: f64,
    upper: f64,
    values: Vec<f64>,
}

impl Baseline {
    fn learn(random: &mut Seeded) -> Self {
        let (mut seen, mut values) = (Rate::new(), Vec::new());
        for _ in 0..BASELINE {
            let one = score(random, BEFORE);
            let _ = seen.push(one.failed, 1.0);
            values.push(one.value);
        }
        values.sort_by(f64::total_cmp);
        let found = seen.estimate(0.9);
        let (rate, upper) =
            found.map_or((BEFORE, 2.0 * BEFORE), |e| (e.estimate, e.upper.unwrap_or(2.0 * BEFORE)));
        Self { rate: rate.max(0.001), upper, values }
    }
}

type Make = fn(&Baseline) -> Box<dyn Method>;

/// The methods, ours first.
const METHODS: [(&str, Make); 6] = [
    ("change (e-detector)", |b| Box::new(Bets(Betting::new(b.upper, 1_000.0, Stakes::Steady)))),
    ("CUSUM", |b| Box::new(Cusum { rate: b.rate, sum: 0.0 })),
    ("Page-Hinkley", |b| Box::new(PageHinkley { mean: b.rate, sum: 0.0, least: 0.0 })),
    ("rolling z-test", |b| {
        Box::new(Rolling { base: b.rate, window: VecDeque::new(), failed: 0, psi: false })
    }),
    ("rolling PSI", |b| Box::new(Rolling { base: b.rate, window: VecDeque::new(), failed: 0, psi: true })),
    ("rolling KS", |b| {
        Box::new(Kolmogorov { base: b.values.clone(), window: VecDeque::new(), seen: 0, last: 0.0 })
    }),
];

struct Bets(Option<Betting>);

impl Method for Bets {
    fn push(&mut self, score: Score) -> f64 {
        self.0.as_mut().map_or(0.0, |bets| {
            let _ = bets.push(score.failed, 1.0, 1.0 / UNIT);
            bets.evidence()
        })
    }
}

/// Page 1954, with the likelihood ratio against twice the baseline's rate.
struct Cusum {
    rate: f64,
    sum: f64,
}

impl Method for Cusum {
    fn push(&mut self, score: Score) -> f64 {
        let ratio =
            if score.failed { 2.0_f64.ln() } else { ((1.0 - 2.0 * self.rate) / (1.0 - self.rate)).ln() };
        self.sum = (self.sum + ratio).max(0.0);
        self.sum
    }
}

/// The drift detector of that name in stream libraries, with a tolerance of 0.005.
struct PageHinkley {
    mean: f64,
    sum: f64,
    least: f64,
}

impl Method for PageHinkley {
    fn push(&mut self, score: Score) -> f64 {
        self.sum += f64::from(u8::from(score.failed)) - self.mean - 0.005;
        self.least = self.least.min(self.sum);
        self.sum - self.least
    }
}

/// The last scores against the baseline: the z statistic of two shares, or the population stability index.
struct Rolling {
    base: f64,
    window: VecDeque<bool>,
    failed: usize,
    psi: bool,
}

impl Method for Rolling {
    fn push(&mut self, score: Score) -> f64 {
        self.window.push_back(score.failed);
        self.failed += usize::from(score.failed);
        if self.window.len() > WINDOW {
            self.failed -= usize::from(self.window.pop_front().unwrap_or(false));
        }
        if self.window.len() < WINDOW {
            return 0.0;
        }
        let (p, n) = (self.failed as f64 / WINDOW as f64, WINDOW as f64);
        if self.psi {
            let p = p.clamp(0.5 / n, 1.0 - 0.5 / n);
            let index = (p - self.base) * ((p / self.base).ln() - ((1.0 - p) / (1.0 - self.base)).ln());
            return if p > self.base { index } else { 0.0 };
        }
        let both = (p * n + self.base * BASELINE as f64) / (n + BASELINE as f64);
        (p - self.base) / (both * (1.0 - both) * (1.0 / n + 1.0 / BASELINE as f64)).sqrt().max(1e-9)
    }
}

/// Kolmogorov and Smirnov's distance of the last values from the baseline's, looked at every ten scores.
struct Kolmogorov {
    base: Vec<f64>,
    window: VecDeque<f64>,
    seen: usize,
    last: f64,
}

impl Method for Kolmogorov {
    fn push(&mut self, score: Score) -> f64 {
        self.window.push_back(score.value);
        if self.window.len() > WINDOW {
            self.window.pop_front();
        }
        self.seen += 1;
        if self.window.len() == WINDOW && self.seen.is_multiple_of(10) {
            let mut now: Vec<f64> = self.window.iter().copied().collect();
            now.sort_by(f64::total_cmp);
            let share =
                |value: f64| self.base.partition_point(|b| *b <= value) as f64 / self.base.len() as f64;
            let gap = |(at, value): (usize, &f64)| (at + 1) as f64 / WINDOW as f64 - share(*value);
            self.last = now.iter().enumerate().map(gap).fold(0.0, f64::max);
        }
        self.last
    }
}

/// Prints the tables; the pictures with their names.
pub fn print(runs: usize, seed: u64) -> Vec<(&'static str, String)> {
    promises(runs, seed);
    delays(runs, seed)
}

/// How scores come: all of them, by unequal probabilities, or failures later than the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Coming {
    All,
    Weighted,
    Delayed,
}

/// Run lengths on streams without a change, against what α promises.
fn promises(runs: usize, seed: u64) {
    let runs = (runs / 25).max(40);
    println!("### Time between false alarms\n");
    println!(
        "Streams without a change, {} % fail; in units of {UNIT} scores, or the share of streams with an alarm.\n",
        BEFORE * 100.0
    );
    println!("| method | scores | α | promised | measured |\n|---|---|---|---|---|");
    let comings = [Coming::All, Coming::Weighted, Coming::Delayed];
    let alphas = [0.1, 0.02];
    let cells: Vec<(Stakes, Coming, f64)> = [Stakes::Steady, Stakes::Once]
        .into_iter()
        .flat_map(|stakes| {
            comings.into_iter().flat_map(move |coming| alphas.map(|alpha| (stakes, coming, alpha)))
        })
        .collect();
    let found = work::all("false alarms", &cells, |(stakes, coming, alpha)| {
        let lengths = (0..runs).map(|run| {
            let mut random = Seeded::new(seed + 1_000 * run as u64);
            let most = (20.0 / alpha) as usize;
            run_length(&mut random, *stakes, *coming, *alpha, most)
        });
        let lengths: Vec<Option<f64>> = lengths.collect();
        let most = 20.0 / alpha;
        let mean = lengths.iter().map(|l| l.unwrap_or(most)).sum::<f64>() / runs as f64;
        let ended = lengths.iter().flatten().count();
        (mean, ended)
    });
    for ((stakes, coming, alpha), (mean, ended)) in cells.iter().zip(found) {
        let scores = match coming {
            Coming::All => "all, π = 1",
            Coming::Weighted => "π 0.9 or 0.1",
            Coming::Delayed => "failures come later",
        };
        match stakes {
            Stakes::Steady => {
                let at_least = if ended < runs { "≥ " } else { "" };
                println!("| `change` | {scores} | {alpha} | ≥ {:.0} | {at_least}{mean:.0} |", 1.0 / alpha);
            }
            Stakes::Once => {
                println!(
                    "| `objective` | {scores} | {alpha} | ≤ {alpha} | {:.3} |",
                    ended as f64 / runs as f64
                );
            }
        }
    }
    println!("\n{runs} streams a row, each followed for 20/α units.\n");
}

/// Units of time until a false alarm; none within `most`.
fn run_length(random: &mut Seeded, stakes: Stakes, coming: Coming, alpha: f64, most: usize) -> Option<f64> {
    let mut bets = Betting::new(BEFORE, 1_000.0, stakes)?;
    // An alert knows how much a score can weigh before it bets.
    bets.know(if coming == Coming::Weighted { 10.0 } else { 1.0 });
    let mut waiting: Vec<(f64, bool)> = Vec::new();
    let mut last = 0.0;
    for n in 0..most * UNIT as usize {
        let now = n as f64;
        // Two halves of the traffic; the bad one fails nine times as often and is preferred where scores are weighted.
        let bad = random.unit() < 0.5;
        let failed = random.unit() < BEFORE * if bad { 1.8 } else { 0.2 };
        let pi = if coming == Coming::Weighted { if bad { 0.9 } else { 0.1 } } else { 1.0 };
        if random.unit() >= pi {
            continue;
        }
        let mut ready = vec![failed];
        if coming == Coming::Delayed {
            let mean = if failed { 200.0 } else { 20.0 };
            waiting.push((now - mean * (1.0 - random.unit()).ln(), failed));
            ready = waiting.iter().filter(|(at, _)| *at <= now).map(|(_, failed)| *failed).collect();
            waiting.retain(|(at, _)| *at > now);
        }
        for failed in ready {
            let _ = bets.push(failed, pi, (now - last) / UNIT);
            last = now;
            if bets.evidence() >= 1.0 / alpha {
                return Some(now / UNIT);
            }
        }
    }
    None
}

/// Delays at the same measured false-alarm rate.
fn delays(runs: usize, seed: u64) -> Vec<(&'static str, String)> {
    let runs = (runs / 10).max(100);
    let methods: Vec<usize> = (0..METHODS.len()).collect();
    let thresholds = work::all("thresholds", &methods, |at| threshold(*at, runs, seed));
    let cells: Vec<(usize, f64)> = methods.iter().flat_map(|at| AFTER.map(|after| (*at, after))).collect();
    let found = work::all("delays", &cells, |(at, after)| delay(*at, *after, thresholds[*at], runs, seed));
    println!("### Delay\n");
    println!(
        "Scores from the change to the alarm, mean, from {} % to more; each method's threshold is set so that streams without a change",
        BEFORE * 100.0
    );
    println!(
        "raise one false alarm in {APART} scores, measured on {runs} streams with baselines of {BASELINE} scores.\n"
    );
    println!("| method | threshold | {} |", AFTER.map(|a| format!("to {} %", a * 100.0)).join(" | "));
    println!("|---|---|{}", "---|".repeat(AFTER.len()));
    let mut curves = Vec::new();
    for (at, (name, _)) in METHODS.iter().enumerate() {
        let row: Vec<f64> = cells
            .iter()
            .zip(&found)
            .filter(|((method, _), _)| *method == at)
            .map(|(_, delay)| *delay)
            .collect();
        let shown: Vec<String> = row.iter().map(|delay| format!("{delay:.0}")).collect();
        println!("| {name} | {:.3} | {} |", thresholds[at], shown.join(" | "));
        if at < 4 {
            curves.push(svg::Curve { name, points: AFTER.iter().map(|a| a * 100.0).zip(row).collect() });
        }
    }
    let promised = AFTER.map(|after| delay(0, after, 1.0 / 0.01, runs, seed));
    let shown = promised.map(|delay| format!("{delay:.0}"));
    println!("| change, α = 0.01 as promised | 100 | {} |\n", shown.join(" | "));
    let title = "Scores until the alarm, at one false alarm in 10,000";
    vec![(
        "drift-delay.svg",
        svg::draw(title, "share that fails after the change, % (5 % before)", "scores", &curves),
    )]
}

/// The statistic that a stream without a change reaches once in [`APART`] scores: where run lengths are geometric, a
/// stream of half of that is free of alarms with probability e^-½.
fn threshold(at: usize, runs: usize, seed: u64) -> f64 {
    let mut greatest: Vec<f64> = (0..runs)
        .map(|run| {
            let mut random = Seeded::new(seed + 7_000_000 + run as u64);
            let mut method = METHODS[at].1(&Baseline::learn(&mut random));
            (0..APART / 2).map(|_| method.push(score(&mut random, BEFORE))).fold(0.0, f64::max)
        })
        .collect();
    greatest.sort_by(f64::total_cmp);
    let place = ((runs as f64) * (-0.5_f64).exp()) as usize;
    greatest[place.min(runs - 1)]
}

/// The mean delay after [`QUIET`] scores; streams with a false alarm before are left out.
fn delay(at: usize, after: f64, threshold: f64, runs: usize, seed: u64) -> f64 {
    let delays = (0..runs).filter_map(|run| {
        let mut random = Seeded::new(seed + 9_000_000 + run as u64);
        let mut method = METHODS[at].1(&Baseline::learn(&mut random));
        let is_early = (0..QUIET).any(|_| method.push(score(&mut random, BEFORE)) > threshold);
        let seen = (1..=MOST).find(|_| method.push(score(&mut random, after)) > threshold);
        (!is_early).then_some(seen.unwrap_or(MOST) as f64)
    });
    let delays: Vec<f64> = delays.collect();
    delays.iter().sum::<f64>() / delays.len().max(1) as f64
}
