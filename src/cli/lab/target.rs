//! Who answers the items of an experiment, by the arguments.

use super::revision::revised;
use crate::lab::dataset::text_of;
use crate::lab::target::{Answer, Form, Kind, Question, Target, TargetSpec};
use clap::Args;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The variable with the key of `--openai`, if none is named.
const KEY: &str = "OPENAI_API_KEY";

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
    /// A target of the server's configuration, [lab.targets], which the server asks itself.
    #[arg(long = "server-target", value_name = "NAME")]
    server: Option<String>,
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
    /// The environment variable with the key: of --openai OPENAI_API_KEY if left out, of --http none.
    #[arg(long, value_name = "VARIABLE")]
    key_env: Option<String>,
    /// How long one answer may take with its retries, such as 90s; of --command each try.
    #[arg(long, default_value = "10m", value_parser = humantime::parse_duration)]
    timeout: Duration,
    /// How often a target is asked again that is away or says that it is busy.
    #[arg(long, default_value_t = 2)]
    retries: u32,
}

/// Who answers, ready to be asked.
pub enum Asker {
    /// Asked from here.
    Here(Box<Target>),
    /// Stored spans, or a target of the server: it takes the answers itself.
    Server(Value),
}

impl Asker {
    /// Who `target` names.
    ///
    /// # Errors
    /// When nobody is named, or a file cannot be read.
    pub fn open(target: &TargetArgs, ask: &AskArgs) -> Result<Self, String> {
        if target.trace {
            return Ok(Self::Server(json!({ "kind": "trace" })));
        }
        if let Some(name) = &target.server {
            return Ok(Self::Server(json!({ "kind": "named", "name": name })));
        }
        let spec = spec(target, ask)?;
        let faults = spec.faults("target");
        if !faults.is_empty() {
            return Err(faults.join("; "));
        }
        Ok(Self::Here(Box::new(Target::open(&spec, Path::new(""))?)))
    }

    /// What is kept of it with the experiment; of one that is asked from here also the commit that is checked out here.
    pub async fn described(&self) -> Value {
        match self {
            Self::Here(target) => revised(target.described(), Path::new("")).await,
            // What the server asks is not the application of this folder.
            Self::Server(described) => described.clone(),
        }
    }
}

/// The answer to an item, as the server takes it. A target that does not answer gives an answer with an error.
pub async fn answer(target: &Target, todo: &Value) -> Value {
    let answered = target.ask(&question(todo)).await;
    let answer = answered.unwrap_or_else(|why| Answer { error: Some(why), ..Answer::default() });
    let mut answer: Map<String, Value> = answer.into_object();
    for key in ["run_id", "item_id", "repetition", "attempt"] {
        answer.insert(key.to_owned(), todo[key].clone());
    }
    Value::Object(answer)
}

fn spec(target: &TargetArgs, ask: &AskArgs) -> Result<TargetSpec, String> {
    let spec = TargetSpec {
        model: ask.model.clone().unwrap_or_default(),
        api_key_env: ask.key_env.clone().unwrap_or_default(),
        form: Form::Any,
        timeout: ask.timeout,
        retries: ask.retries,
        ..TargetSpec::default()
    };
    if let Some(url) = &target.http {
        return Ok(TargetSpec { kind: Kind::Http, url: url.clone(), ..spec });
    }
    if let Some(command) = &target.command {
        let command = ["sh", "-c", command].map(str::to_owned).to_vec();
        return Ok(TargetSpec { kind: Kind::Command, command, ..spec });
    }
    if let Some(url) = &target.openai {
        if ask.model.is_none() {
            return Err("--openai needs --model".to_owned());
        }
        let prompt = match &ask.prompt {
            None => String::new(),
            Some(path) => std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?,
        };
        // A server of one's own asks for no key.
        let usual = std::env::var(KEY).is_ok_and(|key| !key.trim().is_empty()).then(|| KEY.to_owned());
        let api_key_env = ask.key_env.clone().or(usual).unwrap_or_default();
        return Ok(TargetSpec { kind: Kind::Openai, base_url: url.clone(), prompt, api_key_env, ..spec });
    }
    match &target.existing {
        Some(path) => Ok(TargetSpec { answers: Some(path.clone()), ..spec }),
        None => {
            Err("say who answers: --http, --command, --openai, --existing, --trace or --server-target"
                .to_owned())
        }
    }
}

/// A run that is missing, as targets are asked it.
fn question(todo: &Value) -> Question {
    let text = |key: &str| todo[key].as_str().unwrap_or_default().to_owned();
    let input = todo["input"].clone();
    Question {
        run_id: text("run_id"),
        item_id: text("item_id"),
        external_id: todo["external_id"].as_str().map(str::to_owned),
        traceparent: text("traceparent"),
        text: Some(text_of(&input).unwrap_or_else(|| input.to_string())),
        input,
        contexts: todo["contexts"].clone(),
        attached: todo["files"].as_array().cloned().unwrap_or_default(),
        parameters: todo["parameters"].as_object().cloned().unwrap_or_default(),
        ..Question::default()
    }
}
