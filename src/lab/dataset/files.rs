//! The lines and rows of a file: CSV, JSON lines, JSON, Parquet, told apart by what is in them and not by their name.

use super::super::error::{Fault, LabError, MAX_FAULTS};
use super::fields::{self, Mapping};
use super::item::Item;
use crate::sql::{Format, encode};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::str::FromStr;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileFormat {
    /// A header, then a row an item.
    Csv,
    /// An object a line.
    Jsonl,
    /// An array of objects, or an object with one.
    Json,
    /// Columns.
    Parquet,
}

impl FromStr for FileFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "csv" => Ok(Self::Csv),
            "jsonl" => Ok(Self::Jsonl),
            "json" => Ok(Self::Json),
            "parquet" => Ok(Self::Parquet),
            other => {
                Err(format!("there is no format {other:?}; there are auto, csv, jsonl, json and parquet"))
            }
        }
    }
}

/// The items of a file, each with its line or place, and what is wrong with the others.
#[derive(Debug, Default)]
pub struct Import {
    /// Items, in the order of the file.
    pub items: Vec<(Place, Item)>,
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// Items that their system had archived.
    pub archived: usize,
}

/// Where an item stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A line, from 1.
    Line(u64),
    /// A place in a list, from 1.
    Item(u64),
}

impl Place {
    /// `fault` with this place.
    pub fn of(self, mut fault: Fault) -> Fault {
        match self {
            Self::Line(line) => fault.line = Some(line),
            Self::Item(item) => fault.item = Some(item),
        }
        fault
    }
}

/// The keys under which a JSON file may have its list.
const LISTS: &[&str] = &["items", "data", "examples", "rows", "inputs"];

impl Import {
    /// Reads a file; `format` none to find out. Faults of single items are collected.
    ///
    /// # Errors
    /// [`LabError::Wrong`] for a file of which no item can be read.
    pub fn read(bytes: &Bytes, format: Option<FileFormat>, mapping: &Mapping) -> Result<Self, LabError> {
        let mut import = Self::default();
        match format.map_or_else(|| recognised(bytes), Ok)? {
            FileFormat::Csv => import.csv(bytes, mapping)?,
            FileFormat::Jsonl => import.lines(bytes, mapping),
            FileFormat::Json => import.json(bytes, mapping)?,
            FileFormat::Parquet => {
                let wrong =
                    |e: &dyn ToString| LabError::Wrong(format!("not a Parquet file: {}", e.to_string()));
                let builder =
                    ParquetRecordBatchReaderBuilder::try_new(bytes.clone()).map_err(|e| wrong(&e))?;
                let schema = builder.schema().clone();
                let reader = builder.build().map_err(|e| wrong(&e))?;
                let batches = reader.collect::<Result<Vec<_>, _>>().map_err(|e| wrong(&e))?;
                return Self::of_batches(&schema, &batches, mapping);
            }
        }
        Ok(import)
    }

    /// The items of the rows of a query or a Parquet file.
    ///
    /// # Errors
    /// [`LabError::Wrong`] for a column type that has no JSON.
    pub fn of_batches(
        schema: &SchemaRef,
        batches: &[RecordBatch],
        mapping: &Mapping,
    ) -> Result<Self, LabError> {
        let json = encode(Format::Json, schema, batches, usize::MAX)?;
        let rows: Vec<Map<String, Value>> =
            serde_json::from_slice(&json).map_err(|e| LabError::Broken(e.to_string()))?;
        let mut import = Self::default();
        for (number, row) in (1..).zip(rows) {
            let mut fields = Map::new();
            for (name, value) in row {
                let value = if let Value::String(text) = value { cell(&text) } else { value };
                nest(&mut fields, &name, value);
            }
            import.add(Place::Item(number), fields, mapping);
        }
        Ok(import)
    }

    fn add(&mut self, place: Place, fields: Map<String, Value>, mapping: &Mapping) {
        match fields::item(fields, mapping) {
            Ok(Some(item)) => self.items.push((place, item)),
            Ok(None) => self.archived += 1,
            Err(faults) => faults.into_iter().for_each(|fault| self.wrong(place, fault)),
        }
    }

    fn wrong(&mut self, place: Place, fault: Fault) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(place.of(fault));
        }
    }

    fn lines(&mut self, bytes: &[u8], mapping: &Mapping) {
        for (number, line) in (1..).zip(without_mark(bytes).split(|byte| *byte == b'\n')) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            match serde_json::from_slice::<Value>(line) {
                Ok(Value::Object(fields)) => self.add(Place::Line(number), fields, mapping),
                Ok(_) => {
                    self.wrong(Place::Line(number), Fault::new("not a JSON object: write one object a line"))
                }
                Err(error) => {
                    let why = format!("not JSON, at column {}: {error}", error.column());
                    self.wrong(Place::Line(number), Fault::new(why));
                }
            }
        }
    }

    fn json(&mut self, bytes: &[u8], mapping: &Mapping) -> Result<(), LabError> {
        let value: Value = serde_json::from_slice(without_mark(bytes)).map_err(|e| {
            LabError::Wrong(format!("line {}, column {}: not JSON: {e}", e.line(), e.column()))
        })?;
        let values = match value {
            Value::Array(values) => values,
            Value::Object(mut fields) => {
                let list = LISTS.iter().find(|key| fields.get(**key).is_some_and(Value::is_array));
                match list.and_then(|key| fields.remove(*key)) {
                    Some(Value::Array(values)) => values,
                    _ => vec![Value::Object(fields)],
                }
            }
            _ => return Err(LabError::Wrong("the file is neither a JSON array nor an object".to_owned())),
        };
        for (number, value) in (1..).zip(values) {
            match value {
                Value::Object(fields) => self.add(Place::Item(number), fields, mapping),
                Value::String(text) => {
                    let fields = Map::from_iter([("input".to_owned(), Value::String(text))]);
                    self.add(Place::Item(number), fields, mapping);
                }
                _ => self.wrong(Place::Item(number), Fault::new("neither a JSON object nor a text")),
            }
        }
        Ok(())
    }

    fn csv(&mut self, bytes: &[u8], mapping: &Mapping) -> Result<(), LabError> {
        let mut reader =
            csv::ReaderBuilder::new().flexible(true).has_headers(true).from_reader(without_mark(bytes));
        let wrong =
            |e: csv::Error| LabError::Wrong(format!("the first line is no header of a CSV file: {e}"));
        let header: Vec<String> =
            reader.headers().map_err(wrong)?.iter().map(str::trim).map(str::to_owned).collect();
        if let Some(twice) = header.iter().enumerate().find(|(at, name)| header[..*at].contains(name)) {
            return Err(LabError::Wrong(format!(
                "line 1: the column {:?} is there twice; rename one",
                twice.1
            )));
        }
        for record in reader.into_byte_records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    let line = error.position().map_or(0, csv::Position::line);
                    self.wrong(Place::Line(line), Fault::new(error.to_string()));
                    continue;
                }
            };
            let place = Place::Line(record.position().map_or(0, csv::Position::line));
            match row(&header, &record) {
                Ok(fields) => self.add(place, fields, mapping),
                Err(fault) => self.wrong(place, fault),
            }
        }
        Ok(())
    }
}

/// The fields of a row of a CSV file.
fn row(header: &[String], record: &csv::ByteRecord) -> Result<Map<String, Value>, Fault> {
    if record.len() != header.len() {
        let why = format!(
            "{} cells, and the header has {}; put quotation marks around cells with commas",
            record.len(),
            header.len()
        );
        return Err(Fault::new(why));
    }
    let mut fields = Map::new();
    for (name, bytes) in header.iter().zip(record) {
        let text = std::str::from_utf8(bytes)
            .map_err(|_| Fault::new("not UTF-8; save the file as UTF-8").at(name))?;
        if text.contains('\0') {
            return Err(Fault::new("it has a zero byte: this is no text file").at(name));
        }
        if !text.is_empty() {
            nest(&mut fields, name, cell(text));
        }
    }
    Ok(fields)
}

/// What a cell says: JSON where it is an object or an array, else its text. A text that looks like one of these is
/// written as a JSON text by the export, and read back here.
pub fn cell(text: &str) -> Value {
    let trimmed = text.trim_start();
    if !trimmed.starts_with(['{', '[', '"']) {
        return Value::String(text.to_owned());
    }
    match serde_json::from_str(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => value,
        Ok(Value::String(inner)) if looks_like_json(&inner) => Value::String(inner),
        _ => Value::String(text.to_owned()),
    }
}

/// Whether a cell with this text would be read as something else than the text.
pub fn looks_like_json(text: &str) -> bool {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(_) | Value::Array(_)) => true,
        Ok(Value::String(inner)) => looks_like_json(&inner),
        _ => false,
    }
}

/// Puts `value` under a dotted name: `input.question` is the key `question` of `input`.
fn nest(fields: &mut Map<String, Value>, name: &str, value: Value) {
    let Some((first, rest)) = name.split_once('.').filter(|(a, b)| !a.is_empty() && !b.is_empty()) else {
        fields.insert(name.to_owned(), value);
        return;
    };
    let inner = fields.entry(first).or_insert_with(|| Value::Object(Map::new()));
    match inner {
        Value::Object(inner) => nest(inner, rest, value),
        // `input` and `input.x` beside each other: both are kept.
        _ => drop(fields.insert(name.to_owned(), value)),
    }
}

/// The text without the mark that some editors begin a file with.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

fn recognised(bytes: &[u8]) -> Result<FileFormat, LabError> {
    if bytes.starts_with(b"PAR1") {
        return Ok(FileFormat::Parquet);
    }
    let text = without_mark(bytes).trim_ascii_start();
    let packed: [(&[u8], &str); 3] =
        [(b"PK\x03\x04", "ZIP"), (b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd")];
    for (magic, name) in packed {
        if bytes.starts_with(magic) {
            return Err(LabError::Wrong(format!("this is a {name} file: unpack it and send what is in it")));
        }
    }
    match text.first() {
        None => Err(LabError::Wrong("the file is empty".to_owned())),
        Some(b'[') => Ok(FileFormat::Json),
        Some(b'{') => {
            let is_one = serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok();
            let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let is_line = serde_json::from_slice::<serde::de::IgnoredAny>(first).is_ok();
            // One object that ends in its first line is both: as a line it has a line number.
            let has_list = is_one && LISTS.iter().any(|key| lists(text, key));
            Ok(if (is_one && !is_line) || has_list { FileFormat::Json } else { FileFormat::Jsonl })
        }
        Some(_) => Ok(FileFormat::Csv),
    }
}

fn lists(text: &[u8], key: &str) -> bool {
    serde_json::from_slice::<Value>(text).is_ok_and(|value| value[key].is_array())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str) -> Import {
        Import::read(&Bytes::copy_from_slice(text.as_bytes()), None, &Mapping::default()).unwrap()
    }

    fn inputs(import: &Import) -> Vec<Value> {
        import.items.iter().map(|(_, item)| item.input.clone().unwrap()).collect()
    }

    #[test]
    fn a_csv_file_nests_its_columns() {
        let text = "\u{feff}input.question,input.city,expected,weight\n\"Where,\nexactly?\",Rome,There.,2\nWhen?,,\"{\"\"answer\"\": 7}\",\n";
        let import = read(text);
        assert_eq!(import.faults, []);
        assert_eq!(
            inputs(&import),
            [json!({"question": "Where,\nexactly?", "city": "Rome"}), json!({"question": "When?"})]
        );
        assert_eq!(import.items[1].0, Place::Line(4));
        assert_eq!(
            (import.items[0].1.weight, &import.items[1].1.expected),
            (Some(2.0), &Some(json!({"answer": 7})))
        );
    }

    #[test]
    fn every_fault_of_a_file_names_its_line_and_column() {
        let import = read("input,weight\na,1\nb\nc,heavy\nd\0,1\n");
        let told: Vec<String> = import.faults.iter().map(ToString::to_string).collect();
        assert_eq!(import.items.len(), 1);
        assert!(told[0].starts_with("line 3: 1 cells, and the header has 2"), "{told:?}");
        assert_eq!(told[1], "line 4: weight: it must be a number");
        assert!(told[2].starts_with("line 5: input: it has a zero byte"), "{told:?}");
        let import = read("{\"input\": 1}\n\n{\"input\": }\n[1]\n");
        let told: Vec<String> = import.faults.iter().map(ToString::to_string).collect();
        assert!(told[0].starts_with("line 3: not JSON, at column 11"), "{told:?}");
        assert!(told[1].starts_with("line 4: not a JSON object"), "{told:?}");
    }

    #[test]
    fn the_format_is_told_by_what_is_in_the_file() {
        assert_eq!(inputs(&read("[{\"input\": \"a\"}, \"b\"]")), [json!("a"), json!("b")]);
        assert_eq!(inputs(&read("{\"items\": [{\"input\": \"a\"}]}")), [json!("a")]);
        assert_eq!(read("{\"input\": \"a\"}").items[0].0, Place::Line(1));
        assert_eq!(inputs(&read("{\n\"input\": \"a\"\n}")), [json!("a")]);
        let zip = Import::read(&Bytes::from_static(b"PK\x03\x04"), None, &Mapping::default()).unwrap_err();
        assert!(zip.to_string().contains("unpack it"), "{zip}");
        assert!(Import::read(&Bytes::new(), None, &Mapping::default()).is_err());
    }

    #[test]
    fn a_text_that_looks_like_json_stays_a_text() {
        for text in ["[1]", "{}", "plain", "\"quoted\"", "\"[1]\""] {
            let written = if looks_like_json(text) { json!(text).to_string() } else { text.to_owned() };
            assert_eq!(cell(&written), json!(text), "{text}");
        }
        assert_eq!(cell("[1]"), json!([1]));
    }
}
