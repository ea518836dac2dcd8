//! Upkeep on a store in memory, with a clock that is moved and a store that fails on demand.

mod erasing;
mod faults;
mod merging;
mod rounds;

use super::super::flush::flush_table;
use super::super::manifest::SharedManifest;
use super::super::read::read_columns;
use super::super::snapshot::TableSnapshot;
use super::super::store::LakeStore;
use super::run::Upkeep;
use crate::domain::time::{Clock, ManualClock, SECOND, SystemClock};
use crate::lake::{Config, Lake};
use crate::schema::columns::{Kind, Table};
use crate::units::ByteSize;
use arrow::array::{AsArray, RecordBatch};
use object_store::ObjectStore;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const HOUR: i64 = 3_600 * SECOND;

/// A small target, so that few rows make tiers of files.
fn config() -> Config {
    Config {
        compact_min_files: 3,
        compact_target_size: ByteSize::mib(1),
        row_group_rows: 50,
        ..Config::default()
    }
}

/// A lake, its clock, and the number of the next frame.
struct World {
    lake: Arc<Lake>,
    upkeep: Upkeep,
    clock: Arc<ManualClock>,
    store: LakeStore,
    seq: u64,
}

impl World {
    async fn new(root: Arc<dyn ObjectStore>, config: Config) -> Self {
        // The store's times are the machine's.
        let clock = Arc::new(ManualClock::at(SystemClock.now()));
        let store = LakeStore::over(root);
        let (mut lake, manifests) = Lake::open_in(&store, config, clock.clone(), 7).await.unwrap();
        drop(manifests);
        // Only the spans are looked after: the other tables would cost time and show nothing more.
        Arc::get_mut(&mut lake).unwrap().manifests.truncate(1);
        assert_eq!(Table::ALL[0], Table::Spans);
        Self { upkeep: Upkeep::new(lake.clone()), lake, clock, store, seq: 0 }
    }

    fn manifest(&self) -> SharedManifest {
        self.lake.manifests[0].clone()
    }

    /// Makes rows visible, as one frame.
    fn push(&mut self, rows: Vec<Value>) {
        self.seq += 1;
        let mut tables = self.lake.tables.write();
        let spans = tables.get_mut(&Table::Spans).unwrap();
        spans.push(self.seq, batch(Table::Spans, rows)).unwrap();
    }

    async fn flush(&self) -> Result<(), crate::lake::LakeError> {
        flush_table(&self.lake, &self.manifest(), u64::MAX).await
    }

    /// One file of spans with these ids, of `tenant`, that began at `start` nanoseconds.
    async fn spans(&mut self, ids: std::ops::Range<i64>, tenant: &str, start: i64) {
        self.push(ids.map(|id| span(id, tenant, start)).collect());
        self.flush().await.unwrap();
    }

    async fn round(&mut self) -> usize {
        self.upkeep.round(&CancellationToken::new()).await
    }

    /// One round that vacuums too.
    async fn round_with_vacuum(&mut self) -> usize {
        self.upkeep.vacuumed = None;
        self.round().await
    }

    fn snapshot(&self) -> TableSnapshot {
        self.lake.snapshot(Table::Spans)
    }

    fn files(&self) -> usize {
        self.snapshot().files.len()
    }
}

/// A row of `spans`; its id is its number.
fn span(id: i64, tenant: &str, start: i64) -> Value {
    json!({
        "span_id": format!("{id:016x}"),
        "trace_id": format!("{:032x}", id.wrapping_mul(7_919) % 1_000),
        "start_time_unix_nano": start,
        "start_time": text(start),
        "tenant": tenant,
        "answer": format!("the answer {id}"),
    })
}

fn text(nanos: i64) -> String {
    let at = chrono::DateTime::from_timestamp_micros(nanos.div_euclid(1_000)).unwrap();
    at.format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// Rows as a batch; what must not be NULL and is not given is something empty of its kind.
fn batch(table: Table, rows: Vec<Value>) -> RecordBatch {
    let rows: Vec<Map<String, Value>> = rows.into_iter().map(|row| complete(table, row)).collect();
    let mut decoder = arrow::json::ReaderBuilder::new(table.schema())
        .with_strict_mode(true)
        .with_batch_size(rows.len().max(1))
        .build_decoder()
        .unwrap();
    decoder.serialize(&rows).unwrap();
    decoder.flush().unwrap().unwrap()
}

fn complete(table: Table, row: Value) -> Map<String, Value> {
    let Value::Object(mut row) = row else { panic!("no row: {row}") };
    for column in table.columns().iter().filter(|c| !c.nullable) {
        let empty = match column.kind {
            Kind::Text | Kind::Payload => json!(""),
            Kind::Int => json!(0),
            Kind::Double => json!(1.0),
            Kind::Bool => json!(false),
            Kind::Micros => json!("2026-01-01T00:00:00Z"),
            Kind::Texts | Kind::Documents => json!([]),
        };
        row.entry(column.name).or_insert(empty);
    }
    row
}

/// How often each span id is in a snapshot, in files and hot.
async fn ids(snapshot: &TableSnapshot) -> BTreeMap<i64, usize> {
    let mut batches = snapshot.hot.clone();
    for file in snapshot.files.iter() {
        batches.extend(read_columns(&snapshot.store, file, &["span_id"]).await.unwrap());
    }
    let mut counts = BTreeMap::new();
    for batch in &batches {
        for id in batch.column_by_name("span_id").unwrap().as_string::<i32>().iter().flatten() {
            *counts.entry(i64::from_str_radix(id, 16).unwrap()).or_default() += 1;
        }
    }
    counts
}

/// Each of these ids once.
fn once(ids: impl IntoIterator<Item = i64>) -> BTreeMap<i64, usize> {
    ids.into_iter().map(|id| (id, 1)).collect()
}
