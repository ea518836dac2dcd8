//! What a target answers.

use super::item::document;
use crate::domain::document::Document;
use serde::Serialize;
use serde_json::{Map, Value as Json};

/// An answer, and what the target told about it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Reply {
    /// The text.
    pub output: String,
    /// What was retrieved for it; none where the target does not say.
    #[serde(skip)]
    pub contexts: Option<Vec<Document>>,
    /// Whatever else the application wants to be seen.
    #[serde(skip_serializing_if = "Map::is_empty")]
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
}

impl Reply {
    /// A text alone.
    pub(super) fn text(output: impl Into<String>) -> Self {
        Self { output: output.into(), ..Self::default() }
    }

    /// The answer that a JSON value is: a text, or an object with `output`.
    ///
    /// # Errors
    /// What the target said under `error`, or what is missing.
    pub(super) fn from_json(json: Json) -> Result<Self, String> {
        let object = match json {
            Json::String(text) => return Ok(Self::text(text)),
            Json::Object(object) => object,
            other => return Err(format!("the answer is neither a text nor an object: {}", short(&other))),
        };
        if let Some(error) = object.get("error").filter(|error| !error.is_null()) {
            return Err(format!("the target says: {}", short(error)));
        }
        let Some(output) = object.get("output").filter(|output| !output.is_null()) else {
            return Err("the answer has neither \"output\" nor \"error\"".to_owned());
        };
        let contexts = match object.get("contexts").and_then(Json::as_array) {
            Some(list) => Some(list.iter().map(document).collect::<Result<Vec<_>, _>>()?),
            None => None,
        };
        let number =
            |key: &str| object.get(key).and_then(Json::as_f64).filter(|n| n.is_finite() && *n >= 0.0);
        let tokens = |key: &str| number(key).map(|n| n as i64);
        Ok(Self {
            output: super::template::plain(output),
            contexts,
            output_context: object
                .get("output_context")
                .and_then(Json::as_object)
                .cloned()
                .unwrap_or_default(),
            in_tokens: tokens("in_tokens"),
            out_tokens: tokens("out_tokens"),
            cost_usd: number("cost_usd"),
            duration_ms: number("duration").map(|seconds| seconds * 1e3),
            finish_reason: object.get("finish_reason").and_then(Json::as_str).map(str::to_owned),
        })
    }

    /// Bytes that it keeps.
    pub(super) fn size(&self) -> usize {
        let contexts = self.contexts.iter().flatten();
        let texts: usize = contexts.map(|document| document.content.as_ref().map_or(0, String::len)).sum();
        self.output.len() + texts
    }
}

fn short(json: &Json) -> String {
    super::text::brief(&super::template::plain(json))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn answers_are_read_in_both_forms_and_faults_are_told() {
        assert_eq!(Reply::from_json(json!("x")).unwrap().output, "x");
        let whole = Reply::from_json(json!({
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
            (json!({"error": "no key"}), "no key"),
            (json!({"outptu": "x"}), "neither"),
            (json!(["x"]), "neither a text nor an object"),
        ] {
            assert!(Reply::from_json(json).unwrap_err().contains(part), "{part}");
        }
    }
}
