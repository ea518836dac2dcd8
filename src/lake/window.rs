//! Which rows were seen before: a set of 128-bit keys that forgets by age and by number.

use crate::domain::columns::Table;
use crate::domain::time::{SECOND, UnixNanos};
use arrow::array::{Array, AsArray, BooleanArray, RecordBatch, StringArray};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// Keys of the recent past, in two generations: the older one is dropped whole.
pub struct Window {
    current: HashSet<u128>,
    previous: HashSet<u128>,
    since: UnixNanos,
    half_nanos: i64,
    half_keys: usize,
}

impl Window {
    /// Remembers for at least half of `seconds` and at most all of it, and never more than `keys`.
    pub fn new(seconds: u64, keys: usize, now: UnixNanos) -> Self {
        let half_nanos = i64::try_from(seconds).unwrap_or(i64::MAX / SECOND).saturating_mul(SECOND) / 2;
        Self {
            current: HashSet::new(),
            previous: HashSet::new(),
            since: now,
            half_nanos: half_nanos.max(1),
            half_keys: (keys / 2).max(1),
        }
    }

    /// Notes `key`; false if it was there.
    pub fn insert(&mut self, key: u128, now: UnixNanos) -> bool {
        if self.current.len() >= self.half_keys || now.since(self.since) > self.half_nanos {
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

/// The columns that make a row of `table` the same row; none if every row counts.
pub fn key_columns(table: Table) -> &'static [&'static str] {
    match table {
        Table::Spans => &["tenant", "trace_id", "span_id"],
        Table::Scores => &["score_id"],
        Table::Annotations => &["annotation_id"],
        Table::Decisions | Table::Alerts | Table::LogRecords => &[],
    }
}

/// The keys of the rows of `batch`; none where the columns are missing.
pub fn keys(table: Table, batch: &RecordBatch) -> Option<Vec<u128>> {
    let names = key_columns(table);
    if names.is_empty() {
        return None;
    }
    let columns: Option<Vec<&StringArray>> =
        names.iter().map(|name| batch.column_by_name(name)?.as_string_opt::<i32>()).collect();
    let columns = columns?;
    Some((0..batch.num_rows()).map(|row| key(&columns, row)).collect())
}

fn key(columns: &[&StringArray], row: usize) -> u128 {
    let mut hash = Sha256::new();
    for column in columns {
        let text = if column.is_null(row) { "" } else { column.value(row) };
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    let digest = hash.finalize();
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&digest[..16]);
    u128::from_le_bytes(bytes)
}

/// The rows of `batch` that are new, and how many were not. The new ones are noted.
pub fn only_new(
    window: &mut Window,
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

    #[test]
    fn a_key_is_new_once_within_the_window() {
        let mut window = Window::new(10, 1_000, UnixNanos(0));
        assert!(window.insert(1, UnixNanos(0)));
        assert!(!window.insert(1, UnixNanos(SECOND)));
        // One rotation keeps it, the second forgets it.
        assert!(!window.insert(1, UnixNanos(6 * SECOND)));
        assert!(window.insert(2, UnixNanos(7 * SECOND)));
        assert!(window.insert(3, UnixNanos(13 * SECOND)));
        assert!(window.insert(1, UnixNanos(14 * SECOND)));
    }

    #[test]
    fn the_number_of_keys_is_bounded() {
        let mut window = Window::new(1_000_000, 100, UnixNanos(0));
        for key in 0..10_000 {
            window.insert(key, UnixNanos(0));
            assert!(window.len() <= 101);
        }
    }
}
