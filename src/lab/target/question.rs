//! One question, and the ids that it is asked under.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// Prompts in place of those that a target of the kind openai has; none for the target's own, empty for no prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompts {
    /// The system's message, with `{{…}}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The user's message, with `{{…}}`; empty for the question, or the messages of the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

impl Prompts {
    /// Whether the target's own prompts stay.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One run of one item.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Question {
    /// The run.
    pub run_id: String,
    /// The item.
    pub item_id: String,
    /// The item as its sender calls it.
    pub external_id: Option<String>,
    /// The W3C header under which spans of the application become this run's trace.
    pub traceparent: String,
    /// What is asked.
    pub input: Json,
    /// What is asked as a text; none where the input has none.
    pub text: Option<String>,
    /// Retrieved context: a list, or NULL.
    pub contexts: Json,
    /// Files by their paths.
    pub files: Vec<String>,
    /// Files of a stored item, as objects with name, sha256 and, where the target can read it, path.
    pub attached: Vec<Json>,
    /// Parameters; they go before those of the target.
    pub parameters: Map<String, Json>,
    /// Prompts in place of the target's.
    pub prompts: Prompts,
    /// What prompts may name beside input, contexts and parameters.
    pub more: Map<String, Json>,
    /// The answer that the item itself has, for a target that asks nobody.
    pub output: Option<Json>,
}

impl Question {
    /// What addresses and processes are sent.
    pub(super) fn message(&self, parameters: &BTreeMap<String, Json>) -> Json {
        let named = self.files.iter().map(|file| json!({"name": file, "path": file}));
        let files: Vec<Json> = named.chain(self.attached.iter().cloned()).collect();
        json!({
            "run_id": self.run_id,
            "item_id": self.item_id,
            "input": self.input,
            "contexts": if self.contexts.is_null() { json!([]) } else { self.contexts.clone() },
            "files": files,
            "parameters": self.all_parameters(parameters),
            "traceparent": self.traceparent,
        })
    }

    /// Parameters of the target and of the question.
    pub(super) fn all_parameters(&self, of_target: &BTreeMap<String, Json>) -> Map<String, Json> {
        let mut all: Map<String, Json> = of_target.clone().into_iter().collect();
        all.extend(self.parameters.clone());
        all
    }

    /// What `{{…}}` may name.
    pub(super) fn scope(&self, parameters: Map<String, Json>) -> Json {
        let mut scope = self.more.clone();
        scope.insert("input".to_owned(), self.input.clone());
        scope.insert("contexts".to_owned(), self.contexts.clone());
        scope.insert("parameters".to_owned(), Json::Object(parameters));
        Json::Object(scope)
    }
}
