//! What targets and files answer.

use crate::lab::dataset::text_of;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::Path;

/// The keys of an answer that is more than a text.
const KEYS: &[&str] = &["output", "error", "contexts", "output_context"];

/// What a target said: a text, or an object of output, contexts, output_context, in_tokens, out_tokens, cost_usd, duration
/// (seconds) and error.
///
/// # Errors
/// When it answers another item.
pub fn answer_of(text: &str, todo: &Value) -> Result<Map<String, Value>, String> {
    let said: Value = match serde_json::from_str(text) {
        Ok(Value::Object(fields)) if KEYS.iter().any(|key| fields.contains_key(*key)) => {
            Value::Object(fields)
        }
        Ok(Value::String(text)) => Value::Object(Map::from_iter([("output".to_owned(), text.into())])),
        _ => {
            let output = Value::from(text.trim_end_matches(['\r', '\n']));
            Value::Object(Map::from_iter([("output".to_owned(), output)]))
        }
    };
    for key in ["item_id", "run_id"] {
        if let Some(other) = said.get(key).filter(|sent| !sent.is_null() && **sent != todo[key]) {
            return Err(format!("the target answered {key} {other}, and was asked {}", todo[key]));
        }
    }
    taken(&said)
}

/// The fields that the server knows, of a target's or a file's.
fn taken(said: &Value) -> Result<Map<String, Value>, String> {
    let mut answer = Map::new();
    for key in
        ["output", "contexts", "output_context", "cost_usd", "duration_ms", "trace_id", "span_id", "scores"]
    {
        if let Some(value) = said.get(key).filter(|value| !value.is_null()) {
            answer.insert(key.to_owned(), value.clone());
        }
    }
    if let Some(why) = said.get("error").filter(|why| !why.is_null()) {
        answer.insert("error".to_owned(), why.as_str().map_or_else(|| why.to_string(), str::to_owned).into());
    }
    for (ours, theirs) in [("input_tokens", "in_tokens"), ("output_tokens", "out_tokens")] {
        let count = said.get(ours).or_else(|| said.get(theirs)).and_then(number);
        if let Some(count) = count {
            answer.insert(ours.to_owned(), (count.round() as i64).into());
        }
    }
    if let Some(seconds) = said.get("duration").and_then(number) {
        answer.insert("duration_ms".to_owned(), (seconds * 1e3).into());
    }
    if !answer.contains_key("output") && !answer.contains_key("error") {
        return Err("the answer has neither output nor error".to_owned());
    }
    Ok(answer)
}

/// A number, or a text that is one: `12.0` is a count too.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// Answers that were made elsewhere.
pub struct Existing {
    file: String,
    sha256: String,
    by_id: HashMap<String, Map<String, Value>>,
    by_question: HashMap<String, Map<String, Value>>,
}

impl Existing {
    /// Reads a file of answers: item_id, external_id (or id) or question (or input), and answer (or output); `In Tokens`,
    /// `Out Tokens` and `Duration` if they are there.
    ///
    /// # Errors
    /// When the file cannot be read, a row has no question or no answer, or a question is there twice.
    pub fn read(path: &Path) -> Result<Self, String> {
        let file = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|e| format!("{file}: {e}"))?;
        let mut existing = Self {
            sha256: hex::encode(Sha256::digest(&bytes)),
            file,
            by_id: HashMap::new(),
            by_question: HashMap::new(),
        };
        let rows = rows(&bytes).map_err(|why| format!("{}: {why}", existing.file))?;
        for (number, row) in (1..).zip(rows) {
            existing.add(&row).map_err(|why| format!("{}: answer {number}: {why}", existing.file))?;
        }
        Ok(existing)
    }

    fn add(&mut self, row: &Map<String, Value>) -> Result<(), String> {
        let get = |names: &[&str]| {
            let found = names.iter().find_map(|name| row.iter().find(|(key, _)| same(key, name)));
            found.map(|(_, value)| value).filter(|value| !value.is_null() && value.as_str() != Some(""))
        };
        let mut said = Map::new();
        let columns: [(&str, &[&str]); 7] = [
            ("output", &["answer", "output", "llm output"]),
            ("error", &["error"]),
            ("contexts", &["contexts"]),
            ("in_tokens", &["in tokens", "in_tokens", "input_tokens"]),
            ("out_tokens", &["out tokens", "out_tokens", "output_tokens"]),
            ("duration", &["duration"]),
            ("cost_usd", &["cost_usd"]),
        ];
        for (to, names) in columns {
            if let Some(value) = get(names) {
                said.insert(to.to_owned(), value.clone());
            }
        }
        let answer = taken(&Value::Object(said))
            .map_err(|_| "it has no answer: the column is answer or output".to_owned())?;
        let id = get(&["item_id", "external_id", "id"]).map(plain);
        let question = get(&["question", "test input", "input"]).and_then(text_of);
        let twice = match (id, question) {
            (Some(id), _) => self.by_id.insert(id.clone(), answer).map(|_| id),
            (None, Some(question)) => {
                let question = question.trim().to_owned();
                self.by_question.insert(question.clone(), answer).map(|_| question)
            }
            (None, None) => {
                return Err("it names no item: the column is item_id, external_id or question".to_owned());
            }
        };
        match twice {
            None => Ok(()),
            Some(twice) => Err(format!("{twice:?} is answered twice")),
        }
    }

    /// The answer to an item.
    ///
    /// # Errors
    /// When the file has none.
    pub fn answer(&self, todo: &Value) -> Result<Map<String, Value>, String> {
        let ids = ["item_id", "external_id"].iter().filter_map(|key| todo[*key].as_str());
        let named = ids.filter_map(|id| self.by_id.get(id)).next();
        let asked = text_of(&todo["input"]);
        let found = named.or_else(|| self.by_question.get(asked.as_deref()?.trim()));
        found.cloned().ok_or_else(|| format!("{} has no answer to this item", self.file))
    }

    /// The file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Its hash.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }
}

fn same(key: &str, name: &str) -> bool {
    key.trim().eq_ignore_ascii_case(name)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The objects of a file: JSON, JSON lines, or CSV.
fn rows(bytes: &[u8]) -> Result<Vec<Map<String, Value>>, String> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    match text.first() {
        None => Err("the file is empty".to_owned()),
        Some(b'[') => serde_json::from_slice(text).map_err(|e| e.to_string()),
        Some(b'{') => {
            let lines = text.split(|byte| *byte == b'\n').enumerate();
            let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
            lines
                .map(|(at, line)| serde_json::from_slice(line).map_err(|e| format!("line {}: {e}", at + 1)))
                .collect()
        }
        Some(_) => {
            let mut reader = csv::Reader::from_reader(text);
            reader
                .deserialize()
                .map(|row| row.map_err(|e: csv::Error| e.to_string()).and_then(texts))
                .collect()
        }
    }
}

/// The cells of a row; all are texts.
fn texts(row: HashMap<String, String>) -> Result<Map<String, Value>, String> {
    Ok(row.into_iter().map(|(key, text)| (key, Value::from(text))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_target_answers_with_a_text_or_an_object() {
        let todo = json!({"item_id": "i", "run_id": "r"});
        let output = |text: &str| answer_of(text, &todo).unwrap()["output"].clone();
        assert_eq!(output("plain\n"), "plain");
        assert_eq!(output("\"quoted\""), "quoted");
        assert_eq!(output("[1, 2]"), "[1, 2]");
        assert_eq!(output("{\"answer\": 1}"), "{\"answer\": 1}");
        let full =
            answer_of(r#"{"output": {"a": 1}, "in_tokens": "12.0", "duration": 1.5, "item_id": "i"}"#, &todo)
                .unwrap();
        assert_eq!(
            (&full["output"], &full["input_tokens"], &full["duration_ms"]),
            (&json!({"a": 1}), &json!(12), &json!(1500.0))
        );
        let wrong = answer_of(r#"{"output": "x", "item_id": "another"}"#, &todo).unwrap_err();
        assert!(wrong.contains("another"), "{wrong}");
    }

    #[test]
    fn a_file_of_answers_is_matched_by_id_or_question() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("qa.csv");
        std::fs::write(&path, "Question,Answer,In Tokens\n Where? ,There.,3\nWhen?,\"Then, and\nthere.\",\n")
            .unwrap();
        let existing = Existing::read(&path).unwrap();
        let found = existing.answer(&json!({"item_id": "1", "input": {"question": "Where?"}})).unwrap();
        assert_eq!((&found["output"], &found["input_tokens"]), (&json!("There."), &json!(3)));
        assert!(existing.answer(&json!({"input": "Who?"})).unwrap_err().contains("no answer"));
        std::fs::write(
            &path,
            "{\"external_id\": \"a\", \"output\": \"x\"}\n{\"external_id\": \"a\", \"output\": \"y\"}\n",
        )
        .unwrap();
        let twice = Existing::read(&path).err().unwrap();
        assert!(twice.contains("answer 2: \"a\" is answered twice"), "{twice}");
    }
}
