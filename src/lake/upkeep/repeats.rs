//! Rows that the inputs of a merge have more than once.
//!
//! The receiver keeps a span from being stored twice as long as it remembers it, and a score is made once. Two servers on one
//! bucket do not know of each other: a request that came to both is there twice, and so is a trace that both judged. A merge
//! sees both, and keeps the last of them in the order of the file: of scores the one that was evaluated last, as
//! `scores_latest` does.

use super::super::error::LakeError;
use super::super::window;
use crate::schema::columns::Table;
use arrow::array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use std::collections::{HashMap, HashSet};

/// How many rows of each key that is there more than once are still to come.
#[derive(Default)]
pub struct Repeats {
    to_come: HashMap<u128, u64>,
}

impl Repeats {
    /// Looks through the keys of whole files. Takes eight bytes of memory a row; keys are looked at again only where two may
    /// be the same.
    pub fn of(table: Table, inputs: &[Bytes]) -> Result<Self, LakeError> {
        // Other tables have no key, or one that says nothing outside of its request.
        if !matches!(table, Table::Spans | Table::Scores) {
            return Ok(Self::default());
        }
        let mut short = Vec::new();
        each_key(table, inputs, |key| short.push(key as u64))?;
        short.sort_unstable();
        let alike: HashSet<u64> = short.windows(2).filter(|two| two[0] == two[1]).map(|two| two[0]).collect();
        drop(short);
        let mut to_come: HashMap<u128, u64> = HashMap::new();
        if !alike.is_empty() {
            each_key(table, inputs, |key| {
                if alike.contains(&(key as u64)) {
                    *to_come.entry(key).or_default() += 1;
                }
            })?;
            to_come.retain(|_, rows| *rows > 1);
        }
        Ok(Self { to_come })
    }

    /// The keys of the rows of `batch`, if any row of the inputs is there more than once. A file that lacks the columns of the
    /// key is none of ours, and all its rows are kept: what has no key cannot be told from another.
    pub fn keys(&self, table: Table, batch: &RecordBatch) -> Vec<u128> {
        if self.to_come.is_empty() { Vec::new() } else { window::keys(table, batch).unwrap_or_default() }
    }

    /// Whether a row with this key comes again after this one, which is asked of each row once, in the order of the output.
    pub fn comes_again(&mut self, key: u128) -> bool {
        match self.to_come.get_mut(&key) {
            Some(rows) => {
                *rows = rows.saturating_sub(1);
                *rows > 0
            }
            None => false,
        }
    }
}

fn each_key(table: Table, inputs: &[Bytes], mut tell: impl FnMut(u128)) -> Result<(), LakeError> {
    for input in inputs {
        for batch in key_columns(table, input.clone())? {
            // Without the columns of a key there are no keys, and nothing of the file is a repeat.
            window::keys(table, &batch?).unwrap_or_default().into_iter().for_each(&mut tell);
        }
    }
    Ok(())
}

fn key_columns(table: Table, input: Bytes) -> Result<ParquetRecordBatchReader, LakeError> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(input)?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), window::key_columns(table).iter().copied());
    Ok(builder.with_projection(mask).build()?)
}
