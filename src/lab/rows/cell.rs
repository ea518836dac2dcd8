//! What the cells of a row say.

use serde_json::{Map, Value};

/// What a cell says: JSON where it is an object or an array, else its text. A text that looks like one of these is
/// written as a JSON text by the export, and read back here.
pub fn cell(text: &str) -> Value {
    let trimmed = text.trim_start();
    if !trimmed.starts_with(['{', '[', '"']) {
        return Value::String(text.to_owned());
    }
    match serde_json::from_str(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => value,
        Ok(Value::String(inner)) if looks_like_json(&inner) => Value::String(inner),
        _ => Value::String(text.to_owned()),
    }
}

/// Whether a cell with this text would be read as something else than the text.
pub fn looks_like_json(text: &str) -> bool {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(_) | Value::Array(_)) => true,
        Ok(Value::String(inner)) => looks_like_json(&inner),
        _ => false,
    }
}

/// Puts `value` under a dotted name: `input.question` is the key `question` of `input`.
pub fn nest(fields: &mut Map<String, Value>, name: &str, value: Value) {
    let Some((first, rest)) = name.split_once('.').filter(|(a, b)| !a.is_empty() && !b.is_empty()) else {
        fields.insert(name.to_owned(), value);
        return;
    };
    let inner = fields.entry(first).or_insert_with(|| Value::Object(Map::new()));
    match inner {
        Value::Object(inner) => nest(inner, rest, value),
        // `input` and `input.x` beside each other: both are kept.
        _ => drop(fields.insert(name.to_owned(), value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_text_that_looks_like_json_stays_a_text() {
        for text in ["[1]", "{}", "plain", "\"quoted\"", "\"[1]\""] {
            let written = if looks_like_json(text) { json!(text).to_string() } else { text.to_owned() };
            assert_eq!(cell(&written), json!(text), "{text}");
        }
        assert_eq!(cell("[1]"), json!([1]));
    }

    #[test]
    fn columns_that_cannot_nest_are_both_kept() {
        let mut fields = Map::new();
        for (name, value) in [("input.a.b", "1"), ("input.a.c", "2"), ("x", "3"), ("x.y", "4"), (".z", "5")] {
            nest(&mut fields, name, value.into());
        }
        let wanted = json!({"input": {"a": {"b": "1", "c": "2"}}, "x": "3", "x.y": "4", ".z": "5"});
        assert_eq!(Value::Object(fields), wanted);
    }
}
