//! Token counts, models and parameters out of JSON objects: usage attributes and the raw bodies of model APIs.

use super::fill::fill;
use super::json::{at, integer, number, text};
use crate::domain::span::{Dialect, Llm};
use serde_json::Value as Json;

const INPUT: &[&str] = &["input_tokens", "prompt_tokens", "input", "promptTokens", "inputTokens"];
const OUTPUT: &[&str] = &["output_tokens", "completion_tokens", "output", "completionTokens", "outputTokens"];
const CACHE_READ: &[&str] = &[
    "cache_read_input_tokens",
    "input_cached_tokens",
    "input_cache_read",
    "prompt_tokens_details.cached_tokens",
    "input_tokens_details.cached_tokens",
    "input_token_details.cache_read",
    "cached_tokens",
];
const REASONING: &[&str] = &[
    "reasoning_tokens",
    "output_reasoning_tokens",
    "output_reasoning",
    "completion_tokens_details.reasoning_tokens",
    "output_tokens_details.reasoning_tokens",
    "output_token_details.reasoning",
];

/// Fills token counts that are still open from a usage object of any naming.
pub(super) fn tokens(usage: &Json, llm: &mut Llm) {
    let count = |paths: &[&str]| paths.iter().find_map(|path| integer(at(usage, path)?));
    fill(&mut llm.input_tokens, count(INPUT));
    fill(&mut llm.output_tokens, count(OUTPUT));
    fill(&mut llm.cache_read_tokens, count(CACHE_READ));
    fill(&mut llm.reasoning_tokens, count(REASONING));
}

/// Fills the cost in US dollars from `{total}` or `{total_cost}`.
pub(super) fn cost(details: &Json, llm: &mut Llm) {
    fill(&mut llm.cost_usd, ["total", "total_cost"].iter().find_map(|key| number(details.get(*key)?)));
}

/// Fills model and sampling parameters from a request or an object of invocation parameters.
pub(super) fn request(body: &Json, llm: &mut Llm) {
    let word = |keys: &[&str]| keys.iter().find_map(|key| text(body.get(*key)?)).map(str::to_owned);
    let count = |keys: &[&str]| keys.iter().find_map(|key| integer(body.get(*key)?));
    fill(&mut llm.request_model, word(&["model", "model_name", "model_id"]));
    fill(&mut llm.temperature, body.get("temperature").and_then(number));
    let limits = ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens"];
    fill(&mut llm.max_tokens, count(&limits));
}

/// Fills model and token counts from the raw response of a model API, or LangChain's and LlamaIndex's wrapping of it.
pub(super) fn response(body: &Json, llm: &mut Llm) {
    let body = body.get("raw").filter(|raw| raw.is_object()).unwrap_or(body);
    let of_langchain = body
        .get("generations")
        .and_then(|generations| generations.get(0)?.get(0)?.get("message"))
        .and_then(|message| message.get("kwargs"));
    let metadata = of_langchain.and_then(|message| message.get("response_metadata"));
    let model = [body.get("model"), metadata.and_then(|m| m.get("model_name"))];
    fill(&mut llm.response_model, model.into_iter().flatten().find_map(text).map(str::to_owned));
    // OpenInference has keys for counts. Where they are missing, an inner span has them, and they would count twice.
    if llm.dialect == Dialect::Openinference {
        return;
    }
    let usages = [
        body.get("usage"),
        of_langchain.and_then(|message| message.get("usage_metadata")),
        metadata.and_then(|m| m.get("token_usage")),
    ];
    for usage in usages.into_iter().flatten() {
        tokens(usage, llm);
    }
}
