//! One question to a target of any kind.

use super::answer::Answer;
use super::command::Command;
use super::existing::Existing;
use super::http::Http;
use super::openai::Openai;
use super::question::{Prompts, Question};
use super::spec::{Kind, TargetSpec};
use serde_json::Value as Json;
use std::path::Path;
use std::time::{Duration, Instant};

/// Who is asked, ready.
pub struct Target {
    asked: Asked,
    timeout: Duration,
    concurrency: usize,
    described: Json,
}

enum Asked {
    Existing(Existing),
    Http(Box<Http>),
    Openai(Box<Openai>),
    Command(Box<Command>),
}

impl Target {
    /// The target that `spec` says; its paths begin at `folder`. Nobody is asked yet.
    ///
    /// # Errors
    /// When its address, headers, prompt or token cannot be used, or its file of answers is wrong.
    pub fn open(spec: &TargetSpec, folder: &Path) -> Result<Self, String> {
        let mut described = spec.described();
        let asked = match spec.kind {
            Kind::Existing => {
                let file = spec.answers.as_ref().map(|file| folder.join(file));
                let existing = Existing::new(file.as_deref())?;
                if let Some(hash) = existing.sha256() {
                    described["sha256"] = hash.into();
                }
                Asked::Existing(existing)
            }
            Kind::Http => Asked::Http(Box::new(Http::new(spec)?)),
            Kind::Openai => Asked::Openai(Box::new(Openai::new(spec)?)),
            Kind::Command => Asked::Command(Box::new(Command::new(spec, folder))),
        };
        Ok(Self { asked, timeout: spec.timeout, concurrency: spec.concurrency, described })
    }

    /// What is kept of it with an experiment.
    pub fn described(&self) -> &Json {
        &self.described
    }

    /// What is kept of it with an experiment that asks by prompts of its own: these too.
    ///
    /// # Errors
    /// When it takes no prompts, or a place of one leads nowhere; the message begins with the key.
    pub fn described_with(&self, prompts: &Prompts) -> Result<Json, String> {
        match &self.asked {
            _ if prompts.is_empty() => Ok(self.described.clone()),
            Asked::Openai(openai) => openai.described_with(prompts),
            _ => {
                let kind = self.described["kind"].as_str().unwrap_or_default();
                Err(format!(
                    "target.prompt: a target of the kind {kind} makes its prompts itself; one of the kind openai takes them"
                ))
            }
        }
    }

    /// How many questions it may be asked at once.
    pub fn concurrency(&self) -> usize {
        self.concurrency
    }

    /// Asks once, in no more time than the target has. What the target itself tells as an error is in the answer.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn ask(&self, question: &Question) -> Result<Answer, String> {
        let started = Instant::now();
        let mut answer = match &self.asked {
            // How long a stored answer took is not known here.
            Asked::Existing(existing) => return existing.answer(question),
            // A command keeps its own time: it answers one after the other.
            Asked::Command(command) => command.ask(question).await?,
            Asked::Http(http) => self.in_time(http.ask(question)).await?,
            Asked::Openai(openai) => self.in_time(openai.ask(question)).await?,
        };
        answer.duration_ms.get_or_insert(started.elapsed().as_secs_f64() * 1e3);
        Ok(answer)
    }

    async fn in_time(&self, asked: impl Future<Output = Result<Answer, String>>) -> Result<Answer, String> {
        let late = |_| format!("no answer in {} (target.timeout)", crate::units::words(self.timeout));
        tokio::time::timeout(self.timeout, asked).await.map_err(late)?
    }
}
