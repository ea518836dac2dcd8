//! MLflow tracing. Every attribute is JSON text, plain strings too.

use super::draft::Draft;
use super::fields::Fields;
use super::fill::fill;
use super::json::{integer, is_count, number, text_at};
use super::usage;
use crate::domain::span::Operation;

/// The operation by `mlflow.spanType`.
pub(super) fn operation(fields: &Fields<'_>) -> Option<Operation> {
    Some(match fields.plain("mlflow.spanType")?.as_str() {
        "LLM" | "CHAT_MODEL" => Operation::Llm,
        "RETRIEVER" => Operation::Retrieval,
        "RERANKER" => Operation::Reranker,
        "EMBEDDING" => Operation::Embedding,
        "TOOL" => Operation::Tool,
        "AGENT" => Operation::Agent,
        "CHAIN" | "WORKFLOW" | "TASK" | "PARSER" | "UNKNOWN" => Operation::Chain,
        "GUARDRAIL" => Operation::Guardrail,
        "EVALUATOR" => Operation::Evaluator,
        _ => return None,
    })
}

/// Fills what `mlflow.*` keys and the loose copies of the request's parameters say.
pub(super) fn fill_from(fields: &Fields<'_>, draft: &mut Draft) {
    if let Some(tokens) = fields.json("mlflow.chat.tokenUsage") {
        usage::tokens(&tokens, &mut draft.llm);
    }
    if let Some(cost) = fields.json("mlflow.llm.cost") {
        usage::cost(&cost, &mut draft.llm);
    }
    if let Some(prompts) = fields.json("mlflow.linkedPrompts")
        && let Some([only]) = prompts.as_array().map(Vec::as_slice)
    {
        fill(&mut draft.llm.prompt_name, text_at(only, &["name"]));
        let in_digits = || Some(integer(only.get("version")?)?.to_string());
        fill(&mut draft.llm.prompt_version, text_at(only, &["version"]).or_else(in_digits));
    }
    if let Some(raw) = fields.raw("mlflow.spanInputs") {
        draft.input(&raw);
    }
    if let Some(raw) = fields.raw("mlflow.spanOutputs") {
        draft.output(&raw);
    }
    if matches!(draft.llm.operation, Operation::Llm | Operation::Embedding) {
        let loose = |key: &str| fields.get(key).map(|value| value.to_plain_json());
        fill(&mut draft.llm.request_model, fields.plain("model"));
        fill(&mut draft.llm.temperature, loose("temperature").and_then(|json| number(&json)));
        let limit = loose("max_tokens").or_else(|| loose("max_completion_tokens"));
        fill(&mut draft.llm.max_tokens, limit.and_then(|json| integer(&json)).filter(|n| is_count(*n)));
    }
}
