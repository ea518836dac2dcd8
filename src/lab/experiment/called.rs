//! Targets that the server asks itself: those of `[lab.targets]` and no others, so that nobody who may make experiments can
//! have it fetch any address.

use super::super::config::Config;
use super::super::dataset::{Attached, text_of};
use super::super::error::LabError;
use super::definition::{Answer, Target as Described, Todo};
use crate::domain::id::TenantId;
use crate::lab::target::{self, Prompts, Question, Target};
use futures::StreamExt;
use parking_lot::Mutex as Lock;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// The kind under which an experiment names one of them.
pub const NAMED: &str = "named";
/// Most runs of one request: its sender waits for all of them.
pub const MAX_CALLED: usize = 64;

/// The targets of the server. Cheap to clone.
#[derive(Clone, Default)]
pub struct Targets {
    all: Arc<BTreeMap<String, Result<Target, String>>>,
    /// Experiments that are asked now: nobody is asked twice at once.
    asked: Arc<Lock<HashSet<Key>>>,
}

/// Whose experiment, and its id: two tenants may have restored one archive.
type Key = (TenantId, String);

/// An experiment that is asked now, and by nobody else as long as it is held.
pub struct Turn {
    asked: Arc<Lock<HashSet<Key>>>,
    key: Key,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.asked.lock().remove(&self.key);
    }
}

impl Targets {
    /// Those of the configuration. One whose key is not in the environment says so when it is asked.
    pub fn open(config: &Config) -> Self {
        let open =
            |(name, spec): (&String, &target::TargetSpec)| (name.clone(), Target::open(spec, Path::new("")));
        Self { all: Arc::new(config.targets.iter().map(open).collect()), asked: Arc::default() }
    }

    /// Their names, each with what an experiment keeps of it.
    pub fn listed(&self) -> Vec<Value> {
        let told = |(name, target): (&String, &Result<Target, String>)| match target {
            Ok(target) => named(name, target),
            Err(why) => json!({ "name": name, "error": why }),
        };
        self.all.iter().map(told).collect()
    }

    /// Whether an experiment asks one of them, and not something of its own that merely has the same name. Experiments that
    /// an earlier release made are not marked: theirs is one of these if it is described in the same way.
    pub fn has(&self, target: &Described) -> bool {
        let Some(name) = target.name.as_deref().filter(|name| self.all.contains_key(*name)) else {
            return false;
        };
        let is_same = || self.described(name, &target.prompts()).is_ok_and(|described| described == *target);
        target.is_asked_by_the_server() || is_same()
    }

    /// What an experiment keeps of the target of that name, asked by `prompts`.
    ///
    /// # Errors
    /// Which ones there are, or what is wrong with the prompts.
    pub fn described(&self, name: &str, prompts: &Prompts) -> Result<Described, String> {
        let mut described = self.find(name)?.described_with(prompts)?;
        described["name"] = name.into();
        serde_json::from_value(described).map_err(|e| e.to_string())
    }

    fn find(&self, name: &str) -> Result<&Target, String> {
        let found = self.all.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.all.keys().map(String::as_str).collect();
            let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            format!("the server has no target {name:?}; [lab.targets] has {there}")
        })?;
        found.as_ref().map_err(Clone::clone)
    }

    /// The turn of an experiment of a tenant: to be held from the look at what is missing until that is stored, or it is asked twice.
    ///
    /// # Errors
    /// [`LabError::Later`] while somebody else has it.
    pub fn turn(&self, tenant: &TenantId, experiment_id: &str) -> Result<Turn, LabError> {
        let key = (tenant.clone(), experiment_id.to_owned());
        if !self.asked.lock().insert(key.clone()) {
            return Err(LabError::Later("the server asks the target of this experiment already".to_owned()));
        }
        Ok(Turn { asked: self.asked.clone(), key })
    }

    /// What a target answers to `todo`, in that order, as many at once as it may be asked. Its prompts are those that
    /// `described` has.
    ///
    /// # Errors
    /// [`LabError::Wrong`] without the target.
    pub async fn answers(&self, described: &Described, todo: &[Todo]) -> Result<Vec<Answer>, LabError> {
        let target = self.find(described.name.as_deref().unwrap_or_default()).map_err(LabError::Wrong)?;
        let prompts = described.prompts();
        let asked: Vec<_> = todo.iter().map(|todo| answer(target, todo, &prompts)).collect();
        Ok(futures::stream::iter(asked).buffered(target.concurrency()).collect().await)
    }
}

fn named(name: &str, target: &Target) -> Value {
    let mut described = target.described().clone();
    described["name"] = name.into();
    described
}

async fn answer(target: &Target, todo: &Todo, prompts: &Prompts) -> Answer {
    let question = Question {
        run_id: todo.run_id.clone(),
        item_id: todo.item_id.clone(),
        external_id: todo.external_id.clone(),
        traceparent: todo.traceparent.clone(),
        text: Some(text_of(&todo.input).unwrap_or_else(|| todo.input.to_string())),
        input: todo.input.clone(),
        contexts: todo.contexts.clone(),
        // Where a file lay in an archive is no path that a target could read.
        attached: todo.files.iter().map(|file| json!(Attached { path: None, ..file.clone() })).collect(),
        prompts: prompts.clone(),
        parameters: todo.parameters.as_object().cloned().unwrap_or_default(),
        ..Question::default()
    };
    let said = target.ask(&question).await;
    let said = said.unwrap_or_else(|why| target::Answer { error: Some(why), ..target::Answer::default() });
    // What is no such answer is told as the run's error, and not as the request's.
    let read = serde_json::from_value(Value::Object(said.into_object()));
    let mut answer: Answer = read.unwrap_or_else(|e| Answer {
        error: Some(format!("the answer is not what is expected: {e}")),
        ..Answer::default()
    });
    answer.item_id.clone_from(&todo.item_id);
    (answer.repetition, answer.attempt) = (Some(todo.repetition), Some(todo.attempt));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_experiment_of_a_tenant_is_asked_by_one_at_a_time() {
        let (targets, mine, other) = (Targets::default(), TenantId::from("mine"), TenantId::from("other"));
        let turn = targets.turn(&mine, "a").unwrap();
        assert_eq!(targets.clone().turn(&mine, "a").err().unwrap().status().as_u16(), 503);
        assert!(targets.turn(&mine, "b").is_ok());
        assert!(targets.turn(&other, "a").is_ok(), "a restored archive has the same ids");
        drop(turn);
        assert!(targets.turn(&mine, "a").is_ok());
    }
}
