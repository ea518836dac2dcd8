//! What became of a run.

use super::reply::Reply;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// How a check, or a test, ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// It was not asked: its condition is not met, or an input is missing. Never a pass.
    Skipped,
    /// Nothing could tell. Never a pass.
    Error,
}

impl Status {
    /// The word of reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Skipped => "skipped",
            Self::Error => "error",
        }
    }
}

/// How sure a verdict is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Votes agree, or the probability is far from the middle.
    High,
    /// A person should look.
    Low,
}

/// One check of one run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CheckOutcome {
    /// The check's id, if it has one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The operator.
    pub operator: String,
    /// Its criteria, with placeholders filled in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub criteria: Option<String>,
    /// Its category.
    pub category: String,
    /// Its weight.
    pub weight: f64,
    /// Whether it counts for the test.
    pub counts: bool,
    /// How it ended.
    pub status: Status,
    /// The value behind the verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Who told: exact, an evaluator, or judge.
    pub engine: String,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub feedback: String,
    /// What was extracted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extracted: Option<String>,
    /// Whether its condition was met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition_met: Option<bool>,
    /// How sure the verdict is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// The checks of a set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<CheckOutcome>,
}

impl CheckOutcome {
    /// What a person calls it.
    pub fn name(&self) -> String {
        match &self.criteria {
            Some(criteria) => format!("{} {}", self.operator, crate::lab::template::brief(criteria)),
            None => self.operator.clone(),
        }
    }

    /// Whether a person should look: an unsure verdict.
    pub(super) fn needs_review(&self) -> bool {
        self.confidence == Some(Confidence::Low) || (self.status == Status::Error && self.engine == "judge")
    }
}

/// One metric of an evaluator for one run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Scored {
    /// The metric as gates name it: the evaluator, or evaluator/metric where they differ.
    pub metric: String,
    /// The evaluator's version.
    pub version: String,
    /// The value in the metric's own scale.
    pub value: Option<f64>,
    /// A class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The evaluator's verdict.
    pub passed: Option<bool>,
    /// ok, error or skipped.
    pub status: Cow<'static, str>,
    /// Why, or what was missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// One run: a test asked once and judged.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome {
    /// The test.
    pub test: String,
    /// The file, and the line where it tells one.
    pub place: String,
    /// Changes when what is asked or expected does.
    pub hash: String,
    /// Changes when its checks do.
    #[serde(default)]
    pub checks_hash: String,
    /// The group of tests that it belongs to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The test's tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The test's weight.
    pub weight: f64,
    /// From 1.
    pub repetition: u32,
    /// The run's id, as the target was told.
    pub run_id: String,
    /// The trace that spans of this run belong to.
    pub trace_id: String,
    /// What was asked.
    pub input: Json,
    /// What was answered.
    #[serde(flatten)]
    pub reply: Option<Reply>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How the test ended.
    pub status: Status,
    /// Share of the weight of its counted checks that passed.
    pub score: Option<f64>,
    /// Its checks.
    pub checks: Vec<CheckOutcome>,
    /// What evaluators say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<Scored>,
    /// Its value of every metric that gates may name.
    pub values: BTreeMap<String, f64>,
}

impl Outcome {
    /// Whether the target, a judge or an evaluator failed.
    pub fn has_error(&self) -> bool {
        let failed = |check: &CheckOutcome| check.status == Status::Error;
        self.error.is_some()
            || self.checks.iter().any(failed)
            || self.scores.iter().any(|scored| scored.status == "error")
    }
}
