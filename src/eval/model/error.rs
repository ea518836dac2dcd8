//! What can go wrong with a model.

use thiserror::Error;

/// A model that could not be opened or run. None of these goes away by trying again.
#[derive(Debug, Error)]
pub enum ModelError {
    /// The weights are not what this program reads.
    #[error("cannot open the model {model}: {reason}")]
    Open {
        /// Which model.
        model: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The network failed on an input.
    #[error("inference with {model} failed: {reason}")]
    Inference {
        /// Which model.
        model: &'static str,
        /// What the runtime said.
        reason: String,
    },
}

impl ModelError {
    pub(in crate::eval) fn open(model: &'static str, reason: impl ToString) -> Self {
        Self::Open { model, reason: reason.to_string() }
    }

    pub(super) fn inference(model: &'static str, reason: impl ToString) -> Self {
        Self::Inference { model, reason: reason.to_string() }
    }
}
