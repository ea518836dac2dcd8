//! Traceloop OpenLLMetry. Its newer versions write the messages of OpenTelemetry GenAI; the classic ones flatten them
//! into `gen_ai.prompt.N` and `gen_ai.completion.N`.

use super::documents;
use super::draft::Draft;
use super::fields::Fields;
use super::fill::fill;
use super::json::decode_or_text;
use super::messages::{self, Side};
use super::parts;
use crate::domain::document::Document;
use crate::domain::message::{Message, Part, ToolCall};
use crate::domain::span::{Event, Operation, Span};
use crate::domain::value::Value;
use serde_json::Value as Json;

const QUERY_RESULT: &str = "db.query.result";
const VECTOR_STORES: &[&str] = &[
    "chroma",
    "chromadb",
    "lancedb",
    "marqo",
    "milvus",
    "pgvector",
    "pg_vector",
    "pinecone",
    "qdrant",
    "weaviate",
    "vespa",
    "turbopuffer",
];

/// Whether the name of a database, however it is written, is that of a vector store.
pub(super) fn is_vector_store(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    VECTOR_STORES.iter().any(|store| name.contains(store))
}

/// The operation by `traceloop.span.kind`, by `llm.request.type`, or of a search in a vector store.
pub(super) fn operation(fields: &Fields<'_>, span: &Span) -> Option<Operation> {
    match fields.text("traceloop.span.kind") {
        Some("agent") => return Some(Operation::Agent),
        Some("tool") => return Some(Operation::Tool),
        // Tasks have no kinds of their own. One that gives back documents has looked them up.
        Some("task") if gives_documents(fields) => return Some(Operation::Retrieval),
        Some("workflow" | "task") => return Some(Operation::Chain),
        _ => {}
    }
    match fields.text("llm.request.type") {
        Some("chat" | "completion" | "text_completion" | "responses" | "anthropic_messages") => {
            return Some(Operation::Llm);
        }
        // LiteLLM puts the name of its function here, which for most callers is the asynchronous one.
        Some("acompletion" | "atext_completion" | "aresponses") => return Some(Operation::Llm),
        Some("embedding" | "aembedding") => return Some(Operation::Embedding),
        Some("rerank" | "arerank") => return Some(Operation::Reranker),
        _ => {}
    }
    searches_vectors(fields, span).then_some(Operation::Retrieval)
}

fn gives_documents(fields: &Fields<'_>) -> bool {
    let output = fields.json("traceloop.entity.output");
    output.is_some_and(|json| !documents::of_anything(&json).is_empty())
}

fn searches_vectors(fields: &Fields<'_>, span: &Span) -> bool {
    if span.events.iter().any(|event| event.name == QUERY_RESULT) {
        return true;
    }
    let store = fields.first(&["db.system.name", "db.system"]).unwrap_or_default().to_ascii_lowercase();
    let verb = fields.first(&["db.operation.name", "db.operation"]).unwrap_or_else(|| span.name.clone());
    let verb = verb.to_ascii_lowercase();
    VECTOR_STORES.contains(&store.as_str())
        && ["query", "search", "retrieve"].iter().any(|v| verb.contains(v))
}

/// Fills what Traceloop's own keys and the classic flattened messages say.
pub(super) fn fill_from(fields: &Fields<'_>, span: &Span, draft: &mut Draft) {
    draft.messages(Side::Input, listed(fields, "gen_ai.prompt.", "user"));
    draft.messages(Side::Output, listed(fields, "gen_ai.completion.", "assistant"));
    fill(&mut draft.tool.name, fields.first(&["gen_ai.tool.name", "traceloop.entity.name"]));
    for key in ["traceloop.entity.input", "gen_ai.task.input"] {
        if let Some(raw) = fields.raw(key) {
            draft.input(&raw);
        }
    }
    for key in ["traceloop.entity.output", "gen_ai.task.output"] {
        if let Some(raw) = fields.raw(key) {
            draft.output(&raw);
        }
    }
    if draft.llm.operation == Operation::Retrieval {
        fill(&mut draft.llm.question, fields.plain("db.query.text"));
        if draft.llm.documents.is_empty() {
            draft.llm.documents = from_events(&span.events);
        }
    }
}

/// One document an event.
fn from_events(events: &[Event]) -> Vec<Document> {
    let results = events.iter().filter(|event| event.name == QUERY_RESULT).map(|event| {
        let pairs = event.attributes.0.iter().filter_map(|(key, value)| {
            Some((key.strip_prefix("db.query.result.")?.to_owned(), value.to_plain_json()))
        });
        Json::Object(pairs.collect())
    });
    documents::of_retrieval(&Json::Array(results.collect()))
}

fn listed(fields: &Fields<'_>, prefix: &str, default_role: &str) -> Vec<Message> {
    fields.elements(prefix).iter().map(|element| message(element, default_role)).collect()
}

fn message(element: &Fields<'_>, default_role: &str) -> Message {
    // LangSmith's inbound form has one more step.
    let get = |key: &str| element.plain(key).or_else(|| element.plain(&format!("message.{key}")));
    let role = get("role").unwrap_or_else(|| default_role.to_owned());
    let mut pieces = content(get("content"), &role, get("tool_call_id"));
    let calls = element.elements("tool_calls.");
    pieces.extend(calls.iter().filter_map(call).map(Part::ToolCall));
    Message { finish_reason: get("finish_reason"), ..messages::of_parts(&role, pieces) }
}

fn content(content: Option<String>, role: &str, call_id: Option<String>) -> Vec<Part> {
    match content {
        Some(text) if role == "tool" => {
            vec![Part::ToolResponse { id: call_id, response: Json::String(text) }]
        }
        Some(text) => parts::of_text(&text),
        None => Vec::new(),
    }
}

fn call(element: &Fields<'_>) -> Option<ToolCall> {
    let arguments = match element.get("arguments") {
        Some(Value::Str(text)) => decode_or_text(text),
        Some(other) => other.to_plain_json(),
        None => Json::Null,
    };
    Some(ToolCall { id: element.plain("id"), name: element.plain("name")?, arguments })
}
