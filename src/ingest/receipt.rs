//! What becomes of a request: it is admitted, or refused.

use std::time::Duration;

/// What became of a request: all of it, or all but `rejected`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Receipt {
    /// Spans or log records that are durable now.
    pub accepted: u64,
    /// Those that were refused.
    pub rejected: u64,
    /// Why, or a warning; empty if there is nothing to say.
    pub message: String,
}

/// Why a whole request was refused. Nothing of it is stored.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Too much at once; the same request may succeed later.
    #[error("{reason}; try again in {} ms", retry_after.as_millis())]
    Overloaded {
        /// What there is too much of.
        reason: String,
        /// When the client should come back.
        retry_after: Duration,
    },
    /// The request can never succeed.
    #[error("{0}")]
    Invalid(String),
    /// A fault of ours that trying again does not mend.
    #[error("{0}")]
    Broken(String),
}
