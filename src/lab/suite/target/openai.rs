//! Chat completions: a prompt with the case in it, a model, parameters.

use super::super::reply::Reply;
use super::super::spec::TargetSpec;
use super::super::template::render;
use super::job::Job;
use super::wire::Wire;
use serde_json::{Value as Json, json};

pub(super) struct Openai {
    wire: Wire,
    spec: TargetSpec,
}

impl Openai {
    pub fn new(spec: &TargetSpec) -> Result<Self, String> {
        let url = format!("{}/chat/completions", spec.base_url.trim_end_matches('/'));
        let wire = Wire::new(&url, &spec.headers, &spec.api_key_env, spec.retries)?;
        Ok(Self { wire, spec: spec.clone() })
    }

    pub async fn ask(&self, job: &Job<'_>) -> Result<Reply, String> {
        let bytes = self.wire.post(&self.body(job)?, &job.traceparent()).await?;
        let body: Json = serde_json::from_slice(&bytes).map_err(|e| format!("the answer is no JSON: {e}"))?;
        let choice = &body["choices"][0];
        let text = match &choice["message"]["content"] {
            Json::String(text) => text.clone(),
            Json::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            Json::Null if choice["message"]["tool_calls"].is_array() => {
                choice["message"]["tool_calls"].to_string()
            }
            _ => return Err("the answer has no choices[0].message.content".to_owned()),
        };
        let tokens = |key: &str| body["usage"][key].as_i64().filter(|count| *count >= 0);
        let (in_tokens, out_tokens) = (tokens("prompt_tokens"), tokens("completion_tokens"));
        let finish_reason = choice["finish_reason"].as_str().map(str::to_owned);
        let cost_usd = self.cost(in_tokens, out_tokens);
        Ok(Reply { in_tokens, out_tokens, cost_usd, finish_reason, ..Reply::text(text) })
    }

    fn cost(&self, input: Option<i64>, output: Option<i64>) -> Option<f64> {
        let (input_price, output_price) = (self.spec.price_input_usd?, self.spec.price_output_usd?);
        Some((input? as f64 * input_price + output? as f64 * output_price) / 1e6)
    }

    fn body(&self, job: &Job<'_>) -> Result<Json, String> {
        let scope = job.item.scope();
        let mut messages = Vec::new();
        if !self.spec.system.is_empty() {
            messages.push(json!({"role": "system", "content": render(&self.spec.system, &scope)?}));
        }
        let given = job.item.spec.input.get("messages").and_then(Json::as_array);
        match (self.spec.prompt.as_str(), given) {
            ("", Some(given)) => messages.extend(given.iter().cloned()),
            ("", None) => {
                let asked = job.item.question.as_deref();
                let asked = asked.ok_or("the input has no question: name what is asked in target.prompt")?;
                messages.push(json!({"role": "user", "content": asked}));
            }
            (prompt, _) => messages.push(json!({"role": "user", "content": render(prompt, &scope)?})),
        }
        let mut body = json!({"model": self.spec.model, "messages": messages, "stream": false});
        for (name, value) in &self.spec.parameters {
            body[name.as_str()] = value.clone();
        }
        Ok(body)
    }
}
