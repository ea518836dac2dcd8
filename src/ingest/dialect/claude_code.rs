//! Claude Code: keys without a prefix, so its spans are known by their scope.

use super::draft::Draft;
use super::fields::Fields;
use super::fill::fill;
use super::json::{decode_or_text, is_count};
use crate::domain::span::{Operation, Span};

/// Whether the scope is Claude Code's: `com.anthropic.claude_code.tracing`, earlier `….traces`.
pub(super) fn is_scope(scope: &str) -> bool {
    scope.starts_with("com.anthropic.claude_code")
}

/// The operation by `span.type`.
pub(super) fn operation(fields: &Fields<'_>, span: &Span) -> Option<Operation> {
    if !is_scope(&span.source.scope_name) {
        return None;
    }
    Some(match fields.text("span.type")? {
        "llm_request" => Operation::Llm,
        "tool" => Operation::Tool,
        "interaction" => Operation::Agent,
        _ => Operation::Other,
    })
}

/// Fills what the keys say. Cached tokens are not part of `input_tokens` here.
pub(super) fn fill_from(fields: &Fields<'_>, span: &Span, draft: &mut Draft) {
    if !is_scope(&span.source.scope_name) {
        return;
    }
    if draft.llm.operation == Operation::Llm {
        let count = |key: &str| fields.get(key)?.as_i64().filter(|n| is_count(*n));
        fill(&mut draft.llm.request_model, fields.plain("model"));
        fill(&mut draft.llm.input_tokens, count("input_tokens"));
        fill(&mut draft.llm.output_tokens, count("output_tokens"));
        fill(&mut draft.llm.cache_read_tokens, count("cache_read_tokens"));
        if draft.llm.finish_reasons.is_empty() {
            draft.llm.finish_reasons.extend(fields.plain("stop_reason"));
        }
        if let Some(raw) = fields.raw("response.model_output") {
            draft.output(&raw);
        }
    }
    fill(&mut draft.tool.name, fields.plain("tool_name"));
    fill(&mut draft.tool.id, fields.plain("tool_use_id"));
    fill(&mut draft.tool.arguments, fields.raw("tool_input").map(|raw| decode_or_text(&raw)));
    fill(&mut draft.llm.question, fields.plain("user_prompt"));
}
