//! What an evaluator is given, put together from the spans of a trace.

use super::document::Document;
use serde::{Deserialize, Serialize};

/// The input of an evaluation. What the spans did not say is `None` or empty; an evaluator that needs it skips.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EvalInput {
    /// What was asked.
    pub question: Option<String>,
    /// What was answered.
    pub answer: Option<String>,
    /// The retrieved context.
    pub contexts: Vec<Document>,
    /// The expected answer (ground truth).
    pub expected: Option<String>,
    /// All right answers, `expected` among them, where one of several is enough. Only the lab and `groundline score` know
    /// them; they are not queued.
    #[serde(skip)]
    pub expected_answers: Vec<String>,
    /// URIs or ids of the documents that should have been retrieved (evaluator `document_recall`).
    pub expected_documents: Vec<String>,
    /// Constraints on the answer's tokens (evaluator `tokens_presence`).
    pub constraints: Vec<Constraint>,
    /// The system prompt.
    pub system_prompt: Option<String>,
    /// Earlier turns, oldest first: `user: …`, `assistant: …`.
    pub history: Vec<String>,
    /// The calls of tools, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// The session that the trace belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
    /// The tenant of the trace.
    pub tenant: Option<String>,
    /// Which one it is of several answers to one question, or of several votes about one answer; 0 where there is one. What
    /// a judge said about another is not taken for this one, so that they stay independent.
    #[serde(skip_serializing_if = "is_zero")]
    pub asking: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl EvalInput {
    /// The question, unless it is blank.
    pub fn asked(&self) -> Option<&str> {
        self.question.as_deref().filter(|text| !text.trim().is_empty())
    }

    /// The answer, unless it is blank.
    pub fn answered(&self) -> Option<&str> {
        self.answer.as_deref().filter(|text| !text.trim().is_empty())
    }
}

/// One call of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Step {
    /// The tool's name.
    pub tool: String,
    /// What it was given: JSON where the sender gave that.
    pub arguments: Option<String>,
    /// What it answered.
    pub result: Option<String>,
    /// Whether the call failed.
    pub failed: bool,
}

/// The place of a trace in its session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Session {
    /// The session's id, as the sender gave it.
    pub id: String,
    /// The trace's id, hexadecimal.
    pub trace_id: String,
    /// When the trace began, nanoseconds since 1970.
    pub start: i64,
}

/// One constraint of `tokens_presence`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Constraint {
    /// The text is contained, or (`REGEXP:` before it) the expression matches.
    Text(String),
    /// At least one of these holds.
    AnyOf(Vec<Constraint>),
}
