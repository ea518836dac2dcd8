//! A small lake in memory: rows from `tests/slt/<table>.ndjson`, some in Parquet files, some hot.

use arrow::array::RecordBatch;
use groundline::lake::{DataFile, TableSnapshot};
use groundline::schema::columns::{Kind, Table};
use groundline::sql::{Config, Snapshots, Sql};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The engine over the rows of `tests/slt`, with the default limits, and numbers from however few scores.
pub async fn sql() -> Arc<Sql> {
    limited(Config { min_n_eff: 0.0, ..Config::default() }).await
}

/// The engine over the rows of `tests/slt`, with limits of the test's own.
pub async fn limited(config: Config) -> Arc<Sql> {
    Arc::new(Sql::new(snapshots().await, config).expect("the engine"))
}

/// The snapshots of the rows of `tests/slt`.
pub async fn snapshots() -> Snapshots {
    let mut tables = HashMap::new();
    for table in Table::ALL {
        tables.insert(table, snapshot(table, rows(table)).await);
    }
    Arc::new(move |table| tables[&table].clone())
}

fn rows(table: Table) -> Vec<Map<String, Value>> {
    let path = format!("{}/tests/slt/{}.ndjson", root(), table.name());
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter(|l| !l.is_empty()).map(|l| serde_json::from_str(l).expect(l)).collect()
}

/// The folder that holds `tests`.
pub fn root() -> String {
    std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned())
}

/// Puts each row where its key `_in` says: a file of that name, or `hot`.
pub async fn snapshot(table: Table, rows: Vec<Map<String, Value>>) -> TableSnapshot {
    let mut parts: BTreeMap<String, Vec<Map<String, Value>>> = BTreeMap::new();
    for mut row in rows {
        let part = row.remove("_in").and_then(|v| v.as_str().map(str::to_owned)).unwrap_or("hot".to_owned());
        parts.entry(part).or_default().push(complete(table, row));
    }
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let mut files = Vec::new();
    let mut hot = Vec::new();
    for (part, rows) in parts {
        let batch = batch(table, &rows);
        if part == "hot" {
            hot.push(batch);
        } else {
            files.push(file(table, &store, &part, &batch).await);
        }
    }
    TableSnapshot { table, schema: table.schema(), store, files: Arc::new(files), hot }
}

/// Fills what must not be NULL with something empty of its kind.
fn complete(table: Table, mut row: Map<String, Value>) -> Map<String, Value> {
    if let Some(ns) = row.get("start_time_unix_nano").and_then(Value::as_i64) {
        row.entry("start_time").or_insert(json!(micros(ns)));
    }
    for column in table.columns().iter().filter(|c| !c.nullable) {
        let default = match column.kind {
            Kind::Text => json!(""),
            Kind::Payload => json!("{}"),
            Kind::Int => json!(0),
            Kind::Double => json!(1.0),
            Kind::Bool => json!(false),
            Kind::Micros => json!("2026-01-01T00:00:00Z"),
            Kind::Texts | Kind::Documents => json!([]),
        };
        row.entry(column.name).or_insert(default);
    }
    row
}

fn micros(ns: i64) -> String {
    let at = chrono::DateTime::from_timestamp_micros(ns.div_euclid(1000)).expect("a time");
    at.format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// Rows as a batch of `table`.
pub fn batch(table: Table, rows: &[Map<String, Value>]) -> RecordBatch {
    let mut decoder = arrow::json::ReaderBuilder::new(table.schema())
        .with_strict_mode(true)
        .with_batch_size(rows.len().max(1))
        .build_decoder()
        .expect("a decoder");
    decoder.serialize(rows).expect("rows of the table");
    decoder.flush().expect("rows of the table").expect("some rows")
}

/// A file of `batch` in `store`.
pub async fn file(table: Table, store: &Arc<dyn ObjectStore>, name: &str, batch: &RecordBatch) -> DataFile {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(100))
        .set_column_bloom_filter_enabled("trace_id".into(), true)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).expect("a writer");
    writer.write(batch).expect("written");
    let bytes = writer.into_inner().expect("written");
    let path = Path::from(format!("{}/{name}.parquet", table.name()));
    let size = bytes.len() as u64;
    store.put(&path, bytes.into()).await.expect("stored");
    let times = batch.column_by_name(table.time_column()).expect("the time column");
    let times = arrow::array::AsArray::as_primitive::<arrow::datatypes::TimestampMicrosecondType>(times);
    DataFile {
        path,
        bytes: size,
        rows: batch.num_rows() as u64,
        min_time: arrow::compute::min(times),
        max_time: arrow::compute::max(times),
    }
}
