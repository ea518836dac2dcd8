//! LangSmith over OpenTelemetry. Its `gen_ai.operation.name` cannot be trusted; its input and output are JSON under
//! the old `gen_ai.prompt` and `gen_ai.completion`, which `otel_genai` reads too.

use super::draft::Draft;
use super::fields::Fields;
use super::fill::fill;
use super::json::{is_cost, number};
use super::usage;
use crate::domain::span::Operation;

/// The operation by `langsmith.span.kind`.
pub(super) fn operation(fields: &Fields<'_>) -> Option<Operation> {
    Some(match fields.plain("langsmith.span.kind")?.to_ascii_lowercase().as_str() {
        "llm" => Operation::Llm,
        "retriever" => Operation::Retrieval,
        "embedding" => Operation::Embedding,
        "tool" => Operation::Tool,
        "chain" | "prompt" | "parser" => Operation::Chain,
        _ => return None,
    })
}

/// Fills what LangSmith's keys say.
pub(super) fn fill_from(fields: &Fields<'_>, draft: &mut Draft) {
    if let Some(tokens) = fields.json("langsmith.metadata.usage_metadata") {
        usage::tokens(&tokens, &mut draft.llm);
        let cost = tokens.get("total_cost").and_then(number).filter(|cost| is_cost(*cost));
        fill(&mut draft.llm.cost_usd, cost);
    }
    if let Some(raw) = fields.raw("gen_ai.prompt") {
        draft.input(&raw);
    }
    if let Some(raw) = fields.raw("gen_ai.completion") {
        draft.output(&raw);
    }
}
