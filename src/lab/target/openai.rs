//! Chat completions: a prompt with the item in it, a model, parameters.

use super::answer::Answer;
use super::question::{Prompts, Question};
use super::spec::TargetSpec;
use super::wire::Wire;
use crate::lab::template::{places, render};
use serde_json::{Value as Json, json};

/// What places of a prompt begin with.
const PLACES: &[&str] = &["input", "contexts", "parameters", "expected", "metadata", "context"];
/// The same of an experiment's: nobody who is asked is told what is expected.
const OF_EXPERIMENTS: &[&str] = &["input", "contexts", "parameters"];
/// Longest prompt that comes with an experiment, bytes.
const MAX_PROMPT: usize = 256 << 10;
/// The prompt that stands for none: the question, or the messages of the input.
const WHOLE: &str = "{{input}}";

pub(super) struct Openai {
    wire: Wire,
    spec: TargetSpec,
}

impl Openai {
    pub fn new(spec: &TargetSpec) -> Result<Self, String> {
        check_places("system", &spec.system, PLACES)?;
        check_places("prompt", &spec.prompt, PLACES)?;
        let url = format!("{}/chat/completions", spec.base_url.trim_end_matches('/'));
        let wire = Wire::new(&url, &spec.headers, &spec.api_key_env, spec.retries)?;
        Ok(Self { wire, spec: spec.clone() })
    }

    pub async fn ask(&self, question: &Question) -> Result<Answer, String> {
        let bytes = self.wire.post(&self.body(question)?, &question.traceparent).await?;
        let body: Json = serde_json::from_slice(&bytes).map_err(|e| format!("the answer is no JSON: {e}"))?;
        let mut answer = completion(&body)?;
        answer.cost_usd = self.cost(answer.in_tokens, answer.out_tokens);
        Ok(answer)
    }

    /// See [`super::Target::described_with`].
    pub fn described_with(&self, prompts: &Prompts) -> Result<Json, String> {
        let (own_system, own_prompt) = (&self.spec.system, &self.spec.prompt);
        let system = prompts.system.as_ref().unwrap_or(own_system);
        let prompt = prompts.prompt.as_ref().unwrap_or(own_prompt);
        for (key, text) in [("system", system), ("prompt", prompt)] {
            if text.len() > MAX_PROMPT {
                return Err(format!("target.{key} has {} bytes, at most {MAX_PROMPT}", text.len()));
            }
            check_places(key, text, OF_EXPERIMENTS)?;
        }
        let spec = TargetSpec { system: system.clone(), prompt: prompt.clone(), ..self.spec.clone() };
        let mut described = spec.described();
        for (key, text) in [("system", &prompts.system), ("prompt", &prompts.prompt)] {
            if let Some(text) = text {
                described[key] = text.as_str().into();
            }
        }
        Ok(described)
    }

    fn cost(&self, input: Option<i64>, output: Option<i64>) -> Option<f64> {
        let (input_price, output_price) = (self.spec.price_input_usd?, self.spec.price_output_usd?);
        Some((input? as f64 * input_price + output? as f64 * output_price) / 1e6)
    }

    fn body(&self, question: &Question) -> Result<Json, String> {
        let parameters = question.all_parameters(&self.spec.parameters);
        let scope = question.scope(parameters.clone());
        let mut messages = Vec::new();
        let system = question.prompts.system.as_ref().unwrap_or(&self.spec.system);
        let prompt = question.prompts.prompt.as_ref().unwrap_or(&self.spec.prompt);
        if !system.is_empty() {
            messages.push(json!({"role": "system", "content": render(system, &scope)?}));
        }
        let given = question.input.as_array().or_else(|| question.input.get("messages")?.as_array());
        match (prompt.trim(), given) {
            ("" | WHOLE, Some(given)) => messages.extend(given.iter().cloned()),
            ("" | WHOLE, None) => {
                let asked = question.text.as_deref();
                let asked = asked.ok_or("the input has no question: name what is asked in target.prompt")?;
                messages.push(json!({"role": "user", "content": asked}));
            }
            _ => messages.push(json!({"role": "user", "content": render(prompt, &scope)?})),
        }
        let mut body = json!({"model": self.spec.model, "messages": messages, "stream": false});
        for (name, value) in parameters {
            body[name.as_str()] = value;
        }
        Ok(body)
    }
}

/// Whether every place of `text` begins with one of `names`.
fn check_places(key: &str, text: &str, names: &[&str]) -> Result<(), String> {
    let found = places(text).map_err(|why| format!("target.{key}: {why}"))?;
    match found.iter().find(|name| !names.contains(name)) {
        None => Ok(()),
        Some(other) => {
            let names = names.join(", ");
            Err(format!("target.{key}: {{{{{other}}}}} is no place: it begins with one of {names}"))
        }
    }
}

/// What a chat completion says.
fn completion(body: &Json) -> Result<Answer, String> {
    let choice = &body["choices"][0];
    let output = match &choice["message"]["content"] {
        Json::String(text) => Json::String(text.clone()),
        Json::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<String>().into()
        }
        Json::Null if choice["message"]["tool_calls"].is_array() => choice["message"]["tool_calls"].clone(),
        _ => return Err("the answer has no choices[0].message.content".to_owned()),
    };
    let tokens = |key: &str| body["usage"][key].as_i64().filter(|count| *count >= 0);
    Ok(Answer {
        output,
        in_tokens: tokens("prompt_tokens"),
        out_tokens: tokens("completion_tokens"),
        finish_reason: choice["finish_reason"].as_str().map(str::to_owned),
        ..Answer::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(spec: TargetSpec, input: Json) -> Result<Json, String> {
        let spec = TargetSpec { base_url: "http://127.0.0.1:1/v1".to_owned(), ..spec };
        let parameters = json!({"words": 5}).as_object().cloned().unwrap();
        let text = crate::lab::texts::text_of(&input);
        Openai::new(&spec)?.body(&Question { input, text, parameters, ..Question::default() })
    }

    fn prompt(prompt: &str) -> TargetSpec {
        TargetSpec { prompt: prompt.to_owned(), ..TargetSpec::default() }
    }

    #[test]
    fn places_are_filled_and_missing_ones_told() {
        let text = prompt("Answer {{ input.question }} in {{parameters.words}} words.");
        let body = asked(text.clone(), json!({"question": "Where?"})).unwrap();
        assert_eq!(body["messages"][0]["content"], "Answer Where? in 5 words.");
        assert_eq!(body["words"], 5);
        assert!(asked(text, json!({})).unwrap_err().contains("input.question"));
        for wrong in ["{{input", "{{secret}}"] {
            assert!(asked(prompt(wrong), json!("x")).unwrap_err().starts_with("target.prompt: "), "{wrong}");
        }
        for whole in ["", "{{input}}\n"] {
            let body = asked(prompt(whole), json!({"question": "Where?"})).unwrap();
            assert_eq!(body["messages"], json!([{"role": "user", "content": "Where?"}]));
            let chat = json!({"messages": [{"role": "system", "content": "s"}]});
            assert_eq!(asked(prompt(whole), chat.clone()).unwrap()["messages"], chat["messages"]);
        }
    }

    #[test]
    fn prompts_of_an_experiment_go_before_those_of_the_target_and_are_kept() {
        let spec = TargetSpec {
            kind: super::super::Kind::Openai,
            system: "Be kind.".to_owned(),
            ..prompt("{{input}}?")
        };
        let spec = TargetSpec { base_url: "http://127.0.0.1:1/v1".to_owned(), model: "m".to_owned(), ..spec };
        let openai = Openai::new(&spec).unwrap();
        let own = Prompts { prompt: Some("Briefly: {{input}}".to_owned()), ..Prompts::default() };
        let asked = |prompts: &Prompts| {
            openai
                .body(&Question { input: json!("Where"), prompts: prompts.clone(), ..Question::default() })
                .unwrap()["messages"]
                .clone()
        };
        assert_eq!(asked(&Prompts::default())[1]["content"], "Where?");
        let messages = asked(&own);
        assert_eq!(
            (&messages[0]["content"], &messages[1]["content"]),
            (&json!("Be kind."), &json!("Briefly: Where"))
        );
        let none = Prompts { system: Some(String::new()), ..own.clone() };
        assert_eq!(asked(&none).as_array().unwrap().len(), 1);
        let kept = openai.described_with(&own).unwrap();
        assert_eq!(
            (&kept["prompt"], &kept["system"], &kept["model"]),
            (&json!("Briefly: {{input}}"), &Json::Null, &json!("m"))
        );
        assert_ne!(kept["prompt_sha256"], spec.described()["prompt_sha256"]);
        for wrong in ["{{expected}}".to_owned(), "{{input".to_owned(), "x".repeat(MAX_PROMPT + 1)] {
            let wrong = Prompts { prompt: Some(wrong), ..Prompts::default() };
            assert!(openai.described_with(&wrong).unwrap_err().starts_with("target.prompt"));
        }
    }

    #[test]
    fn a_completion_is_an_answer_with_its_tokens() {
        let text = json!({"choices": [{"message": {"role": "assistant", "content": "Yes."}}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 2}});
        let told = completion(&text).unwrap();
        assert_eq!((&told.output, told.in_tokens, told.out_tokens), (&json!("Yes."), Some(7), Some(2)));
        let calls = json!([{"function": {"name": "f"}}]);
        let called = completion(&json!({"choices": [{"message": {"content": null, "tool_calls": calls}}]}));
        assert_eq!(called.unwrap().output, calls);
        let parts = json!({"choices": [{"message": {"content": [{"text": "a"}, {"text": "b"}]}}]});
        assert_eq!(completion(&parts).unwrap().output, "ab");
        assert!(completion(&json!({})).is_err());
    }
}
