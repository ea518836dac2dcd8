//! Readable text out of the free-form inputs and outputs of spans that are not model calls.

use super::json::{decode, open};
use super::masked::REDACTED;
use serde_json::{Map, Value as Json};

/// How far wrappers are looked through.
const MAX_WRAPPERS: usize = 5;

/// Keys under which applications keep what was asked, the surest first.
const QUESTIONS: &[&str] = &[
    "question",
    "query",
    "user_query",
    "query_str",
    "query_text",
    "search_query",
    "user_input",
    "user_message",
    "user_msg",
    "query_bundle",
    "q",
    "input",
    "inputs",
    "prompt",
    "contents",
    "message",
    "text",
    "args",
    "kwargs",
    "kwds",
];

/// Keys under which applications keep what was answered, the surest first.
const ANSWERS: &[&str] = &[
    "answer",
    "final_answer",
    "output_text",
    "response",
    "output",
    "result",
    "completion",
    "generated_text",
    "reply",
    "text",
    "content",
    "message",
    "outputs",
    "replies",
];

/// The text if a person would read it as text: not empty, not masked, not JSON, not the printed form of an object.
pub(super) fn readable(text: &str) -> Option<&str> {
    let trimmed = text.trim();
    let fine = !trimmed.is_empty() && trimmed != REDACTED && !is_printed_object(trimmed);
    let json = matches!(trimmed.as_bytes().first(), Some(b'{' | b'[')) && decode(trimmed).is_some();
    (fine && !json).then_some(text)
}

/// Whether this is Python's printed form of an object (`Name(field=…)`, `<Name …>`, `{'key': …}`).
fn is_printed_object(text: &str) -> bool {
    if text.starts_with("{'") || text.starts_with("[{'") || text.starts_with("[<") {
        return true;
    }
    let body = text.strip_prefix('<').unwrap_or(text);
    let name = body.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(0);
    if name == 0 || !body.starts_with(|c: char| c.is_ascii_uppercase()) {
        return false;
    }
    match body[name..].strip_prefix('(') {
        Some(fields) => {
            let field = fields.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(0);
            field > 0 && fields[field..].starts_with('=')
        }
        None => text.starts_with('<') && text.ends_with('>') && body[name..].starts_with(" object"),
    }
}

/// The text that an input asks with.
pub(super) fn question(json: &Json) -> Option<String> {
    search(json, QUESTIONS, MAX_WRAPPERS)
}

/// The text that an output answers with.
pub(super) fn answer(json: &Json) -> Option<String> {
    search(json, ANSWERS, MAX_WRAPPERS)
}

fn search(json: &Json, keys: &[&str], depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    match open(json).as_ref() {
        Json::String(text) => readable(text).map(str::to_owned),
        Json::Array(items) if items.len() == 1 => search(&items[0], keys, depth),
        Json::Object(object) => in_object(object, keys, depth),
        _ => None,
    }
}

fn in_object(object: &Map<String, Json>, keys: &[&str], depth: usize) -> Option<String> {
    for key in keys {
        let Some(value) = object.get(*key) else { continue };
        let found = match value {
            // Positional arguments: the question is the first that is text.
            Json::Array(items) if *key == "args" => {
                items.iter().filter(|item| item.is_string()).find_map(|item| search(item, keys, depth))
            }
            value => search(value, keys, depth),
        };
        if found.is_some() {
            return found;
        }
    }
    // One text alone under a name of the application's own.
    let mut values = object.values().filter(|value| !value.is_null());
    match (values.next(), values.next()) {
        (Some(only @ Json::String(_)), None) if !object.keys().any(|key| is_material(key)) => {
            search(only, keys, depth)
        }
        _ => None,
    }
}

/// Whether a name speaks of what the model reads, not of what was asked or answered.
fn is_material(key: &str) -> bool {
    ["context", "document", "chunk", "template"].iter().any(|word| key.contains(word))
}

/// The arguments of a decorated function without the wrapping: `{"args": [], "kwargs": {…}}` is what is in `kwargs`.
pub(super) fn arguments(json: Json) -> Json {
    let Json::Object(mut object) = json else { return json };
    let only_keywords = object.keys().all(|key| key == "args" || key == "kwargs")
        && object.get("args").is_none_or(|args| args.as_array().is_some_and(Vec::is_empty));
    match object.get("kwargs") {
        Some(Json::Object(_)) if only_keywords => object.remove("kwargs").unwrap_or(Json::Null),
        _ => Json::Object(object),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn questions_are_found_in_what_frameworks_wrap_them_in() {
        for input in [
            json!("Why?"),
            json!({"question": "Why?", "context": "long text"}),
            json!({"args": ["Why?"], "kwargs": {}}),
            json!({"args": [], "kwargs": {"query": "Why?"}}),
            json!({"query_bundle": {"query_str": "Why?", "image_path": null}}),
            json!({"kwds": {"context_str": "…", "query_str": "Why?"}}),
            json!({"q": "Why?"}),
            json!({"anything": "Why?"}),
            json!("{\"input\": \"Why?\"}"),
        ] {
            assert_eq!(question(&input).as_deref(), Some("Why?"), "{input}");
        }
    }

    #[test]
    fn json_masks_and_printed_objects_are_no_text() {
        for text in [
            "",
            "  ",
            "__REDACTED__",
            "{\"a\": 1}",
            "[1, 2]",
            "ChatMessage(role=<MessageRole.USER: 'user'>, blocks=[])",
            "<NodeWithScore(node=TextNode(id_=doc-1), score=0.6)>",
            "<FunctionTool object>",
            "{'a': 1}",
        ] {
            assert_eq!(readable(text), None, "{text}");
        }
        for text in ["[1] Return policy", "<b>bold</b>", "Paris (France)", "f(x) = 2", "Use Foo(bar) here"] {
            assert_eq!(readable(text), Some(text));
        }
        assert_eq!(question(&json!({"city": "Paris", "unit": "celsius"})), None);
        assert_eq!(answer(&json!({"flagged": false, "score": 0.1})), None);
    }
}
