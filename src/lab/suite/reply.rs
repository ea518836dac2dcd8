//! What a target answers.

use super::item::document;
use super::spans::Spans;
use crate::domain::document::Document;
use crate::lab::target::Answer;
use crate::lab::template::{brief, plain};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// An answer, and what the target told about it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The text.
    pub output: String,
    /// What was retrieved for it; none where the target does not say.
    #[serde(skip)]
    pub contexts: Option<Vec<Document>>,
    /// Whatever else the application wants to be seen.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub output_context: Map<String, Json>,
    /// Tokens that the application's model read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_tokens: Option<i64>,
    /// Tokens that it wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_tokens: Option<i64>,
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// How long it took, milliseconds: as told, else as measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// Why the model stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// The spans of its trace.
    #[serde(skip)]
    pub spans: Spans,
}

impl Reply {
    /// A text alone.
    pub(super) fn text(output: impl Into<String>) -> Self {
        Self { output: output.into(), ..Self::default() }
    }

    /// What a target answered.
    ///
    /// # Errors
    /// What the target said under `error`, or a context that is none.
    pub(super) fn of(answer: Answer) -> Result<Self, String> {
        if let Some(error) = answer.error {
            return Err(format!("the target says: {}", brief(&error)));
        }
        let contexts = match answer.contexts {
            Some(list) => Some(list.iter().map(document).collect::<Result<Vec<_>, _>>()?),
            None => None,
        };
        Ok(Self {
            output: plain(&answer.output),
            contexts,
            output_context: answer.output_context.unwrap_or_default(),
            in_tokens: answer.in_tokens,
            out_tokens: answer.out_tokens,
            cost_usd: answer.cost_usd,
            duration_ms: answer.duration_ms,
            finish_reason: answer.finish_reason,
            spans: Spans::default(),
        })
    }

    /// Bytes that it keeps.
    pub(super) fn size(&self) -> usize {
        let contexts = self.contexts.iter().flatten();
        let texts: usize = contexts.map(|document| document.content.as_ref().map_or(0, String::len)).sum();
        self.output.len() + texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(json: Json) -> Result<Reply, String> {
        Reply::of(Answer::from_object(json.as_object().unwrap())?)
    }

    #[test]
    fn answers_become_texts_and_faults_are_told() {
        let whole = read(json!({
            "output": {"a": 1}, "contexts": ["c", {"uri": "u", "text": "d"}], "in_tokens": 12.0,
            "cost_usd": 0.5, "duration": 1.5, "output_context": {"k": "v"}
        }));
        let whole = whole.unwrap();
        assert_eq!(
            (whole.output.as_str(), whole.in_tokens, whole.duration_ms),
            ("{\"a\":1}", Some(12), Some(1500.0))
        );
        assert_eq!(whole.contexts.unwrap()[1].uri.as_deref(), Some("u"));
        for (json, part) in [
            (json!({"error": "no key"}), "the target says: no key"),
            (json!({"outptu": "x"}), "neither"),
            (json!({"output": "x", "contexts": [1]}), "a context is a text"),
        ] {
            assert!(read(json).unwrap_err().contains(part), "{part}");
        }
    }
}
