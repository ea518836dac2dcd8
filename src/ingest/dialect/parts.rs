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
            text_at(piece, &["content", "text", "refusal"]).map(Part::Text)
        }
        Some("tool_call" | "tool-call" | "tool_use" | "function_call" | "function") => {
            call(piece).map(Part::ToolCall)
        }
        Some("tool_call_response" | "tool-result" | "tool_result" | "function_call_output") => {
            Some(response(object))
        }
        Some("reasoning" | "thinking") => {
            text_at(piece, &["content", "thinking", "text", "reasoning"]).map(Part::Reasoning)
        }
        Some(_) => Some(Part::Other(piece.clone())),
        None => untyped(piece, object),
    }
}

/// Keys that hold a call of a tool: of Amazon Bedrock, Gemini and Genkit.
const CALLS: [&str; 4] = ["toolUse", "functionCall", "function_call", "toolRequest"];

/// Keys that hold what a tool answered, of the same.
pub(super) const RESULTS: [&str; 4] = ["toolResult", "functionResponse", "function_response", "toolResponse"];

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
        Some(Json::String(text)) => json::text(&Json::String(text.clone())).map(|t| Part::Text(t.to_owned())),
        _ => Some(Part::Other(piece.clone())),
    }
}

/// A tool call in any shape: OpenTelemetry, OpenAI (`function`), Vercel, Anthropic, LangChain, Bedrock, LlamaIndex.
/// None without a name.
pub(super) fn call(json: &Json) -> Option<ToolCall> {
    let function = json.get("function").filter(|f| f.is_object()).unwrap_or(json);
    let name = text_at(function, &["name", "toolName", "tool_name"])?;
    let arguments = ["arguments", "args", "input", "tool_kwargs", "parameters"]
        .iter()
        .find_map(|key| function.get(*key))
        .map_or(Json::Null, |arguments| open(arguments).into_owned());
    Some(ToolCall {
        id: text_at(json, &["id", "toolCallId", "call_id", "tool_call_id", "toolUseId", "ref"]),
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
    let id =
        text_in(object, &["id", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "call_id", "ref"]);
    let value = ["response", "result", "output", "content"].iter().find_map(|key| object.get(*key));
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
