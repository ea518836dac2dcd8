//! Attributes by key, and the priority lists by which scalar fields are read.
//!
//! Every list is ordered: the first key that says something wins, so that aliases are never added up.

use super::json;
use super::masked::{REDACTED, is_masked};
use super::provider;
use crate::domain::span::Llm;
use crate::domain::value::{Attrs, Value};
use serde_json::Value as Json;
use std::borrow::Cow;

const REQUEST_MODEL: &[&str] = &[
    "gen_ai.request.model",
    "llm.request.model_name",
    "ai.model.id",
    "embedding.model_name",
    "reranker.model_name",
    "langsmith.metadata.ls_model_name",
    "llm.request.model",
];
const RESPONSE_MODEL: &[&str] = &[
    "gen_ai.response.model",
    "llm.response.model_name",
    "ai.response.model",
    "mlflow.llm.model",
    "llm.response.model",
];
const PROVIDER: &[&str] = &[
    "gen_ai.provider.name",
    "llm.provider",
    "llm.system",
    "langsmith.metadata.ls_provider",
    "gen_ai.system",
    "ai.model.provider",
    "mlflow.llm.provider",
    "llm.vendor",
];
/// What stands for a provider and is none.
const FRAMEWORKS: [&str; 4] = ["langchain", "langgraph", "llamaindex", "crewai"];
const TEMPERATURE: &[&str] = &[
    "gen_ai.request.temperature",
    "ai.settings.temperature",
    "langsmith.metadata.ls_temperature",
    "langsmith.metadata.temperature",
    "llm.temperature",
];
const MAX_TOKENS: &[&str] = &[
    "gen_ai.request.max_tokens",
    "ai.settings.maxOutputTokens",
    "ai.settings.maxTokens",
    "langsmith.metadata.ls_max_tokens",
    "langsmith.metadata.max_completion_tokens",
    "langsmith.metadata.max_tokens",
    "llm.request.max_tokens",
];
const INPUT_TOKENS: &[&str] = &[
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "ai.usage.inputTokens",
    "ai.usage.promptTokens",
    "ai.usage.tokens",
    "llm.usage.prompt_tokens",
    "gen_ai.response.prompt_tokens",
];
const OUTPUT_TOKENS: &[&str] = &[
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "ai.usage.outputTokens",
    "ai.usage.completionTokens",
    "llm.usage.completion_tokens",
    "gen_ai.response.completion_tokens",
];
const CACHE_READ_TOKENS: &[&str] = &[
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.cached_input_tokens",
    "gen_ai.usage.input_cached_tokens",
    "gen_ai.usage.details.cache_read_tokens",
    "gen_ai.usage.details.cached_tokens",
    "llm.token_count.prompt_details.cache_read",
    "ai.usage.cachedInputTokens",
    "ai.usage.inputTokenDetails.cacheReadTokens",
];
const REASONING_TOKENS: &[&str] = &[
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.reasoning_tokens",
    "gen_ai.usage.experimental.reasoning_tokens",
    "gen_ai.usage.details.reasoning_tokens",
    "llm.token_count.completion_details.reasoning",
    "ai.usage.reasoningTokens",
    "ai.usage.outputTokenDetails.reasoningTokens",
    "llm.usage.reasoning_tokens",
];
const COST: &[&str] = &[
    "operation.cost",
    "llm.cost.total",
    "gen_ai.usage.cost",
    "gen_ai.usage.total_cost",
    "gen_ai.cost.total_cost",
    "litellm.cost.total",
];
/// What together is the cost where nobody says the sum.
const COST_PARTS: [&str; 2] = ["llm.cost.prompt", "llm.cost.completion"];
const SESSION: &[&str] = &[
    "langfuse.session.id",
    "session.id",
    "gen_ai.conversation.id",
    "ai.telemetry.metadata.sessionId",
    "ai.settings.context.sessionId",
    "ai.telemetry.metadata.threadId",
    "ai.telemetry.metadata.chatId",
    "ai.telemetry.metadata.conversationId",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.thread_id",
    "traceloop.association.properties.chat_id",
    "traceloop.association.properties.conversation_id",
    "langsmith.metadata.session_id",
    "langsmith.metadata.thread_id",
    "langsmith.metadata.conversation_id",
    "gen_ai.thread.id",
    "gcp.vertex.agent.session_id",
    "spring.ai.chat.client.conversation.id",
    "mastra.metadata.threadId",
    "mastra.metadata.sessionId",
    "genkit:sessionId",
    "lmnr.association.properties.session_id",
    "langwatch.thread.id",
    "session_id",
];
const USER: &[&str] = &[
    "langfuse.user.id",
    "user.id",
    "enduser.id",
    "ai.telemetry.metadata.userId",
    "ai.settings.context.userId",
    "traceloop.association.properties.user_id",
    "langsmith.metadata.user_id",
    "mastra.metadata.userId",
    "lmnr.association.properties.user_id",
    "langwatch.user.id",
    "gen_ai.user",
    "llm.user",
];
const PROMPT_NAME: &[&str] = &[
    "langfuse.observation.prompt.name",
    "langfuse.prompt.name",
    "gen_ai.prompt.name",
    "gen_ai.prompt.key",
    "traceloop.prompt.key",
    "prompt.id",
    "langsmith.metadata.lc_hub_repo",
];
const PROMPT_VERSION: &[&str] = &[
    "langfuse.observation.prompt.version",
    "langfuse.prompt.version",
    "gen_ai.prompt.version",
    "llm.prompt_template.version",
    "traceloop.prompt.version",
    "langsmith.metadata.lc_hub_commit_hash",
];
const FINISH_REASONS: &[&str] = &[
    "gen_ai.response.finish_reasons",
    "gen_ai.response.finish_reason",
    "llm.finish_reason",
    "ai.response.finishReason",
    "ai.finishReason",
];

/// What Python prints before the name of a reason.
const PRINTED_REASON: &str = "FinishReason.";

/// Attributes sorted by key. Values that were not set or are masked are left out; of equal keys the last one counts.
pub(super) struct Fields<'a>(Vec<(&'a str, &'a Value)>);

impl<'a> Fields<'a> {
    /// The attributes of a span, an event or a record.
    pub(super) fn new(attributes: &'a Attrs) -> Self {
        Self::from_pairs(attributes.0.iter().map(|(key, value)| (key.as_str(), value)).collect())
    }

    /// Pairs in any order.
    pub(super) fn from_pairs(mut pairs: Vec<(&'a str, &'a Value)>) -> Self {
        pairs.retain(|(_, value)| **value != Value::Null && !value.as_str().is_some_and(is_masked));
        // The sort is stable, so the last of equal keys stays last.
        pairs.sort_by_key(|(key, _)| *key);
        Self(pairs)
    }

    /// The value under `key`.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        let end = self.0.partition_point(|(k, _)| *k <= key);
        let (found, value) = self.0.get(end.checked_sub(1)?)?;
        (*found == key).then_some(*value)
    }

    /// The pairs whose key begins with `prefix`.
    pub(super) fn under(&self, prefix: &str) -> &[(&'a str, &'a Value)] {
        let start = self.0.partition_point(|(k, _)| *k < prefix);
        let rest = &self.0[start..];
        &rest[..rest.partition_point(|(k, _)| k.starts_with(prefix))]
    }

    /// The text under `key`; empty text is none.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.get(key)?.as_str().filter(|text| !text.is_empty())
    }

    /// The text under `key` without the quotes that some senders put around it, and numbers as text.
    pub(super) fn plain(&self, key: &str) -> Option<String> {
        match self.get(key)? {
            Value::Str(text) if text.starts_with('"') => match json::decode_or_text(text) {
                Json::String(inner) => Some(inner).filter(|inner| !inner.is_empty() && inner != REDACTED),
                _ => Some(text.clone()),
            },
            Value::Str(text) => Some(text.clone()).filter(|text| !text.is_empty()),
            Value::Int(n) => Some(n.to_string()),
            _ => None,
        }
    }

    /// What [`Fields::plain`] gives for the first of `keys` that has something.
    pub(super) fn first(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| self.plain(key))
    }

    /// The JSON under `key`: out of text where it holds some, else the value itself.
    pub(super) fn json(&self, key: &str) -> Option<Json> {
        match self.get(key)? {
            Value::Str(text) => json::decode(text),
            other => Some(other.to_plain_json()),
        }
    }

    /// The value under `key` as text: JSON text for lists and maps.
    pub(super) fn raw(&self, key: &str) -> Option<Cow<'a, str>> {
        match self.get(key)? {
            Value::Str(text) => Some(Cow::Borrowed(text.as_str())).filter(|text| !text.is_empty()),
            other => Some(Cow::Owned(other.to_plain_json().to_string())),
        }
    }

    fn integer(&self, keys: &[&str]) -> Option<i64> {
        keys.iter().find_map(|key| self.get(key)?.as_i64().filter(|n| json::is_count(*n)))
    }

    fn number(&self, keys: &[&str]) -> Option<f64> {
        keys.iter().find_map(|key| self.get(key)?.as_f64()).filter(|x| x.is_finite())
    }
}

/// Session and user, which ordinary spans carry too.
pub(super) fn identity(fields: &Fields<'_>, llm: &mut Llm) {
    llm.session_id = fields.first(SESSION);
    llm.user_id = fields.first(USER);
}

/// Every scalar field that stands under a key of its own.
pub(super) fn scalars(fields: &Fields<'_>, llm: &mut Llm) {
    identity(fields, llm);
    llm.request_model = fields.first(REQUEST_MODEL);
    llm.response_model = fields.first(RESPONSE_MODEL);
    // LangSmith names the framework here on spans that call no model, and OpenLLMetry does so for agents and chains.
    let is_framework = |name: &String| FRAMEWORKS.iter().any(|known| name.eq_ignore_ascii_case(known));
    let named = |key: &&str| fields.plain(key).filter(|name| !is_framework(name));
    llm.provider = PROVIDER.iter().find_map(named).and_then(|name| provider::current(&name));
    llm.temperature = fields.number(TEMPERATURE);
    llm.max_tokens = fields.integer(MAX_TOKENS);
    llm.input_tokens = fields.integer(INPUT_TOKENS);
    llm.output_tokens = fields.integer(OUTPUT_TOKENS);
    llm.cache_read_tokens = fields.integer(CACHE_READ_TOKENS);
    llm.reasoning_tokens = fields.integer(REASONING_TOKENS);
    llm.cost_usd = cost(fields);
    llm.prompt_name = fields.first(PROMPT_NAME);
    llm.prompt_version = fields.first(PROMPT_VERSION);
    llm.finish_reasons =
        FINISH_REASONS.iter().map(|key| reasons(fields, key)).find(|r| !r.is_empty()).unwrap_or_default();
}

/// The cost, or the sum of its parts. A cost below zero is none.
fn cost(fields: &Fields<'_>) -> Option<f64> {
    let parts = || {
        let known: Vec<f64> = COST_PARTS.iter().filter_map(|key| fields.number(&[*key])).collect();
        json::cost_of_parts(&known)
    };
    COST.iter().find_map(|key| fields.get(key)?.as_f64().filter(|cost| json::is_cost(*cost))).or_else(parts)
}

/// A list of text, the JSON text of one, or one text.
fn reasons(fields: &Fields<'_>, key: &str) -> Vec<String> {
    match fields.json(key) {
        Some(Json::Array(items)) => items.iter().filter_map(json::text).map(str::to_owned).collect(),
        _ => match fields.plain(key) {
            // Semantic Kernel prints its enumeration, one a choice.
            Some(printed) if printed.starts_with(PRINTED_REASON) => printed
                .split(',')
                .map(|reason| reason.trim().trim_start_matches(PRINTED_REASON).to_ascii_lowercase())
                .collect(),
            other => other.into_iter().collect(),
        },
    }
}
