//! Token counts, models and parameters out of JSON objects: usage attributes and the raw bodies of model APIs.

use super::fill::fill;
use super::json::{at, cost_of_parts, integer, is_cost, is_count, number, text};
use crate::domain::span::{Dialect, Llm};
use serde_json::Value as Json;

// Gemini's have `token` and `count` in them; those with a dot after `Tokens` are of the Vercel AI SDK, version 6.
const INPUT: &[&str] = &[
    "input_tokens",
    "prompt_tokens",
    "input",
    "promptTokens",
    "inputTokens",
    "prompt_token_count",
    "promptTokenCount",
    "inputTokens.total",
];
const OUTPUT: &[&str] = &[
    "output_tokens",
    "completion_tokens",
    "output",
    "completionTokens",
    "outputTokens",
    "candidates_token_count",
    "candidatesTokenCount",
    "outputTokens.total",
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
    "cacheReadInputTokens",
    "cachedInputTokens",
    "cachedContentTokens",
    "inputTokenDetails.cacheReadTokens",
    "inputTokens.cacheRead",
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
    "thoughtsTokens",
    "reasoningTokens",
    "outputTokenDetails.reasoningTokens",
    "outputTokens.reasoning",
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
    // Gemini, Genkit and Amazon Bedrock have an object of their own for the parameters.
    let inner = ["config", "generation_config", "generationConfig", "inferenceConfig"]
        .iter()
        .find_map(|key| body.get(*key));
    let places = [Some(body), inner];
    let count = |keys: &[&str]| {
        let here = |key: &&str, place: &Json| integer(place.get(*key)?).filter(|n| is_count(*n));
        places.into_iter().flatten().find_map(|place| keys.iter().find_map(|key| here(key, place)))
    };
    fill(&mut llm.request_model, word(&["model", "model_name", "model_id", "modelId"]));
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn counts_are_found_in_every_spelling() {
        for usage in [
            json!({"inputTokens": 9, "outputTokens": 5, "cacheReadInputTokens": 4, "reasoningTokens": 3}),
            json!({"inputTokens": 9, "outputTokens": 5, "cachedInputTokens": 4, "reasoningTokens": 3}),
            json!({"inputTokens": 9, "outputTokens": 5, "cachedContentTokens": 4, "thoughtsTokens": 3}),
            json!({"inputTokens": 9, "inputTokenDetails": {"cacheReadTokens": 4},
                   "outputTokens": 5, "outputTokenDetails": {"reasoningTokens": 3}}),
            json!({"inputTokens": {"total": 9, "noCache": 5, "cacheRead": 4},
                   "outputTokens": {"total": 5, "text": 2, "reasoning": 3}}),
            json!({"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4},
                   "completion_tokens_details": {"reasoning_tokens": 3}}),
        ] {
            let mut llm = Llm::default();
            tokens(&usage, &mut llm);
            let counts = (llm.input_tokens, llm.output_tokens, llm.cache_read_tokens, llm.reasoning_tokens);
            assert_eq!(counts, (Some(9), Some(5), Some(4), Some(3)), "{usage}");
        }
    }

    #[test]
    fn a_request_of_bedrock_names_its_model_and_parameters() {
        let mut llm = Llm::default();
        let body =
            json!({"modelId": "amazon.nova-lite", "inferenceConfig": {"maxTokens": 100, "temperature": 0.5}});
        request(&body, &mut llm);
        assert_eq!(llm.request_model.as_deref(), Some("amazon.nova-lite"));
        assert_eq!((llm.max_tokens, llm.temperature), (Some(100), Some(0.5)));
    }
}
