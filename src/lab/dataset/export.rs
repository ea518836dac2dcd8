//! Items as JSON lines, JSON, CSV, and in the shapes of OpenAI's evals and fine-tuning.

use super::files::looks_like_json;
use super::item::Item;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::str::FromStr;

/// How items are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// An object a line.
    Jsonl,
    /// An array of objects.
    Json,
    /// A header and a row an item; what is no text is JSON text.
    Csv,
    /// `{"input": […], "ideal": …}`, as OpenAI's evals read it.
    OpenaiEvals,
    /// `{"messages": […]}`, as OpenAI's fine-tuning reads it.
    OpenaiFt,
}

impl FromStr for ExportFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "jsonl" => Ok(Self::Jsonl),
            "json" => Ok(Self::Json),
            "csv" => Ok(Self::Csv),
            "openai_evals" => Ok(Self::OpenaiEvals),
            "openai_ft" => Ok(Self::OpenaiFt),
            other => Err(format!(
                "there is no format {other:?}; there are jsonl, json, csv, openai_evals and openai_ft"
            )),
        }
    }
}

/// The columns of a CSV file.
const COLUMNS: &[&str] = &[
    "item_id",
    "external_id",
    "input",
    "expected",
    "metadata",
    "contexts",
    "constraints",
    "tags",
    "split",
    "weight",
    "group_id",
    "source_trace_id",
    "source_span_id",
    "inclusion_probability",
];

impl ExportFormat {
    /// The media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Jsonl | Self::OpenaiEvals | Self::OpenaiFt => "application/x-ndjson",
            Self::Json => "application/json",
            Self::Csv => "text/csv; charset=utf-8",
        }
    }

    /// The text of `items`, in their order.
    pub fn write(self, items: &[Item]) -> String {
        let lines = |line: &dyn Fn(&Item) -> Value| {
            let mut text = String::new();
            for item in items {
                // Writing to a text cannot fail.
                let _ = writeln!(text, "{}", line(item));
            }
            text
        };
        match self {
            Self::Jsonl => lines(&|item| json!(item)),
            Self::Json => format!("{}\n", json!(items)),
            Self::Csv => csv(items),
            Self::OpenaiEvals => lines(&evals),
            Self::OpenaiFt => lines(&fine_tuning),
        }
    }
}

fn csv(items: &[Item]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail.
    let _ = writer.write_record(COLUMNS);
    for item in items {
        let Value::Object(fields) = json!(item) else { continue };
        let _ = writer.write_record(COLUMNS.iter().map(|name| cell(fields.get(*name))));
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// A text as it is, unless an import would take it for JSON; anything else as JSON.
fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) if !looks_like_json(text) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// The messages that ask: those of the input, or one of a user.
fn messages(item: &Item) -> Vec<Value> {
    let input = item.input.as_ref();
    let given = input.and_then(|input| input.as_array().or_else(|| input.get("messages")?.as_array()));
    if let Some(messages) = given {
        return messages.clone();
    }
    let content = input.map(|input| super::item::text_of(input).unwrap_or_else(|| input.to_string()));
    vec![json!({"role": "user", "content": content.unwrap_or_default()})]
}

fn evals(item: &Item) -> Value {
    let mut line = Map::new();
    line.insert("input".to_owned(), messages(item).into());
    let ideal = match &item.expected {
        None => Value::Null,
        Some(expected) => expected.get("any_of").cloned().unwrap_or_else(|| {
            super::item::expected_text(expected).unwrap_or_else(|_| expected.to_string()).into()
        }),
    };
    line.insert("ideal".to_owned(), ideal);
    Value::Object(line)
}

fn fine_tuning(item: &Item) -> Value {
    let mut messages = messages(item);
    if let Some(expected) = &item.expected {
        let text = super::item::expected_text(expected).unwrap_or_else(|_| expected.to_string());
        messages.push(json!({"role": "assistant", "content": text}));
    }
    json!({ "messages": messages })
}

#[cfg(test)]
mod tests {
    use super::super::fields::Mapping;
    use super::super::files::Import;
    use super::*;
    use bytes::Bytes;

    fn items() -> Vec<Item> {
        let values = json!([
            {"item_id": "1", "external_id": "a", "input": "Where, \"exactly\"?\nHere?", "expected": "[1]", "tags": ["x", "y"]},
            {"item_id": "2", "input": {"question": "What?"}, "expected": {"any_of": ["p", "q"]}, "metadata": {"n": 1.5},
             "contexts": ["c", {"id": "d"}], "weight": 0.5, "split": "test", "inclusion_probability": 0.25},
        ]);
        serde_json::from_value(values).unwrap()
    }

    #[test]
    fn what_is_exported_is_imported_as_it_was() {
        for format in [ExportFormat::Jsonl, ExportFormat::Json, ExportFormat::Csv] {
            let text = format.write(&items());
            let back = Import::read(&Bytes::from(text.clone()), None, &Mapping::default()).unwrap();
            assert_eq!(back.faults, [], "{format:?}");
            let back: Vec<Item> = back.items.into_iter().map(|(_, item)| item).collect();
            assert_eq!(back, items(), "{format:?}: {text}");
        }
    }

    #[test]
    fn other_systems_get_their_shapes() {
        let evals = ExportFormat::OpenaiEvals.write(&items());
        let second: Value = serde_json::from_str(evals.lines().nth(1).unwrap()).unwrap();
        assert_eq!(second, json!({"input": [{"role": "user", "content": "What?"}], "ideal": ["p", "q"]}));
        let tuning = ExportFormat::OpenaiFt.write(&items());
        let first: Value = serde_json::from_str(tuning.lines().next().unwrap()).unwrap();
        assert_eq!(first["messages"][1], json!({"role": "assistant", "content": "[1]"}));
    }
}
