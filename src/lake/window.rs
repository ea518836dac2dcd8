//! Which rows were seen before: a set of 128-bit keys that forgets by age and by number.

use crate::domain::time::UnixNanos;
use crate::schema::columns::Table;
use crate::units::nanos;
use arrow::array::{Array, AsArray, BooleanArray, RecordBatch, StringArray};
use arrow::datatypes::Int64Type;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;
use std::time::Duration;

/// Keys of the recent past, in two generations: the older one is dropped whole.
pub struct DedupWindow {
    current: HashSet<u128, Spread>,
    previous: HashSet<u128, Spread>,
    since: UnixNanos,
    nanos: i64,
    half_keys: usize,
}

impl DedupWindow {
    /// Remembers for at least `time` and at most twice that, and never more than `keys`.
    pub fn new(time: Duration, keys: usize, now: UnixNanos) -> Self {
        Self {
            current: HashSet::default(),
            previous: HashSet::default(),
            since: now,
            nanos: nanos(time).max(1),
            half_keys: (keys / 2).max(1),
        }
    }

    /// Notes `key`; false if it was there.
    pub fn insert(&mut self, key: u128, now: UnixNanos) -> bool {
        if self.current.len() >= self.half_keys || now.since(self.since) > self.nanos {
            self.previous = std::mem::take(&mut self.current);
            self.since = now;
        }
        !self.previous.contains(&key) && self.current.insert(key)
    }

    /// How many keys are remembered.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.current.len() + self.previous.len()
    }
}

/// Keys are hashes already: their own bits are what a set needs.
#[derive(Clone, Copy, Default)]
struct Spread;

impl BuildHasher for Spread {
    type Hasher = Low;

    fn build_hasher(&self) -> Low {
        Low(0)
    }
}

/// The low half of a key.
struct Low(u64);

impl Hasher for Low {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for (at, byte) in bytes.iter().enumerate() {
            self.0 ^= u64::from(*byte) << (8 * (at % 8));
        }
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }
}

/// The secret of this process's keys, which live in memory only. Senders choose ids, and must not be able to choose two
/// with the same key: their span would be taken for a duplicate and lost.
static SECRETS: LazyLock<[RandomState; 2]> = LazyLock::new(|| [RandomState::new(), RandomState::new()]);

/// The integer column of log records that tells two with the same words apart.
const TIME: &str = "time_unix_nano";

/// The columns that make a row of `table` the same row; none if every row counts.
pub fn key_columns(table: Table) -> &'static [&'static str] {
    match table {
        Table::Spans => &["tenant", "trace_id", "span_id"],
        Table::Scores => &["score_id", "tenant"],
        Table::Annotations => &["annotation_id", "trace_id", "tenant"],
        // Log records have no id: the same words at the same nanosecond are the same record.
        Table::LogRecords => &["tenant", "trace_id", "span_id", "event_name", "body", "attributes", TIME],
        Table::ReviewItems => &["item", "draw", "tenant"],
        Table::ReviewAnswers => &["answer_id", "item", "tenant"],
        // A change of a dataset, a suite or an experiment is one frame, which comes once.
        Table::Datasets
        | Table::DatasetItems
        | Table::Experiments
        | Table::Runs
        | Table::Suites
        | Table::SuiteTests
        | Table::SuiteChecks
        | Table::CheckResults
        | Table::ReviewQueues => &[],
        Table::Decisions | Table::Alerts => &[],
    }
}

/// The keys of the rows of `batch`; none where the columns are missing.
pub fn keys(table: Table, batch: &RecordBatch) -> Option<Vec<u128>> {
    let names = key_columns(table);
    if names.is_empty() {
        return None;
    }
    let texts = names.iter().filter(|name| **name != TIME);
    let columns: Option<Vec<&StringArray>> =
        texts.map(|name| batch.column_by_name(name)?.as_string_opt::<i32>()).collect();
    let columns = columns?;
    let times = batch.column_by_name(TIME).and_then(|c| c.as_primitive_opt::<Int64Type>());
    let time = |row: usize| times.map_or(0, |times| times.value(row));
    let keys = (0..batch.num_rows()).map(|row| key(&columns, time(row), row));
    if table != Table::LogRecords {
        return Some(keys.collect());
    }
    // Records that look alike within one request are not each other's re-send: the second of them is another key.
    let mut alike: HashMap<u128, u128> = HashMap::new();
    let numbered = keys.map(|key| {
        let number = alike.entry(key).or_default();
        *number += 1;
        key.wrapping_add(*number)
    });
    Some(numbered.collect())
}

fn key(columns: &[&StringArray], time: i64, row: usize) -> u128 {
    let [low, high] = SECRETS.each_ref().map(|secret| {
        let mut hasher = secret.build_hasher();
        hasher.write_i64(time);
        for column in columns {
            let text = if column.is_null(row) { "" } else { column.value(row) };
            // With its length, so that no two lists of texts look alike.
            hasher.write_usize(text.len());
            hasher.write(text.as_bytes());
        }
        u128::from(hasher.finish())
    });
    high << 64 | low
}

/// The rows of `batch` that are new, and how many were not. The new ones are noted.
pub fn only_new(
    window: &mut DedupWindow,
    table: Table,
    batch: RecordBatch,
    now: UnixNanos,
) -> Result<(RecordBatch, usize), arrow::error::ArrowError> {
    let Some(keys) = keys(table, &batch) else { return Ok((batch, 0)) };
    let new: Vec<bool> = keys.into_iter().map(|key| window.insert(key, now)).collect();
    let old = new.iter().filter(|is_new| !**is_new).count();
    if old == 0 {
        return Ok((batch, 0));
    }
    let kept = arrow::compute::filter_record_batch(&batch, &BooleanArray::from(new))?;
    Ok((kept, old))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::log::LogRecord;
    use crate::domain::time::SECOND;
    use crate::domain::value::{Attrs, Value};
    use crate::schema::batch::logs_to_batch;
    use std::sync::Arc;

    #[test]
    fn a_key_is_new_once_within_the_window() {
        let mut window = DedupWindow::new(Duration::from_secs(10), 1_000, UnixNanos(0));
        assert!(window.insert(1, UnixNanos(0)));
        assert!(!window.insert(1, UnixNanos(SECOND)));
        // One rotation keeps it, the second forgets it.
        assert!(!window.insert(1, UnixNanos(11 * SECOND)));
        assert!(window.insert(2, UnixNanos(12 * SECOND)));
        assert!(window.insert(3, UnixNanos(23 * SECOND)));
        assert!(window.insert(1, UnixNanos(24 * SECOND)));
    }

    #[test]
    fn alike_log_records_are_kept_and_a_request_sent_again_is_not() {
        let record = LogRecord {
            time: UnixNanos(7),
            trace_id: None,
            span_id: None,
            event_name: String::new(),
            severity_number: 9,
            severity_text: String::new(),
            body: Value::Str("the same words".into()),
            attributes: Attrs::default(),
            dropped_attributes_count: 0,
            flags: 0,
            source: Arc::default(),
            content: None,
            evaluation: None,
        };
        let batch = logs_to_batch(&[record.clone(), record], "t", UnixNanos(9)).unwrap();
        let mut window = DedupWindow::new(Duration::from_secs(10), 1_000, UnixNanos(0));
        let mut again = |batch| only_new(&mut window, Table::LogRecords, batch, UnixNanos(0)).unwrap().1;
        assert_eq!((again(batch.clone()), again(batch)), (0, 2));
    }

    #[test]
    fn the_number_of_keys_is_bounded() {
        let mut window = DedupWindow::new(Duration::from_secs(1_000_000), 100, UnixNanos(0));
        for key in 0..10_000 {
            window.insert(key, UnixNanos(0));
            assert!(window.len() <= 101);
        }
    }
}
