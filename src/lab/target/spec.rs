//! Who is asked, as it is written: `[target]` of a suite, the arguments of an experiment, `[lab.targets]` of a server.

use crate::units::Time;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// How a target is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Nobody is asked: the answers are there.
    #[default]
    Existing,
    /// An address: items are posted to it.
    Http,
    /// Chat completions.
    Openai,
    /// A process: JSON lines in and out.
    Command,
}

/// What counts as an answer of an address or a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A JSON object must say `output` or `error`, and a line of a process must be JSON: what else it prints is a fault.
    #[default]
    Strict,
    /// What is no such object is the text of the answer, also JSON and lines that are none.
    Any,
}

/// A target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TargetSpec {
    /// How it is asked.
    pub kind: Kind,
    /// What reports call it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// `existing`: a file of answers, by item_id, external_id, id or question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<PathBuf>,
    /// `http`: posted to.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// `openai`: the address before `/chat/completions`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub base_url: String,
    /// `openai`: who is asked. Of the others it is only kept.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// `openai`: the system's message, with `{{…}}`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// `openai`: the user's message, with `{{…}}`; empty for the question, or the messages of the input.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prompt: String,
    /// The environment variable that holds the bearer token.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_key_env: String,
    /// Headers of every request.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Members of the request of `openai`; told to the other kinds with every item.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Json>,
    /// US dollars of a million tokens read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_input_usd: Option<f64>,
    /// US dollars of a million tokens written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_output_usd: Option<f64>,
    /// `command`: the program and its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// What counts as an answer of `http` and `command`.
    #[serde(skip_serializing_if = "is_strict")]
    pub form: Form,
    /// Of one answer, retries included; of a command each try has as much.
    #[serde(with = "Time")]
    pub timeout: Duration,
    /// Items at once; a command is asked one after the other.
    pub concurrency: usize,
    /// How often it is asked again when it is away, says that it is busy, or has died.
    pub retries: u32,
}

fn is_strict(form: &Form) -> bool {
    *form == Form::Strict
}

impl Default for TargetSpec {
    fn default() -> Self {
        Self {
            kind: Kind::Existing,
            name: String::new(),
            answers: None,
            url: String::new(),
            base_url: String::new(),
            model: String::new(),
            system: String::new(),
            prompt: String::new(),
            api_key_env: String::new(),
            headers: BTreeMap::new(),
            parameters: BTreeMap::new(),
            price_input_usd: None,
            price_output_usd: None,
            command: Vec::new(),
            form: Form::Strict,
            timeout: Duration::from_mins(10),
            concurrency: 8,
            retries: 3,
        }
    }
}

impl TargetSpec {
    /// Everything that is wrong with it; `key` is what it is called, such as `target`.
    pub fn faults(&self, key: &str) -> Vec<String> {
        let mut faults = Vec::new();
        let mut wrong = |why: String| faults.push(format!("{key}.{why}"));
        let is_url =
            |text: &str| url::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        match self.kind {
            Kind::Http if !is_url(&self.url) => {
                wrong(format!("url {:?} is no address such as http://127.0.0.1:8080/answer", self.url));
            }
            Kind::Openai if !is_url(&self.base_url) => {
                let example = "http://127.0.0.1:8000/v1";
                wrong(format!("base_url {:?} is no address such as {example}", self.base_url));
            }
            Kind::Openai if self.model.is_empty() => {
                wrong("model is missing: kind openai asks a model".to_owned())
            }
            Kind::Command if self.command.is_empty() => {
                wrong("command is missing, such as [\"python\", \"app.py\"]".to_owned());
            }
            _ => {}
        }
        for (key, is_set, kind) in [
            ("url", !self.url.is_empty(), Kind::Http),
            ("base_url", !self.base_url.is_empty(), Kind::Openai),
            ("prompt", !self.prompt.is_empty(), Kind::Openai),
            ("system", !self.system.is_empty(), Kind::Openai),
            ("command", !self.command.is_empty(), Kind::Command),
            ("answers", self.answers.is_some(), Kind::Existing),
        ] {
            if is_set && kind != self.kind {
                wrong(format!("{key} belongs to kind = \"{}\"", format!("{kind:?}").to_lowercase()));
            }
        }
        if !(1..=1_000).contains(&self.concurrency) {
            wrong(format!("concurrency is {}, must be 1 to 1000", self.concurrency));
        }
        if self.retries > 20 {
            wrong(format!("retries is {}, must be 0 to 20", self.retries));
        }
        if self.timeout.is_zero() {
            wrong("timeout is 0: no answer would come in time".to_owned());
        }
        faults
    }

    /// What is kept of it with an experiment: nothing that is secret.
    pub fn described(&self) -> Json {
        let mut told = json!({ "kind": format!("{:?}", self.kind).to_lowercase() });
        let prompt = format!("{}\n{}", self.system, self.prompt);
        let hash = if prompt.len() > 1 { hex::encode(Sha256::digest(prompt)) } else { String::new() };
        let file = self.answers.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
        let url = if self.url.is_empty() { &self.base_url } else { &self.url };
        for (key, text) in [
            ("name", &self.name),
            ("url", &bare(url)),
            ("model", &self.model),
            ("prompt_sha256", &hash),
            ("command", &self.command.join(" ")),
            ("file", &file),
        ] {
            if !text.is_empty() {
                told[key] = text.as_str().into();
            }
        }
        told
    }
}

/// An address without a password and without what stands behind its question mark, where keys may be.
fn bare(address: &str) -> String {
    let Ok(mut url) = url::Url::parse(address) else { return address.to_owned() };
    if url.query().is_none() && url.password().is_none() {
        return address.to_owned();
    }
    url.set_query(None);
    // It fails where there can be none.
    let _ = url.set_password(None);
    url.to_string()
}
