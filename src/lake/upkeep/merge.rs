//! Sorted files to one sorted file.
//!
//! The inputs are merged row by row from a small decoded batch each, not concatenated: prompts compress twelve times and
//! more, and the rows of 128 MB of files may not fit in memory. What is held is the inputs as they are stored and the
//! output as it will be stored, each at most `compact_target_size`, the row group in the making, and
//! [`BATCH_BYTES`] of decoded rows (more only where single rows are larger than that).

use super::super::config::Config;
use super::super::error::LakeError;
use super::super::writer::{Effort, FileWriter, Written, sort_keys};
use super::repeats::Repeats;
use crate::schema::columns::Table;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, new_null_array};
use arrow::compute::{cast, filter_record_batch, interleave_record_batch};
use arrow::row::{OwnedRow, RowConverter, Rows, SortField};
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use tokio_util::sync::CancellationToken;

/// Decoded bytes of all inputs together.
const BATCH_BYTES: usize = 8 << 20;

/// What a value takes in memory beside its content, bytes.
const CELL_BYTES: usize = 8;

/// Most rows that are decoded of one input at once.
const BATCH_ROWS: usize = 8_192;

/// What is merged.
pub struct Merge {
    /// Whose rows.
    pub table: Table,
    /// Whole files.
    pub inputs: Vec<Bytes>,
    /// The rows of these tenants are left out.
    pub without: BTreeSet<String>,
}

/// The merged file.
pub struct Merged {
    /// The file.
    pub written: Written,
    /// How many rows of tenants were left out.
    pub left_out: u64,
    /// How many rows were left out because their span or score is there again.
    pub repeated: u64,
}

/// Merges files that are sorted as the writer sorts. Every row of the inputs is in the result once, but for those of
/// tenants that are left out and [`Repeats`]; rows of an input that is not sorted come out unsorted, not fewer. Costs CPU: call it off the
/// async threads. Fails with [`LakeError::Stopped`] soon after `stop`.
pub fn merge(merge: Merge, config: &Config, stop: &CancellationToken) -> Result<Merged, LakeError> {
    let repeats = Repeats::of(merge.table, &merge.inputs)?;
    let builders: Vec<_> = merge
        .inputs
        .into_iter()
        .map(ParquetRecordBatchReaderBuilder::try_new)
        .collect::<Result<_, parquet::errors::ParquetError>>()?;
    let (mut rows, mut bytes) = (0usize, 0usize);
    for group in builders.iter().flat_map(|b| b.metadata().row_groups()) {
        rows += usize::try_from(group.num_rows()).unwrap_or_default();
        bytes += usize::try_from(group.total_byte_size()).unwrap_or_default();
    }
    // A dictionary may make a column next to nothing in the file; decoded, every row has its place in it.
    let row_bytes = bytes / rows.max(1) + merge.table.columns().len() * CELL_BYTES;
    let batch_rows = (BATCH_BYTES / builders.len().max(1) / row_bytes).clamp(1, BATCH_ROWS);
    let sources: Vec<Source> = builders
        .into_iter()
        .map(|b| {
            let reader = b.with_batch_size(batch_rows).build()?;
            Source::open(merge.table, reader, &merge.without, &repeats)
        })
        .collect::<Result<_, LakeError>>()?;
    let mut out = FileWriter::new(merge.table, rows, Effort::Small, config);
    let (left_out, repeated) = weave(sources, repeats, batch_rows, &mut out, stop)?;
    let written = out.finish()?;
    // A file is never replaced by one that has lost rows, whatever the reason would be.
    if written.rows + left_out + repeated != rows as u64 {
        let left_out = left_out + repeated;
        return Err(LakeError::RowsLost { read: rows as u64, written: written.rows, left_out });
    }
    Ok(Merged { written, left_out, repeated })
}

/// Takes rows from the source with the smallest key until all are empty. Gives how many rows the sources left out, and how
/// many come again.
fn weave(
    mut sources: Vec<Source>,
    mut repeats: Repeats,
    chunk_rows: usize,
    out: &mut FileWriter,
    stop: &CancellationToken,
) -> Result<(u64, u64), LakeError> {
    let mut repeated = 0;
    let mut heads: BinaryHeap<Reverse<(OwnedRow, usize)>> = BinaryHeap::with_capacity(sources.len());
    for (at, source) in sources.iter().enumerate() {
        heads.extend(source.key().map(|key| Reverse((key, at))));
    }
    // (source, row in its present batch)
    let mut chunk: Vec<(usize, usize)> = Vec::with_capacity(chunk_rows);
    while let Some(Reverse((_, at))) = heads.pop() {
        let next = heads.peek().map(|Reverse((key, other))| (key.row(), *other));
        loop {
            if sources[at].row_key().is_some_and(|key| repeats.comes_again(key)) {
                repeated += 1;
            } else {
                chunk.push((at, sources[at].at));
            }
            sources[at].at += 1;
            if sources[at].is_at_end() || chunk.len() >= chunk_rows {
                emit(&sources, &mut chunk, out)?;
                if stop.is_cancelled() {
                    return Err(LakeError::Stopped);
                }
            }
            if sources[at].is_at_end() && !sources[at].load(&repeats)? {
                break;
            }
            // Rows of one trace are often neighbours: they go without a detour through the heap.
            let source = &sources[at];
            let is_next = next.is_none_or(|next| (source.keys.row(source.at), at) < next);
            if !is_next {
                heads.extend(source.key().map(|key| Reverse((key, at))));
                break;
            }
        }
    }
    Ok((sources.iter().map(|source| source.left_out).sum(), repeated))
}

/// Writes the rows of `chunk`, before the batches that they are in go.
fn emit(sources: &[Source], chunk: &mut Vec<(usize, usize)>, out: &mut FileWriter) -> Result<(), LakeError> {
    if chunk.is_empty() {
        return Ok(());
    }
    let batches: Vec<&RecordBatch> = sources.iter().map(|source| &source.batch).collect();
    out.write(&interleave_record_batch(&batches, chunk)?)?;
    chunk.clear();
    Ok(())
}

/// One input, decoded batch by batch.
struct Source<'a> {
    table: Table,
    reader: ParquetRecordBatchReader,
    without: &'a BTreeSet<String>,
    converter: RowConverter,
    batch: RecordBatch,
    keys: Rows,
    /// What tells a row from others, by row; empty if no row is there more than once.
    row_keys: Vec<u128>,
    at: usize,
    left_out: u64,
}

impl<'a> Source<'a> {
    fn open(
        table: Table,
        reader: ParquetRecordBatchReader,
        without: &'a BTreeSet<String>,
        repeats: &Repeats,
    ) -> Result<Self, LakeError> {
        let batch = RecordBatch::new_empty(table.schema());
        let fields = sort_keys(table, &batch).iter().map(|c| SortField::new(c.data_type().clone())).collect();
        let converter = RowConverter::new(fields)?;
        let keys = converter.empty_rows(0, 0);
        let row_keys = Vec::new();
        let mut source =
            Self { table, reader, without, converter, batch, keys, row_keys, at: 0, left_out: 0 };
        source.load(repeats)?;
        Ok(source)
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.batch.num_rows()
    }

    fn key(&self) -> Option<OwnedRow> {
        (!self.is_at_end()).then(|| self.keys.row(self.at).owned())
    }

    fn row_key(&self) -> Option<u128> {
        self.row_keys.get(self.at).copied()
    }

    /// Decodes the next batch that has rows; false if there is none.
    fn load(&mut self, repeats: &Repeats) -> Result<bool, LakeError> {
        for batch in self.reader.by_ref() {
            let read = conform(self.table, &batch?)?;
            let rows = read.num_rows();
            let kept = without(read, self.without)?;
            self.left_out += (rows - kept.num_rows()) as u64;
            if kept.num_rows() == 0 {
                continue;
            }
            self.keys = self.converter.convert_columns(&sort_keys(self.table, &kept))?;
            self.row_keys = repeats.keys(self.table, &kept);
            (self.batch, self.at) = (kept, 0);
            return Ok(true);
        }
        Ok(false)
    }
}

/// `batch` without the rows of some tenants.
fn without(batch: RecordBatch, tenants: &BTreeSet<String>) -> Result<RecordBatch, LakeError> {
    let column = batch.column_by_name("tenant").map(|c| c.as_string::<i32>());
    let Some(column) = column.filter(|_| !tenants.is_empty()) else { return Ok(batch) };
    let kept: BooleanArray = column.iter().map(|t| Some(t.is_none_or(|t| !tenants.contains(t)))).collect();
    Ok(filter_record_batch(&batch, &kept)?)
}

/// Brings rows of an older file to the columns of today: missing ones are NULL, other types are cast. A file of a newer
/// release is left to that release: its rows would lose what this one does not know.
pub(super) fn conform(table: Table, batch: &RecordBatch) -> Result<RecordBatch, LakeError> {
    let schema = table.schema();
    let read = batch.schema();
    let unknown = read.fields().iter().filter(|field| schema.column_with_name(field.name()).is_none());
    let unknown: Vec<&str> = unknown.map(|field| field.name().as_str()).collect();
    if !unknown.is_empty() {
        return Err(LakeError::Newer { table: table.name(), columns: unknown.join(", ") });
    }
    let column = |field: &arrow::datatypes::FieldRef| -> Result<ArrayRef, arrow::error::ArrowError> {
        match batch.column_by_name(field.name()) {
            None => Ok(new_null_array(field.data_type(), batch.num_rows())),
            Some(column) if column.data_type() == field.data_type() => Ok(column.clone()),
            Some(column) => cast(column, field.data_type()),
        }
    };
    let columns = schema.fields().iter().map(column).collect::<Result<Vec<_>, _>>()?;
    Ok(RecordBatch::try_new(schema, columns)?)
}
