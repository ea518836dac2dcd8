//! What every reader gives.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A log of one model.
#[derive(Debug, Default, PartialEq)]
pub struct Log {
    /// The system that wrote it.
    pub system: &'static str,
    /// The task, or what else it is called.
    pub task: String,
    /// The model that was asked.
    pub model: Option<String>,
    /// Whether it ended well, in the system's words; empty where it does not say.
    pub status: String,
    /// The run, as the log names it.
    pub run_id: Option<String>,
    /// What was asked, each item once, in the form of a file of items.
    pub items: Vec<Value>,
    /// How often each was asked.
    pub epochs: i64,
    /// What was answered.
    pub answers: Vec<Logged>,
    /// What is not taken, and how often it is there.
    pub lost: BTreeMap<&'static str, usize>,
}

/// What was answered to an item in one epoch.
#[derive(Debug, Clone, PartialEq)]
pub struct Logged {
    /// The item, by its external id.
    pub id: String,
    /// The epoch, from 1.
    pub epoch: i64,
    /// The answer with its scores, as an experiment takes it.
    pub answer: Map<String, Value>,
}

impl Log {
    /// Counts what is not taken.
    pub(super) fn lose(&mut self, what: &'static str, count: usize) {
        if count > 0 {
            *self.lost.entry(what).or_default() += count;
        }
    }
}
