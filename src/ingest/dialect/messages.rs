//! Every shape of a message list to domain messages.

use super::json::{open, text, text_at, text_in};
use super::parts;
use crate::domain::message::{Message, Part};
use serde_json::{Map, Value as Json};

/// How far wrappers (`messages`, `update`, lists of lists) are looked through.
const MAX_WRAPPERS: usize = 6;

/// Whether messages went into the model or came out: the role of a message that names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Input,
    Output,
}

/// The messages that went in: a list, a request, or a library's wrapping of either. Empty if this is nothing of that
/// kind.
pub(super) fn input(json: &Json) -> Vec<Message> {
    let mut found = Vec::new();
    collect(json, Side::Input, MAX_WRAPPERS, &mut found);
    found.retain(says_something);
    found
}

/// The messages that came out. A conversation that repeats its input (agents do) is cut after the last user message.
pub(super) fn output(json: &Json) -> Vec<Message> {
    let mut found = Vec::new();
    collect(json, Side::Output, MAX_WRAPPERS, &mut found);
    found.retain(says_something);
    match found.iter().rposition(|message| message.role == "user") {
        Some(last_user) => found.split_off(last_user + 1),
        None => found,
    }
}

/// An empty message says nothing, unless it says why the model stopped.
fn says_something(message: &Message) -> bool {
    !message.parts.is_empty() || message.finish_reason.is_some()
}

/// Every message of a list, none cut.
pub(super) fn all(items: &[Json]) -> Vec<Message> {
    let mut found = Vec::new();
    for item in items {
        collect(item, Side::Output, MAX_WRAPPERS, &mut found);
    }
    found
}

fn collect(json: &Json, side: Side, depth: usize, found: &mut Vec<Message>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match json {
        Json::Array(items) => {
            for item in items.iter().filter(|item| item.is_array() || item.is_object()) {
                collect(item, side, depth, found);
            }
        }
        Json::Object(object) => {
            if let Some(message) = message(json, object, side) {
                found.push(message);
            } else {
                wrapped(object, side, depth, found);
            }
        }
        _ => {}
    }
}

/// Requests and responses of the model APIs, and what the frameworks put around messages.
fn wrapped(object: &Map<String, Json>, side: Side, depth: usize, found: &mut Vec<Message>) {
    let mut into =
        |key: &str| object.get(key).map(|inner| collect(&open(inner), side, depth, found)).is_some();
    if side == Side::Output {
        // OpenAI chat, LangChain, Gemini, OpenAI Responses, an agent's graph update.
        for key in ["choices", "generations", "candidates", "output", "update", "message", "content"] {
            if object.get(key).is_some_and(|inner| !inner.is_string()) && into(key) {
                return;
            }
        }
    }
    let before = found.len();
    // Text, or a list of pieces at Anthropic.
    if let Some(system) = system(object) {
        found.extend(Some(of_parts("system", parts::of_content(system))).filter(says_something));
    }
    let start = found.len();
    // Traceloop puts a chain's values into an object of their own; the last two are the arguments of a decorated function.
    let values = if side == Side::Input { "inputs" } else { "outputs" };
    for key in ["messages", "contents", values, "args", "kwargs"] {
        if let Some(inner) = object.get(key) {
            collect(&open(inner), side, depth, found);
        }
    }
    if side == Side::Input && found.len() == start {
        earlier_turns(object, depth, found);
    } else if side == Side::Input && found.last().is_some_and(|message| message.role == "assistant") {
        found.extend(argument(object));
    }
    if let (1, Some(only @ Json::Array(_))) = (object.len(), object.values().next())
        && found.len() == start
    {
        collect(only, side, depth, found);
    }
    if side == Side::Input && found.len() == start {
        let prompt = ["prompt", "input", "contents"].iter().find_map(|key| object.get(*key));
        match prompt {
            // Only beside a system prompt or a model is a bare text surely the user's.
            Some(Json::String(prompt))
                if (start > before || object.contains_key("model"))
                    && super::content::readable(prompt).is_some() =>
            {
                found.push(Message::text("user", prompt.as_str()));
            }
            Some(list @ (Json::Array(_) | Json::Object(_))) => collect(list, side, depth, found),
            _ => {}
        }
    }
    // A system prompt alone is no conversation.
    if found.len() == start && !object.contains_key("messages") {
        found.truncate(before);
    }
}

/// The question among the positional arguments of a function that was given the earlier turns as well: the only text of
/// several words. One word may be a model's name.
fn argument(object: &Map<String, Json>) -> Option<Message> {
    let arguments = object.get("args")?.as_array()?;
    let readable = arguments.iter().filter_map(|argument| super::content::readable(argument.as_str()?));
    let mut texts = readable.filter(|text| text.trim().contains(char::is_whitespace));
    match (texts.next(), texts.next()) {
        (Some(only), None) => Some(Message::text("user", only)),
        _ => None,
    }
}

/// The key of the earlier turns, which chains with a memory and chat engines keep beside the question.
const HISTORY: &str = "chat_history";

/// Whether earlier turns stand in `json` beside what it says itself.
pub(super) fn has_history(json: &Json) -> bool {
    json.get(HISTORY).is_some_and(|history| !history.is_null())
}

/// The earlier turns, and after them the question that is asked now. An output repeats the turns, and they are no answer,
/// so only inputs are asked.
fn earlier_turns(object: &Map<String, Json>, depth: usize, found: &mut Vec<Message>) {
    const ASKED: [&str; 6] = ["question", "query", "user_input", "input", "message", "prompt"];
    let Some(history) = object.get(HISTORY) else { return };
    let before = found.len();
    collect(&open(history), Side::Input, depth, found);
    if found.len() == before {
        return;
    }
    let now = |key: &&str| super::content::readable(object.get(*key)?.as_str()?);
    if let Some(question) = ASKED.iter().find_map(now) {
        let asked = Message::text("user", question);
        if found.last() != Some(&asked) {
            found.push(asked);
        }
    }
}

/// The instructions of a request. Gemini's may be a message of parts, and ADK keeps them among the parameters.
fn system(object: &Map<String, Json>) -> Option<&Json> {
    const KEYS: [&str; 4] = ["system", "instructions", "system_instruction", "systemInstruction"];
    let inner = || object.get("config").and_then(|config| KEYS[2..].iter().find_map(|key| config.get(*key)));
    let found = KEYS.iter().find_map(|key| object.get(*key)).or_else(inner)?;
    Some(found.get("parts").unwrap_or(found))
}

/// One message in the shape of OpenTelemetry, OpenAI, Vercel, LangChain, LlamaIndex, or an item of OpenAI Responses.
fn message(json: &Json, object: &Map<String, Json>, side: Side) -> Option<Message> {
    if let Some(message) = choice(object) {
        return Some(message);
    }
    if let Some(role) = object.get("role").and_then(Json::as_str) {
        return Some(from_role(role, object));
    }
    // Gemini lets a role be left out.
    if object.get("parts").is_some_and(Json::is_array) {
        let role = if side == Side::Input { "user" } else { "assistant" };
        return Some(from_role(role, object));
    }
    if object.contains_key("lc") {
        let class = object.get("id")?.as_array()?.last()?.as_str()?;
        let inner = object.get("kwargs")?.as_object()?;
        let role = class.trim_end_matches("Chunk").strip_suffix("Message")?.to_ascii_lowercase();
        return Some(from_role(&role, inner));
    }
    let kind = object.get("type").and_then(Json::as_str)?;
    match kind.trim_end_matches("MessageChunk") {
        "human" | "ai" | "system" | "AI" | "Human" | "System" => langchain(kind, object),
        "tool" | "function" if object.contains_key("tool_call_id") || object.contains_key("data") => {
            langchain(kind, object)
        }
        "function_call" | "custom_tool_call" | "mcp_call" => {
            Some(of_parts("assistant", parts::of_content(json)))
        }
        "function_call_output" | "custom_tool_call_output" => Some(of_parts("tool", parts::of_content(json))),
        "text" | "input_text" | "output_text" | "tool_use" if side == Side::Output => {
            Some(of_parts("assistant", parts::of_content(json)))
        }
        _ => None,
    }
}

fn langchain(kind: &str, object: &Map<String, Json>) -> Option<Message> {
    let inner = object.get("data").and_then(Json::as_object).unwrap_or(object);
    inner.get("content")?;
    Some(from_role(kind.trim_end_matches("MessageChunk").to_ascii_lowercase().as_str(), inner))
}

/// `{index, finish_reason, message}` of OpenAI and of the old events, `{text, message, generation_info}` of LangChain.
fn choice(object: &Map<String, Json>) -> Option<Message> {
    let is_choice = object.contains_key("finish_reason")
        || object.contains_key("generation_info")
        || object.contains_key("index");
    match object.get("message").map(open).as_deref() {
        Some(inner @ Json::Object(fields)) => {
            let speaks =
                ["content", "parts", "blocks", "tool_calls"].iter().any(|key| fields.contains_key(*key));
            let unnamed = || speaks.then(|| from_role("assistant", fields));
            let mut found = message(inner, fields, Side::Output).or_else(unnamed)?;
            found.finish_reason = finish_reason(object).or(found.finish_reason);
            Some(found)
        }
        Some(Json::String(words)) if is_choice => {
            Some(Message { finish_reason: finish_reason(object), ..Message::text("assistant", words) })
        }
        None if is_choice && !object.contains_key("role") && !object.contains_key("type") => {
            let words = text(object.get("text")?)?;
            Some(Message { finish_reason: finish_reason(object), ..Message::text("assistant", words) })
        }
        _ => None,
    }
}

/// A message from its role and the object that holds its content, calls and results.
pub(super) fn from_role(role: &str, object: &Map<String, Json>) -> Message {
    let role = plain_role(role);
    // In ADK's events the content is a message of Gemini's once more. What a tool gave stays as it is.
    let inner = |content: &Json| content.get("parts").is_some_and(Json::is_array) && role != "tool";
    let content = ["parts", "content", "contents", "blocks"]
        .iter()
        .find_map(|key| object.get(*key).filter(|v| !v.is_null()))
        .and_then(|content| if inner(content) { content.get("parts") } else { Some(content) });
    let call_id = text_in(object, &["tool_call_id", "toolCallId"]);
    let mut pieces = match content {
        Some(result) if role == "tool" && !holds_parts(result) => {
            let id = call_id.or_else(|| text_in(object, &["id"]));
            vec![Part::ToolResponse { id, response: parts::plain_result(result) }]
        }
        Some(content) => parts::of_content(content),
        None => Vec::new(),
    };
    if let Some(thought) = text_in(object, &["reasoning_content", "reasoning"]) {
        pieces.insert(0, Part::Reasoning(thought));
    }
    if !pieces.iter().any(|part| matches!(part, Part::ToolCall(_))) {
        let calls = ["tool_calls", "toolCalls"]
            .iter()
            .find_map(|key| object.get(*key))
            .or_else(|| object.get("additional_kwargs")?.get("tool_calls"));
        pieces.extend(calls.map(parts::calls).unwrap_or_default().into_iter().map(Part::ToolCall));
    }
    Message { finish_reason: finish_reason(object), ..of_parts(&role, pieces) }
}

/// A message of these pieces. One that only holds tool results is the tool's, whatever role the sender gave it: the
/// user did not say it.
pub(super) fn of_parts(role: &str, parts: Vec<Part>) -> Message {
    let only_results =
        !parts.is_empty() && parts.iter().all(|part| matches!(part, Part::ToolResponse { .. }));
    let role = if only_results { "tool".to_owned() } else { plain_role(role) };
    Message { role, parts, finish_reason: None }
}

fn holds_parts(content: &Json) -> bool {
    const TYPES: [&str; 3] = ["tool_call_response", "tool-result", "tool_result"];
    content.as_array().is_some_and(|items| {
        items.iter().any(|item| {
            parts::RESULTS.iter().any(|key| item.get(*key).is_some())
                || item
                    .get("type")
                    .and_then(Json::as_str)
                    .is_some_and(|t| TYPES.contains(&t) || t == "tool_call")
        })
    })
}

/// The role in the spelling of the conventions: .NET writes `User`. A role that nobody knows stays as it is.
fn plain_role(role: &str) -> String {
    match role.to_ascii_lowercase().as_str() {
        "human" | "user" => "user",
        "ai" | "model" | "chatbot" | "assistant" => "assistant",
        "function" | "tool" => "tool",
        "system" => "system",
        "developer" => "developer",
        _ => role,
    }
    .to_owned()
}

fn finish_reason(object: &Map<String, Json>) -> Option<String> {
    let here = text_in(object, &["finish_reason", "finishReason", "stop_reason"]);
    here.or_else(|| {
        ["generation_info", "response_metadata"]
            .iter()
            .find_map(|key| text_at(object.get(*key)?, &["finish_reason", "stop_reason", "stopReason"]))
    })
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
