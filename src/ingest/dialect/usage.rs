//! Token counts, models and parameters out of JSON objects: usage attributes and the raw bodies of model APIs.

use super::fill::fill;
use super::json::{at, cost_of_parts, integer, is_cost, is_count, number, text};
use crate::domain::span::{Dialect, Llm};
use serde_json::Value as Json;

// The last two of each list are Gemini's.
const INPUT: &[&str] = &[
    "input_tokens",
    "prompt_tokens",
    "input",
    "promptTokens",
    "inputTokens",
    "prompt_token_count",
    "promptTokenCount",
];
const OUTPUT: &[&str] = &[
    "output_tokens",
    "completion_tokens",
    "output",
    "completionTokens",
    "outputTokens",
    "candidates_token_count",
    "candidatesTokenCount",
];
const CACHE_READ: &[&str] = &[
    "cache_read_input_tokens",
    "input_cached_tokens",
    "input_cache_read",
    "prompt_tokens_details.cached_tokens",
    "input_tokens_details.cached_tokens",
    "input_token_details.cache_read",
    "cached_tokens",
    "prompt_cached_tokens",
    "cached_content_token_count",
    "cachedContentTokenCount",
];
const REASONING: &[&str] = &[
    "reasoning_tokens",
    "output_reasoning_tokens",
    "output_reasoning",
    "completion_tokens_details.reasoning_tokens",
    "output_tokens_details.reasoning_tokens",
    "output_token_details.reasoning",
    "completion_reasoning_tokens",
    "thoughts_token_count",
    "thoughtsTokenCount",
];

/// Fills token counts that are still open from a usage object of any naming.
pub(super) fn tokens(usage: &Json, llm: &mut Llm) {
    let count =
        |paths: &[&str]| paths.iter().find_map(|path| integer(at(usage, path)?).filter(|n| is_count(*n)));
    fill(&mut llm.input_tokens, count(INPUT));
    fill(&mut llm.output_tokens, count(OUTPUT));
    fill(&mut llm.cache_read_tokens, count(CACHE_READ));
    fill(&mut llm.reasoning_tokens, count(REASONING));
}

/// Fills the cost in US dollars from `{total}` or `{total_cost}`, else from the sum of the parts. A cost below zero is
/// none.
pub(super) fn cost(details: &Json, llm: &mut Llm) {
    let whole = ["total", "total_cost"].iter().find_map(|key| number(details.get(*key)?));
    let sum = || {
        let parts: Vec<f64> = details.as_object()?.values().filter_map(number).collect();
        cost_of_parts(&parts)
    };
    fill(&mut llm.cost_usd, whole.or_else(sum).filter(|cost| is_cost(*cost)));
}

/// Fills model and sampling parameters from a request or an object of invocation parameters.
pub(super) fn request(body: &Json, llm: &mut Llm) {
    let word = |keys: &[&str]| keys.iter().find_map(|key| text(body.get(*key)?)).map(str::to_owned);
    // Gemini and Genkit have an object of their own for the parameters.
    let inner = ["config", "generation_config", "generationConfig"].iter().find_map(|key| body.get(*key));
    let places = [Some(body), inner];
    let count = |keys: &[&str]| {
        let here = |key: &&str, place: &Json| integer(place.get(*key)?).filter(|n| is_count(*n));
        places.into_iter().flatten().find_map(|place| keys.iter().find_map(|key| here(key, place)))
    };
    fill(&mut llm.request_model, word(&["model", "model_name", "model_id"]));
    fill(
        &mut llm.temperature,
        places.into_iter().flatten().find_map(|place| number(place.get("temperature")?)),
    );
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
        body.get("usage_metadata"),
        body.get("usageMetadata"),
        of_langchain.and_then(|message| message.get("usage_metadata")),
        metadata.and_then(|m| m.get("token_usage")),
    ];
    for usage in usages.into_iter().flatten() {
        tokens(usage, llm);
    }
}
