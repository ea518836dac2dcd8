//! The pieces of one message, in the shape of whoever wrote them.

use super::json::{self, open, text_at, text_in};
use crate::domain::message::{Part, ToolCall};
use serde_json::{Map, Value as Json};

/// The pieces that a message's content holds: one text, a list of pieces, or one piece.
pub(super) fn of_content(content: &Json) -> Vec<Part> {
    match content {
        Json::Array(items) => items.iter().filter_map(one).collect(),
        other => one(other).into_iter().collect(),
    }
}

/// One piece; none for nothing, empty or masked text.
fn one(piece: &Json) -> Option<Part> {
    let object = match piece {
        Json::Object(object) if !object.is_empty() => object,
        Json::String(_) => return json::text(piece).map(|text| Part::Text(text.to_owned())),
        _ => return None,
    };
    let kind = ["type", "block_type", "part_kind"].iter().find_map(|key| object.get(*key)?.as_str());
    match kind {
        Some("text" | "input_text" | "output_text" | "refusal") => {
            words(object, &["content", "text", "refusal"]).map(Part::Text)
        }
        Some(kind) if CALL_TYPES.contains(&kind) => call(piece).map(Part::ToolCall),
        Some(kind) if RESULT_TYPES.contains(&kind) => Some(response(object)),
        Some("reasoning" | "thinking") => {
            text_at(piece, &["content", "thinking", "text", "reasoning"]).map(Part::Reasoning)
        }
        Some(_) => Some(Part::Other(piece.clone())),
        None => untyped(piece, object),
    }
}

/// Types of a call of a tool. The last five are of tools that the provider runs, and of those that take free text.
const CALL_TYPES: [&str; 10] = [
    "tool_call",
    "tool-call",
    "tool_use",
    "function_call",
    "function",
    "server_tool_call",
    "server_tool_use",
    "mcp_tool_use",
    "mcp_call",
    "custom_tool_call",
];

/// Types of what a tool answered, the usual ones first.
const RESULT_TYPES: [&str; 8] = [
    "tool_call_response",
    "tool-result",
    "tool_result",
    "function_call_output",
    "server_tool_call_response",
    "web_search_tool_result",
    "mcp_tool_result",
    "custom_tool_call_output",
];

/// Keys that hold a call of a tool: of Amazon Bedrock, Gemini, Genkit and Haystack.
const CALLS: [&str; 5] = ["toolUse", "functionCall", "function_call", "toolRequest", "tool_call"];

/// Keys that hold what a tool answered, of the same.
pub(super) const RESULTS: [&str; 5] =
    ["toolResult", "functionResponse", "function_response", "toolResponse", "tool_call_result"];

/// Types of pieces that are no text and are kept as they came.
const MEDIA: [&str; 13] = [
    "image",
    "image_url",
    "input_image",
    "audio",
    "input_audio",
    "video",
    "file",
    "input_file",
    "document",
    "media",
    "blob",
    "uri",
    "resource",
];

/// The pieces of a content that came as text. Pictures beside text come as the JSON text of a list of pieces; a list of
/// the user's or the model's own is text.
pub(super) fn of_text(text: &str) -> Vec<Part> {
    let list = if text.starts_with("[{") { json::decode(text) } else { None };
    let is_own = |part: &Part| match part {
        Part::Other(piece) => {
            !piece.get("type").and_then(Json::as_str).is_some_and(|kind| MEDIA.contains(&kind))
        }
        _ => false,
    };
    match list.as_ref().map(of_content) {
        Some(pieces) if pieces.is_empty() || !pieces.iter().all(is_own) => pieces,
        _ => vec![Part::Text(text.to_owned())],
    }
}

/// The text under the first of `keys` that has some. OpenAI's assistants and Azure's agents put it into an object, beside
/// its annotations.
fn words(object: &Map<String, Json>, keys: &[&str]) -> Option<String> {
    let inner = || keys.iter().find_map(|key| text_at(object.get(*key)?, &["value"]));
    text_in(object, keys).or_else(inner)
}

/// Pieces that say by their keys what they are: Amazon Bedrock, Gemini, Genkit and LlamaIndex.
fn untyped(piece: &Json, object: &Map<String, Json>) -> Option<Part> {
    if let Some(call) = CALLS.iter().find_map(|key| call(object.get(*key)?)) {
        return Some(Part::ToolCall(call));
    }
    if let Some(result) = RESULTS.iter().find_map(|key| object.get(*key)?.as_object()) {
        return Some(response(result));
    }
    if object.get("thought").and_then(Json::as_bool) == Some(true) {
        return text_in(object, &["text"]).map(Part::Reasoning);
    }
    if let Some(text) = json::at(piece, "reasoningContent.reasoningText.text").and_then(json::text) {
        return Some(Part::Reasoning(text.to_owned()));
    }
    if let Some(call) = object.get("tool_name").and(call(piece)) {
        return Some(Part::ToolCall(call));
    }
    match ["text", "content"].iter().find_map(|key| object.get(*key)) {
        Some(Json::Object(inner)) if inner.get("value").is_some_and(Json::is_string) => {
            words(object, &["text", "content"]).map(Part::Text)
        }
        Some(Json::String(text)) => json::text(&Json::String(text.clone())).map(|t| Part::Text(t.to_owned())),
        _ => Some(Part::Other(piece.clone())),
    }
}

/// A tool call in any shape: OpenTelemetry, OpenAI (`function`), Vercel, Anthropic, LangChain, Bedrock, LlamaIndex.
/// None without a name.
pub(super) fn call(json: &Json) -> Option<ToolCall> {
    let function = json.get("function").filter(|f| f.is_object()).unwrap_or(json);
    let name = text_at(function, &["name", "toolName", "tool_name"])?;
    let arguments = ["arguments", "args", "input", "tool_kwargs", "parameters", "server_tool_call"]
        .iter()
        .find_map(|key| function.get(*key))
        .map_or(Json::Null, |arguments| open(arguments).into_owned());
    Some(ToolCall {
        // OpenAI's Responses give the item an id as well; the result names the one of the call.
        id: text_at(json, &["call_id", "toolCallId", "tool_call_id", "toolUseId", "id", "ref"]),
        name,
        arguments,
    })
}

/// Every tool call in a list; text is opened first.
pub(super) fn calls(json: &Json) -> Vec<ToolCall> {
    match open(json).as_ref() {
        Json::Array(items) => items.iter().filter_map(|item| call(&open(item))).collect(),
        _ => Vec::new(),
    }
}

fn response(object: &Map<String, Json>) -> Part {
    let named =
        text_in(object, &["tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "call_id", "id", "ref"]);
    // Haystack repeats the call beside its result.
    let id = named.or_else(|| text_at(object.get("origin")?, &["id"]));
    let value = ["response", "result", "output", "content", "server_tool_call_response"]
        .iter()
        .find_map(|key| object.get(*key));
    Part::ToolResponse { id, response: value.map_or(Json::Null, plain_result) }
}

/// What a tool answered without the wrapping that a library put around it.
pub(super) fn plain_result(json: &Json) -> Json {
    match json {
        // Vercel: {"type": "json", "value": …}.
        Json::Object(object)
            if object.len() == 2 && object.contains_key("type") && object.contains_key("value") =>
        {
            object.get("value").cloned().unwrap_or(Json::Null)
        }
        // Bedrock, Anthropic and MCP: a list of one text.
        Json::Array(items) if items.len() == 1 && is_bare_text(&items[0]) => match one(&items[0]) {
            Some(Part::Text(text)) => Json::String(text),
            _ => json.clone(),
        },
        other => other.clone(),
    }
}

/// Whether this is text in a wrapping and no object of the tool's own.
fn is_bare_text(json: &Json) -> bool {
    let keys = ["type", "text", "content", "annotations"];
    json.as_object().is_some_and(|object| object.keys().all(|key| keys.contains(&key.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_tool_call_is_found_in_every_shape() {
        let arguments = json!({"city": "Paris"});
        let shapes = [
            json!({"type": "tool_call", "id": "c1", "name": "get", "arguments": {"city": "Paris"}}),
            json!({"type": "tool_call", "id": "c1", "name": "get", "arguments": "{\"city\":\"Paris\"}"}),
            json!({"id": "c1", "type": "function", "function": {"name": "get", "arguments": "{\"city\":\"Paris\"}"}}),
            json!({"type": "tool-call", "toolCallId": "c1", "toolName": "get", "input": {"city": "Paris"}}),
            json!({"type": "tool_use", "id": "c1", "name": "get", "input": {"city": "Paris"}}),
            json!({"toolUse": {"toolUseId": "c1", "name": "get", "input": {"city": "Paris"}}}),
            json!({"tool_call_id": "c1", "tool_name": "get", "tool_kwargs": "{\"city\":\"Paris\"}"}),
        ];
        for shape in shapes {
            let want = ToolCall { id: Some("c1".into()), name: "get".into(), arguments: arguments.clone() };
            assert_eq!(of_content(&json!([shape])), [Part::ToolCall(want)], "{shape}");
        }
    }

    #[test]
    fn a_content_of_pieces_is_no_text_and_a_list_of_ones_own_is() {
        let image = r#"{"type":"image_url","image_url":{"url":"u"}}"#;
        let pieces = of_text(&format!(r#"[{{"type":"text","text":"Why?"}},{image}]"#));
        assert_eq!((pieces.len(), &pieces[0]), (2, &Part::Text("Why?".into())));
        assert!(matches!(of_text(&format!("[{image}]"))[..], [Part::Other(_)]));
        assert_eq!(of_text(r#"[{"text": "Why?"}]"#), [Part::Text("Why?".into())]);
        for own in [r#"[{"id": 1, "name": "Ann"}]"#, r#"[{"type": "expense", "sum": 3}]"#, "[{x", "Why?"] {
            assert_eq!(of_text(own), [Part::Text(own.into())], "{own}");
        }
    }

    #[test]
    fn text_in_an_object_of_its_own_is_text() {
        let assistants = json!([{"type": "text", "text": {"value": "So.", "annotations": []}}]);
        let agents = json!({"text": {"value": "So.", "annotations": []}});
        for shape in [assistants, agents] {
            assert_eq!(of_content(&shape), [Part::Text("So.".into())], "{shape}");
        }
    }

    #[test]
    fn a_call_and_its_result_have_the_same_id() {
        let pairs = [
            (
                json!({"type": "function_call", "id": "fc", "call_id": "c1", "name": "get", "arguments": "{}"}),
                json!({"type": "function_call_output", "id": "fco", "call_id": "c1", "output": "18"}),
            ),
            (
                json!({"type": "custom_tool_call", "id": "ctc", "call_id": "c1", "name": "get", "input": "x"}),
                json!({"type": "custom_tool_call_output", "call_id": "c1", "output": "18"}),
            ),
            (
                json!({"tool_call": {"tool_name": "get", "arguments": {"city": "Paris"}, "id": "c1"}}),
                json!({"tool_call_result": {"result": "18", "origin": {"tool_name": "get", "id": "c1"}}}),
            ),
            (
                json!({"type": "server_tool_call", "id": "c1", "name": "get", "server_tool_call": {"x": 1}}),
                json!({"type": "server_tool_call_response", "id": "c1", "server_tool_call_response": "18"}),
            ),
        ];
        for (asked, told) in pairs {
            let found = of_content(&asked);
            let [Part::ToolCall(call)] = found.as_slice() else { panic!("no call in {asked}: {found:?}") };
            assert_eq!((call.id.as_deref(), call.name.as_str()), (Some("c1"), "get"), "{asked}");
            assert_ne!(call.arguments, Json::Null, "{asked}");
            let want = Part::ToolResponse { id: Some("c1".into()), response: json!("18") };
            assert_eq!(of_content(&told), [want], "{told}");
        }
    }

    #[test]
    fn responses_lose_their_wrapping() {
        for shape in [
            json!({"type": "tool_call_response", "id": "c1", "response": "18"}),
            json!({"type": "tool_call_response", "id": "c1", "result": "18"}),
            json!({"type": "tool-result", "toolCallId": "c1", "output": {"type": "text", "value": "18"}}),
            json!({"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "18"}]}),
            json!({"toolResult": {"toolUseId": "c1", "content": [{"text": "18"}]}}),
        ] {
            let want = Part::ToolResponse { id: Some("c1".into()), response: json!("18") };
            assert_eq!(of_content(&shape), [want], "{shape}");
        }
    }

    #[test]
    fn nothing_empty_and_masked_text_are_no_pieces() {
        assert_eq!(of_content(&json!(null)), []);
        assert_eq!(of_content(&json!("")), []);
        assert_eq!(of_content(&json!("__REDACTED__")), []);
        assert_eq!(of_content(&json!([{"type": "text", "text": ""}])), []);
    }
}
