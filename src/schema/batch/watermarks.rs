//! Rows of `watermarks`, which is no table of the lake.

use super::build::{micros, text};
use crate::domain::time::UnixNanos;
use crate::schema::columns::{Table, watermarks_schema};
use arrow::array::{ArrayRef, Float64Array, RecordBatch};
use arrow::error::ArrowError;
use std::sync::Arc;

/// Up to when the rows of a table are final.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watermark {
    /// The table.
    pub table: Table,
    /// Its column whose time is meant.
    pub time: &'static str,
    /// No row before this is still to come from what was received; none before the first look.
    pub until: Option<UnixNanos>,
    /// When it was looked at.
    pub at: UnixNanos,
    /// What keeps it from being later.
    pub waits_for: Option<&'static str>,
}

impl Watermark {
    /// How far it is behind, seconds; none before the first look.
    pub fn lag_seconds(&self) -> Option<f64> {
        self.until.map(|until| self.at.since(until).max(0) as f64 / 1e9)
    }
}

/// Watermarks as one batch of the schema of `watermarks`.
///
/// # Errors
/// None are expected; the type is that of Arrow's constructors.
pub fn watermarks_to_batch(rows: &[Watermark]) -> Result<RecordBatch, ArrowError> {
    let lags: Float64Array = rows.iter().map(Watermark::lag_seconds).collect();
    let columns: Vec<ArrayRef> = vec![
        text(rows, |r| Some(r.table.name())),
        text(rows, |r| Some(r.time)),
        micros(rows, |r| r.until.map(UnixNanos::micros)),
        Arc::new(lags),
        text(rows, |r| r.waits_for),
    ];
    RecordBatch::try_new(watermarks_schema(), columns)
}
