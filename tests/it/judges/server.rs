//! A scripted OpenAI-compatible server: it answers well unless its script says otherwise.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Tokens that each answer takes.
pub const INPUT_TOKENS: i64 = 100;
pub const OUTPUT_TOKENS: i64 = 20;
/// The question that the scripted judge asks back.
pub const QUESTION: &str = "Who wrote Dracula?";

/// What the scripted judge writes of failed checks.
pub const ANALYSIS: &str = "They fail alike.";

/// How one request is answered.
#[derive(Debug, Clone)]
pub enum Act {
    /// As asked.
    Well,
    /// As asked, after a while.
    Slowly(Duration),
    /// No JSON at all.
    Garbage,
    /// 429, to come back after so many seconds.
    Busy(u32),
    /// A status without more.
    Status(u16),
    /// The beginning of an answer, and then the connection ends.
    Half,
    /// Never.
    Hang,
    /// A reply of this text.
    Says(&'static str),
}

/// What a server tells of log-probabilities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Logs {
    /// Those of a prompt, and the likeliest tokens of an answer.
    #[default]
    All,
    /// The likeliest tokens of an answer only.
    Answers,
    /// The likeliest tokens of an answer; those of a prompt are refused as a fault of the server's.
    NoEcho,
    /// The likeliest tokens of an answer; those of a prompt belong to other tokens.
    Shifted,
    /// Those of a prompt, of which none is likely.
    Unlikely,
    /// It has the paths, and ignores that it was asked.
    Nothing,
}

/// What a yes has where only the likeliest tokens are told: of two of its forms.
pub const YES: [(&str, f64); 2] = [("Yes", 0.5), (" yes", 0.25)];
/// A word of the text that a judge that reads finds wrong.
const WRONG: &str = "noon";

#[derive(Clone, Default)]
pub struct Server {
    /// What is done with the next requests; then all are answered well.
    pub script: Arc<Mutex<VecDeque<Act>>>,
    /// What came, in order.
    pub got: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
    /// Requests that are being answered, now and at most.
    pub at_once: Arc<Mutex<(usize, usize)>>,
    /// Types of `response_format` that are refused.
    pub refuses: &'static [&'static str],
    /// Members of a request that the model does not take.
    pub refuses_members: &'static [&'static str],
    /// With this status.
    pub refusal: StatusCode,
    /// What it replies to a request for a verdict, in place of what it is asked for.
    pub answers: Option<fn(&Value) -> String>,
    /// What it tells of log-probabilities.
    pub logs: Logs,
    /// It reads what it judges, and does not say yes to everything.
    pub reads: bool,
    /// Every answer takes so long.
    pub takes: Duration,
    /// Nothing is answered before so many requests were there at once.
    pub gathers: usize,
}

impl Server {
    pub fn with(script: impl IntoIterator<Item = Act>) -> Self {
        Self { script: Arc::new(Mutex::new(script.into_iter().collect())), ..Self::default() }
    }

    pub async fn listen(&self) -> SocketAddr {
        self.listen_at(SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    pub async fn listen_at(&self, address: SocketAddr) -> SocketAddr {
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let (address, routes) = (listener.local_addr().unwrap(), self.routes());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        address
    }

    /// What it answers, wherever it listens.
    pub fn routes(&self) -> Router {
        Router::new()
            .route("/v1/chat/completions", post(answer))
            .route("/v1/completions", post(answer))
            .with_state(self.clone())
    }

    pub fn requests(&self) -> usize {
        self.got.lock().len()
    }

    /// How many were there at once, at most.
    pub fn most(&self) -> usize {
        self.at_once.lock().1
    }
}

async fn answer(State(server): State<Server>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    server.got.lock().push((headers, body.clone()));
    let act = server.script.lock().pop_front().unwrap_or(Act::Well);
    {
        let mut at_once = server.at_once.lock();
        at_once.0 += 1;
        at_once.1 = at_once.1.max(at_once.0);
    }
    let answered = acted(&server, act, &body).await;
    server.at_once.lock().0 -= 1;
    answered
}

async fn acted(server: &Server, act: Act, body: &Value) -> Response {
    tokio::time::sleep(server.takes).await;
    while server.most() < server.gathers {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    if server.refuses.iter().any(|kind| body["response_format"]["type"] == *kind) {
        return (server.refusal, "response_format is not supported").into_response();
    }
    if let Some(name) = server.refuses_members.iter().find(|name| body.get(**name).is_some()) {
        return unsupported(name);
    }
    match act {
        Act::Well => well(server, body),
        Act::Slowly(takes) => {
            tokio::time::sleep(takes).await;
            well(server, body)
        }
        Act::Garbage => "<html>It works!</html>".into_response(),
        Act::Busy(seconds) => {
            (StatusCode::TOO_MANY_REQUESTS, [("retry-after", seconds.to_string())], "too many")
                .into_response()
        }
        Act::Status(status) => (StatusCode::from_u16(status).unwrap(), "no").into_response(),
        Act::Half => {
            let begun = Ok(Bytes::from_static(b"{\"choices\": [{\"message\": {\"content\": \"{"));
            let broken = Err(std::io::Error::other("gone"));
            Body::from_stream(futures::stream::iter([begun, broken])).into_response()
        }
        Act::Hang => std::future::pending().await,
        Act::Says(text) => completion(text),
    }
}

/// As OpenAI's server says it of the models that reason.
fn unsupported(name: &str) -> Response {
    let (message, code) = match name {
        "max_tokens" => (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "unsupported_parameter",
        ),
        _ => (
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
            "unsupported_value",
        ),
    };
    let error = json!({"message": message, "type": "invalid_request_error", "param": name, "code": code});
    (StatusCode::BAD_REQUEST, Json(json!({"error": error}))).into_response()
}

fn well(server: &Server, body: &Value) -> Response {
    if let Some(prompt) = body["prompt"].as_str() {
        return match server.logs {
            Logs::All => echo(prompt, -0.1),
            Logs::Shifted => echo(prompt, -4.0),
            Logs::Unlikely => echo(prompt, -0.5),
            Logs::Answers => StatusCode::NOT_FOUND.into_response(),
            Logs::NoEcho => (StatusCode::INTERNAL_SERVER_ERROR, "Only no echo is supported").into_response(),
            Logs::Nothing => choice(json!({"text": " x", "logprobs": null})),
        };
    }
    if body["logprobs"] == true && server.logs == Logs::Nothing {
        return completion("No");
    }
    if body["logprobs"] == true {
        let top: Vec<Value> =
            YES.iter().map(|(token, p)| json!({"token": token, "logprob": f64::ln(*p)})).collect();
        let told = json!({"content": [{"token": "No", "top_logprobs": top}]});
        return choice(json!({"message": {"role": "assistant", "content": "No"}, "logprobs": told}));
    }
    completion(&match server.answers {
        Some(answers) => answers(body),
        None if server.reads => read(body),
        None => verdict(body),
    })
}

/// A prompt with its log-probabilities: a word with the space before it is a token, as the end of a line is, and has `log` a
/// character.
fn echo(prompt: &str, log: f64) -> Response {
    let mut tokens: Vec<String> = Vec::new();
    let mut before = 'x';
    for c in format!("{prompt} more").chars() {
        if tokens.is_empty() || c.is_whitespace() && !before.is_whitespace() || before == '\n' {
            tokens.push(String::new());
        }
        tokens.last_mut().unwrap().push(c);
        before = c;
    }
    let lengths: Vec<usize> = tokens.iter().map(|token| token.chars().count()).collect();
    let offsets: Vec<usize> = (0..tokens.len()).map(|at| lengths[..at].iter().sum()).collect();
    let mut logs: Vec<Value> = lengths.iter().map(|length| json!(log * *length as f64)).collect();
    logs[0] = Value::Null;
    let told = json!({"tokens": tokens, "token_logprobs": logs, "text_offset": offsets});
    choice(json!({"text": format!("{prompt} more"), "logprobs": told}))
}

/// What a judge says that looks at the texts: a word is wrong, and the answer without it is better.
fn read(body: &Value) -> String {
    let user = body["messages"][1]["content"].as_str().unwrap();
    let text = |name: &str| {
        user.split(&format!("<<<{name} ")).nth(1).and_then(|t| t.split(">>>").next()).unwrap_or_default()
    };
    if user.contains("<<<ANSWER 1 ") {
        let better = if text("ANSWER 1").contains(WRONG) { "answer_2" } else { "answer_1" };
        return json!({"rationale": "One is right.", "choice": better}).to_string();
    }
    let is_wrong = [WRONG, "Basil"].iter().any(|word| text("ANSWER").contains(word));
    let (problems, rating) = if is_wrong { (vec!["it is wrong"], "no") } else { (Vec::new(), "yes") };
    json!({"rationale": "I have read it.", "problems": problems, "rating": rating}).to_string()
}

fn completion(text: &str) -> Response {
    choice(json!({"message": {"role": "assistant", "content": text}}))
}

fn choice(mut choice: Value) -> Response {
    choice["index"] = json!(0);
    choice["finish_reason"] = json!("stop");
    Json(json!({
        "id": "x", "object": "chat.completion", "model": "judge-model-0",
        "choices": [choice],
        "usage": {"prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS, "total_tokens": 120},
    }))
    .into_response()
}

/// What the schema of the system's message asks for: everything is good, but for the last of several items.
fn verdict(body: &Value) -> String {
    let text = |at: usize| body["messages"][at]["content"].as_str().unwrap();
    let schema: Value = serde_json::from_str(text(0).split("JSON schema: ").nth(1).unwrap().trim()).unwrap();
    let properties = &schema["properties"];
    let statement =
        |n: usize, verdict: &str| json!({"statement": format!("s{n}"), "reason": "r", "verdict": verdict});
    let answer = if properties.get("rating").is_some() {
        json!({"rationale": "It is fine.", "problems": [], "rating": "yes"})
    } else if properties.get("result").is_some() {
        json!({"rationale": "It is fine.", "failure": "none", "result": true})
    } else if let Some(choice) = properties.get("choice") {
        json!({"rationale": "It is fine.", "choice": choice["enum"][0]})
    } else if properties.get("questions").is_some() {
        json!({"questions": [QUESTION, QUESTION, QUESTION]})
    } else if properties.get("parts").is_some() {
        // The first line of the answer.
        let answer = text(1).split("<<<ANSWER ").nth(1).and_then(|block| block.lines().nth(1));
        json!({"parts": [answer.unwrap()]})
    } else if properties.get("analysis").is_some() {
        json!({"analysis": ANALYSIS})
    } else if let Some(statements) = properties.get("statements") {
        let verdicts = match statements["items"]["properties"]["verdict"]["enum"][0] == "TP" {
            true => ["TP", "TP", "FP", "FN"],
            false => ["yes", "yes", "yes", "no"],
        };
        let all: Vec<Value> = verdicts.iter().enumerate().map(|(n, verdict)| statement(n, verdict)).collect();
        json!({"statements": all})
    } else {
        let name = text(0).split("one item for each ").nth(1).and_then(|t| t.split(',').next()).unwrap();
        let count = text(1).matches(&format!("<<<{name} ")).count();
        let verdict = |n: usize| if n == count && count > 1 { "no" } else { "yes" };
        let all: Vec<Value> =
            (1..=count).map(|n| json!({"number": n, "reason": "r", "verdict": verdict(n)})).collect();
        json!({"items": all})
    };
    answer.to_string()
}
