//! The texts of what is asked and expected.

use serde_json::Value;

/// The keys under which the text of an object stands, in this order.
const EXPECTED_KEYS: &[&str] = &["answer", "output", "text", "content"];
const INPUT_KEYS: &[&str] = &["question", "input", "query", "prompt", "text", "content"];

/// The text of what is asked or answered: itself, an object's only text, or the text under a usual key; the last
/// message of a list of messages.
pub fn text_of(value: &Value) -> Option<String> {
    text_under(value, INPUT_KEYS)
}

/// The text of an expected answer.
///
/// # Errors
/// Which keys an object has whose text cannot be told.
pub fn expected_text(value: &Value) -> Result<String, String> {
    text_under(value, EXPECTED_KEYS).ok_or_else(|| {
        let keys = value.as_object().map(|fields| fields.keys().cloned().collect::<Vec<_>>().join(", "));
        format!(
            "expected is no text: it has {}; say answer, output, text or content",
            keys.unwrap_or_default()
        )
    })
}

fn text_under(value: &Value, keys: &[&str]) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Array(messages) => text_under(messages.last()?.get("content")?, keys),
        Value::Object(fields) => {
            let mut texts = fields.values().filter_map(Value::as_str);
            if let (Some(only), None) = (texts.next(), texts.next())
                && fields.len() == 1
            {
                return Some(only.to_owned());
            }
            let named = keys.iter().find_map(|key| fields.get(*key)?.as_str().map(str::to_owned));
            named.or_else(|| text_under(fields.get("messages")?, keys))
        }
        Value::Null => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_text_of_an_object_is_found_or_its_keys_are_told() {
        assert_eq!(expected_text(&json!("Paris")).unwrap(), "Paris");
        assert_eq!(expected_text(&json!({"city": "Paris"})).unwrap(), "Paris");
        assert_eq!(expected_text(&json!({"text": "b", "answer": "a"})).unwrap(), "a");
        assert!(expected_text(&json!({"x": "1", "y": "2"})).unwrap_err().contains("x, y"));
        let chat =
            json!({"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "Where?"}]});
        assert_eq!(text_of(&chat).unwrap(), "Where?");
        assert_eq!(text_of(&json!({"question": "Where?", "conversation_history": []})).unwrap(), "Where?");
    }
}
