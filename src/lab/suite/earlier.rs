//! Runs of an earlier report: what was answered well is kept, and only the rest is asked again.

use super::load::Suite;
use super::outcome::{Outcome, Status};
use serde::Deserialize;
use std::collections::HashMap;
use std::path::Path;

/// Which runs are asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// Those with an error of target, judge or evaluator.
    Errors,
    /// Those that failed, too.
    Failed,
}

/// One run of a suite: the place of its test, and the repetition, from 1.
pub type Run = (usize, u32);

/// The runs of an earlier report.
#[derive(Debug, Clone, Deserialize)]
pub struct Earlier {
    runs: Vec<Outcome>,
}

impl Earlier {
    /// Reads a report that `groundline test --json` wrote.
    ///
    /// # Errors
    /// When the file cannot be read or is no such report.
    pub fn read(path: &Path) -> Result<Self, String> {
        super::baseline::report(path)
    }

    /// The runs to ask now, and those that stay: a test is the one of before as long as what it asks and expects, and its
    /// checks, are the same.
    pub fn split(self, suite: &Suite, again: Again) -> (Vec<Run>, Vec<Outcome>) {
        let is_asked = |run: &Outcome| match again {
            Again::Errors => run.has_error(),
            Again::Failed => run.has_error() || run.status != Status::Pass,
        };
        let mut known: HashMap<(String, u32), Outcome> = self
            .runs
            .into_iter()
            .filter(|run| !is_asked(run))
            .map(|run| ((run.test.clone(), run.repetition), run))
            .collect();
        let (mut asked, mut kept) = (Vec::new(), Vec::new());
        for (at, repetition) in suite.runs() {
            let case = &suite.cases[at];
            let found = known.remove(&(case.item.spec.id.clone(), repetition));
            match found.filter(|run| run.hash == case.item.hash && run.checks_hash == case.checks_hash) {
                Some(run) => kept.push(run),
                None => asked.push((at, repetition)),
            }
        }
        (asked, kept)
    }
}

impl Suite {
    /// All its runs, in the order of the tests.
    pub fn runs(&self) -> Vec<Run> {
        let of = |at| (1..=self.head.repetitions).map(move |repetition| (at, repetition));
        (0..self.cases.len()).flat_map(of).collect()
    }

    /// Runs of now and of before in the order of the tests.
    pub fn merged(&self, mut now: Vec<Outcome>, kept: Vec<Outcome>) -> Vec<Outcome> {
        let ids = self.cases.iter().enumerate().map(|(at, case)| (case.item.spec.id.as_str(), at));
        let places: HashMap<&str, usize> = ids.collect();
        now.extend(kept);
        now.sort_by_key(|run| (places.get(run.test.as_str()).copied(), run.repetition));
        now
    }
}
