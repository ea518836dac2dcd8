//! Answers that are there: nobody is asked.

use super::answer::Answer;
use super::question::Question;
use crate::lab::rows::{self, Limits};
use crate::lab::template::{brief, plain};
use bytes::Bytes;
use serde_json::{Map, Value as Json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use unicode_normalization::UnicodeNormalization;

/// Most faults of a file that are told.
const MAX_TOLD: usize = 50;
/// Largest file, bytes.
const MAX_FILE: u64 = 1 << 30;

/// The columns of a file of answers, by the names that it may have, in any case.
const ITEM: &[&str] = &["item_id", "external_id", "id", "test id"];
const QUESTION: &[&str] = &["question", "test input", "input"];
const FIELDS: [(&str, &[&str]); 8] = [
    ("output", &["answer", "output", "llm output"]),
    ("error", &["error"]),
    ("contexts", &["contexts"]),
    ("in_tokens", &["in tokens", "in_tokens", "input_tokens"]),
    ("out_tokens", &["out tokens", "out_tokens", "output_tokens"]),
    ("duration", &["duration"]),
    ("duration_ms", &["duration_ms"]),
    ("cost_usd", &["cost_usd"]),
];

/// The answers of a file by item or question; without a file those of the items themselves.
pub(super) struct Existing {
    file: Option<File>,
}

#[derive(Default)]
struct File {
    name: String,
    sha256: String,
    /// With the question that stands beside the id, if one does: an id of another file means nothing.
    by_id: BTreeMap<String, (Option<String>, Answer)>,
    by_question: BTreeMap<String, Answer>,
}

impl Existing {
    /// # Errors
    /// Every fault of the file of answers, each with its line.
    pub fn new(path: Option<&Path>) -> Result<Self, String> {
        let Some(path) = path else { return Ok(Self { file: None }) };
        let name = path.display().to_string();
        let length = std::fs::metadata(path).map_err(|e| format!("{name}: {e}"))?.len();
        if length > MAX_FILE {
            return Err(format!("{name}: {length} bytes, at most {MAX_FILE} (1 GiB)"));
        }
        let bytes = Bytes::from(std::fs::read(path).map_err(|e| format!("{name}: {e}"))?);
        let sha256 = hex::encode(Sha256::digest(&bytes));
        let read = rows::read(&bytes, None, Limits::default()).map_err(|e| format!("{name}: {e}"))?;
        let mut file = File { name: name.clone(), sha256, ..File::default() };
        let mut told: Vec<String> = read
            .faults
            .iter()
            .map(|fault| format!("{}: {}", fault.place().told(&name), fault.bare()))
            .collect();
        for (place, row) in read.rows {
            told.extend(file.add(&row).err().map(|why| format!("{}: {why}", place.told(&name))));
        }
        let more = told.len().saturating_sub(MAX_TOLD);
        told.truncate(MAX_TOLD);
        if more > 0 {
            told.push(format!("… and {more} more"));
        }
        if told.is_empty() { Ok(Self { file: Some(file) }) } else { Err(told.join("\n")) }
    }

    /// The hash of the file.
    pub fn sha256(&self) -> Option<&str> {
        self.file.as_ref().map(|file| file.sha256.as_str())
    }

    pub fn answer(&self, question: &Question) -> Result<Answer, String> {
        if let Some(file) = &self.file {
            return file.answer(question);
        }
        match question
            .output
            .clone()
            .ok_or("the case has no answer: give it an output, or name a [target]")?
        {
            Json::Object(said) => Answer::from_object(&said),
            other => Ok(Answer { output: other, ..Answer::default() }),
        }
    }
}

impl File {
    fn add(&mut self, row: &Map<String, Json>) -> Result<(), String> {
        let get = |names: &[&str]| {
            let same = |key: &str, name: &str| key.trim().eq_ignore_ascii_case(name);
            let found = names.iter().find_map(|name| row.iter().find(|(key, _)| same(key, name)));
            found.map(|(_, value)| value).filter(|value| !value.is_null() && value.as_str() != Some(""))
        };
        let id = get(ITEM).map(plain);
        let question =
            get(QUESTION).map(|value| crate::lab::texts::text_of(value).unwrap_or_else(|| plain(value)));
        if id.is_none() && question.is_none() {
            return Err("no column Question, item_id or external_id".to_owned());
        }
        let said = FIELDS.into_iter().filter_map(|(to, names)| Some((to.to_owned(), get(names)?.clone())));
        let answer = Answer::from_object(&said.collect()).map_err(|_| {
            let whose = question.as_deref().or(id.as_deref()).unwrap_or_default();
            format!("no Answer to {:?}: the column is Answer or output", brief(whose))
        })?;
        let asked = question.as_deref().map(key);
        match (id, asked) {
            (Some(id), asked) => {
                if let Some(asked) = &asked {
                    self.by_question.entry(asked.clone()).or_insert_with(|| answer.clone());
                }
                let twice = self.by_id.insert(id.clone(), (asked, answer)).is_some();
                if twice { Err(format!("{id:?} is answered twice: keep one answer")) } else { Ok(()) }
            }
            (None, Some(asked)) => {
                let twice = self.by_question.insert(asked, answer).is_some();
                let question = question.unwrap_or_default();
                if twice {
                    Err(format!("the question {question:?} is there twice: keep one answer"))
                } else {
                    Ok(())
                }
            }
            (None, None) => Ok(()),
        }
    }

    fn answer(&self, question: &Question) -> Result<Answer, String> {
        let asked = question.text.as_deref().map(key);
        let ids = [Some(&question.item_id), question.external_id.as_ref()];
        let named = ids.into_iter().flatten().find_map(|id| {
            let (beside, answer) = self.by_id.get(id)?;
            (beside.is_none() || *beside == asked).then_some(answer)
        });
        let found = named.or_else(|| self.by_question.get(asked.as_deref()?));
        found
            .cloned()
            .ok_or_else(|| format!("no answer in the file of answers ({}) is to this item", self.name))
    }
}

/// Questions are equal that read alike: without spaces around them, accents put together.
fn key(question: &str) -> String {
    question.trim().nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn existing(text: &str) -> Result<Existing, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("qa.csv");
        std::fs::write(&path, text).unwrap();
        Existing::new(Some(&path))
    }

    fn answer(existing: &Existing, id: &str, text: &str) -> Result<Answer, String> {
        let (item_id, text) = (id.to_owned(), Some(text.to_owned()));
        existing.answer(&Question { item_id, text, ..Question::default() })
    }

    #[test]
    fn a_file_of_answers_is_matched_by_id_or_question() {
        let csv = "Question,Answer,In Tokens\n Where? ,There.,3\nWhen?,\"Then, and\nthere.\",\n";
        let found = existing(csv).unwrap();
        let where_to = answer(&found, "1", "Where?").unwrap();
        assert_eq!((&where_to.output, where_to.in_tokens), (&json!("There."), Some(3)));
        assert!(answer(&found, "1", "Who?").unwrap_err().contains("no answer in the file"));
        let twice =
            "{\"external_id\": \"a\", \"output\": \"x\"}\n{\"external_id\": \"a\", \"output\": \"y\"}\n";
        let twice = existing(twice).err().unwrap();
        assert!(twice.contains("qa.csv:2: \"a\" is answered twice"), "{twice}");
    }

    #[test]
    fn an_id_counts_where_its_question_is_the_one_that_is_asked() {
        let found = existing("id,question,answer\n1,a,one\n2,b,two\n3,b,three\n4,,four\n").unwrap();
        let output = |id: &str, text: &str| answer(&found, id, text).unwrap().output;
        assert_eq!(output("1", "a"), "one");
        assert_eq!((output("2", "b"), output("3", "b")), (json!("two"), json!("three")));
        // The second test of a suite has the number 2, and the file counts otherwise.
        assert_eq!(output("2", "a"), "one");
        assert_eq!(output("4", "whatever"), "four");
    }
}
