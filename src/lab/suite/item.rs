//! A case as evaluators see it.

use super::fault::SourceLine;
use super::spec::TestSpec;
use crate::domain::document::Document;
use crate::domain::trace::{Constraint, EvalInput};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

/// Keys of an input object that hold its question, in this order.
const ASKED: &[&str] = &["question", "input", "prompt", "query", "text", "content"];
/// Keys of an expected object that hold its text, in this order.
const EXPECTED: &[&str] = &["answer", "output", "text", "content"];

/// One case.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub spec: TestSpec,
    pub place: SourceLine,
    /// Changes when what is asked or expected does: values of two runs are compared only where it is equal.
    pub hash: String,
    pub question: Option<String>,
    /// Accepted answers: none, one, or any of several.
    pub expected: Vec<String>,
    pub contexts: Vec<Document>,
    pub constraints: Vec<Constraint>,
}

impl Item {
    /// # Errors
    /// What of the case cannot be read.
    pub fn new(spec: TestSpec, place: SourceLine) -> Result<Self, String> {
        let expected = match &spec.right_answer {
            Some(expected) => expected_texts(expected)?,
            None => Vec::new(),
        };
        let contexts = spec.contexts.iter().map(document).collect::<Result<_, _>>()?;
        let constraints = match &spec.constraints {
            Some(json) => constraints(json)?,
            None => Vec::new(),
        };
        if spec.weight.is_some_and(|weight| !(weight.is_finite() && weight >= 0.0)) {
            return Err("weight must be a number, 0 or more".to_owned());
        }
        let question = asked(&spec.input);
        Ok(Self { hash: hash(&spec), question, expected, contexts, constraints, spec, place })
    }

    /// What `{{…}}` may name.
    pub fn scope(&self) -> Json {
        json!({
            "input": self.spec.input,
            "expected": self.expected.first(),
            "metadata": self.spec.metadata,
            "context": self.spec.context,
        })
    }

    /// What evaluators are given of the case, without an answer.
    pub fn input(&self) -> EvalInput {
        EvalInput {
            question: self.question.clone(),
            contexts: self.contexts.clone(),
            expected: self.expected.first().cloned(),
            expected_documents: self.spec.expected_documents.clone(),
            constraints: self.constraints.clone(),
            system_prompt: self.spec.system_prompt.clone(),
            history: self.spec.history.iter().map(crate::lab::template::plain).collect(),
            ..EvalInput::default()
        }
    }
}

/// The text that an input asks: itself, its question, its only text, or the last message of its user.
pub(super) fn asked(input: &Json) -> Option<String> {
    match input {
        Json::String(text) => Some(text.clone()),
        Json::Null => None,
        Json::Object(object) => {
            let named = ASKED.iter().find_map(|key| object.get(*key)?.as_str());
            let messages = || {
                let messages = object.get("messages")?.as_array()?;
                messages.iter().rev().find(|m| m["role"] == "user")?["content"].as_str()
            };
            let only = || {
                let mut texts = object.values().filter_map(Json::as_str);
                texts.next().filter(|_| texts.next().is_none())
            };
            named.or_else(messages).or_else(only).map(str::to_owned)
        }
        other => Some(other.to_string()),
    }
}

/// The accepted answers. An object is its only text, or one of [`EXPECTED`]; `{"any_of": […]}` has several.
fn expected_texts(expected: &Json) -> Result<Vec<String>, String> {
    match expected {
        Json::Null => Ok(Vec::new()),
        Json::String(text) => Ok(vec![text.clone()]),
        Json::Object(object) => {
            if let Some(any) = object.get("any_of").and_then(Json::as_array) {
                let texts: Result<Vec<Vec<String>>, String> = any.iter().map(expected_texts).collect();
                return Ok(texts?.concat());
            }
            let mut texts = object.values().filter_map(Json::as_str);
            let only = texts.next().filter(|_| texts.next().is_none());
            match only.or_else(|| EXPECTED.iter().find_map(|key| object.get(*key)?.as_str())) {
                Some(text) => Ok(vec![text.to_owned()]),
                None => {
                    let keys: Vec<&str> = object.keys().map(String::as_str).collect();
                    Err(format!(
                        "the expected answer has no text among its keys ({}): name one of {}, or any_of",
                        keys.join(", "),
                        EXPECTED.join(", ")
                    ))
                }
            }
        }
        other => Ok(vec![other.to_string()]),
    }
}

/// A retrieved document: a text, or an object as `groundline score` takes it.
pub(super) fn document(json: &Json) -> Result<Document, String> {
    match json {
        Json::String(text) => Ok(Document { content: Some(text.clone()), ..Document::default() }),
        Json::Object(object) => {
            let text = |key: &str| object.get(key).and_then(Json::as_str).map(str::to_owned);
            Ok(Document {
                id: text("id"),
                uri: text("uri").or_else(|| text("doc_uri")),
                content: text("text").or_else(|| text("content")),
                score: object.get("score").and_then(Json::as_f64),
                rank: object.get("rank").and_then(Json::as_i64).and_then(|rank| i32::try_from(rank).ok()),
                metadata: None,
                tenant: text("tenant"),
            })
        }
        other => Err(format!("a context is a text or an object with a text, not {other}")),
    }
}

fn constraints(json: &Json) -> Result<Vec<Constraint>, String> {
    let read = serde_json::from_value(json.clone());
    read.map_err(|_| format!("constraints are a list of texts and lists of them, not {json}"))
}

/// SHA-256 of the case's own content, in hexadecimal digits; neither its checks nor a given answer count.
fn hash(spec: &TestSpec) -> String {
    let content = json!([
        sorted(&spec.input),
        spec.right_answer.as_ref().map(sorted),
        spec.metadata.iter().map(|(key, value)| (key, sorted(value))).collect::<Vec<_>>(),
        spec.contexts.iter().map(sorted).collect::<Vec<_>>(),
        spec.constraints,
        spec.files,
    ]);
    hex::encode(&Sha256::digest(content.to_string())[..16])
}

/// The same with keys in order.
fn sorted(json: &Json) -> Json {
    match json {
        Json::Object(object) => {
            let mut keys: Vec<_> = object.iter().collect();
            keys.sort_by_key(|(key, _)| *key);
            Json::Object(keys.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
        }
        Json::Array(items) => Json::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(input: Json, expected: Option<Json>) -> Result<Item, String> {
        Item::new(TestSpec { input, right_answer: expected, ..TestSpec::default() }, SourceLine::default())
    }

    #[test]
    fn the_question_is_found_in_the_usual_places() {
        for (input, asked) in [
            (json!("Who?"), Some("Who?")),
            (json!({"question": "Who?", "lang": "en"}), Some("Who?")),
            (json!({"country": "France"}), Some("France")),
            (
                json!({"messages": [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "I"}]}),
                Some("Who?"),
            ),
            (json!({"a": "x", "b": "y"}), None),
            (json!(null), None),
        ] {
            assert_eq!(item(input.clone(), None).unwrap().question.as_deref(), asked, "{input}");
        }
    }

    #[test]
    fn an_expected_answer_is_one_text_or_any_of_several() {
        let of = |expected: Json| item(json!("q"), Some(expected)).map(|item| item.expected);
        assert_eq!(of(json!("a")).unwrap(), ["a"]);
        assert_eq!(of(json!({"only": "a"})).unwrap(), ["a"]);
        assert_eq!(of(json!({"answer": "a", "source": "b"})).unwrap(), ["a"]);
        assert_eq!(of(json!({"any_of": ["a", {"text": "b"}]})).unwrap(), ["a", "b"]);
        let told = of(json!({"x": "a", "y": "b"})).unwrap_err();
        assert!(told.contains("x, y") && told.contains("any_of"), "{told}");
    }

    #[test]
    fn the_hash_is_of_the_content_and_not_of_the_order_of_keys() {
        let of = |input: Json| item(input, None).unwrap().hash;
        let one: Json = serde_json::from_str(r#"{"a": 1, "b": 2}"#).unwrap();
        let two: Json = serde_json::from_str(r#"{"b": 2, "a": 1}"#).unwrap();
        assert_eq!(of(one), of(two));
        assert_ne!(of(json!({"a": 1})), of(json!({"a": 2})));
    }
}
