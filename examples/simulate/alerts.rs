//! False alarms of alerts as they run: with learned baselines, windows, slices that share α, and scores that are weighted and late.

use crate::work;
use groundline::drift::{AlertConfig, DryAlert, Method};
use groundline::stats::seeded::Seeded;
use std::time::Duration;

/// The share that fails, which is also what is allowed.
const RATE: f64 = 0.05;
/// The share in a slice that has changed.
const CHANGED: f64 = 0.2;
/// Scores of one unit of time, an hour.
const UNIT: usize = 100;
const HOUR: i64 = 3_600 * 1_000_000_000;
/// Alerts are looked at after so many scores.
const LOOK: usize = 5;
/// Streams are followed for so many times 1/α.
const FOLLOWED: f64 = 5.0;

/// How scores come.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Coming {
    weighted: bool,
    delayed: bool,
}

const COMINGS: [Coming; 4] = [
    Coming { weighted: false, delayed: false },
    Coming { weighted: true, delayed: false },
    Coming { weighted: false, delayed: true },
    Coming { weighted: true, delayed: true },
];

impl Coming {
    fn words(self) -> &'static str {
        match (self.weighted, self.delayed) {
            (false, false) => "all, π = 1",
            (true, false) => "π 0.9 or 0.1",
            (false, true) => "failures come later",
            (true, true) => "π 0.9 or 0.1, and failures come later",
        }
    }
}

/// Scores in the order in which they are known.
struct Stream {
    random: Seeded,
    coming: Coming,
    /// When a score is known, in scores; whether it failed, and its π.
    waiting: Vec<(f64, bool, f64)>,
    now: usize,
}

impl Stream {
    fn new(seed: u64, coming: Coming) -> Self {
        Self { random: Seeded::new(seed), coming, waiting: Vec::new(), now: 0 }
    }

    /// The scores that are known with the next item, of which `rate` fail.
    fn next(&mut self, rate: f64) -> Vec<(bool, f64)> {
        self.now += 1;
        // Two halves of the traffic; the bad one fails nine times as often and is preferred where scores are weighted.
        let bad = self.random.unit() < 0.5;
        let failed = self.random.unit() < rate * if bad { 1.8 } else { 0.2 };
        let pi = if self.coming.weighted { if bad { 0.9 } else { 0.1 } } else { 1.0 };
        let now = self.now as f64;
        if self.random.unit() < pi {
            let mean = match (self.coming.delayed, failed) {
                (false, _) => 0.0,
                (true, true) => 200.0,
                (true, false) => 20.0,
            };
            self.waiting.push((now - mean * (1.0 - self.random.unit()).ln(), failed, pi));
        }
        let known = self.waiting.extract_if(.., |(at, _, _)| *at <= now);
        known.map(|(_, failed, pi)| (failed, pi)).collect()
    }

    /// The time of the present item, nanoseconds.
    fn at(&self) -> i64 {
        self.now as i64 * HOUR / UNIT as i64
    }
}

fn alert(method: Method, alpha: f64, slices: usize) -> DryAlert {
    let objective = (method != Method::Change).then_some(1.0 - RATE);
    let mut config = AlertConfig { objective, alpha, min_n: 50, ..AlertConfig::new("a", "m", method) };
    config.per = Duration::from_nanos(HOUR.unsigned_abs());
    if slices > 1 {
        config.slices = vec!["request_model".to_owned()];
    }
    DryAlert::new(config)
}

/// Prints the tables.
pub fn print(runs: usize, seed: u64) {
    run_lengths((runs / 25).max(20), seed);
    slices((runs / 25).max(20), seed);
}

fn run_lengths(runs: usize, seed: u64) {
    println!("### Alerts as they run, on streams without a change\n");
    println!(
        "{} % fail, which is what is allowed; {UNIT} scores an hour; `change` learns its baseline from the first 1,000. The mean time to the first\n\
         alarm in hours, counted from when it can fire, or the share of streams with an alarm; each followed for {FOLLOWED}/α hours, looked at every {LOOK} scores.\n",
        RATE * 100.0
    );
    println!(
        "| method | scores | α | promised | mean time | streams with an alarm |\n|---|---|---|---|---|---|"
    );
    let methods = [Method::Change, Method::Objective, Method::Threshold, Method::BurnRate];
    let cells: Vec<(Method, Coming, f64)> = methods
        .into_iter()
        .flat_map(|method| {
            COMINGS.into_iter().flat_map(move |coming| [0.1, 0.02].map(|a| (method, coming, a)))
        })
        .collect();
    let found = work::all("alerts", &cells, |(method, coming, alpha)| {
        let lengths: Vec<Option<f64>> =
            (0..runs).map(|run| run_length(*method, *coming, *alpha, seed + run as u64)).collect();
        let most = FOLLOWED / alpha;
        let mean = lengths.iter().map(|length| length.unwrap_or(most)).sum::<f64>() / runs as f64;
        (mean, lengths.iter().flatten().count())
    });
    for ((method, coming, alpha), (mean, ended)) in cells.iter().zip(found) {
        let promised = match method {
            Method::Change => format!("≥ {:.0} h", 1.0 / alpha),
            Method::Objective => format!("≤ {alpha} of the streams"),
            Method::Threshold | Method::BurnRate => "one look".to_owned(),
        };
        let at_least = if ended < runs { "≥ " } else { "" };
        println!(
            "| `{}` | {} | {alpha} | {promised} | {at_least}{mean:.0} h | {:.3} |",
            method.as_str(),
            coming.words(),
            ended as f64 / runs as f64
        );
    }
    println!("\n{runs} streams a row.\n");
}

/// Hours until the first alarm; none while the stream is followed.
fn run_length(method: Method, coming: Coming, alpha: f64, seed: u64) -> Option<f64> {
    let (mut alert, mut stream) = (alert(method, alpha, 1), Stream::new(seed, coming));
    // The baseline is learned from so many items.
    let before = if method == Method::Change { if coming.weighted { 2_000 } else { 1_000 } } else { 0 };
    let most = before + (FOLLOWED / alpha * UNIT as f64) as usize;
    for n in 0..most {
        for (failed, pi) in stream.next(RATE) {
            alert.push("", stream.at(), failed, pi);
        }
        if n % LOOK == 0 && !alert.fires().is_empty() {
            return Some((n.saturating_sub(before)) as f64 / UNIT as f64);
        }
    }
    None
}

/// What one stream with slices gave.
struct Sliced {
    /// Alarms in slices without a change, and in those with one.
    wrong: usize,
    right: usize,
    /// Scores of a slice until its alarm, of those that had one.
    delay: Vec<usize>,
}

fn slices(runs: usize, seed: u64) {
    const SLICES: usize = 10;
    println!("### Slices that share α\n");
    println!(
        "{SLICES} slices with 2,000 scores each without a change, then 2,000 in which some have {} % instead of {} %; α = 0.1 an hour of {UNIT} scores a\n\
         slice. Of all alarms, the share in slices without a change (the false discoveries; 0 where there is none), and the mean delay in scores.\n",
        CHANGED * 100.0,
        RATE * 100.0
    );
    println!(
        "| method | slices that change | streams with a false alarm | false among alarms | found | delay |\n|---|---|---|---|---|---|"
    );
    let cells: Vec<(Method, usize)> =
        [Method::Change, Method::Objective, Method::Threshold, Method::BurnRate]
            .into_iter()
            .flat_map(|method| [0, 1, 5].map(|changed| (method, changed)))
            .collect();
    let found = work::all("slices", &cells, |(method, changed)| {
        (0..runs).map(|run| sliced(*method, SLICES, *changed, seed + run as u64)).collect::<Vec<Sliced>>()
    });
    for ((method, changed), runs) in cells.iter().zip(found) {
        let share = |one: &Sliced| one.wrong as f64 / (one.wrong + one.right).max(1) as f64;
        let false_share = runs.iter().map(share).sum::<f64>() / runs.len() as f64;
        let any = runs.iter().filter(|one| one.wrong > 0).count() as f64 / runs.len() as f64;
        let right: usize = runs.iter().map(|one| one.right).sum();
        let delays: Vec<usize> = runs.iter().flat_map(|one| one.delay.clone()).collect();
        let delay = match delays.len() {
            0 => "–".to_owned(),
            n => format!("{:.0}", delays.iter().sum::<usize>() as f64 / n as f64),
        };
        println!(
            "| `{}` | {changed} of {SLICES} | {any:.3} | {false_share:.3} | {right} of {} | {delay} |",
            method.as_str(),
            changed * runs.len()
        );
    }
    println!();
}

fn sliced(method: Method, slices: usize, changed: usize, seed: u64) -> Sliced {
    const QUIET: usize = 2_000;
    const AFTER: usize = 2_000;
    let mut alert = alert(method, 0.1, slices);
    let all = Coming { weighted: false, delayed: false };
    let mut streams: Vec<Stream> =
        (0..slices).map(|slice| Stream::new(seed * 1_000 + slice as u64, all)).collect();
    let names: Vec<String> = (0..slices).map(|slice| format!("request_model=m{slice}")).collect();
    let (mut told, mut found) = (vec![false; slices], Sliced { wrong: 0, right: 0, delay: Vec::new() });
    for n in 0..QUIET + AFTER {
        for (slice, stream) in streams.iter_mut().enumerate() {
            let rate = if slice < changed && n >= QUIET { CHANGED } else { RATE };
            for (failed, pi) in stream.next(rate) {
                alert.push(&names[slice], stream.at(), failed, pi);
            }
        }
        if n % LOOK != 0 {
            continue;
        }
        for name in alert.fires() {
            let Some(slice) = names.iter().position(|known| *known == name) else { continue };
            if std::mem::replace(&mut told[slice], true) {
                continue;
            }
            if slice < changed && n >= QUIET {
                found.right += 1;
                found.delay.push(n - QUIET);
            } else {
                found.wrong += 1;
            }
        }
    }
    found
}
