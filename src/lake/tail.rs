//! Rows that are durable in the journal but not in files yet.

use super::snapshot::DataFile;
use crate::domain::span::{Dialect, Llm};
use crate::schema::batch::{read_llm, replace_llm};
use crate::schema::columns::Table;
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

/// Rows that one commit of a flush makes files of.
pub struct Sealed {
    /// One for each file, in the order of the journal; never empty.
    pub parts: Vec<FileRows>,
}

/// Rows of one file.
pub struct FileRows {
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

    /// Seals the oldest hot rows for a flush: about `bytes` of them, and as much again for each of at most `files` files
    /// that can be full. Rows of a flush that failed stay sealed and are given again alone: their commit may be there
    /// although its answer was lost, and then it must be the same rows that the log says are there.
    pub fn seal(&mut self, bytes: usize, files: usize) -> Option<Sealed> {
        if self.sealed == 0 {
            for number in 0..files {
                let open = &self.batches[self.sealed..];
                if number > 0 && open.iter().map(|hot| hot.bytes).sum::<usize>() < bytes {
                    break;
                }
                self.sealed += one_file(open, bytes);
            }
        }
        let (mut rest, mut first, mut parts) = (&self.batches[..self.sealed], self.position + 1, Vec::new());
        while !rest.is_empty() {
            let (file, others) = rest.split_at(one_file(rest, bytes));
            let last = file.last()?.last;
            parts.push(FileRows { first, last, batches: file.iter().map(|hot| hot.batch.clone()).collect() });
            (rest, first) = (others, last + 1);
        }
        (!parts.is_empty()).then_some(Sealed { parts })
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

/// How many of `batches` go into one file of about `bytes`: at least one, if there is one. Rows of one frame are never
/// in two files, because a file's last frame is what counts as stored.
fn one_file(batches: &[HotBatch], bytes: usize) -> usize {
    let (mut count, mut sum) = (0, 0);
    for hot in batches {
        let same_frame = count > 0 && batches[count - 1].last == hot.first;
        if count > 0 && sum + hot.bytes > bytes && !same_frame {
            break;
        }
        (count, sum) = (count + 1, sum + hot.bytes);
    }
    count
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

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::new_null_array;

    /// `rows` rows of NULLs; alerts, because they are no spans that are looked at.
    fn batch(rows: usize) -> RecordBatch {
        let schema = Table::Alerts.schema();
        let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
        let schema = Arc::new(arrow::datatypes::Schema::new(fields.collect::<Vec<_>>()));
        let columns = schema.fields().iter().map(|field| new_null_array(field.data_type(), rows)).collect();
        RecordBatch::try_new(schema, columns).unwrap()
    }

    fn frames(sealed: &Sealed) -> Vec<(u64, u64, usize)> {
        let rows = |part: &FileRows| part.batches.iter().map(RecordBatch::num_rows).sum();
        sealed.parts.iter().map(|part| (part.first, part.last, rows(part))).collect()
    }

    #[test]
    fn a_backlog_is_written_as_several_full_files_and_the_rest_waits() {
        let (one, mut table) = (batch_bytes(&batch(10)), HotTable::new(Table::Alerts, Vec::new(), 0));
        for seq in 1..=7 {
            table.push(seq, batch(10)).unwrap();
        }
        // Three files of two batches each would fit; the seventh batch cannot fill one.
        let sealed = table.seal(2 * one, 4).unwrap();
        assert_eq!(frames(&sealed), [(1, 2, 20), (3, 4, 20), (5, 6, 20)]);
        table.push(8, batch(10)).unwrap();
        // A flush that failed is tried with the same rows.
        assert_eq!(frames(&table.seal(2 * one, 4).unwrap()), frames(&sealed));
        table.flushed(6, Vec::new());
        assert_eq!(frames(&table.seal(2 * one, 1).unwrap()), [(7, 8, 20)]);
        table.flushed(8, Vec::new());
        assert!(table.seal(2 * one, 4).is_none());
    }

    #[test]
    fn a_frame_is_never_in_two_files() {
        let (one, mut table) = (batch_bytes(&batch(10)), HotTable::new(Table::Alerts, Vec::new(), 3));
        for seq in [4, 4, 5, 6] {
            table.push(seq, batch(10)).unwrap();
        }
        assert_eq!(frames(&table.seal(one, 9).unwrap()), [(4, 4, 20), (5, 5, 10), (6, 6, 10)]);
    }
}
