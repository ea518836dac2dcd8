//! What must hold, tested on the bound of an interval; and the exit code.

use super::baseline::Baseline;
use super::bench::Bench;
use super::fault::Faults;
use super::load::Suite;
use super::outcome::Outcome;
use super::range::range_of;
use super::spec::{GateSpec, On};
use super::summary::{estimate, is_rate, known_metrics};
use crate::domain::score::Better;
use crate::stats::{Estimate, proportion};
use serde::Serialize;

/// A sample beyond this size is not proposed.
const MAX_NEEDED: f64 = 1e7;

/// What became of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval lies on the right side of the line.
    Held,
    /// It lies on the wrong side.
    Broken,
    /// The line goes through the interval.
    Undecided,
}

impl Verdict {
    /// The word of reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Broken => "broken",
            Self::Undecided => "undecided",
        }
    }
}

/// A gate, and what became of it.
#[derive(Debug, Clone, Serialize)]
pub struct Decided {
    /// As a person reads it: `tests_passed min 0.9`.
    pub name: String,
    /// What became of it.
    pub verdict: Verdict,
    /// What was measured: the metric, or its difference to the baseline.
    #[serde(flatten)]
    pub estimate: Option<Estimate>,
    /// The line that the interval is held against.
    pub line: f64,
    /// What to know about the verdict.
    pub why: String,
    /// About so many tests would decide it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<u64>,
}

/// How `groundline test` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// All gates hold.
    Held,
    /// A gate is broken.
    Broken,
    /// The suite or the configuration is wrong, and nothing ran.
    Wrong,
    /// More errors than the suite bears: the numbers mean nothing.
    Errors,
    /// A gate is undecided, and that is asked to be an end of its own.
    Undecided,
}

impl Code {
    /// The exit code, 0 to 4.
    pub fn number(self) -> u8 {
        match self {
            Self::Held => 0,
            Self::Broken => 1,
            Self::Wrong => 2,
            Self::Errors => 3,
            Self::Undecided => 4,
        }
    }
}

/// Metrics of gates that `bench` does not measure, and evaluators' names that stand for several metrics.
///
/// # Errors
/// A fault for each of them, with the metrics that there are.
pub fn unknown_metrics(suite: &Suite, bench: &Bench<'_>) -> Result<(), Faults> {
    let known = known_metrics(bench);
    let mut faults = Faults::default();
    for (at, gate) in suite.gates.iter().enumerate() {
        if !known.iter().any(|(name, _)| *name == gate.metric) {
            let there: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
            faults.add(format!(
                "gate {} names {:?}, which is not measured; there are {}, and suite.evaluators adds more",
                at + 1,
                gate.metric,
                there.join(", ")
            ));
        }
        let is_tagged = |tag: &String| suite.cases.iter().any(|case| case.item.spec.tags.contains(tag));
        if !gate.tag.is_empty() && !is_tagged(&gate.tag) {
            faults.add(format!("gate {} names the tag {:?}, which no test has", at + 1, gate.tag));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Tests every gate of `suite`. A gate that compares needs a `baseline`; without a value, or without a pair, it is broken.
pub fn decide(
    suite: &Suite,
    outcomes: &[Outcome],
    bench: &Bench<'_>,
    baseline: Option<&Baseline>,
) -> Vec<Decided> {
    let known = known_metrics(bench);
    let level = suite.head.level;
    let decided = suite.gates.iter().map(|gate| {
        let is_of = |outcome: &&Outcome| gate.tag.is_empty() || outcome.tags.contains(&gate.tag);
        let runs = outcomes.iter().filter(is_of);
        let better = known.iter().find(|(name, _)| *name == gate.metric).map_or(Better::Higher, |(_, b)| *b);
        match gate.max_drop {
            None => {
                let found = estimate(&gate.metric, runs.clone(), level);
                let values = runs.filter_map(|outcome| outcome.values.get(&gate.metric).copied());
                of_estimate(gate, found, Of::metric(&gate.metric, values), level)
            }
            Some(drop) => {
                let difference = baseline.map(|baseline| baseline.difference(&gate.metric, runs, level));
                let unpaired = difference.map_or(0, |difference| difference.unpaired);
                let found = difference.and_then(|difference| difference.estimate);
                of_drop(gate, found.map(|found| towards_good(found, better)), drop, unpaired)
            }
        }
    });
    decided.collect()
}

/// A difference in the direction in which more is better.
fn towards_good(found: Estimate, better: Better) -> Estimate {
    match better {
        Better::Higher => found,
        Better::Lower => Estimate {
            estimate: -found.estimate,
            lower: found.upper.map(|upper| -upper),
            upper: found.lower.map(|lower| -lower),
            ..found
        },
    }
}

fn name(gate: &GateSpec) -> String {
    let lines = [("min", gate.min), ("max", gate.max), ("max_drop", gate.max_drop)];
    let lines = lines.iter().filter_map(|(word, line)| Some(format!(" {word} {}", (*line)?)));
    let tag = if gate.tag.is_empty() { String::new() } else { format!(" of {}", gate.tag) };
    format!("{}{tag}{}", gate.metric, lines.collect::<String>())
}

fn of_estimate(gate: &GateSpec, found: Option<Estimate>, of: Of, level: f64) -> Decided {
    let line = gate.min.or(gate.max).unwrap_or_default();
    let Some(found) = found else { return unmeasured(gate, line, "nothing was measured") };
    let is_min = gate.min.is_some();
    // Bounds as if more were better; what is unknown decides nothing.
    let (good, bad) = match (gate.on, is_min) {
        (On::Estimate, true) => (Some(found.estimate), Some(found.estimate)),
        (On::Estimate, false) => (Some(-found.estimate), Some(-found.estimate)),
        (On::Bound, true) => (found.lower, found.upper),
        (On::Bound, false) => (found.upper.map(|upper| -upper), found.lower.map(|lower| -lower)),
    };
    let verdict = against(good, bad, if is_min { line } else { -line });
    let needed = (verdict == Verdict::Undecided).then(|| needed(&found, line, of, level)).flatten();
    Decided {
        name: name(gate),
        verdict,
        // The verdict and the size of a sample are of the interval as it is; it is shown as far as there are values.
        estimate: Some(range_of(&gate.metric).map_or(found, |range| found.within(range))),
        line,
        why: told(gate, verdict, needed),
        needed,
    }
}

fn of_drop(gate: &GateSpec, found: Option<Estimate>, drop: f64, unpaired: usize) -> Decided {
    let line = -drop;
    let Some(found) = found else {
        return unmeasured(gate, line, "no test of the baseline is in this run with the same content");
    };
    let (good, bad) = match gate.on {
        On::Estimate => (Some(found.estimate), Some(found.estimate)),
        On::Bound => (found.lower, found.upper),
    };
    let verdict = against(good, bad, line);
    let needed = (verdict == Verdict::Undecided).then(|| needed(&found, line, Of::Numbers, 0.95)).flatten();
    let mut why = told(gate, verdict, needed);
    if unpaired > 0 {
        why += &format!(" {unpaired} tests are new or changed, and are left out.");
    }
    let shown = range_of(&gate.metric).map_or(found, |range| found.within_difference(range));
    Decided { name: name(gate), verdict, estimate: Some(shown), line, why: why.trim().to_owned(), needed }
}

fn unmeasured(gate: &GateSpec, line: f64, why: &str) -> Decided {
    let why = why.to_owned();
    Decided { name: name(gate), verdict: Verdict::Broken, estimate: None, line, why, needed: None }
}

/// `good` is the bound that must reach the line, `bad` the one that must not lie below it.
fn against(good: Option<f64>, bad: Option<f64>, line: f64) -> Verdict {
    // What is written as 0.9 is not what arithmetic makes of nine tenths.
    let line = line - 1e-12 * line.abs().max(1.0);
    match (good, bad) {
        (Some(good), _) if good >= line => Verdict::Held,
        (_, Some(bad)) if bad < line => Verdict::Broken,
        _ => Verdict::Undecided,
    }
}

fn told(gate: &GateSpec, verdict: Verdict, needed: Option<u64>) -> String {
    match (verdict, needed) {
        (Verdict::Undecided, Some(needed)) => {
            format!(
                "The line goes through the interval: about {needed} tests would decide it, if the estimate stays."
            )
        }
        (Verdict::Undecided, None) => {
            "The line goes through the interval, at the estimate itself.".to_owned()
        }
        (_, _) if gate.on == On::Estimate => "Tested on the estimate alone, without its interval.".to_owned(),
        _ => String::new(),
    }
}

/// What an estimate is the mean of: that decides how its interval shrinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// Passes and fails.
    Verdicts,
    /// Values, or differences.
    Numbers,
}

impl Of {
    fn metric(metric: &str, values: impl Iterator<Item = f64>) -> Self {
        if is_rate(metric, values) { Self::Verdicts } else { Self::Numbers }
    }
}

/// About so many tests would have an interval that leaves the line on one side, if the estimate stays.
fn needed(found: &Estimate, line: f64, of: Of, level: f64) -> Option<u64> {
    let apart = (found.estimate - line).abs();
    if apart < 1e-9 {
        return None;
    }
    // A rate of one keeps an interval below it, so its size is tried.
    let clears = |n: f64| {
        let (lower, upper) = if of == Of::Verdicts {
            proportion::interval(found.estimate * n, (1.0 - found.estimate) * n, level)
        } else {
            let half =
                found.upper.zip(found.lower).map_or(f64::INFINITY, |(upper, lower)| 0.5 * (upper - lower));
            let half = half * (found.n_eff.max(1.0) / n).sqrt();
            (found.estimate - half, found.estimate + half)
        };
        lower >= line || upper <= line
    };
    let mut n = found.n_eff.max(1.0);
    while !clears(n) {
        n *= 1.1;
        if n > MAX_NEEDED {
            return None;
        }
    }
    let needed = n.ceil() as u64;
    Some(needed)
}

/// The exit code: errors before gates, because numbers of a failed run mean nothing.
pub fn code(suite: &Suite, gates: &[Decided], error_share: f64, is_strict: bool) -> Code {
    let any = |verdict| gates.iter().any(|gate| gate.verdict == verdict);
    if error_share > suite.head.max_error_share {
        Code::Errors
    } else if any(Verdict::Broken) {
        Code::Broken
    } else if is_strict && any(Verdict::Undecided) {
        Code::Undecided
    } else {
        Code::Held
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
