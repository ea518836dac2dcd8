//! An item as the rules look at it.

use crate::lab::dataset::{Item, expected_text};
use serde_json::Value;

/// An item, read once for all rules.
pub struct Seen<'a> {
    /// The sender's id, else ours.
    pub id: &'a str,
    /// All texts of what is asked, small, with single spaces.
    pub asked: String,
    /// How many characters what is asked has.
    pub length: usize,
    /// The answers of which one is expected, as they are.
    pub expected: Vec<String>,
    /// Why the expected answer has no text.
    pub unreadable: Option<String>,
    /// The item.
    pub item: &'a Item,
}

impl<'a> Seen<'a> {
    /// Of this item.
    pub fn of(item: &'a Item) -> Self {
        let mut texts = Vec::new();
        item.input.iter().for_each(|input| gather(input, &mut texts));
        let said = texts.join("\n");
        let (expected, unreadable) = match item.expected.as_ref().filter(|value| !value.is_null()) {
            None => (Vec::new(), None),
            Some(value) => accepted(value),
        };
        let id = item.external_id.as_deref().or(item.item_id.as_deref()).unwrap_or_default();
        Self { id, asked: folded(&said), length: said.chars().count(), expected, unreadable, item }
    }
}

/// Small letters, single spaces.
pub fn folded(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn accepted(expected: &Value) -> (Vec<String>, Option<String>) {
    let any = expected.get("any_of").and_then(Value::as_array);
    let all: Vec<Result<String, String>> = match any {
        Some(values) => values.iter().map(expected_text).collect(),
        None => vec![expected_text(expected)],
    };
    let why = all.iter().find_map(|one| one.as_ref().err().cloned());
    (all.into_iter().flatten().collect(), why)
}

/// Every text in `value`, in order.
fn gather(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| gather(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| gather(value, texts)),
        Value::Number(_) | Value::Bool(_) => texts.push(value.to_string()),
        Value::Null => {}
    }
}
