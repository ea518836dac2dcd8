//! Chat messages in the shape of the OpenTelemetry GenAI conventions (`role` and `parts`).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Message {
    /// `system`, `user`, `assistant`, `tool`, or what the sender said.
    pub role: String,
    /// The pieces, in order.
    pub parts: Vec<Part>,
    /// Why the model stopped, on an output message.
    pub finish_reason: Option<String>,
}

/// One piece of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Part {
    /// Text that the reader sees.
    Text(String),
    /// The model asks for a tool.
    ToolCall(ToolCall),
    /// What the tool answered: text, or JSON.
    ToolResponse { id: Option<String>, response: Json },
    /// The model's own reasoning.
    Reasoning(String),
    /// Anything else (images, files, references), as it came.
    Other(Json),
}

/// A call of a tool that a model asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The call's id, if the sender gave one.
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// The arguments: an object where they parse, else the text.
    pub arguments: Json,
}

impl Message {
    /// A message of one text.
    pub fn text(role: &str, text: impl Into<String>) -> Self {
        Self { role: role.to_owned(), parts: vec![Part::Text(text.into())], finish_reason: None }
    }

    /// All text parts, joined by a line end; none if there is no text.
    pub fn joined_text(&self) -> Option<String> {
        let texts: Vec<&str> = self
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) if !text.is_empty() => Some(text.as_str()),
                _ => None,
            })
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// The message as JSON in the OpenTelemetry shape.
    pub fn to_json(&self) -> Json {
        let mut object = Map::new();
        object.insert("role".into(), Json::String(self.role.clone()));
        object.insert("parts".into(), Json::Array(self.parts.iter().map(Part::to_json).collect()));
        if let Some(reason) = &self.finish_reason {
            object.insert("finish_reason".into(), Json::String(reason.clone()));
        }
        Json::Object(object)
    }

    /// Reads what [`Message::to_json`] wrote.
    pub fn from_json(json: &Json) -> Option<Self> {
        let object = json.as_object()?;
        let parts = object.get("parts")?.as_array()?.iter().map(Part::from_json).collect();
        Some(Self {
            role: object.get("role")?.as_str()?.to_owned(),
            parts,
            finish_reason: object.get("finish_reason").and_then(Json::as_str).map(str::to_owned),
        })
    }
}

impl Part {
    fn to_json(&self) -> Json {
        match self {
            Part::Text(text) => serde_json::json!({"type": "text", "content": text}),
            Part::Reasoning(text) => serde_json::json!({"type": "reasoning", "content": text}),
            Part::ToolCall(call) => call.to_json(),
            Part::ToolResponse { id, response } => {
                serde_json::json!({"type": "tool_call_response", "id": id, "response": response})
            }
            Part::Other(json) => json.clone(),
        }
    }

    fn from_json(json: &Json) -> Self {
        let text = |key: &str| json.get(key).and_then(Json::as_str).map(str::to_owned);
        match json.get("type").and_then(Json::as_str) {
            Some("text") => Part::Text(text("content").unwrap_or_default()),
            Some("reasoning") => Part::Reasoning(text("content").unwrap_or_default()),
            Some("tool_call") => Part::ToolCall(ToolCall {
                id: text("id"),
                name: text("name").unwrap_or_default(),
                arguments: json.get("arguments").cloned().unwrap_or(Json::Null),
            }),
            Some("tool_call_response") => Part::ToolResponse {
                id: text("id"),
                response: json.get("response").cloned().unwrap_or(Json::Null),
            },
            _ => Part::Other(json.clone()),
        }
    }
}

impl ToolCall {
    /// The call as a `tool_call` part.
    pub fn to_json(&self) -> Json {
        serde_json::json!({"type": "tool_call", "id": self.id, "name": self.name, "arguments": self.arguments})
    }
}

/// Messages as one JSON text; none for no messages.
pub fn to_json_text(messages: &[Message]) -> Option<String> {
    if messages.is_empty() {
        return None;
    }
    Some(Json::Array(messages.iter().map(Message::to_json).collect()).to_string())
}

/// Reads what [`to_json_text`] wrote; text that is not such a list gives no messages.
pub fn from_json_text(text: &str) -> Vec<Message> {
    let Ok(Json::Array(items)) = serde_json::from_str(text) else { return Vec::new() };
    items.iter().filter_map(Message::from_json).collect()
}

/// The question that the messages ask: the text of the last user message.
pub fn question_of(input: &[Message]) -> Option<String> {
    input.iter().rev().filter(|m| m.role == "user").find_map(Message::joined_text)
}

/// The answer that the messages give: the text of the last message that has some.
pub fn answer_of(output: &[Message]) -> Option<String> {
    output.iter().rev().find_map(Message::joined_text)
}

/// The system prompt: the text of all leading `system` and `developer` messages.
pub fn system_of(input: &[Message]) -> Option<String> {
    let texts: Vec<String> = input
        .iter()
        .filter(|m| m.role == "system" || m.role == "developer")
        .filter_map(Message::joined_text)
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Every tool call in the messages.
pub fn tool_calls_of(messages: &[Message]) -> Vec<ToolCall> {
    messages
        .iter()
        .flat_map(|m| &m.parts)
        .filter_map(|part| match part {
            Part::ToolCall(call) => Some(call.clone()),
            _ => None,
        })
        .collect()
}
