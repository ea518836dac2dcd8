//! A suite as it is written in TOML; what other systems write is brought to it.

use crate::lab::target::TargetSpec;
use crate::units::OptionalTime;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::time::Duration;

/// A whole file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SuiteSpec {
    pub suite: HeadSpec,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetSpec>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub check: Vec<CheckSpec>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub test: Vec<TestSpec>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gate: Vec<GateSpec>,
}

/// `[suite]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct HeadSpec {
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The system that the suite was written for: what is unknown here is kept, and gives an error when it runs.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Files with cases, from the folder of the suite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset: Option<OneOrMany>,
    pub repetitions: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evaluators: Vec<String>,
    pub condition: Unmet,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    pub max_error_share: f64,
    /// Nobody is asked any more after so long, such as 30m.
    #[serde(with = "OptionalTime", skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Duration>,
    /// Of every interval.
    pub level: f64,
}

impl Default for HeadSpec {
    fn default() -> Self {
        Self {
            name: String::new(),
            id: String::new(),
            description: String::new(),
            version: None,
            source: String::new(),
            dataset: None,
            repetitions: 1,
            evaluators: Vec::new(),
            condition: Unmet::Skip,
            threshold: None,
            max_error_share: 0.0,
            deadline: None,
            level: 0.95,
        }
    }
}

/// What becomes of a check whose condition is not met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Unmet {
    #[default]
    Skip,
    Pass,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    pub fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Many(names) => names,
        }
    }
}

/// `[[check]]`, and the entries of a test's `check`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct CheckSpec {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub criteria: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    #[serde(skip_serializing_if = "is_false")]
    pub optional: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub category: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// `judge` for a judge in the place of a local model.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub engine: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub votes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extract: Option<ExtractSpec>,
    #[serde(rename = "if", skip_serializing_if = "Option::is_none")]
    pub condition: Option<ConditionSpec>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<ExampleSpec>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub any_of: Vec<CheckSpec>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub all_of: Vec<CheckSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<usize>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// What of the answer a check reads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ExtractSpec {
    /// The first group that matched, else the whole match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    /// Keys and places with points between, such as `items.0.name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<[String; 2]>,
    /// The words that ask a judge for the part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

/// `if`: a check of its own, or how an earlier one ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ConditionSpec {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub operator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub criteria: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The id of an earlier check.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub check: String,
    /// `pass` if left out, or `fail`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub is: String,
}

/// An answer that should pass a check, or fail it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExampleSpec {
    /// `positive` or `negative`.
    #[serde(rename = "type")]
    pub kind: String,
    pub text: String,
}

/// `[[test]]`, and an item of a file of cases.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TestSpec {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    #[serde(alias = "question", alias = "input_under_test", skip_serializing_if = "Json::is_null")]
    pub input: Json,
    #[serde(
        alias = "expected",
        alias = "expected_output",
        alias = "expectedOutput",
        alias = "expected output",
        alias = "golden_output",
        skip_serializing_if = "Option::is_none"
    )]
    pub right_answer: Option<Json>,
    /// The answer, for the target `existing`: text, or an object as targets answer.
    #[serde(alias = "answer", skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contexts: Vec<Json>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected_documents: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Json>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Tests of one group, such as a conversation, count as one for the intervals.
    #[serde(alias = "group_id", skip_serializing_if = "String::is_empty")]
    pub group: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub context: BTreeMap<String, Json>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, Json>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub check: Vec<CheckSpec>,
}

/// `[[gate]]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct GateSpec {
    pub metric: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_drop: Option<f64>,
    pub on: On,
    /// Only tests that have this tag.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tag: String,
}

/// What of a metric a gate tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum On {
    #[default]
    Bound,
    Estimate,
}

/// The JSON schema of a suite as TOML, for editors and checks of files that programs write.
pub fn suite_schema() -> Json {
    schemars::schema_for!(SuiteSpec).to_value()
}
