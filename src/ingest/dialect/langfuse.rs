//! Langfuse: one observation a span, input and output of free form.

use super::draft::Draft;
use super::fields::Fields;
use super::fill::fill;
use super::usage;
use crate::domain::span::{Operation, Span, StatusCode};

/// The operation by `langfuse.observation.type`.
pub(super) fn operation(fields: &Fields<'_>) -> Option<Operation> {
    Some(match fields.plain("langfuse.observation.type")?.to_ascii_lowercase().as_str() {
        "generation" => Operation::Llm,
        "retriever" => Operation::Retrieval,
        "embedding" => Operation::Embedding,
        "tool" => Operation::Tool,
        "agent" => Operation::Agent,
        "chain" | "span" => Operation::Chain,
        "guardrail" => Operation::Guardrail,
        "evaluator" => Operation::Evaluator,
        "event" => Operation::Event,
        _ => return None,
    })
}

/// Fills what `langfuse.*` keys say.
pub(super) fn fill_from(fields: &Fields<'_>, span: &Span, draft: &mut Draft) {
    // One name for two models: that of the answer where there is one.
    let model = fields.plain("langfuse.observation.model.name");
    if span.status == StatusCode::Error {
        fill(&mut draft.llm.request_model, model);
    } else {
        fill(&mut draft.llm.response_model, model);
    }
    if let Some(parameters) = fields.json("langfuse.observation.model.parameters") {
        usage::request(&parameters, &mut draft.llm);
    }
    if let Some(details) = fields.json("langfuse.observation.usage_details") {
        usage::tokens(&details, &mut draft.llm);
    }
    if let Some(details) = fields.json("langfuse.observation.cost_details") {
        usage::cost(&details, &mut draft.llm);
    }
    for key in ["langfuse.observation.input", "langfuse.trace.input"] {
        if let Some(raw) = fields.raw(key) {
            draft.input(&raw);
        }
    }
    for key in ["langfuse.observation.output", "langfuse.trace.output"] {
        if let Some(raw) = fields.raw(key) {
            draft.output(&raw);
        }
    }
}
