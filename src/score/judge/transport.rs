//! One request to chat completions and its answer.

use super::config::{JudgeConfig, LIMITS};
use super::manner::Manner;
use super::question::{Format, Likelihood, Question};
use crate::score::secret::Secret;
use crate::score::wire::{client, read_secret, retry_after, said, sensitive, told};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// Longest answer, bytes.
const MAX_ANSWER: usize = 4 << 20;

/// Tokens that one call may have; a server that tells more, or less, tells nothing.
const TOKENS: RangeInclusive<i64> = 0..=1 << 24;

/// Room for what stands beside the texts in a request, bytes.
const BESIDE_TEXTS: usize = 512;

/// What the server answered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    /// The reply's text.
    pub text: String,
    /// Why the text may be no answer.
    pub note: Option<&'static str>,
    /// The model that answered.
    pub model: String,
    /// Tokens that it read.
    pub input_tokens: Option<i64>,
    /// Tokens that it wrote.
    pub output_tokens: Option<i64>,
    /// The mean negative log-likelihood that was asked for, nats, or why the answer does not tell it: it is paid all the same.
    pub nats: Option<Result<f64, String>>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// The request is refused; it may be for a member that the model does not take, or for its schema.
    Unknown(String),
    /// The request would be refused again.
    Refused(String),
    /// The server has no time now; it may have said for how long.
    Busy(String, Option<Duration>),
    /// Something went wrong that the same request may not meet again; the server may have said when to come back.
    Passing(String, Option<Duration>),
    /// Nobody gets an answer until somebody changes something: a key, an address, a bill.
    Closed(String),
}

impl Fault {
    /// Its word in metrics.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Fault::Unknown(_) | Fault::Refused(_) => "refused",
            Fault::Busy(..) => "busy",
            Fault::Passing(..) => "failed",
            Fault::Closed(_) => "closed",
        }
    }
}

/// Where the key is.
enum Key {
    None,
    Env(Secret),
    File(PathBuf),
}

/// One judge's address and what every request to it carries.
pub(super) struct Transport {
    client: reqwest::Client,
    config: JudgeConfig,
    url: url::Url,
    key: Key,
    headers: HeaderMap,
    /// Headers whose values are read for each request.
    files: Vec<(HeaderName, PathBuf)>,
    /// What stands in the headers, and is told nobody.
    secrets: Vec<Secret>,
}

/// What the variable of the environment holds that `key` names.
fn variable(key: &str, name: &str) -> Result<Secret, String> {
    let value = std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    value
        .map(|value| Secret::new(value.trim()))
        .ok_or_else(|| format!("{key}: the environment variable {name} is not set"))
}

fn header(name: &str) -> Result<HeaderName, String> {
    HeaderName::try_from(name).map_err(|e| format!("headers: {name:?}: {e}"))
}

impl Transport {
    /// # Errors
    /// When the key's variable is not set, or the settings cannot be used.
    pub(super) fn new(config: &JudgeConfig) -> Result<Self, String> {
        let key = match (config.api_key_env.as_str(), &config.api_key_file) {
            ("", file) if file.as_os_str().is_empty() => Key::None,
            ("", file) => Key::File(file.clone()),
            (name, _) => Key::Env(variable("api_key_env", name)?),
        };
        let mut own: Vec<(String, Secret)> = config.headers.clone().into_iter().collect();
        for (header, name) in &config.header_env {
            own.push((header.clone(), variable("header_env", name)?));
        }
        let (mut headers, mut files) = (HeaderMap::new(), Vec::new());
        for (name, value) in &own {
            headers.insert(header(name)?, sensitive(value)?);
        }
        for (name, path) in &config.header_files {
            files.push((header(name)?, path.clone()));
        }
        let client = client(&config.ca_file)?
            .connect_timeout(config.timeout)
            .timeout(config.timeout)
            .build()
            .map_err(|e| format!("no HTTP client: {e}"))?;
        let secrets = own.into_iter().map(|(_, value)| value).collect();
        Ok(Self { client, config: config.clone(), url: config.url()?, key, headers, files, secrets })
    }

    /// Sends one request, in the manner that the server takes.
    pub(super) async fn send(&self, question: &Question<'_>, manner: Manner) -> Result<Answer, Fault> {
        let (headers, secrets) = self.headers().await.map_err(Fault::Closed)?;
        let (url, body) = match *question {
            Question::Likelihood(asked) => {
                let url = self.config.url_of(asked.path()).map_err(Fault::Closed)?;
                (url, asked.body(&self.config.model, manner).to_string().into_bytes())
            }
            Question::Verdict { system, user, schema } => {
                (self.url.clone(), self.body((system, user), manner, schema.member(manner.format))?)
            }
        };
        let sent = self.client.post(url).headers(headers).body(body).send().await;
        // Without the address: it may be a secret.
        let mut response = sent.map_err(|e| Fault::Passing(told(&e.without_url()), None))?;
        let (status, wait) = (response.status().as_u16(), retry_after(response.headers()));
        let mut bytes = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if bytes.len() + chunk.len() <= MAX_ANSWER => bytes.extend_from_slice(&chunk),
                Ok(Some(_)) => return Err(Fault::Refused("the answer is longer than 4 MiB".to_owned())),
                Ok(None) => break,
                Err(error) => return Err(Fault::Passing(told(&error.without_url()), None)),
            }
        }
        let asked = match question {
            Question::Likelihood(asked) => Some(asked),
            Question::Verdict { .. } => None,
        };
        // Servers repeat what they refuse, also as an answer.
        let clean = |text: &str| said(text, secrets.iter().chain(&self.secrets));
        if status == 200 {
            return answer(&bytes, &self.config.model, asked, clean);
        }
        let text = clean(&String::from_utf8_lossy(&bytes));
        let why = format!("HTTP {status}: {}", text.trim());
        Err(match asked {
            // Not every server can do this, and what it has for verdicts is no worse for that.
            Some(_) if cannot(status, &text) => Fault::Refused(why),
            None if manner.format != Format::Text && knows_not(status, &text) => Fault::Unknown(why),
            _ => fault(status, why, wait),
        })
    }

    /// The headers of one request, and the secrets in them that are read for it, so that their files may change.
    async fn headers(&self) -> Result<(HeaderMap, Vec<Secret>), String> {
        let (mut headers, mut secrets) = (self.headers.clone(), Vec::new());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let key = match &self.key {
            Key::None => None,
            Key::Env(key) => Some(key.clone()),
            Key::File(path) => read_secret("api_key_file", path).await?,
        };
        if let Some(key) = key {
            let bearer = Secret::new(format!("Bearer {}", key.reveal()));
            headers.insert(AUTHORIZATION, sensitive(&bearer)?);
            secrets.push(key);
        }
        for (name, path) in &self.files {
            if let Some(value) = read_secret("header_files", path).await? {
                headers.insert(name.clone(), sensitive(&value)?);
                secrets.push(value);
            }
        }
        Ok((headers, secrets))
    }

    /// The request for a verdict; `format` says what the answer is to be held to. Parameters of the configuration stand in
    /// the place of our own.
    fn body(
        &self,
        (system, user): (&str, &str),
        manner: Manner,
        format: Option<&str>,
    ) -> Result<Vec<u8>, Fault> {
        let parameters = &self.config.parameters;
        let is_ours = |name: &str| !parameters.contains_key(name);
        // Both together are refused.
        let limits = LIMITS.iter().all(|name| is_ours(name)).then_some(self.config.max_output_tokens);
        let request = Request {
            model: is_ours("model").then_some(self.config.model.as_str()),
            messages: [Message { role: "system", content: system }, Message { role: "user", content: user }],
            stream: false,
            temperature: (is_ours("temperature") && !manner.leaves_temperature).then_some(0),
            limit: limits.map(|most| BTreeMap::from([(manner.limit(), most)])),
            parameters,
        };
        let format = format.filter(|_| is_ours("response_format"));
        // Enough for most: a body that grows is copied each time.
        let texts = system.len() + user.len() + format.map_or(0, str::len);
        let mut body = Vec::with_capacity(texts + texts / 8 + BESIDE_TEXTS);
        serde_json::to_writer(&mut body, &request).map_err(|e| Fault::Refused(format!("no request: {e}")))?;
        if let Some(format) = format
            && body.pop().is_some()
        {
            // It was written down before.
            for part in [",\"response_format\":", format, "}"] {
                body.extend_from_slice(part.as_bytes());
            }
        }
        Ok(body)
    }
}

/// A request for a verdict, without what holds its answer to a schema.
#[derive(Serialize)]
struct Request<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    messages: [Message<'a>; 2],
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<u8>,
    #[serde(flatten)]
    limit: Option<BTreeMap<&'static str, u32>>,
    #[serde(flatten)]
    parameters: &'a BTreeMap<String, Json>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

/// Whether an answer to a question about likelihoods says that the server has no such thing. Servers on llama.cpp say it as 500.
fn cannot(status: u16, text: &str) -> bool {
    let names_it = || ["echo", "logprobs", "logits"].iter().any(|word| text.contains(word));
    matches!(status, 404 | 405 | 501) || status == 500 && names_it()
}

/// Whether an answer says that the server does not know the format. Some say what is wrong with a request as 500.
fn knows_not(status: u16, text: &str) -> bool {
    status == 500 && ["response_format", "json_schema", "grammar"].iter().any(|word| text.contains(word))
}

fn fault(status: u16, why: String, wait: Option<Duration>) -> Fault {
    match status {
        400 | 422 => Fault::Unknown(why),
        429 => Fault::Busy(why, wait),
        503 if wait.is_some() => Fault::Busy(why, wait),
        408 | 409 | 425 | 500..=599 => Fault::Passing(why, wait),
        401..=404 | 405 | 407 | 300..=399 => Fault::Closed(why),
        _ => Fault::Refused(why),
    }
}

/// The answer that `bytes` are; `clean` takes secrets out of a message.
fn answer(
    bytes: &[u8],
    model: &str,
    asked: Option<&Likelihood<'_>>,
    clean: impl Fn(&str) -> String,
) -> Result<Answer, Fault> {
    let plain = if asked.is_none() { Plain::read(bytes, model) } else { None };
    plain.map_or_else(|| answer_of_any_form(bytes, model, asked, clean), Ok)
}

/// An answer of the form that most have: what nobody asks for is not kept.
#[derive(Deserialize)]
struct Plain {
    model: Option<String>,
    choices: Vec<PlainChoice>,
    usage: Option<PlainUsage>,
}

#[derive(Deserialize)]
struct PlainChoice {
    message: PlainMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct PlainMessage {
    content: Option<String>,
    refusal: Option<String>,
}

#[derive(Default, Deserialize)]
struct PlainUsage {
    prompt_tokens: Option<i64>,
    completion_tokens: Option<i64>,
}

impl Plain {
    /// What such an answer says, as [`answer_of_any_form`] reads it; none if `bytes` have another form.
    fn read(bytes: &[u8], asked: &str) -> Option<Answer> {
        let Self { model, choices, usage } = serde_json::from_slice(bytes).ok()?;
        let PlainChoice { message, finish_reason } = choices.into_iter().next()?;
        let is_refusal = message.refusal.is_some_and(|text| !text.is_empty());
        let usage = usage.unwrap_or_default();
        let count = |tokens: Option<i64>| tokens.filter(|count| TOKENS.contains(count));
        Some(Answer {
            text: message.content.unwrap_or_default(),
            note: note(is_refusal, finish_reason.as_deref()),
            model: model.filter(|name| !name.is_empty()).unwrap_or_else(|| asked.to_owned()),
            input_tokens: count(usage.prompt_tokens),
            output_tokens: count(usage.completion_tokens),
            nats: None,
        })
    }
}

/// Why a text may be no answer.
fn note(is_refusal: bool, finish_reason: Option<&str>) -> Option<&'static str> {
    match finish_reason {
        _ if is_refusal => Some("the judge refused to answer"),
        Some("content_filter") => Some("the server's filter stopped the answer"),
        Some("length") => Some("the answer was cut: raise judges.max_output_tokens"),
        _ => None,
    }
}

/// As [`answer`], whatever members there are. What is no JSON came broken; what is JSON of another shape is another API.
fn answer_of_any_form(
    bytes: &[u8],
    model: &str,
    asked: Option<&Likelihood<'_>>,
    clean: impl Fn(&str) -> String,
) -> Result<Answer, Fault> {
    let body: Json = serde_json::from_slice(bytes)
        .map_err(|e| Fault::Passing(format!("the answer is no JSON ({} bytes): {e}", bytes.len()), None))?;
    let Some(choice) = body["choices"].get(0) else {
        let why = body["error"]["message"].as_str().unwrap_or("no choices");
        return Err(Fault::Passing(format!("the answer holds nothing: {}", clean(why)), None));
    };
    let nats = asked.map(|asked| asked.read(choice));
    let message = &choice["message"];
    let text = match &message["content"] {
        Json::String(text) => text.clone(),
        Json::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    };
    let is_refusal = message["refusal"].as_str().is_some_and(|text| !text.is_empty());
    let usage = &body["usage"];
    let count = |name: &str| usage[name].as_i64().filter(|count| TOKENS.contains(count));
    Ok(Answer {
        text,
        note: note(is_refusal, choice["finish_reason"].as_str()),
        model: body["model"].as_str().filter(|name| !name.is_empty()).unwrap_or(model).to_owned(),
        input_tokens: count("prompt_tokens"),
        output_tokens: count("completion_tokens"),
        nats,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn faults_are_told_apart() {
        let word = |status: u16, wait| fault(status, String::new(), wait).word();
        assert_eq!(
            [400, 401, 404, 413, 429, 500, 503, 302].map(|s| word(s, None)),
            ["refused", "closed", "closed", "refused", "busy", "failed", "failed", "closed"]
        );
        assert_eq!(word(503, Some(Duration::ZERO)), "busy");
        // Whoever says when to come back is heard.
        let wait = Some(Duration::from_secs(20));
        for status in [408, 500, 502, 529] {
            assert_eq!(fault(status, String::new(), wait), Fault::Passing(String::new(), wait), "{status}");
        }
        assert!(knows_not(500, "'loc': ('body', 'response_format', 'type')") && !knows_not(500, "no"));
        assert!(cannot(404, "") && cannot(500, "Only no echo is supported") && !cannot(500, "out of memory"));
    }

    #[test]
    fn a_request_is_written_into_the_room_that_it_needs() {
        let transport = Transport::new(&JudgeConfig::new("main", "http://127.0.0.1:1/v1", "m")).unwrap();
        let (system, user, format) = ("Say \"yes\".", "A line.\n".repeat(100), "{\"type\":\"x\"}");
        let body = transport.body((system, user.as_str()), Manner::default(), Some(format)).unwrap();
        let room = system.len() + user.len() + format.len();
        assert_eq!(body.capacity(), room + room / 8 + BESIDE_TEXTS, "it has grown");
        let read: Json = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            (&read["messages"][1]["content"], &read["response_format"]),
            (&json!(user), &json!({"type": "x"}))
        );
    }

    #[test]
    fn the_form_that_most_answers_have_says_the_same_as_any() {
        let plain = |body: &Json| Plain::read(body.to_string().as_bytes(), "asked");
        let any = |body: &Json| answer_of_any_form(body.to_string().as_bytes(), "asked", None, str::to_owned);
        for (choice, usage) in [
            (
                json!({"message": {"content": "x\n", "role": "assistant"}, "finish_reason": "stop"}),
                json!({"prompt_tokens": 7}),
            ),
            (
                json!({"message": {"content": null, "refusal": "No."}, "index": 0}),
                json!({"completion_tokens": -1}),
            ),
            (
                json!({"message": {"refusal": ""}, "finish_reason": "length", "logprobs": {"a": [1.5]}}),
                Json::Null,
            ),
            (json!({"message": {"content": ""}, "finish_reason": null}), json!({"prompt_tokens": null})),
            (
                json!({"message": {"content": "x"}}),
                json!({"prompt_tokens": 5, "completion_tokens": i64::MAX}),
            ),
        ] {
            for model in [json!("real"), json!(""), Json::Null] {
                let body = json!({"id": "1", "model": model, "choices": [choice, choice], "usage": usage});
                assert_eq!(plain(&body), Some(any(&body).unwrap()), "{body}");
            }
        }
        for other in
            [json!({"choices": []}), json!({"choices": [{"message": {"content": []}}]}), json!({"error": {}})]
        {
            assert_eq!(plain(&other), None, "{other}");
        }
    }

    #[test]
    fn an_answer_without_the_likelihood_is_paid_all_the_same() {
        let asked = Likelihood::Yes { prompt: "x" };
        let body = json!({"choices": [{"message": {"content": "No"}}],
            "usage": {"prompt_tokens": 700, "completion_tokens": 1}});
        let told = answer(body.to_string().as_bytes(), "m", Some(&asked), str::to_owned).unwrap();
        assert_eq!((told.input_tokens, told.output_tokens), (Some(700), Some(1)));
        assert!(told.nats.unwrap().unwrap_err().contains("top_logprobs"));
    }

    #[test]
    fn an_answer_is_read_in_the_forms_that_servers_have() {
        let read = |body: Json| answer(body.to_string().as_bytes(), "asked", None, str::to_owned).unwrap();
        let plain = read(
            json!({"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}),
        );
        assert_eq!((plain.text.as_str(), plain.model.as_str()), ("x", "asked"));
        assert_eq!((plain.input_tokens, plain.output_tokens, plain.note), (Some(7), Some(2), None));
        let parts = read(
            json!({"model": "real", "choices": [{"finish_reason": "length", "message": {"content": [{"type": "text", "text": "y"}]}}]}),
        );
        assert_eq!((parts.text.as_str(), parts.model.as_str(), parts.input_tokens), ("y", "real", None));
        assert!(parts.note.unwrap().contains("max_output_tokens"));
        // What nobody can have read is not told, and two of them are no sum.
        let absurd =
            read(json!({"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": i64::MAX}}));
        assert_eq!(absurd.input_tokens, None);
        assert!(answer(b"{\"choices\": [", "m", None, str::to_owned).is_err());
        let key = Secret::new("sk-1");
        let refused = answer(b"{\"error\": {\"message\": \"no sk-1\"}}", "m", None, |why| said(why, [&key]));
        let why = "the answer holds nothing: no <hidden>".to_owned();
        assert_eq!(refused, Err(Fault::Passing(why, None)));
    }
}
