//! Arize OpenInference: flattened messages and documents, and free-form `input.value` and `output.value`.

use super::documents;
use super::draft::Draft;
use super::fields::Fields;
use super::fill::fill;
use super::json::{decode, decode_or_text, text_at};
use super::messages::Side;
use super::parts;
use super::usage;
use crate::domain::message::{Message, Part, ToolCall};
use crate::domain::span::{Operation, Span, StatusCode};
use serde_json::Value as Json;

/// The operation by `openinference.span.kind`, else by the keys that only one kind has.
pub(super) fn operation(fields: &Fields<'_>) -> Option<Operation> {
    if let Some(kind) = fields.plain("openinference.span.kind") {
        return kind_named(&kind.to_ascii_uppercase());
    }
    let has = |prefix: &str| !fields.under(prefix).is_empty();
    if has("llm.input_messages.") || has("llm.output_messages.") || has("llm.token_count.") {
        Some(Operation::Llm)
    } else if has("retrieval.documents.") {
        Some(Operation::Retrieval)
    } else if has("reranker.") {
        Some(Operation::Reranker)
    } else if has("embedding.embeddings.") {
        Some(Operation::Embedding)
    } else {
        None
    }
}

fn kind_named(kind: &str) -> Option<Operation> {
    Some(match kind {
        "LLM" => Operation::Llm,
        "RETRIEVER" => Operation::Retrieval,
        "RERANKER" => Operation::Reranker,
        "EMBEDDING" => Operation::Embedding,
        "TOOL" => Operation::Tool,
        "AGENT" => Operation::Agent,
        "CHAIN" | "PROMPT" => Operation::Chain,
        "GUARDRAIL" => Operation::Guardrail,
        "EVALUATOR" => Operation::Evaluator,
        _ => return None,
    })
}

/// Fills what OpenInference keys say.
pub(super) fn fill_from(fields: &Fields<'_>, span: &Span, draft: &mut Draft) {
    draft.messages(Side::Input, listed(fields, "llm.input_messages.", "llm.prompts.", "prompt.text", "user"));
    draft.messages(
        Side::Output,
        listed(fields, "llm.output_messages.", "llm.choices.", "completion.text", "assistant"),
    );
    for key in ["llm.invocation_parameters", "embedding.invocation_parameters"] {
        if let Some(parameters) = fields.json(key) {
            usage::request(&parameters, &mut draft.llm);
        }
    }
    retrieved(fields, draft);
    tool(fields, draft);
    if let [only] = fields.elements("embedding.embeddings.").as_slice() {
        fill(&mut draft.llm.question, only.plain("embedding.text"));
    }
    if let Some(raw) = fields.raw("input.value") {
        draft.input(&raw);
    }
    if let Some(raw) = fields.raw("output.value") {
        draft.output(&raw);
    }
    model(fields, span, draft);
    if let Some(metadata) = fields.json("metadata") {
        fill(&mut draft.llm.session_id, text_at(&metadata, &["session_id", "thread_id", "conversation_id"]));
        fill(&mut draft.llm.user_id, text_at(&metadata, &["user_id"]));
    }
}

/// One name serves for the model that was asked and for the one that answered. Where the call failed, nobody answered.
fn model(fields: &Fields<'_>, span: &Span, draft: &mut Draft) {
    let name = fields.plain("llm.model_name");
    if span.status != StatusCode::Error {
        fill(&mut draft.llm.response_model, name.clone());
    }
    fill(&mut draft.llm.request_model, name);
}

fn retrieved(fields: &Fields<'_>, draft: &mut Draft) {
    for prefix in ["retrieval.documents.", "reranker.output_documents.", "reranker.input_documents."] {
        if draft.llm.documents.is_empty() {
            draft.llm.documents = documents::flattened(fields, prefix);
        }
    }
    fill(&mut draft.llm.question, fields.plain("reranker.query"));
    // LangChain's flattened documents lack their ids; the output has them.
    if draft.llm.operation == Operation::Retrieval
        && draft.llm.documents.iter().any(|document| document.id.is_none())
        && let Some(json) = fields.json("output.value")
    {
        documents::complete(&mut draft.llm.documents, documents::of_retrieval(&json));
    }
}

fn tool(fields: &Fields<'_>, draft: &mut Draft) {
    fill(&mut draft.tool.name, fields.plain("tool.name"));
    fill(&mut draft.tool.id, fields.first(&["tool_call.id", "tool.id"]));
    // By the specification this is the schema; some senders put the arguments here.
    if fields.get("input.value").is_none()
        && let Some(json) = fields.json("tool.parameters")
        && json.get("properties").is_none()
    {
        fill(&mut draft.tool.arguments, Some(json));
    }
}

/// Chat messages under `chat`, else bare texts under `bare`.
fn listed(fields: &Fields<'_>, chat: &str, bare: &str, bare_key: &str, role: &str) -> Vec<Message> {
    let messages: Vec<Message> = fields.elements(chat).iter().map(|element| message(element, role)).collect();
    if !messages.is_empty() {
        return messages;
    }
    fields.elements(bare).iter().filter_map(|e| Some(Message::text(role, e.plain(bare_key)?))).collect()
}

fn message(element: &Fields<'_>, default_role: &str) -> Message {
    let role = element.plain("message.role").unwrap_or_else(|| default_role.to_owned());
    let id = element.plain("message.tool_call_id");
    // What Anthropic's tools gave comes in messages of the user; only the id of the call tells.
    let is_result = role == "tool" || id.is_some();
    let mut pieces: Vec<Part> = match element.text("message.content") {
        Some(text) if is_result => vec![Part::Text(text.to_owned())],
        Some(text) => parts::of_text(text),
        None => element.elements("message.contents.").iter().filter_map(content).collect(),
    };
    if is_result {
        let told = Message { parts: pieces.clone(), ..Message::default() }.joined_text();
        if let Some(text) = told {
            pieces = vec![Part::ToolResponse { id, response: Json::String(text) }];
        }
    }
    let calls = element.elements("message.tool_calls.");
    pieces.extend(calls.iter().filter_map(call).map(Part::ToolCall));
    super::messages::of_parts(&role, pieces)
}

fn content(element: &Fields<'_>) -> Option<Part> {
    if let Some(text) = element.text("message_content.text") {
        let is_thought = element.text("message_content.type") == Some("reasoning");
        return Some(if is_thought { Part::Reasoning(text.into()) } else { Part::Text(text.into()) });
    }
    let uri = element.text("message_content.image.image.url")?;
    Some(Part::Other(serde_json::json!({"type": "uri", "modality": "image", "uri": uri})))
}

fn call(element: &Fields<'_>) -> Option<ToolCall> {
    let arguments = element.text("tool_call.function.arguments");
    Some(ToolCall {
        id: element.plain("tool_call.id"),
        name: element.plain("tool_call.function.name")?,
        arguments: arguments.map_or(Json::Null, |text| decode(text).unwrap_or_else(|| decode_or_text(text))),
    })
}
