//! Rows that are durable in the journal but not in files yet.

use super::snapshot::DataFile;
use crate::domain::batch::{read_llm, replace_llm};
use crate::domain::columns::Table;
use crate::domain::span::{Dialect, Llm};
use arrow::array::{Array, AsArray, RecordBatch, StringArray};
use arrow::compute::concat_batches;
use object_store::path::Path;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// A span's identity as stored: tenant, and trace and span id in hex. Ids are no secret, so content of one tenant must not
/// reach a span of another that has the same.
pub type SpanKey = (String, String, String);

/// More small batches than this are put together, so that a query does not scan thousands.
const MAX_SMALL_BATCHES: usize = 48;

/// A batch with at least this many rows is left alone.
const BIG_BATCH_ROWS: usize = 16_384;

/// A batch of at least this many bytes is left alone.
const BIG_BATCH_BYTES: usize = 1 << 20;

/// Rows of one table, in journal order.
pub struct HotBatch {
    /// Sequence number of the first frame that the rows came from.
    pub first: u64,
    /// Sequence number of the last frame that the rows came from.
    pub last: u64,
    /// The rows.
    pub batch: RecordBatch,
    /// Where the spans are that log records may still add to.
    joinable: HashMap<SpanKey, usize>,
    /// Their size in memory.
    bytes: usize,
}

impl HotBatch {
    fn new(first: u64, last: u64, batch: RecordBatch, joinable: HashMap<SpanKey, usize>) -> Self {
        let bytes = batch_bytes(&batch);
        Self { first, last, batch, joinable, bytes }
    }

    fn is_small(&self) -> bool {
        self.batch.num_rows() < BIG_BATCH_ROWS && self.bytes < BIG_BATCH_BYTES
    }
}

/// Rows that a flush writes.
pub struct Sealed {
    /// Sequence number of the first frame that they may come from.
    pub first: u64,
    /// Sequence number of the last frame that they come from.
    pub last: u64,
    /// The rows.
    pub batches: Vec<RecordBatch>,
}

/// What is known of one table: its files and its hot rows.
pub struct HotTable {
    /// Which.
    pub table: Table,
    /// Files of the last commit.
    pub files: Arc<Vec<DataFile>>,
    /// Frames up to here are in the files.
    pub position: u64,
    /// Every list of files that a query may still read from.
    read: Vec<Weak<Vec<DataFile>>>,
    batches: Vec<HotBatch>,
    /// How many batches at the head a flush is writing; they must not change.
    sealed: usize,
    bytes: usize,
    oldest: Option<Instant>,
}

impl HotTable {
    /// A table with nothing hot.
    pub fn new(table: Table, files: Vec<DataFile>, position: u64) -> Self {
        let files = Arc::new(files);
        Self {
            table,
            read: vec![Arc::downgrade(&files)],
            files,
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
        self.oldest.get_or_insert_with(Instant::now);
        let joinable = if self.table == Table::Spans { joinable(&batch) } else { HashMap::new() };
        let hot = HotBatch::new(seq, seq, batch, joinable);
        self.bytes += hot.bytes;
        self.batches.push(hot);
        if self.batches.len() - self.sealed > MAX_SMALL_BATCHES {
            self.compact()?;
        }
        Ok(())
    }

    /// Puts neighbouring small batches after the sealed ones together. The order of frames stays: a flush seals the oldest.
    fn compact(&mut self) -> Result<(), arrow::error::ArrowError> {
        let schema = self.table.schema();
        let mut merged = Vec::new();
        // Nothing is taken away before the merged batches are there: an error leaves every row where it was.
        let open = &self.batches[self.sealed..];
        let mut start = 0;
        for run in open.chunk_by(|a, b| a.is_small() && b.is_small()) {
            let range = self.sealed + start..self.sealed + start + run.len();
            start += run.len();
            if let (2.., Some(last)) = (run.len(), run.last().map(|hot| hot.last)) {
                let (mut joinable, mut offset) = (HashMap::new(), 0);
                for hot in run {
                    joinable.extend(hot.joinable.iter().map(|(key, row)| (key.clone(), row + offset)));
                    offset += hot.batch.num_rows();
                }
                let batch = concat_batches(&schema, run.iter().map(|hot| &hot.batch))?;
                merged.push((range, HotBatch::new(run[0].first, last, batch, joinable)));
            }
        }
        for (range, hot) in merged.into_iter().rev() {
            self.batches.splice(range, [hot]);
        }
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

    /// Seals the oldest hot rows for a flush, about `bytes` of them, and gives them with the last frame that they came from.
    /// Rows of a flush that failed
    /// stay sealed and are given again alone: their commit may be there although its answer was lost, and then it must
    /// be the same rows that the log says are there.
    pub fn seal(&mut self, bytes: usize) -> Option<Sealed> {
        if self.sealed == 0 {
            let mut sum = 0;
            let fits = self.batches.iter().take_while(|hot| {
                let before = sum;
                sum += hot.bytes;
                before == 0 || sum <= bytes
            });
            self.sealed = fits.count();
        }
        let sealed = &self.batches[..self.sealed];
        let last = sealed.last()?.last;
        let batches = sealed.iter().map(|hot| hot.batch.clone()).collect();
        Some(Sealed { first: self.position + 1, last, batches })
    }

    /// The first frame whose rows are hot.
    pub fn first(&self) -> Option<u64> {
        self.batches.first().map(|hot| hot.first)
    }

    /// The flush is committed: the sealed rows are in `files` now.
    pub fn flushed(&mut self, last: u64, files: Vec<DataFile>) {
        self.batches.drain(..self.sealed);
        self.sealed = 0;
        self.position = last;
        self.publish(files);
        self.bytes = self.batches.iter().map(|hot| hot.bytes).sum();
        self.oldest = (!self.batches.is_empty()).then(Instant::now);
    }

    /// Later snapshots see `files`, which have the same rows but for those that have gone for good.
    pub fn publish(&mut self, files: Vec<DataFile>) {
        self.files = Arc::new(files);
        self.read.retain(|list| list.strong_count() > 0);
        self.read.push(Arc::downgrade(&self.files));
    }

    /// The files that this and every older snapshot that is still held may read.
    pub fn pinned(&self) -> HashSet<Path> {
        let lists = self.read.iter().filter_map(Weak::upgrade);
        lists.flat_map(|list| list.iter().map(|file| file.path.clone()).collect::<Vec<_>>()).collect()
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
            let hot = &mut self.batches[at];
            hot.batch = added(&hot.batch, additions, &merge)?;
            let bytes = batch_bytes(&hot.batch);
            self.bytes = self.bytes - hot.bytes + bytes;
            hot.bytes = bytes;
        }
        Ok(rest)
    }
}

/// `batch` with content added to some rows; the other rows are copied, not decoded.
pub fn added(
    batch: &RecordBatch,
    mut additions: Vec<(usize, Llm)>,
    merge: impl Fn(&mut Llm, &Llm),
) -> Result<RecordBatch, arrow::error::ArrowError> {
    additions.sort_by_key(|(row, _)| *row);
    let (mut pieces, mut copied) = (Vec::new(), 0);
    for group in additions.chunk_by(|a, b| a.0 == b.0) {
        let Some((row, _)) = group.first() else { continue };
        let one = batch.slice(*row, 1);
        let mut llm = read_llm(&one);
        for (_, addition) in group {
            llm.iter_mut().for_each(|llm| merge(llm, addition));
        }
        pieces.push(batch.slice(copied, row - copied));
        pieces.push(replace_llm(&one, &llm)?);
        copied = row + 1;
    }
    pieces.push(batch.slice(copied, batch.num_rows() - copied));
    concat_batches(batch.schema_ref(), &pieces)
}

/// The bytes that the rows of `batch` take. Rows that came from one journal frame share one allocation, which the size
/// of the allocations would count once a column.
fn batch_bytes(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0)).sum()
}

/// Rows that a log record may add to: model spans without the text of an answer.
fn joinable(batch: &RecordBatch) -> HashMap<SpanKey, usize> {
    let text = |name: &str| batch.column_by_name(name).and_then(|c| c.as_string_opt::<i32>());
    let ids = (text("tenant"), text("trace_id"), text("span_id"));
    let (Some(tenant), Some(trace), Some(span)) = ids else { return HashMap::new() };
    let (Some(dialect), Some(output)) = (text("dialect"), text("output_messages")) else {
        return HashMap::new();
    };
    let wants = |row: &usize| {
        let column: &StringArray = dialect;
        column.value(*row) != Dialect::None.as_str() && output.is_null(*row)
    };
    let key =
        |row: usize| (tenant.value(row).to_owned(), trace.value(row).to_owned(), span.value(row).to_owned());
    (0..batch.num_rows()).filter(wants).map(|row| (key(row), row)).collect()
}
