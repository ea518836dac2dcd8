//! Chat messages in the shape of the OpenTelemetry GenAI conventions (`role` and `parts`).

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value as Json;

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
    ToolResponse {
        /// The id of the call, if the sender told it.
        id: Option<String>,
        /// The answer.
        response: Json,
    },
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

    /// Roughly the bytes of its JSON, where the texts are most of it.
    pub fn text_bytes(&self) -> usize {
        let bytes = |part: &Part| match part {
            Part::Text(text) | Part::Reasoning(text) => text.len() + text.len() / 32 + 64,
            Part::ToolCall(_) | Part::ToolResponse { .. } | Part::Other(_) => 256,
        };
        64 + self.parts.iter().map(bytes).sum::<usize>()
    }

    /// Reads an element of what [`write_messages`] wrote.
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

/// Something in the shape of the OpenTelemetry conventions. Prompts are long, so they are written from where they are.
struct Shape<'a, T>(&'a T);

impl Serialize for Shape<'_, Message> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Shape(Message { role, parts, finish_reason }) = self;
        let mut object = to.serialize_map(None)?;
        object.serialize_entry("role", role)?;
        object.serialize_entry("parts", &parts.iter().map(Shape).collect::<Vec<_>>())?;
        if let Some(reason) = finish_reason {
            object.serialize_entry("finish_reason", reason)?;
        }
        object.end()
    }
}

impl Serialize for Shape<'_, Part> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (kind, content) = match self.0 {
            Part::Text(text) => ("text", text),
            Part::Reasoning(text) => ("reasoning", text),
            Part::ToolCall(call) => return Shape(call).serialize(to),
            Part::ToolResponse { id, response } => {
                let mut object = to.serialize_map(None)?;
                object.serialize_entry("type", "tool_call_response")?;
                object.serialize_entry("id", id)?;
                object.serialize_entry("response", response)?;
                return object.end();
            }
            Part::Other(json) => return json.serialize(to),
        };
        let mut object = to.serialize_map(None)?;
        object.serialize_entry("type", kind)?;
        object.serialize_entry("content", content)?;
        object.end()
    }
}

impl Serialize for Shape<'_, ToolCall> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Shape(ToolCall { id, name, arguments }) = self;
        let mut object = to.serialize_map(None)?;
        object.serialize_entry("type", "tool_call")?;
        object.serialize_entry("id", id)?;
        object.serialize_entry("name", name)?;
        object.serialize_entry("arguments", arguments)?;
        object.end()
    }
}

/// Appends `messages` as a JSON list to `out`; false, and nothing, for no messages.
pub fn write_messages(messages: &[Message], out: &mut Vec<u8>) -> bool {
    write_list(messages, out)
}

/// Appends tool calls as a JSON list to `out`; false, and nothing, for no calls.
pub fn write_calls(calls: &[ToolCall], out: &mut Vec<u8>) -> bool {
    write_list(calls, out)
}

fn write_list<'a, T>(items: &'a [T], out: &mut Vec<u8>) -> bool
where
    Shape<'a, T>: Serialize,
{
    let shapes: Vec<_> = items.iter().map(Shape).collect();
    // Keys are texts and nothing else can fail.
    !items.is_empty() && serde_json::to_writer(out, &shapes).is_ok()
}

/// Reads what [`write_messages`] wrote; text that is not such a list gives no messages.
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_are_written_in_the_shape_of_the_conventions_and_read_back() {
        let call =
            ToolCall { id: Some("c1".into()), name: "get".into(), arguments: json!({"z": 1, "a": "\"é\""}) };
        let answer = Message {
            role: "assistant".into(),
            parts: vec![
                Part::Reasoning("why".into()),
                Part::Text("line\nline".into()),
                Part::ToolCall(call.clone()),
            ],
            finish_reason: Some("stop".into()),
        };
        let result = Part::ToolResponse { id: None, response: json!([18.5]) };
        let image = Part::Other(json!({"type": "uri", "uri": "x"}));
        let tool = Message { role: "tool".into(), parts: vec![result, image], finish_reason: None };
        let written = |write: &dyn Fn(&mut Vec<u8>) -> bool| {
            let mut out = Vec::new();
            write(&mut out).then(|| String::from_utf8(out).unwrap())
        };
        let both = [answer.clone(), tool.clone()];
        let text = written(&|out| write_messages(&both, out)).unwrap();
        let called = r#"{"type":"tool_call","id":"c1","name":"get","arguments":{"z":1,"a":"\"é\""}}"#;
        let said = [
            r#"[{"role":"assistant","parts":[{"type":"reasoning","content":"why"},"#,
            r#"{"type":"text","content":"line\nline"},"#,
            called,
            r#"],"finish_reason":"stop"},{"role":"tool","parts":["#,
            r#"{"type":"tool_call_response","id":null,"response":[18.5]},{"type":"uri","uri":"x"}]}]"#,
        ];
        assert_eq!(text, said.concat());
        assert_eq!(from_json_text(&text), [answer, tool]);
        assert_eq!(
            written(&|out| write_calls(std::slice::from_ref(&call), out)),
            Some(format!("[{called}]"))
        );
        assert_eq!(written(&|out| write_messages(&[], out)), None);
    }
}
