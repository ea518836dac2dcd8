//! Runs that are stored, back into what became of them.

use super::ask::Answered;
use super::baseline::Baseline;
use super::keep::TEST;
use super::load::{Case, Suite};
use super::outcome::{CheckOutcome, Outcome, Scored};
use super::reply::Reply;
use super::spans::Spans;
use super::verdict::{values, verdict};
use crate::lab::target::Answer;
use crate::lab::template::plain;
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A run as it is stored.
#[derive(Debug, Clone, Default)]
pub struct StoredOutcome {
    /// The test.
    pub test: String,
    /// From 1.
    pub repetition: u32,
    /// The run.
    pub run_id: String,
    /// The trace of the target's spans.
    pub trace_id: String,
    /// What was answered.
    pub output: Json,
    /// Why there is no answer.
    pub error: Option<String>,
    /// What else the target told.
    pub output_context: Map<String, Json>,
    /// Tokens read.
    pub in_tokens: Option<i64>,
    /// Tokens written.
    pub out_tokens: Option<i64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Milliseconds.
    pub duration_ms: Option<f64>,
    /// What its checks said, as edited.
    pub checks: Vec<CheckOutcome>,
    /// What evaluators said.
    pub scores: Vec<Scored>,
}

/// The tests of a suite by their ids and by what they ask.
pub struct TestNames<'a> {
    ids: HashSet<&'a str>,
    /// The first test that asks it.
    questions: HashMap<&'a str, &'a str>,
}

impl<'a> TestNames<'a> {
    /// The test of that id; without one that which asks `question`, but for space around it.
    pub fn find(&self, id: Option<&str>, question: Option<&str>) -> Option<&'a str> {
        match id {
            Some(id) => self.ids.get(id).copied(),
            None => self.questions.get(question?.trim()).copied(),
        }
    }
}

impl Suite {
    /// What became of stored runs, in the order of the tests. One of a test that the suite does not have is left out.
    pub fn restored(&self, runs: Vec<StoredOutcome>) -> Vec<Outcome> {
        let places: HashMap<&str, usize> =
            (0..).zip(&self.cases).map(|(at, case)| (case.item.spec.id.as_str(), at)).collect();
        let mut outcomes: Vec<(usize, Outcome)> = runs
            .into_iter()
            .filter_map(|run| {
                let at = *places.get(run.test.as_str())?;
                Some((at, restored(&self.cases[at], self.head.threshold, run)))
            })
            .collect();
        outcomes.sort_by_key(|(at, outcome)| (*at, outcome.repetition));
        outcomes.into_iter().map(|(_, outcome)| outcome).collect()
    }

    /// The answer of a test that was asked elsewhere, ready to be judged; none where the suite has no such test.
    pub fn answered(
        &self,
        test: &str,
        repetition: u32,
        (run_id, trace_id): (String, String),
        said: Answer,
    ) -> Option<Answered> {
        let case = self.cases.iter().position(|case| case.item.spec.id == test)?;
        let reply = match &said.error {
            Some(why) => Err(why.clone()),
            None => Reply::of(said),
        };
        Some(Answered { case, repetition, run_id, trace_id, reply })
    }

    /// Its tests by what answers may call them.
    pub fn names(&self) -> TestNames<'_> {
        let ids = self.cases.iter().map(|case| case.item.spec.id.as_str());
        let mut names = TestNames { ids: ids.collect(), questions: HashMap::new() };
        for case in &self.cases {
            if let Some(question) = case.item.question.as_deref() {
                names.questions.entry(question.trim()).or_insert(&case.item.spec.id);
            }
        }
        names
    }

    /// What files of results have beside a report: the suite's id, and of each test its files, its context, and the examples
    /// and conditions of its checks.
    pub fn complete(&self, report: &mut Json) {
        if !self.head.id.is_empty() {
            report["suite_id"] = json!(self.head.id);
        }
        let cases: HashMap<&str, &Case> =
            self.cases.iter().map(|case| (case.item.spec.id.as_str(), case)).collect();
        for run in report["runs"].as_array_mut().into_iter().flatten() {
            if let Some(case) = run["test"].as_str().and_then(|test| cases.get(test)) {
                complete_run(run, case, &self.common);
            }
        }
    }
}

fn complete_run(run: &mut Json, case: &Case, common: &[super::spec::CheckSpec]) {
    let spec = &case.item.spec;
    if !spec.files.is_empty() {
        run["files"] = json!(spec.files);
    }
    if !spec.context.is_empty() {
        run["input_context"] = json!(spec.context);
    }
    let specs = common.iter().chain(&spec.check);
    for (check, spec) in run["checks"].as_array_mut().into_iter().flatten().zip(specs) {
        if !spec.examples.is_empty() {
            check["examples"] = json!(spec.examples);
        }
        if let Some(condition) = spec.condition.as_ref().filter(|condition| !condition.operator.is_empty()) {
            check["condition"] = json!({
                "operator": condition.operator,
                "criteria": condition.criteria.as_ref().map(plain).unwrap_or_default(),
            });
        }
    }
}

impl Baseline {
    /// The values of runs that are there.
    pub fn of_outcomes(outcomes: &[Outcome]) -> Self {
        let mut all = Self::default();
        for outcome in outcomes {
            all.add(&outcome.test, &outcome.hash, outcome.values.clone());
        }
        all
    }
}

fn restored(case: &Case, of_suite: Option<f64>, run: StoredOutcome) -> Outcome {
    let spec = &case.item.spec;
    let (status, score) = verdict(&run.checks, spec.threshold.or(of_suite), run.error.is_some());
    let mut output_context = run.output_context;
    output_context.shift_remove(TEST);
    let reply = Reply {
        output: plain(&run.output),
        contexts: None,
        output_context,
        in_tokens: run.in_tokens,
        out_tokens: run.out_tokens,
        cost_usd: run.cost_usd,
        duration_ms: run.duration_ms,
        finish_reason: None,
        spans: Spans::default(),
    };
    let mut outcome = Outcome {
        test: run.test,
        place: case.item.place.to_string(),
        hash: case.item.hash.clone(),
        checks_hash: case.checks_hash.clone(),
        group: spec.group.clone(),
        tags: spec.tags.clone(),
        weight: spec.weight.unwrap_or(1.0),
        repetition: run.repetition,
        run_id: run.run_id,
        trace_id: run.trace_id,
        input: spec.input.clone(),
        reply: run.error.is_none().then_some(reply),
        error: run.error,
        status,
        score,
        checks: run.checks,
        scores: run.scores,
        values: BTreeMap::new(),
    };
    outcome.values = values(&outcome);
    outcome
}
