//! What is found, and where.

use serde::Serialize;

/// Most items that a finding names.
pub const MAX_NAMED: usize = 20;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// What is measured on it would be wrong, or nothing.
    Error,
    /// A person should look at it.
    Warning,
}

/// One thing that is suspicious.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The rule.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The items, by the sender's id where they have one; the first 20.
    pub items: Vec<String>,
    /// How many items it concerns.
    pub count: usize,
    /// What it is, and what to do.
    pub message: String,
}

impl Finding {
    /// About these items.
    pub fn new(rule: &'static str, severity: Severity, items: &[&str], message: impl Into<String>) -> Self {
        let named = items.iter().take(MAX_NAMED).map(|id| (*id).to_owned()).collect();
        Self { rule, severity, items: named, count: items.len(), message: message.into() }
    }
}
