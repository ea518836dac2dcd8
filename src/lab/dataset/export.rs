//! Items as JSON lines, JSON, CSV, Parquet, and in the shapes of other systems.

use super::super::rows::looks_like_json;
use super::item::Item;
use super::shapes;
use arrow::array::{ArrayRef, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::str::FromStr;
use std::sync::Arc;

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
    /// The columns of CSV, all of them texts.
    Parquet,
    /// `{"id", "input", "expectedOutput", "metadata", "sourceTraceId", …}`, as Langfuse has dataset items.
    Langfuse,
    /// `{"input": {…}, "output": {…}, "metadata": {…}}`, as Phoenix has examples.
    Phoenix,
    /// `{"id", "input", "target", "metadata"}`, as Inspect reads samples.
    Inspect,
    /// `{"request_id", "request", "expected_response", "retrieved_context", …}`, an evaluation set of MLflow.
    Mlflow,
}

/// The names of the formats.
const NAMES: [(&str, ExportFormat); 10] = [
    ("jsonl", ExportFormat::Jsonl),
    ("json", ExportFormat::Json),
    ("csv", ExportFormat::Csv),
    ("parquet", ExportFormat::Parquet),
    ("openai_evals", ExportFormat::OpenaiEvals),
    ("openai_ft", ExportFormat::OpenaiFt),
    ("langfuse", ExportFormat::Langfuse),
    ("phoenix", ExportFormat::Phoenix),
    ("inspect", ExportFormat::Inspect),
    ("mlflow", ExportFormat::Mlflow),
];

impl FromStr for ExportFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, format)| format).ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            format!("there is no format {name:?}; there are {} and zip", names.join(", "))
        })
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
    "files",
    "source_trace_id",
    "source_span_id",
    "inclusion_probability",
];

impl ExportFormat {
    /// The media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Parquet => "application/vnd.apache.parquet",
            Self::Json => "application/json",
            Self::Csv => "text/csv; charset=utf-8",
            _ => "application/x-ndjson",
        }
    }

    /// The file of `items`, in their order.
    ///
    /// # Errors
    /// When Parquet cannot hold them.
    pub fn write(self, items: &[Item]) -> Result<Vec<u8>, String> {
        match self {
            Self::Parquet => parquet(items).map_err(|e| e.to_string()),
            _ => Ok(self.text(items).into_bytes()),
        }
    }

    fn text(self, items: &[Item]) -> String {
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
            Self::Csv | Self::Parquet => csv(items),
            Self::Langfuse => lines(&shapes::langfuse),
            Self::Phoenix => lines(&shapes::phoenix),
            Self::Inspect => lines(&shapes::inspect),
            Self::Mlflow => lines(&shapes::mlflow),
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

fn parquet(items: &[Item]) -> Result<Vec<u8>, ParquetError> {
    let rows: Vec<Value> = items.iter().map(|item| json!(item)).collect();
    let column = |name: &str| -> ArrayRef {
        let of = |row: &Value| row.get(name).map(|value| cell(Some(value)));
        Arc::new(rows.iter().map(of).collect::<StringArray>())
    };
    let columns = COLUMNS.iter().map(|name| (*name, column(name), true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns)?;
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None)?;
    writer.write(&batch)?;
    writer.into_inner()
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
    let content = input.map(|input| crate::lab::texts::text_of(input).unwrap_or_else(|| input.to_string()));
    vec![json!({"role": "user", "content": content.unwrap_or_default()})]
}

fn evals(item: &Item) -> Value {
    let mut line = Map::new();
    line.insert("input".to_owned(), messages(item).into());
    let ideal = match &item.expected {
        None => Value::Null,
        Some(expected) => expected.get("any_of").cloned().unwrap_or_else(|| {
            crate::lab::texts::expected_text(expected).unwrap_or_else(|_| expected.to_string()).into()
        }),
    };
    line.insert("ideal".to_owned(), ideal);
    Value::Object(line)
}

fn fine_tuning(item: &Item) -> Value {
    let mut messages = messages(item);
    if let Some(expected) = &item.expected {
        let text = crate::lab::texts::expected_text(expected).unwrap_or_else(|_| expected.to_string());
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
             "contexts": ["c", {"id": "d"}], "weight": 0.5, "split": "test", "inclusion_probability": 0.25,
             "files": [{"name": "a.txt", "path": "documents/a.txt", "sha256": "0a".repeat(32), "bytes": 3,
                        "media_type": "text/plain"}]},
        ]);
        serde_json::from_value(values).unwrap()
    }

    #[test]
    fn what_is_exported_is_imported_as_it_was() {
        for format in [ExportFormat::Jsonl, ExportFormat::Json, ExportFormat::Csv, ExportFormat::Parquet] {
            let file = format.write(&items()).unwrap();
            let back = Import::read(&Bytes::from(file), None, &Mapping::default()).unwrap();
            assert_eq!(back.faults, [], "{format:?}");
            let back: Vec<Item> = back.items.into_iter().map(|(_, item)| item).collect();
            assert_eq!(back, items(), "{format:?}");
        }
    }

    #[test]
    fn other_systems_get_their_shapes() {
        let evals = ExportFormat::OpenaiEvals.text(&items());
        let second: Value = serde_json::from_str(evals.lines().nth(1).unwrap()).unwrap();
        assert_eq!(second, json!({"input": [{"role": "user", "content": "What?"}], "ideal": ["p", "q"]}));
        let tuning = ExportFormat::OpenaiFt.text(&items());
        let first: Value = serde_json::from_str(tuning.lines().next().unwrap()).unwrap();
        assert_eq!(first["messages"][1], json!({"role": "assistant", "content": "[1]"}));
    }

    #[test]
    fn every_name_is_a_format() {
        for (name, format) in NAMES {
            assert_eq!(name.parse(), Ok(format));
        }
        assert!("xml".parse::<ExportFormat>().unwrap_err().contains("langfuse, phoenix"));
    }

    /// What other systems have of an item comes back.
    #[test]
    fn the_files_of_other_systems_come_back() {
        let values = json!([
            {"external_id": "a", "input": {"question": "Where?"}, "expected": {"answer": "There."}, "metadata": {"n": 1.5},
             "source_trace_id": "t", "source_span_id": "s", "split": "test", "tags": ["x"]},
            {"external_id": "b", "input": {"question": "When?"}, "metadata": {"k": ["v"]}},
        ]);
        let whole: Vec<Item> = serde_json::from_value(values).unwrap();
        for format in [ExportFormat::Langfuse, ExportFormat::Phoenix] {
            let file = format.write(&whole).unwrap();
            let back = Import::read(&Bytes::from(file), None, &Mapping::default()).unwrap();
            let back: Vec<Item> = back.items.into_iter().map(|(_, item)| item).collect();
            for (was, is) in whole.iter().zip(&back) {
                assert_eq!((&is.external_id, &is.input), (&was.external_id, &was.input), "{format:?}");
                assert_eq!((&is.expected, &is.metadata), (&was.expected, &was.metadata), "{format:?}");
            }
            let again = format.write(&back).unwrap();
            assert_eq!(again, format.write(&whole).unwrap(), "{format:?}");
        }
        let values = json!([
            {"external_id": "a", "input": "Where?", "expected": "There.", "metadata": {"n": 1.5}},
            {"external_id": "b", "input": [{"role": "user", "content": "When?"}], "expected": {"any_of": ["1", "2"]}},
            {"external_id": "c", "input": "Who?", "contexts": [{"doc_uri": "u", "content": "text"}],
             "metadata": {"expected_documents": ["u"]}},
        ]);
        let plain: Vec<Item> = serde_json::from_value(values).unwrap();
        for (format, of) in
            [(ExportFormat::Inspect, 0..2), (ExportFormat::Mlflow, 2..3), (ExportFormat::Mlflow, 0..1)]
        {
            let file = format.write(&plain[of.clone()]).unwrap();
            let back = Import::read(&Bytes::from(file), None, &Mapping::default()).unwrap();
            let back: Vec<Item> = back.items.into_iter().map(|(_, item)| item).collect();
            assert_eq!(back, plain[of], "{format:?}");
        }
    }
}
