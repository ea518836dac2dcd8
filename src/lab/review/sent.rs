//! Who reviews, and what is said of an item.

use super::answer::Edit;
use crate::lab::store::Who;
use crate::schema::batch::AnswerKind;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Who reviews.
#[derive(Debug, Clone)]
pub struct Reviewer {
    /// Whose rows.
    pub who: Who,
    /// The name under which answers are kept.
    pub name: String,
    /// Whether it may decide in queues of others.
    pub is_chief: bool,
    /// Whether it sees queues of others.
    pub sees_all: bool,
}

/// What is said of an item.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Said {
    /// Identity; the same id sent again is taken once.
    pub answer_id: Option<String>,
    /// answer, skip or undo.
    pub kind: Option<AnswerKind>,
    /// By name of the template.
    pub templates: BTreeMap<String, Value>,
    /// By evaluator and metric.
    pub auto_evals: BTreeMap<String, Edit>,
    /// What else is said.
    pub comment: Option<String>,
    /// Whether it should be looked at again.
    pub flagged: bool,
    /// How long it took, seconds.
    pub seconds: Option<f64>,
    /// Who, where there are no tokens.
    pub reviewer: Option<String>,
}

/// What a reviewer asks for.
#[derive(Debug, Clone, Copy)]
pub struct Wish {
    /// How many items.
    pub count: usize,
    /// Whether they are wanted whose answers differ.
    pub decides: bool,
}
