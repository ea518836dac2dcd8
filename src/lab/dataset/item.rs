//! An item as JSON and as a row.

use super::super::error::Fault;
use super::attached::{self, Attached};
use super::canonical;
use crate::schema::batch::ItemRow;
use crate::units::ByteSize;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// An item as it is sent and shown. What is not there is left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Item {
    /// The item; none for a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_id: Option<String>,
    /// The sender's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// What is asked: a text, or JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// What should be answered.
    #[serde(
        alias = "expected output",
        alias = "expected_output",
        alias = "expectedOutput",
        skip_serializing_if = "Option::is_none"
    )]
    pub expected: Option<Value>,
    /// What else is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Retrieved context: texts, or objects of id, uri and text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contexts: Vec<Value>,
    /// Constraints on the answer's tokens.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Value>,
    /// Words to group it by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The part of the dataset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// How much it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// What it is not independent of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_id: Option<String>,
    /// Files that belong to what is asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Attached>,
    /// The trace that it was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_trace_id: Option<String>,
    /// The span that it was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_span_id: Option<String>,
    /// The probability with which its trace was selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inclusion_probability: Option<f64>,
    /// The hash of its content; what is sent is not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    /// Its place; what is sent is not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<i64>,
}

impl Item {
    /// The item as a row, with its hash; its place and, for a new one, its id are still open.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn into_row(self, most: ByteSize) -> Result<ItemRow, Vec<Fault>> {
        let mut faults = self.faults();
        let content = self.content();
        let bytes = content.to_string().len();
        if bytes > most.in_memory() {
            let why = format!("the item has {bytes} bytes, at most {most} (lab.max_item_size)");
            faults.push(Fault::new(why));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let list = |values: &[Value]| (!values.is_empty()).then(|| Value::from(values).to_string());
        Ok(ItemRow {
            content_hash: Some(canonical::hash(&content)),
            files: (!self.files.is_empty()).then(|| json!(self.files).to_string()),
            contexts: list(&self.contexts),
            constraints: list(&self.constraints),
            item_id: self.item_id.unwrap_or_default(),
            external_id: self.external_id,
            is_deleted: false,
            ordinal: 0,
            input: self.input.map(|value| value.to_string()),
            expected: self.expected.filter(|value| !value.is_null()).map(|value| value.to_string()),
            metadata: self.metadata.map(|fields| Value::Object(fields).to_string()),
            tags: self.tags,
            split: self.split,
            weight: self.weight,
            group_id: self.group_id,
            source_trace_id: self.source_trace_id,
            source_span_id: self.source_span_id,
            inclusion_probability: self.inclusion_probability,
        })
    }

    /// What the hash is of: how an item is grouped, weighed and where it came from does not change what it asks.
    fn content(&self) -> Value {
        let mut content = Map::new();
        let mut put = |key: &str, value: Value| drop(content.insert(key.to_owned(), value));
        if let Some(input) = &self.input {
            put("input", input.clone());
        }
        if let Some(expected) = self.expected.as_ref().filter(|value| !value.is_null()) {
            put("expected", expected.clone());
        }
        if let Some(metadata) = &self.metadata {
            put("metadata", Value::Object(metadata.clone()));
        }
        for (key, list) in [("contexts", &self.contexts), ("constraints", &self.constraints)] {
            if !list.is_empty() {
                put(key, json!(list));
            }
        }
        if !self.files.is_empty() {
            // Where a file lay, and what its sender says that it is, changes nothing of it.
            let file = |file: &Attached| json!({ "name": file.name, "sha256": file.sha256 });
            put("files", self.files.iter().map(file).collect());
        }
        Value::Object(content)
    }

    fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut wrong = |column: &str, why: &str| faults.push(Fault::new(why).at(column));
        if self.input.as_ref().is_none_or(Value::is_null) {
            wrong("input", "there is none; an item needs what is asked");
        }
        attached::faults(&self.files).iter().for_each(|why| wrong("files", why));
        let is_context = |value: &Value| value.is_string() || value.is_object();
        if !self.contexts.iter().all(is_context) {
            wrong("contexts", "each must be a text or an object of id, uri and text");
        }
        if !self.constraints.iter().all(|value| value.is_string() || value.is_array()) {
            wrong("constraints", "each must be a text or a list of texts");
        }
        if self.weight.is_some_and(|weight| !weight.is_finite() || weight < 0.0) {
            wrong("weight", "it must be a number from 0 on");
        }
        let is_probability = |pi: f64| pi > 0.0 && pi <= 1.0;
        if self.inclusion_probability.is_some_and(|pi| !is_probability(pi)) {
            wrong("inclusion_probability", "it must be above 0 and at most 1");
        }
        for (column, id) in [("item_id", &self.item_id), ("external_id", &self.external_id)] {
            if id.as_deref() == Some("") {
                wrong(column, "it is empty; leave it out");
            }
        }
        faults
    }

    /// The item of a row.
    pub fn of_row(row: &ItemRow) -> Self {
        let value = |text: &Option<String>| text.as_deref().map(parsed);
        let list = |text: &Option<String>| match value(text) {
            Some(Value::Array(values)) => values,
            _ => Vec::new(),
        };
        let metadata = match value(&row.metadata) {
            Some(Value::Object(fields)) => Some(fields),
            _ => None,
        };
        Self {
            item_id: Some(row.item_id.clone()),
            external_id: row.external_id.clone(),
            input: value(&row.input),
            expected: value(&row.expected),
            metadata,
            contexts: list(&row.contexts),
            constraints: list(&row.constraints),
            tags: row.tags.clone(),
            split: row.split.clone(),
            weight: row.weight,
            group_id: row.group_id.clone(),
            files: attached::of_column(row.files.as_deref()),
            source_trace_id: row.source_trace_id.clone(),
            source_span_id: row.source_span_id.clone(),
            inclusion_probability: row.inclusion_probability,
            content_hash: row.content_hash.clone(),
            ordinal: Some(row.ordinal),
        }
    }
}

/// JSON text as a value; what is none is a text.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(value: Value) -> Item {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn what_is_sent_comes_back() {
        let sent = json!({"external_id": "q1", "input": {"question": "Where?"}, "expected output": "There.",
            "metadata": {"level": 2}, "contexts": ["A text", {"id": "d"}], "tags": ["a"], "weight": 2.0});
        let row = item(sent).into_row(ByteSize::kib(4)).unwrap();
        let back = Item::of_row(&row);
        assert_eq!(back.input, Some(json!({"question": "Where?"})));
        assert_eq!(back.expected, Some(json!("There.")));
        assert_eq!((back.weight, back.tags), (Some(2.0), vec!["a".to_owned()]));
        assert_eq!(back.contexts, vec![json!("A text"), json!({"id": "d"})]);
    }

    #[test]
    fn the_hash_is_of_the_content_alone() {
        let hash = |value: Value| item(value).into_row(ByteSize::kib(4)).unwrap().content_hash.unwrap();
        let one = hash(json!({"input": "Where?", "tags": ["a"], "external_id": "1", "expected": null}));
        assert_eq!(one, hash(json!({"input": "Where?", "weight": 3.0})));
        assert_ne!(one, hash(json!({"input": "Where?", "expected": "There."})));
    }

    #[test]
    fn a_file_is_part_of_the_content_by_its_name_and_hash() {
        let sha256 = "0a".repeat(32);
        let with = |file: Value| item(json!({"input": "Where?", "files": [file]})).into_row(ByteSize::kib(4));
        let row = with(json!({"name": "a.txt", "sha256": sha256, "bytes": 3})).unwrap();
        let back = Item::of_row(&row);
        assert_eq!((back.files[0].name.as_str(), back.files[0].bytes), ("a.txt", 3));
        let moved = with(json!({"name": "a.txt", "path": "x/a.txt", "sha256": sha256})).unwrap();
        assert_eq!(moved.content_hash, row.content_hash);
        let other = with(json!({"name": "a.txt", "sha256": "0b".repeat(32)})).unwrap();
        assert_ne!(other.content_hash, row.content_hash);
        assert_eq!(with(json!({"name": "../a"})).unwrap_err()[0].column.as_deref(), Some("files"));
    }

    #[test]
    fn every_fault_of_an_item_is_told() {
        let wrong =
            item(json!({"contexts": [7], "weight": -1.0, "inclusion_probability": 0.0, "external_id": ""}));
        let faults = wrong.into_row(ByteSize::kib(1)).unwrap_err();
        let columns: Vec<&str> = faults.iter().filter_map(|fault| fault.column.as_deref()).collect();
        assert_eq!(columns, ["input", "contexts", "weight", "inclusion_probability", "external_id"]);
        let long = item(json!({"input": "x".repeat(2_000)})).into_row(ByteSize::kib(1)).unwrap_err();
        assert!(long[0].message.contains("lab.max_item_size"), "{long:?}");
    }
}
