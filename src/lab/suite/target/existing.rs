//! Answers that are there: nobody is asked.

use super::super::cases;
use super::super::fault::Faults;
use super::super::reply::Reply;
use super::super::template::plain;
use super::job::Job;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::Path;
use unicode_normalization::UnicodeNormalization;

/// The answers of a file by their question; without a file those of the cases themselves.
pub(super) struct Existing {
    answers: Option<BTreeMap<String, Reply>>,
}

impl Existing {
    /// # Errors
    /// Every fault of the file of answers.
    pub fn new(file: Option<&Path>) -> Result<Self, String> {
        let Some(file) = file else { return Ok(Self { answers: None }) };
        let name = file.display().to_string();
        let mut faults = Faults::default();
        let mut answers = BTreeMap::new();
        for (object, place) in cases::objects(file, &name, &mut faults) {
            let find =
                |names: &[&str]| names.iter().find_map(|name| object.get(*name).filter(|v| !v.is_null()));
            let Some(question) = find(&["Question", "question", "input"]) else {
                faults.add(format!("{place}: no column Question"));
                continue;
            };
            let Some(answer) = find(&["Answer", "answer", "output"]) else {
                faults.add(format!("{place}: no Answer to {:?}", plain(question)));
                continue;
            };
            let number = |names: &[&str]| find(names).and_then(|v| plain(v).trim().parse::<f64>().ok());
            let tokens = |names: &[&str]| number(names).map(count);
            let reply = Reply {
                in_tokens: tokens(&["In Tokens", "in_tokens"]),
                out_tokens: tokens(&["Out Tokens", "out_tokens"]),
                duration_ms: number(&["Duration", "duration"]).map(|seconds| seconds * 1e3),
                ..Reply::text(plain(answer))
            };
            if answers.insert(key(&plain(question)), reply).is_some() {
                faults.add(format!(
                    "{place}: the question {:?} is there twice: keep one answer",
                    plain(question)
                ));
            }
        }
        if faults.is_empty() { Ok(Self { answers: Some(answers) }) } else { Err(faults.to_string()) }
    }

    pub fn answer(&self, job: &Job<'_>) -> Result<Reply, String> {
        let Some(answers) = &self.answers else {
            let output = job.item.spec.output.clone();
            return match output.ok_or("the case has no answer: give it an output, or name a [target]")? {
                Json::Object(object) => Reply::from_json(Json::Object(object)),
                other => Ok(Reply::text(plain(&other))),
            };
        };
        let question = job.item.question.as_deref().ok_or("the case has no question")?;
        let found = answers.get(&key(question)).cloned();
        found.ok_or_else(|| "no answer in the file of answers has this question".to_owned())
    }
}

/// Questions are equal that read alike: without spaces around them, accents put together.
fn key(question: &str) -> String {
    question.trim().nfc().collect()
}

fn count(number: f64) -> i64 {
    number as i64
}
