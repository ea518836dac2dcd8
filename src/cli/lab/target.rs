//! Who answers the items of an experiment: an address, a program, a model, or a file of answers.

use super::answers::{Existing, answer_of};
use super::program::{MAX_ANSWER, Program};
use super::template::Template;
use clap::Args;
use futures::StreamExt;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::Mutex;

/// The first wait before another try; it doubles with each further one.
const BACKOFF: Duration = Duration::from_millis(500);

/// Who answers.
#[derive(Debug, Clone, Args)]
#[group(id = "target", required = false, multiple = false)]
pub struct TargetArgs {
    /// An address: each item is posted to it as JSON.
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,
    /// A program, run by the shell: an item a line on its standard input, an answer a line on its standard output.
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,
    /// A server that speaks OpenAI's chat completions, such as http://127.0.0.1:11434/v1.
    #[arg(long, value_name = "ADDRESS")]
    openai: Option<String>,
    /// A file of answers that were made elsewhere: CSV, JSON lines or JSON with item_id, external_id or question, and answer.
    #[arg(long, value_name = "FILE")]
    existing: Option<PathBuf>,
    /// The answers of the traces that the items were made of.
    #[arg(long)]
    trace: bool,
}

/// How the target is asked.
#[derive(Debug, Clone, Args)]
pub struct AskArgs {
    /// The model, for --openai; for other targets it is kept with the experiment.
    #[arg(long)]
    model: Option<String>,
    /// A file with the prompt, for --openai: a text with {{input.question}}; {{input}} alone if left out.
    #[arg(long, value_name = "FILE")]
    prompt: Option<PathBuf>,
    /// The environment variable with the key, for --openai.
    #[arg(long, value_name = "VARIABLE", default_value = "OPENAI_API_KEY")]
    key_env: String,
    /// How long one answer may take, such as 90s.
    #[arg(long, default_value = "10m", value_parser = humantime::parse_duration)]
    timeout: Duration,
    /// How often a target is asked again that is away or says that it is busy.
    #[arg(long, default_value_t = 2)]
    retries: u32,
}

/// Who answers, ready to be asked.
pub enum Asker {
    /// An address.
    Http {
        /// Where.
        url: String,
        /// Connections.
        client: reqwest::Client,
        /// How it is asked.
        ask: AskArgs,
    },
    /// A model.
    Openai {
        /// Where.
        url: String,
        /// Connections.
        client: reqwest::Client,
        /// The key; none if the variable is not set.
        key: Option<String>,
        /// The prompt.
        template: Template,
        /// How it is asked.
        ask: AskArgs,
    },
    /// A program; one item at a time.
    Command(Mutex<Program>),
    /// A file.
    Existing(Existing),
    /// Stored spans, which the server reads itself.
    Trace,
}

/// An answer that did not come, and whether another try may help.
pub struct Away {
    why: String,
    again: bool,
}

impl Away {
    /// Another try would fail too.
    pub fn for_good(why: impl Into<String>) -> Self {
        Self { why: why.into(), again: false }
    }

    fn for_now(why: impl Into<String>) -> Self {
        Self { why: why.into(), again: true }
    }
}

impl Asker {
    /// Who `target` names.
    ///
    /// # Errors
    /// When nobody is named, or a file cannot be read.
    pub fn open(target: &TargetArgs, ask: &AskArgs) -> Result<Self, String> {
        let (client, ask) = (reqwest::Client::new(), ask.clone());
        if let Some(url) = &target.http {
            return Ok(Self::Http { url: url.clone(), client, ask });
        }
        if let Some(command) = &target.command {
            return Ok(Self::Command(Mutex::new(Program::new(command, ask.timeout))));
        }
        if let Some(url) = &target.openai {
            let template = match &ask.prompt {
                None => Template::parse("{{input}}"),
                Some(path) => {
                    let text =
                        std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
                    Template::parse(&text)
                }
            }?;
            if ask.model.is_none() {
                return Err("--openai needs --model".to_owned());
            }
            let url = format!("{}/chat/completions", url.trim_end_matches('/'));
            return Ok(Self::Openai { url, client, key: std::env::var(&ask.key_env).ok(), template, ask });
        }
        if let Some(path) = &target.existing {
            return Ok(Self::Existing(Existing::read(path)?));
        }
        match target.trace {
            true => Ok(Self::Trace),
            false => Err("say who answers: --http, --command, --openai, --existing or --trace".to_owned()),
        }
    }

    /// What is kept of it with the experiment.
    pub fn described(&self) -> Value {
        match self {
            Self::Http { url, ask, .. } => json!({"kind": "http", "url": url, "model": ask.model}),
            Self::Openai { url, ask, template, .. } => {
                json!({"kind": "openai", "url": url, "model": ask.model, "prompt_sha256": template.sha256()})
            }
            Self::Command(program) => {
                let command =
                    program.try_lock().map(|program| program.command().to_owned()).unwrap_or_default();
                json!({"kind": "command", "command": command})
            }
            Self::Existing(existing) => {
                json!({"kind": "existing", "file": existing.file(), "sha256": existing.sha256()})
            }
            Self::Trace => json!({"kind": "trace"}),
        }
    }

    /// The answer to an item, as the server takes it. A target that does not answer gives an answer with an error.
    pub async fn answer(&self, todo: &Value) -> Value {
        let started = std::time::Instant::now();
        let mut answer = match self.asked(todo).await {
            Ok(answer) => answer,
            Err(away) => Map::from_iter([("error".to_owned(), Value::from(away.why))]),
        };
        for key in ["run_id", "item_id", "repetition", "attempt"] {
            answer.insert(key.to_owned(), todo[key].clone());
        }
        let took = started.elapsed().as_secs_f64() * 1e3;
        if !matches!(self, Self::Existing(_)) {
            answer.entry("duration_ms").or_insert_with(|| json!(took));
        }
        Value::Object(answer)
    }

    async fn asked(&self, todo: &Value) -> Result<Map<String, Value>, Away> {
        let (mut wait, mut left) = (BACKOFF, self.retries());
        loop {
            match self.once(todo).await {
                Err(away) if away.again && left > 0 => {
                    tokio::time::sleep(wait).await;
                    (wait, left) = (wait * 2, left - 1);
                }
                ended => return ended,
            }
        }
    }

    fn retries(&self) -> u32 {
        match self {
            Self::Http { ask, .. } | Self::Openai { ask, .. } => ask.retries,
            _ => 0,
        }
    }

    async fn once(&self, todo: &Value) -> Result<Map<String, Value>, Away> {
        match self {
            Self::Http { url, client, ask } => {
                let traceparent = todo["traceparent"].as_str().unwrap_or_default();
                let request = client.post(url).header("traceparent", traceparent).json(&sent(todo));
                let text = body(request, ask.timeout).await?;
                answer_of(&text, todo).map_err(Away::for_good)
            }
            Self::Openai { url, client, key, template, ask } => {
                let messages = template.messages(todo).map_err(Away::for_good)?;
                let mut wanted = json!({"model": ask.model, "messages": messages});
                for (name, value) in todo["parameters"].as_object().into_iter().flatten() {
                    wanted[name.as_str()] = value.clone();
                }
                let mut request = client.post(url).json(&wanted);
                if let Some(key) = key {
                    request = request.bearer_auth(key);
                }
                completion(&body(request, ask.timeout).await?).map_err(Away::for_good)
            }
            Self::Command(program) => {
                let line = program.lock().await.ask(&sent(todo)).await.map_err(Away::for_good)?;
                answer_of(&line, todo).map_err(Away::for_good)
            }
            Self::Existing(existing) => existing.answer(todo).map_err(Away::for_good),
            Self::Trace => Err(Away::for_good("the server reads stored spans itself")),
        }
    }
}

/// What a target gets.
fn sent(todo: &Value) -> Value {
    let mut sent = Map::new();
    for key in ["run_id", "item_id", "input", "contexts", "parameters", "traceparent"] {
        sent.insert(key.to_owned(), todo[key].clone());
    }
    sent.insert("files".to_owned(), json!([]));
    Value::Object(sent)
}

/// The body of an answer, in time and of bounded size. Statuses that say "later" may be asked again.
async fn body(request: reqwest::RequestBuilder, timeout: Duration) -> Result<String, Away> {
    let whole = async {
        let response = request.send().await.map_err(|e| Away::for_now(format!("the target is away: {e}")))?;
        let status = response.status();
        let (mut bytes, mut stream) = (Vec::new(), response.bytes_stream());
        while let Some(part) = stream.next().await {
            let part = part.map_err(|e| Away::for_now(format!("the answer broke off: {e}")))?;
            if bytes.len() + part.len() > MAX_ANSWER {
                return Err(Away::for_good(format!("the answer is longer than {MAX_ANSWER} bytes")));
            }
            bytes.extend_from_slice(&part);
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if status.is_success() {
            return Ok(text);
        }
        let told: String = text.chars().take(300).collect();
        let why = format!("the target answered {status}: {told}");
        let is_later = status.is_server_error() || matches!(status.as_u16(), 408 | 429);
        Err(if is_later { Away::for_now(why) } else { Away::for_good(why) })
    };
    tokio::time::timeout(timeout, whole)
        .await
        .unwrap_or_else(|_| Err(Away::for_good(format!("no answer within {} s", timeout.as_secs_f64()))))
}

/// What a chat completion says.
fn completion(text: &str) -> Result<Map<String, Value>, String> {
    let answer: Value = serde_json::from_str(text).map_err(|e| format!("the answer is no JSON: {e}"))?;
    let message = &answer["choices"][0]["message"];
    let said = message["content"].as_str().map(Value::from);
    let output = said.or_else(|| message.get("tool_calls").cloned().filter(|calls| !calls.is_null()));
    let mut told = Map::new();
    told.insert("output".to_owned(), output.ok_or("the completion has no message")?);
    for (ours, theirs) in [("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens")] {
        if let Some(count) = answer["usage"][theirs].as_i64() {
            told.insert(ours.to_owned(), count.into());
        }
    }
    Ok(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_completion_is_an_answer_with_its_tokens() {
        let text = r#"{"choices": [{"message": {"role": "assistant", "content": "Yes."}}], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}"#;
        let told = completion(text).unwrap();
        assert_eq!((&told["output"], &told["input_tokens"]), (&json!("Yes."), &json!(7)));
        assert!(completion("{}").is_err() && completion("<html>").is_err());
    }
}
