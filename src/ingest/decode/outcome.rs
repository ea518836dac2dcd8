//! What decoding gives.

use crate::ingest::memory::Full;

/// How many distinct reasons, and how many distinct warnings, one request may give. More help nobody.
const MAX_NOTES: usize = 10;

/// The body is not what its content type says. The sender must not repeat it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The structures would take too much memory.
    #[error("the request decodes to more than {0} bytes of structures; send smaller batches")]
    Heavy(usize),
    /// The structures would take more memory than is free; they may fit later.
    #[error("there is no room for what the request decodes to")]
    Full,
    /// Not a protobuf message of the expected type.
    #[error("the body is not a valid OTLP protobuf message: {0}")]
    Protobuf(String),
    /// Not JSON.
    #[error("the body is not valid JSON: {0}")]
    Json(String),
    /// JSON, but a field has a type that OTLP does not allow.
    #[error("{path}: {problem}")]
    Field {
        /// Where, as a path of field names and indexes.
        path: String,
        /// What is wrong there.
        problem: String,
    },
}

impl From<Full> for DecodeError {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

/// The outcome of decoding one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded<T> {
    /// What was accepted, in the order of the request.
    pub items: Vec<T>,
    /// How many items were rejected. Exact.
    pub rejected: u64,
    /// Why, at most ten distinct sentences, each naming what and where.
    pub reasons: Vec<String>,
    /// What is odd about accepted items, at most ten distinct sentences.
    pub warnings: Vec<String>,
}

impl<T> Decoded<T> {
    /// An empty outcome with room for `capacity` items.
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self { items: Vec::with_capacity(capacity), rejected: 0, reasons: Vec::new(), warnings: Vec::new() }
    }

    /// Counts a rejected item and keeps the reason while there is room.
    pub(super) fn reject(&mut self, at: impl FnOnce() -> String, problem: &str) {
        self.rejected += 1;
        note(&mut self.reasons, at, problem);
    }

    /// Keeps a warning while there is room.
    pub(super) fn warn(&mut self, at: impl FnOnce() -> String, problem: &str) {
        note(&mut self.warnings, at, problem);
    }
}

fn note(notes: &mut Vec<String>, at: impl FnOnce() -> String, problem: &str) {
    if notes.len() < MAX_NOTES {
        let text = format!("{}: {problem}", at());
        if !notes.contains(&text) {
            notes.push(text);
        }
    }
}
