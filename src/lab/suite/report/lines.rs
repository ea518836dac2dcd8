//! What the readable forms share.

use super::super::gate::Verdict;
use super::super::outcome::{CheckOutcome, Outcome, Status};
use super::document::Report;
use crate::lab::template::brief;
use crate::stats::Estimate;

/// More failed checks are counted and not told.
pub(super) const MAX_TOLD: usize = 20;

/// An estimate with its interval.
pub(super) fn interval(estimate: Option<&Estimate>) -> String {
    match estimate {
        None => "-".to_owned(),
        Some(Estimate { estimate, lower: Some(lower), upper: Some(upper), .. }) => {
            format!("{} [{}, {}]", number(*estimate), number(*lower), number(*upper))
        }
        Some(found) => number(found.estimate),
    }
}

/// Three digits behind the point for a share, fewer for large numbers.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 1_000.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size > 0.0 && size < 0.001 => format!("{value:.2e}"),
        _ => format!("{value:.3}"),
    }
}

/// A word about the whole run.
pub(super) fn verdict(report: &Report) -> &'static str {
    let is_open = report.gates.iter().any(|gate| gate.verdict == Verdict::Undecided);
    match report.exit_code {
        0 if is_open => "no gate is broken, and not all are decided",
        0 => "all gates hold",
        1 => "a gate is broken",
        3 => "too many errors: the numbers mean nothing",
        4 => "a gate is undecided",
        _ => "the suite is wrong",
    }
}

/// One check that is no pass.
pub(super) struct Miss<'a> {
    pub run: &'a Outcome,
    pub check: Option<&'a CheckOutcome>,
    pub why: String,
}

impl Miss<'_> {
    pub fn status(&self) -> Status {
        self.check.map_or(self.run.status, |check| check.status)
    }

    /// The test, and which repetition where there are several.
    pub fn test(&self, repetitions: u32) -> String {
        match repetitions {
            0 | 1 => self.run.test.clone(),
            _ => format!("{} #{}", self.run.test, self.run.repetition),
        }
    }

    pub fn name(&self) -> String {
        self.check.map_or_else(|| "target".to_owned(), CheckOutcome::name)
    }
}

/// Failed and undecidable checks that count, fails first.
pub(super) fn misses(report: &Report) -> Vec<Miss<'_>> {
    let mut misses = Vec::new();
    for run in &report.runs {
        if let Some(why) = &run.error {
            misses.push(Miss { run, check: None, why: why.clone() });
            continue;
        }
        let bad = run.checks.iter().filter(|check| matches!(check.status, Status::Fail | Status::Error));
        for check in bad.filter(|check| check.counts) {
            misses.push(Miss { run, check: Some(check), why: brief(&check.feedback) });
        }
        for scored in run.scores.iter().filter(|scored| scored.status == "error") {
            let why = format!("{}: {}", scored.metric, scored.why.as_deref().unwrap_or_default());
            misses.push(Miss { run, check: None, why: brief(&why) });
        }
    }
    misses.sort_by_key(|miss| miss.status());
    misses
}

/// The most often that a test was asked.
pub(super) fn repetitions(report: &Report) -> u32 {
    report.runs.iter().map(|run| run.repetition).max().unwrap_or(1)
}
