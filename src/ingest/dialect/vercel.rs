//! Vercel AI SDK, `ai.*`. Inner spans (`doGenerate`, `doStream`) are the model calls, outer ones repeat them.

use super::draft::Draft;
use super::fields::Fields;
use super::fill::fill;
use super::json::{decode_or_text, open};
use super::messages::{self, Side};
use super::parts;
use crate::domain::message::{Message, Part};
use crate::domain::span::Operation;
use serde_json::Value as Json;

/// The operation by `ai.operationId`.
pub(super) fn operation(fields: &Fields<'_>) -> Option<Operation> {
    let id = fields.text("ai.operationId")?;
    Some(match id {
        "ai.toolCall" => Operation::Tool,
        "ai.generateText" | "ai.streamText" | "ai.generateObject" | "ai.streamObject" => Operation::Agent,
        _ if id.starts_with("ai.embed") => Operation::Embedding,
        _ if id.starts_with("ai.rerank") => Operation::Reranker,
        _ if id.ends_with(".doGenerate") || id.ends_with(".doStream") => Operation::Llm,
        _ => return None,
    })
}

/// Fills what `ai.*` keys say.
pub(super) fn fill_from(fields: &Fields<'_>, draft: &mut Draft) {
    if let Some(json) = fields.json("ai.prompt.messages") {
        draft.messages(Side::Input, messages::input(&json));
    }
    if let Some(raw) = fields.raw("ai.prompt") {
        draft.input(&raw);
    }
    draft.messages(Side::Output, answer(fields).into_iter().collect());
    fill(&mut draft.llm.question, embedded(fields));
    tool(fields, draft);
    if let Some(prompt) = fields.json("ai.telemetry.metadata.langfusePrompt") {
        let word =
            |key: &str| prompt.get(key).filter(|v| !v.is_null()).map(|v| v.to_string().replace('"', ""));
        fill(&mut draft.llm.prompt_name, word("name"));
        fill(&mut draft.llm.prompt_version, word("version"));
    }
}

/// The one message of the answer: reasoning, text or object, tool calls.
fn answer(fields: &Fields<'_>) -> Option<Message> {
    let first = |keys: [&str; 2]| keys.into_iter().find_map(|key| fields.raw(key));
    let mut pieces = Vec::new();
    pieces.extend(fields.text("ai.response.reasoning").map(|text| Part::Reasoning(text.to_owned())));
    let text = first(["ai.response.text", "ai.result.text"]);
    let object = || first(["ai.response.object", "ai.result.object"]);
    pieces.extend(text.or_else(object).map(|text| Part::Text(text.into_owned())));
    if let Some(calls) = first(["ai.response.toolCalls", "ai.result.toolCalls"]) {
        pieces.extend(parts::calls(&decode_or_text(&calls)).into_iter().map(Part::ToolCall));
    }
    let finish_reason = fields.first(&["ai.response.finishReason", "ai.finishReason"]);
    (!pieces.is_empty()).then(|| Message { finish_reason, ..messages::of_parts("assistant", pieces) })
}

/// The text that was embedded, if it was one.
fn embedded(fields: &Fields<'_>) -> Option<String> {
    fields.plain("ai.value").or_else(|| match fields.json("ai.values")? {
        Json::Array(values) if values.len() == 1 => open(&values[0]).as_ref().as_str().map(str::to_owned),
        _ => None,
    })
}

fn tool(fields: &Fields<'_>, draft: &mut Draft) {
    fill(&mut draft.tool.name, fields.plain("ai.toolCall.name"));
    fill(&mut draft.tool.id, fields.plain("ai.toolCall.id"));
    fill(&mut draft.tool.arguments, fields.raw("ai.toolCall.args").map(|raw| decode_or_text(&raw)));
    fill(&mut draft.tool.result, fields.raw("ai.toolCall.result").map(|raw| decode_or_text(&raw)));
}
