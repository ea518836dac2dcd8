//! What is to be asked, of whom, and how often; what comes back.

use super::super::error::Fault;
use crate::lab::dataset::Attached;
use crate::lab::suite::CheckOutcome;
use crate::lab::target::Prompts;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Most times that an item is asked.
pub const MAX_REPETITIONS: i64 = 100;

/// An experiment that is to be made.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewExperiment {
    /// Its name; several may have the same.
    pub name: String,
    /// `NAME` for the newest version of a dataset, or `NAME@VERSION`.
    pub dataset: String,
    /// What answers.
    pub target: Target,
    /// Its parameters.
    #[serde(default)]
    pub parameters: Map<String, Value>,
    /// Evaluators by id.
    #[serde(default)]
    pub evaluators: Vec<String>,
    /// How often each item is asked.
    #[serde(default = "once")]
    pub repetitions: i64,
    /// Which items are asked: a condition in SQL over their id, question, input, expected, tags, group_id, weight and the
    /// keys of their metadata; all without one.
    #[serde(default)]
    pub filter: Option<String>,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Whether others of the dataset are compared with it.
    #[serde(default)]
    pub baseline: bool,
}

/// The suite that an experiment is a run of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfSuite {
    /// The suite.
    pub suite_id: String,
    /// Its version.
    pub version: i64,
}

fn once() -> i64 {
    1
}

/// What answers. The kind says who asks it; everything else is only kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// existing, trace, http, command, openai or function; or named, for one that the server knows by its name and asks itself.
    pub kind: String,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The model behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What else identifies it, such as a git commit.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// The key under which an experiment keeps that the server itself asks its target.
pub const ASKED_BY: &str = "asked_by";

impl Target {
    /// The same, marked as one of the server's own.
    #[must_use]
    pub fn asked_by_the_server(mut self) -> Self {
        self.more.insert(ASKED_BY.to_owned(), Value::from("server"));
        self
    }

    /// Whether the server itself asks it.
    pub fn is_asked_by_the_server(&self) -> bool {
        self.more.get(ASKED_BY).and_then(Value::as_str) == Some("server")
    }

    /// The prompts that it is asked by in place of its own; none where they are no texts.
    pub fn prompts(&self) -> Prompts {
        let text = |key: &str| self.more.get(key).and_then(Value::as_str).map(str::to_owned);
        Prompts { system: text("system"), prompt: text("prompt") }
    }
}

/// The kinds of targets.
const KINDS: &[&str] = &["existing", "trace", "http", "command", "openai", "function", "named"];

impl NewExperiment {
    /// Everything that is wrong with it.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut wrong = |key: &str, why: String| faults.push(Fault::new(why).at(key));
        if self.name.trim().is_empty() {
            wrong("name", "it is empty".to_owned());
        }
        if !KINDS.contains(&self.target.kind.as_str()) {
            let why = format!("{:?} is no kind of target; there are {}", self.target.kind, KINDS.join(", "));
            wrong("target.kind", why);
        }
        if !(1..=MAX_REPETITIONS).contains(&self.repetitions) {
            wrong("repetitions", format!("{} is not from 1 to {MAX_REPETITIONS}", self.repetitions));
        }
        faults
    }
}

/// What a target answered to an item, as it is sent.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Answer {
    /// The item.
    pub item_id: String,
    /// Which of the repetitions, from 1; 1 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repetition: Option<i64>,
    /// Which attempt, from 1; 1 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<i64>,
    /// The run; it follows from the above, and is checked if it is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The answer: a text, or JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// What was retrieved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contexts: Option<Vec<Value>>,
    /// What else the target told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_context: Option<Map<String, Value>>,
    /// Tokens read.
    #[serde(alias = "in_tokens", skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<i64>,
    /// Tokens written.
    #[serde(alias = "out_tokens", skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<i64>,
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// How long it took, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The trace of the target's spans, 32 hexadecimal digits, if it is not the one that it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// The span that stands for the run, 16 hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span_id: Option<String>,
    /// What the sender measured itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<SentScore>,
    /// What the checks of a suite said, in their order; of runs of a suite only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckOutcome>,
}

/// What a sender measured itself.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SentScore {
    /// The name; the evaluator is `client/NAME`.
    pub name: String,
    /// A number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// A class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Whether it is good enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// Why it could not be given; it has no value and no verdict then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What is missing to give it, such as `expected`; it has no value and no verdict then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// Why a person must look at it, such as votes that differ: the run goes into the experiment's queue of review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs_review: Option<String>,
}

/// A run that is missing.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Todo {
    /// The run.
    pub run_id: String,
    /// The item.
    pub item_id: String,
    /// The sender's id of the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// Which of the repetitions.
    pub repetition: i64,
    /// Which attempt.
    pub attempt: i64,
    /// Its place among all runs of the experiment.
    #[serde(default)]
    pub place: usize,
    /// What is asked.
    pub input: Value,
    /// Context that the item has.
    #[serde(default)]
    pub contexts: Value,
    /// Files that the item has; each is at `/v1/lab/files/SHA256`.
    #[serde(default)]
    pub files: Vec<Attached>,
    /// What should be answered, for who judges answers itself; a target is never told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Value>,
    /// What else is known of the item, for the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    /// The parameters of the experiment.
    #[serde(default)]
    pub parameters: Value,
    /// The header under which the target may send its spans.
    pub traceparent: String,
}

/// How much of an item is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Telling {
    /// What a target is asked.
    #[default]
    Asked,
    /// What should be answered, too.
    Expected,
}

/// Which runs are wanted again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Retry {
    /// None: only those that are missing.
    #[default]
    Missing,
    /// Those without an answer.
    Errors,
    /// Those that failed a metric, too.
    Failed,
}

/// What became of sent answers.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Stored {
    /// Runs that are stored now.
    pub stored: usize,
    /// Runs that were there before.
    pub duplicate: usize,
    /// What was wrong with the others.
    #[serde(default)]
    pub refused: Vec<Value>,
    /// Runs that are still missing.
    pub missing: usize,
    /// The state of the experiment.
    pub status: String,
    /// Of runs that the server asked: the place behind the last of them, where others are wanted; none at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
}

/// What is to be different about an experiment.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EditExperiment {
    /// paused, running or cancelled.
    pub status: Option<String>,
    /// Whether others are compared with it.
    pub baseline: Option<bool>,
    /// Words.
    pub tags: Option<Vec<String>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_fault_of_an_experiment_is_told() {
        let wrong = json!({"name": " ", "dataset": "d", "target": {"kind": "oracle"}, "repetitions": 0});
        let wrong: NewExperiment = serde_json::from_value(wrong).unwrap();
        let columns: Vec<_> = wrong.faults().into_iter().filter_map(|fault| fault.column).collect();
        assert_eq!(columns, ["name", "target.kind", "repetitions"]);
        let right = json!({"name": "v2", "dataset": "d@1", "target": {"kind": "http", "commit": "abc"}});
        let right: NewExperiment = serde_json::from_value(right).unwrap();
        assert!(right.faults().is_empty() && right.target.more["commit"] == "abc");
    }
}
