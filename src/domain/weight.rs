//! Roughly how much memory the content of a log record, or a document, takes.

use super::document::Document;
use super::message::{Message, Part, ToolCall};
use super::span::Llm;
use serde_json::Value as Json;

/// Bytes of `llm` with all that it owns.
pub fn of_content(llm: &Llm) -> usize {
    let texts = [
        &llm.provider,
        &llm.request_model,
        &llm.response_model,
        &llm.system_prompt,
        &llm.question,
        &llm.answer,
        &llm.session_id,
        &llm.user_id,
        &llm.prompt_name,
        &llm.prompt_version,
        &llm.error_type,
    ];
    let messages = llm.input_messages.iter().chain(&llm.output_messages);
    size_of::<Llm>()
        + texts.into_iter().map(of_text).sum::<usize>()
        + messages.map(of_message).sum::<usize>()
        + llm.documents.iter().map(of_document).sum::<usize>()
        + llm.tool_calls.iter().map(of_call).sum::<usize>()
        + llm.finish_reasons.iter().map(|reason| size_of::<String>() + reason.len()).sum::<usize>()
}

fn of_text(text: &Option<String>) -> usize {
    text.as_ref().map_or(0, String::len)
}

fn of_message(message: &Message) -> usize {
    let parts: usize = message.parts.iter().map(of_part).sum();
    size_of::<Message>() + message.role.len() + of_text(&message.finish_reason) + parts
}

fn of_part(part: &Part) -> usize {
    let own: usize = match part {
        Part::Text(text) | Part::Reasoning(text) => text.len(),
        Part::ToolCall(call) => of_call(call),
        Part::ToolResponse { id, response } => of_text(id) + of_json(response),
        Part::Other(json) => of_json(json),
    };
    size_of::<Part>() + own
}

fn of_call(call: &ToolCall) -> usize {
    size_of::<ToolCall>() + of_text(&call.id) + call.name.len() + of_json(&call.arguments)
}

/// Bytes of `document` with all that it owns.
pub fn of_document(document: &Document) -> usize {
    let texts = [&document.id, &document.uri, &document.content, &document.tenant];
    let texts: usize = texts.into_iter().map(of_text).sum();
    size_of::<Document>() + texts + document.metadata.as_ref().map_or(0, of_json)
}

/// The reader of JSON bounds how deep it nests.
fn of_json(json: &Json) -> usize {
    let own: usize = match json {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(of_json).sum(),
        Json::Object(fields) => {
            fields.iter().map(|(key, value)| size_of::<String>() + key.len() + of_json(value)).sum()
        }
        _ => 0,
    };
    size_of::<Json>() + own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_weighs() {
        let long = || "x".repeat(1_000);
        let call = ToolCall { id: None, name: long(), arguments: Json::Array(vec![Json::String(long())]) };
        let message = Message {
            role: "tool".to_owned(),
            parts: vec![
                Part::Text(long()),
                Part::ToolCall(call),
                Part::ToolResponse { id: None, response: Json::String(long()) },
                Part::Other(serde_json::json!({ "a": [long()] })),
            ],
            finish_reason: None,
        };
        let document =
            Document { content: Some(long()), metadata: Some(Json::String(long())), ..Document::default() };
        let llm = Llm {
            answer: Some(long()),
            output_messages: vec![message],
            documents: vec![document],
            ..Llm::default()
        };
        let extra = of_content(&llm) - of_content(&Llm::default());
        assert!((8_000..12_000).contains(&extra), "{extra}");
    }
}
