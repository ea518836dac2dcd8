//! The prompt template that an answer was made with.

use super::span::Llm;
use serde::{Deserialize, Serialize};

/// A prompt template, as the sender names it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Prompt {
    /// Its name.
    pub name: Option<String>,
    /// Its version.
    pub version: Option<String>,
}

impl Prompt {
    /// The one that a span names, if it names any.
    pub fn of(llm: &Llm) -> Self {
        Self { name: llm.prompt_name.clone(), version: llm.prompt_version.clone() }
    }

    /// Whether nothing is known of it.
    pub fn is_unknown(&self) -> bool {
        self.name.is_none() && self.version.is_none()
    }
}
