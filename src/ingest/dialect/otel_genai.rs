//! OpenTelemetry GenAI, latest and old names, on attributes. What is in events is read by `genai_events`.

use super::documents;
use super::draft::Draft;
use super::fields::Fields;
use super::fill::fill;
use super::json::{decode_noting_cut, decode_or_text};
use super::messages::{self, Side};
use super::parts;
use crate::domain::message::{Message, Part};
use crate::domain::span::Operation;
use serde_json::Value as Json;

/// The operation by `gen_ai.operation.name`; none for a name of the sender's own.
pub(super) fn operation(fields: &Fields<'_>) -> Option<Operation> {
    operation_named(fields.text("gen_ai.operation.name")?)
}

fn operation_named(name: &str) -> Option<Operation> {
    Some(match name {
        "chat" | "text_completion" | "generate_content" | "completion" | "LLM" | "CHAT_MODEL" => {
            Operation::Llm
        }
        // Semantic Kernel and Amazon Bedrock of earlier days, and the Responses API of Azure.
        "chat.completions" | "text.completions" | "text_generation" | "responses" | "response" => {
            Operation::Llm
        }
        "chat.streaming_completions" | "text.streaming_completions" => Operation::Llm,
        "retrieval" | "search_memory" | "vector_db_retrieve" | "RETRIEVER" => Operation::Retrieval,
        "embeddings" | "embedding" | "EMBEDDING" => Operation::Embedding,
        "rerank" | "RERANKER" => Operation::Reranker,
        "execute_tool" | "TOOL" => Operation::Tool,
        "invoke_agent" | "create_agent" | "plan" | "agent_step" | "process_thread_run" | "AGENT" => {
            Operation::Agent
        }
        "invoke_workflow" | "execute_task" | "CHAIN" | "WORKFLOW" | "TASK" | "PARSER" => Operation::Chain,
        "apply_guardrail" | "guardrail" | "guardrail_check" | "GUARDRAIL" => Operation::Guardrail,
        "evaluate" | "EVALUATOR" => Operation::Evaluator,
        _ => return None,
    })
}

/// Fills what `gen_ai.*` attributes say. The same attributes stand on log records.
pub(super) fn fill_from(fields: &Fields<'_>, draft: &mut Draft) {
    if let Some(raw) = fields.raw("gen_ai.system_instructions") {
        fill(&mut draft.llm.system_prompt, instructions(&decode_or_text(&raw)));
    }
    if let Some(raw) = fields.raw("gen_ai.input.messages") {
        conversation(&raw, Side::Input, draft);
    }
    if let Some(raw) = fields.raw("gen_ai.output.messages") {
        conversation(&raw, Side::Output, draft);
    }
    // Before events there were two attributes of free form, and LangSmith has kept them.
    if let Some(raw) = fields.raw("gen_ai.prompt") {
        draft.input(&raw);
    }
    if let Some(raw) = fields.raw("gen_ai.completion") {
        draft.output(&raw);
    }
    fill(&mut draft.llm.question, fields.plain("gen_ai.retrieval.query.text"));
    if draft.llm.documents.is_empty()
        && let Some(json) = fields.json("gen_ai.retrieval.documents")
    {
        draft.llm.documents = documents::of_retrieval(&json);
    }
    tool(fields, draft);
}

/// Messages of the current conventions; text that is no list of messages is a bare input or output.
fn conversation(raw: &str, side: Side, draft: &mut Draft) {
    let (json, is_cut) = decode_noting_cut(raw).unzip();
    let found: Vec<Message> = match (&json, side) {
        (Some(json), Side::Input) => messages::input(json),
        // One message per choice: nothing is repeated here, so nothing is cut.
        (Some(Json::Array(items)), Side::Output) if items.iter().all(Json::is_object) => {
            messages::all(&items[..])
        }
        (Some(json), Side::Output) => messages::output(json),
        (None, _) => Vec::new(),
    };
    if side == Side::Input && !found.is_empty() {
        draft.input_is_cut |= is_cut.unwrap_or_default();
    }
    match (found.is_empty(), side) {
        (false, side) => draft.messages(side, found),
        (true, Side::Input) => draft.input(raw),
        (true, Side::Output) => draft.output(raw),
    }
}

/// The text of `gen_ai.system_instructions`: a list of parts, or text.
pub(super) fn instructions(json: &Json) -> Option<String> {
    let parts: Vec<Part> = parts::of_content(json);
    Message { parts, ..Message::default() }.joined_text()
}

fn tool(fields: &Fields<'_>, draft: &mut Draft) {
    fill(&mut draft.tool.name, fields.plain("gen_ai.tool.name"));
    fill(&mut draft.tool.id, fields.plain("gen_ai.tool.call.id"));
    let first =
        |keys: [&str; 2]| keys.into_iter().find_map(|key| fields.raw(key)).map(|raw| decode_or_text(&raw));
    fill(&mut draft.tool.arguments, first(["gen_ai.tool.call.arguments", "tool_arguments"]));
    fill(&mut draft.tool.result, first(["gen_ai.tool.call.result", "tool_response"]));
}
