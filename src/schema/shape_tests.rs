//! The shape of what is stored, held for each format.
//!
//! `tests/fixtures/shapes/v<format>` has one file for each kind of stored bytes. What is stored may only change together with
//! [`FORMAT`], so that an older release refuses what it would misread or drop. The files of a format that was released are never
//! changed; `WRITE_DISK_FIXTURE=1 cargo test --lib the_shape_of` writes those that a new number lacks.

use super::FORMAT;
use super::columns::{Column, Kind, Table};
use super::format::FRAME_VERSION;
use super::frame::{self, Part};
use super::layout::Layouts;
use bytes::Bytes;
use schemars::{JsonSchema, schema_for};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// What serde writes for a `T`: fields, their types and variants, without words for people.
pub(crate) fn shape_of<T: JsonSchema>() -> Value {
    bare(schema_for!(T).to_value())
}

/// `schema` without descriptions, in the order of its keys.
fn bare(schema: Value) -> Value {
    let is_said =
        |key: &str, value: &Value| value.is_string() && matches!(key, "description" | "title" | "$schema");
    match schema {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(key, value)| !is_said(key, value));
            let sorted: BTreeMap<String, Value> = kept.map(|(key, value)| (key, bare(value))).collect();
            Value::Object(sorted.into_iter().collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(bare).collect()),
        other => other,
    }
}

/// Holds `shape` of `part` to what is stored for today's format.
pub(crate) fn hold_shape(part: &str, shape: &Value) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/shapes/v{FORMAT}"));
    let path = folder.join(format!("{part}.json"));
    let text = serde_json::to_string_pretty(shape).unwrap() + "\n";
    if std::env::var_os("WRITE_DISK_FIXTURE").is_some() && !path.exists() {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = stored.lines().zip(text.lines()).position(|(was, is)| was != is);
    let line = differs.unwrap_or(stored.lines().count().min(text.lines().count()));
    assert!(
        stored == text,
        "{part} of format {FORMAT} is no longer what it was, from line {} of {} on: {:?} was {:?}. Raise FORMAT in \
         src/schema/format.rs with a line of what changed, then write shape and fixture of the new format: \
         WRITE_DISK_FIXTURE=1 cargo test --lib the_shape_of; WRITE_DISK_FIXTURE=1 cargo test --test it disk::a_fixture",
        line + 1,
        path.display(),
        text.lines().nth(line).unwrap_or_default(),
        stored.lines().nth(line).unwrap_or_default()
    );
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text",
        Kind::Payload => "payload",
        Kind::Micros => "micros",
        Kind::Int => "int",
        Kind::Double => "double",
        Kind::Bool => "bool",
        Kind::Texts => "texts",
        Kind::Documents => "documents",
    }
}

/// A table with its number, its schema's version, and its columns in their order.
fn table(name: &str, number: u8, columns: &[Column]) -> Value {
    let column = |c: &Column| {
        let null = if c.nullable { "null" } else { "not null" };
        format!("{} {} {null} since {}", c.name, kind(c.kind), c.since)
    };
    let version = columns.iter().map(|c| c.since).max();
    let columns: Vec<String> = columns.iter().map(column).collect();
    json!({"columns": columns, "name": name, "number": number, "version": version})
}

/// The numbers of the parts of a frame that are no rows.
fn parts() -> Value {
    let number = |part: Part| frame::encode(&[part]).unwrap().1[2];
    json!({"alerts": number(Part::Drift(Bytes::new())), "queue": number(Part::Queue(Bytes::new()))})
}

/// Columns whose words a release must know to read the row: a word that it does not know would be taken for another. Their
/// documentation names all of them.
const WORDS: [(Table, &str); 12] = [
    (Table::Alerts, "state"),
    (Table::CheckResults, "auto_eval"),
    (Table::DatasetItems, "op"),
    (Table::Datasets, "change"),
    (Table::Decisions, "decision"),
    (Table::Experiments, "status"),
    (Table::ReviewAnswers, "kind"),
    (Table::ReviewQueues, "status"),
    (Table::Runs, "status"),
    (Table::Scores, "source"),
    (Table::Scores, "status"),
    (Table::Suites, "change"),
];

fn words() -> Value {
    let doc = |(table, name): (Table, &str)| {
        let column = table.columns().iter().find(|c| c.name == name).unwrap();
        (format!("{}.{name}", table.name()), column.doc)
    };
    json!(WORDS.map(doc).into_iter().collect::<BTreeMap<_, _>>())
}

#[test]
fn the_shape_of_tables_is_that_of_the_format() {
    let mut tables: Vec<Value> =
        Table::ALL.iter().map(|t| table(t.name(), t.number(), t.columns())).collect();
    tables.sort_by_key(|t| t["number"].as_u64());
    let late: Vec<&str> = Table::ALL
        .iter()
        .filter(|t| Layouts::current().get(t.number()).is_some_and(|l| l.fewest() < l.columns_at(1)))
        .map(|t| t.name())
        .collect();
    let documents: Vec<String> = super::columns::document_fields()
        .iter()
        .map(|field| format!("{} {}", field.name(), field.data_type()))
        .collect();
    let shape = json!({
        "documents": documents, "frame_version": FRAME_VERSION, "lack_a_column_in_format_1": late, "parts": parts(),
        "tables": tables, "words": words(),
    });
    hold_shape("tables", &bare(shape));
}

/// What must never pass unseen: a column more, another type, another number.
#[test]
fn the_shape_of_a_table_tells_every_change() {
    let columns = Table::Decisions.columns();
    let as_it_is = table("decisions", 2, columns);
    let new = Column { name: "new", kind: Kind::Text, nullable: true, doc: "A column.", since: 2 };
    let more: Vec<Column> = columns.iter().copied().chain([new]).collect();
    let other: Vec<Column> = columns.iter().map(|c| Column { kind: Kind::Int, ..*c }).collect();
    let renumbered = table("decisions", 3, columns);
    for changed in [table("decisions", 2, &more), table("decisions", 2, &other), renumbered] {
        assert_ne!(changed, as_it_is);
    }
    let said: Vec<Column> = columns.iter().map(|c| Column { doc: "Said anew.", ..*c }).collect();
    assert_eq!(table("decisions", 2, &said), as_it_is);
}

#[test]
fn the_shape_of_a_type_tells_fields_and_not_words() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its shape is asked for")]
    struct Named {
        /// A field that is called like a word for people.
        description: Option<String>,
    }
    let shape = shape_of::<Named>();
    assert_eq!(shape, json!({"properties": {"description": {"type": ["string", "null"]}}, "type": "object"}));
}
