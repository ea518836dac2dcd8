//! Rows that are durable in the journal but not in files yet.

use super::snapshot::DataFile;
use crate::domain::columns::Table;
use crate::domain::span::{Dialect, Llm};
use arrow::array::{Array, AsArray, RecordBatch, StringArray};
use arrow::compute::concat_batches;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A span's identity as stored: trace and span id in hex.
pub type SpanKey = (String, String);

/// More small batches than this are put together, so that a query does not scan thousands.
const MAX_SMALL_BATCHES: usize = 48;

/// A batch with at least this many rows is left alone.
const BIG_BATCH_ROWS: usize = 16_384;

/// Rows of one table, in journal order.
pub struct HotBatch {
    /// Sequence number of the last frame that the rows came from.
    pub last: u64,
    /// The rows.
    pub batch: RecordBatch,
    /// Where the spans are that log records may still add to.
    joinable: HashMap<SpanKey, usize>,
}

/// What is known of one table: its files and its hot rows.
pub struct HotTable {
    /// Which.
    pub table: Table,
    /// Files of the last commit.
    pub files: Arc<Vec<DataFile>>,
    /// Frames up to here are in the files.
    pub position: u64,
    batches: Vec<HotBatch>,
    /// How many batches at the head a flush is writing; they must not change.
    sealed: usize,
    bytes: usize,
    oldest: Option<Instant>,
}

impl HotTable {
    /// A table with nothing hot.
    pub fn new(table: Table, files: Vec<DataFile>, position: u64) -> Self {
        Self {
            table,
            files: Arc::new(files),
            position,
            batches: Vec::new(),
            sealed: 0,
            bytes: 0,
            oldest: None,
        }
    }

    /// Adds rows that came with the frame `seq`.
    pub fn push(&mut self, seq: u64, batch: RecordBatch) -> Result<(), arrow::error::ArrowError> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.bytes += batch.get_array_memory_size();
        self.oldest.get_or_insert_with(Instant::now);
        let joinable = if self.table == Table::Spans { joinable(&batch) } else { HashMap::new() };
        self.batches.push(HotBatch { last: seq, batch, joinable });
        if self.batches.len() - self.sealed > MAX_SMALL_BATCHES {
            self.compact()?;
        }
        Ok(())
    }

    /// Puts the small batches after the sealed ones together.
    fn compact(&mut self) -> Result<(), arrow::error::ArrowError> {
        let open = self.batches.split_off(self.sealed);
        let (big, small): (Vec<_>, Vec<_>) =
            open.into_iter().partition(|hot| hot.batch.num_rows() >= BIG_BATCH_ROWS);
        self.batches.extend(big);
        let Some(last) = small.iter().map(|hot| hot.last).max() else { return Ok(()) };
        let (mut joinable, mut offset) = (HashMap::new(), 0);
        for hot in &small {
            joinable.extend(hot.joinable.iter().map(|(key, row)| (key.clone(), row + offset)));
            offset += hot.batch.num_rows();
        }
        let batches: Vec<&RecordBatch> = small.iter().map(|hot| &hot.batch).collect();
        let batch = concat_batches(&self.table.schema(), batches)?;
        self.batches.push(HotBatch { last, batch, joinable });
        Ok(())
    }

    /// The hot rows, for a query.
    pub fn hot(&self) -> Vec<RecordBatch> {
        self.batches.iter().map(|hot| hot.batch.clone()).collect()
    }

    /// How many rows are hot.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(|hot| hot.batch.num_rows()).sum()
    }

    /// Their size in memory.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How long the oldest hot row has waited for its file.
    pub fn waited(&self) -> Option<Duration> {
        self.oldest.map(|since| since.elapsed())
    }

    /// Seals all hot rows for a flush and gives them with the last frame that they came from.
    pub fn seal(&mut self) -> Option<(u64, Vec<RecordBatch>)> {
        self.sealed = self.batches.len();
        let last = self.batches.iter().map(|hot| hot.last).max()?;
        Some((last, self.hot()))
    }

    /// The flush failed: the rows may change and be sealed again.
    pub fn unseal(&mut self) {
        self.sealed = 0;
    }

    /// The flush is committed: the sealed rows are in `files` now.
    pub fn flushed(&mut self, last: u64, files: Vec<DataFile>) {
        self.batches.drain(..self.sealed);
        self.sealed = 0;
        self.position = last;
        self.files = Arc::new(files);
        self.bytes = self.batches.iter().map(|hot| hot.batch.get_array_memory_size()).sum();
        self.oldest = (!self.batches.is_empty()).then(Instant::now);
    }

    /// Adds what log records say to the spans that are here; gives back what found none.
    pub fn join(
        &mut self,
        content: Vec<(SpanKey, Llm)>,
        merge: impl Fn(&mut Llm, &Llm),
    ) -> Result<Vec<(SpanKey, Llm)>, arrow::error::ArrowError> {
        let mut rest = Vec::new();
        let mut found: HashMap<usize, Vec<(usize, Llm)>> = HashMap::new();
        for (key, llm) in content {
            let open = self.batches.iter().enumerate().skip(self.sealed);
            let place = open.rev().find_map(|(at, hot)| hot.joinable.get(&key).map(|row| (at, *row)));
            match place {
                Some((at, row)) => found.entry(at).or_default().push((row, llm)),
                None => rest.push((key, llm)),
            }
        }
        for (at, additions) in found {
            let mut rows = crate::domain::batch::read_llm(&self.batches[at].batch);
            for (row, llm) in &additions {
                merge(&mut rows[*row], llm);
            }
            self.batches[at].batch = crate::domain::batch::replace_llm(&self.batches[at].batch, &rows)?;
        }
        Ok(rest)
    }
}

/// Rows that a log record may add to: model spans without the text of an answer.
fn joinable(batch: &RecordBatch) -> HashMap<SpanKey, usize> {
    let text = |name: &str| batch.column_by_name(name).and_then(|c| c.as_string_opt::<i32>());
    let columns = (text("trace_id"), text("span_id"), text("dialect"), text("output_messages"));
    let (Some(trace), Some(span), Some(dialect), Some(output)) = columns else { return HashMap::new() };
    let wants = |row: &usize| {
        let column: &StringArray = dialect;
        column.value(*row) != Dialect::None.as_str() && output.is_null(*row)
    };
    let key = |row: usize| (trace.value(row).to_owned(), span.value(row).to_owned());
    (0..batch.num_rows()).filter(wants).map(|row| (key(row), row)).collect()
}
