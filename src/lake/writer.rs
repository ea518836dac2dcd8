//! A batch to the bytes of one Parquet file.
//!
//! Layout, from measurements on a million spans: rows in order of time bucket, trace and start keep a trace together
//! (a sort by service costs 43 % more bytes); a bloom filter on the trace id makes a look-up four times faster; payload
//! columns want zstd without a dictionary and without statistics, which would copy whole prompts into the footer.

use super::config::Config;
use super::error::LakeError;
use crate::schema::columns::{Kind, Table};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, UInt32Array};
use arrow::compute::{SortColumn, concat, interleave_record_batch, lexsort_to_indices};
use arrow::datatypes::{Int64Type, TimestampMicrosecondType};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::sync::Arc;

/// Spans of one bucket of this many nanoseconds are ordered by trace.
const BUCKET_NANOS: i64 = 600 * 1_000_000_000;

/// Most rows of a page. To read one row, its page is decompressed; and the index finds a trace by the page. A quarter of
/// the library's 20,000 costs 0.1 bytes a span and reads a trace a fifth faster.
const PAGE_ROWS: usize = 4_096;

/// Rows that are put in order at once, so that a file's rows are not in memory twice.
const SLICE_ROWS: usize = 8_192;

/// The zstd level of most columns.
const LEVEL: i32 = 3;

/// The zstd level of payload in new files.
const QUICK_LEVEL: i32 = 1;

/// The zstd level of payload that is short, in files that are merged. Attributes of ordinary spans are alike: the longer
/// search finds a quarter more; but it takes a fifth to a third of the server's CPU, which a file that is merged soon is
/// not worth. Prompts and answers are not alike: there it would cost two and a half times the CPU for a twentieth.
const SHORT_LEVEL: i32 = 7;

/// Mean bytes a row up to which payload counts as short.
const SHORT_BYTES: i32 = 1_024;

/// The zstd level of ids. Hex digits of random bits have no repetitions: a higher level finds short ones that cost more
/// than the digits' plain entropy.
const ID_LEVEL: i32 = 1;

/// Columns that are different in nearly every row, so that a dictionary would only come on top.
const IDS: &[&str] = &["span_id", "parent_span_id"];

/// The starts of rows that are ordered by trace.
const STARTS: &[&str] = &["start_time", "start_time_unix_nano"];

/// When a request came.
const RECEIVED: &str = "received_at";

/// The bytes of a file and what its Delta entry says.
pub struct Written {
    /// The Parquet file.
    pub bytes: Vec<u8>,
    /// How many rows.
    pub rows: u64,
    /// The smallest value of the table's time column, microseconds.
    pub min_time: Option<i64>,
    /// The largest value of the table's time column, microseconds.
    pub max_time: Option<i64>,
}

/// How hard compression tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// For files that will soon be merged: what counts is the CPU time that the flush takes from receiving.
    Quick,
    /// For files that stay.
    Small,
}

/// Writes `batches` of `table` as one file. Costs CPU: call it off the async threads.
pub fn write(table: Table, batches: &[RecordBatch], config: &Config) -> Result<Written, LakeError> {
    let order = order(table, batches)?;
    let batches: Vec<&RecordBatch> = batches.iter().collect();
    let mut file = FileWriter::new(table, order.len(), Effort::Quick, config);
    for slice in order.chunks(SLICE_ROWS) {
        file.write(&interleave_record_batch(&batches, slice)?)?;
    }
    file.finish()
}

/// A file in the making. Costs CPU: use it off the async threads.
pub struct FileWriter {
    table: Table,
    /// There from the first rows on: they say what the columns are like.
    writer: Option<ArrowWriter<Vec<u8>>>,
    config: Config,
    rows: usize,
    effort: Effort,
    group_bytes: usize,
    written: Written,
}

impl FileWriter {
    /// A file of at most `rows` rows.
    pub fn new(table: Table, rows: usize, effort: Effort, config: &Config) -> Self {
        Self {
            table,
            writer: None,
            config: config.clone(),
            rows,
            effort,
            group_bytes: 0,
            written: Written { bytes: Vec::new(), rows: 0, min_time: None, max_time: None },
        }
    }

    fn open(&self, like: &RecordBatch) -> Result<ArrowWriter<Vec<u8>>, LakeError> {
        let properties = properties(like, self.table, (self.rows, self.effort), &self.config)?;
        Ok(ArrowWriter::try_new(Vec::new(), self.table.schema(), Some(properties))?)
    }

    /// Adds rows that come after all others in the order of [`sort_keys`]. Row groups are capped by bytes as well as by
    /// rows: 131,072 rows of 24 KB would be 3 GB.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), LakeError> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let (min, max) = time_range(self.table, batch);
        self.written.min_time = [self.written.min_time, min].into_iter().flatten().min();
        self.written.max_time = self.written.max_time.max(max);
        self.written.rows += u64::try_from(batch.num_rows()).unwrap_or(u64::MAX);
        let row_bytes = (batch.get_array_memory_size() / batch.num_rows()).max(1);
        let (group_bytes, group_rows) = (self.config.row_group_size.in_memory(), self.config.row_group_rows);
        let most = (group_bytes / row_bytes).clamp(1, group_rows);
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.open(batch)?,
        };
        let mut at = 0;
        while at < batch.num_rows() {
            if self.group_bytes > 0 && self.group_bytes + row_bytes > group_bytes {
                writer.flush()?;
                self.group_bytes = 0;
            }
            let fit = (group_bytes.saturating_sub(self.group_bytes) / row_bytes).clamp(1, most);
            let rows = fit.min(batch.num_rows() - at);
            writer.write(&batch.slice(at, rows))?;
            self.group_bytes += rows * row_bytes;
            at += rows;
            // The writer ends a group by itself at its number of rows.
            if writer.in_progress_rows() == 0 {
                self.group_bytes = 0;
            }
        }
        self.writer = Some(writer);
        Ok(())
    }

    /// The finished file.
    pub fn finish(mut self) -> Result<Written, LakeError> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.open(&RecordBatch::new_empty(self.table.schema()))?,
        };
        Ok(Written { bytes: writer.into_inner()?, ..self.written })
    }
}

/// The columns by which rows of `table` are ordered in a file.
pub fn sort_keys(table: Table, batch: &RecordBatch) -> Vec<ArrayRef> {
    let column = |name: &str| batch.column_by_name(name).cloned();
    match (table, column("start_time_unix_nano"), column("trace_id")) {
        (Table::Spans, Some(start), Some(trace)) => {
            let buckets: Int64Array =
                start.as_primitive::<Int64Type>().unary(|nanos| nanos.div_euclid(BUCKET_NANOS));
            vec![Arc::new(buckets), trace, start]
        }
        _ => column(table.time_column()).into_iter().collect(),
    }
}

/// The rows of all `batches` in the order of [`sort_keys`], as (batch, row).
fn order(table: Table, batches: &[RecordBatch]) -> Result<Vec<(usize, usize)>, LakeError> {
    if let Some(order) = span_order(table, batches) {
        return Ok(order);
    }
    if batches.is_empty() {
        return Ok(Vec::new());
    }
    let keys: Vec<Vec<ArrayRef>> = batches.iter().map(|batch| sort_keys(table, batch)).collect();
    let columns = keys.first().map_or(0, Vec::len);
    let sorted: Vec<SortColumn> = (0..columns)
        .map(|column| {
            let parts: Vec<&dyn Array> = keys.iter().map(|key| key[column].as_ref()).collect();
            Ok(SortColumn { values: concat(&parts)?, options: None })
        })
        .collect::<Result<_, LakeError>>()?;
    let places: Vec<(usize, usize)> = batches
        .iter()
        .enumerate()
        .flat_map(|(at, batch)| (0..batch.num_rows()).map(move |row| (at, row)))
        .collect();
    let order: UInt32Array = lexsort_to_indices(&sorted, None)?;
    Ok(order.values().iter().map(|at| places[*at as usize]).collect())
}

/// The order of [`sort_keys`] for spans, as (batch, row). Comparing numbers takes a tenth of the time of comparing the
/// ids as text; none if an id is not one.
fn span_order(table: Table, batches: &[RecordBatch]) -> Option<Vec<(usize, usize)>> {
    if table != Table::Spans {
        return None;
    }
    let mut keys = Vec::with_capacity(batches.iter().map(RecordBatch::num_rows).sum());
    for (at, batch) in batches.iter().enumerate() {
        let starts = batch.column_by_name("start_time_unix_nano")?.as_primitive_opt::<Int64Type>()?;
        let traces = batch.column_by_name("trace_id")?.as_string_opt::<i32>()?;
        for (row, start) in starts.values().iter().enumerate() {
            let mut id = [0u8; 16];
            hex::decode_to_slice(traces.value(row), &mut id).ok()?;
            keys.push((start.div_euclid(BUCKET_NANOS), u128::from_be_bytes(id), *start, at, row));
        }
    }
    keys.sort_unstable();
    Some(keys.into_iter().map(|(.., at, row)| (at, row)).collect())
}

fn time_range(table: Table, batch: &RecordBatch) -> (Option<i64>, Option<i64>) {
    let column = batch.column_by_name(table.time_column());
    let Some(times) = column.and_then(|c| c.as_primitive_opt::<TimestampMicrosecondType>()) else {
        return (None, None);
    };
    (arrow::compute::min(times), arrow::compute::max(times))
}

/// The properties of a file of `rows` rows that are like those of `like`.
fn properties(
    like: &RecordBatch,
    table: Table,
    (rows, effort): (usize, Effort),
    config: &Config,
) -> Result<WriterProperties, LakeError> {
    let mut builder = WriterProperties::builder()
        .set_compression(zstd(LEVEL)?)
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_max_row_group_row_count(Some(config.row_group_rows))
        .set_created_by("groundline".to_owned());
    for column in table.columns() {
        let path = ColumnPath::from(column.name);
        builder = match column.kind {
            Kind::Payload => builder
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_statistics_enabled(path.clone(), EnabledStatistics::None)
                .set_column_compression(path, zstd(payload_level(effort, like, column.name))?),
            // Random digits: the least and the largest of a page say nothing.
            _ if IDS.contains(&column.name) => builder
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_statistics_enabled(path.clone(), EnabledStatistics::Chunk)
                .set_column_compression(path, zstd(ID_LEVEL)?),
            // Rows in order of traces are not in order of time; the bytes of neighbours are still alike.
            _ if STARTS.contains(&column.name) => builder.set_column_dictionary_enabled(path, false),
            // All rows of a request have the same one.
            Kind::Micros if column.name == RECEIVED => builder,
            Kind::Micros | Kind::Int => builder
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            _ => builder,
        };
    }
    if table.schema().column_with_name("trace_id").is_some() {
        let distinct = u64::try_from(rows.min(config.row_group_rows)).unwrap_or(u64::MAX).max(1);
        let path = ColumnPath::from("trace_id");
        builder = builder
            .set_column_bloom_filter_enabled(path.clone(), true)
            .set_column_bloom_filter_max_ndv(path.clone(), distinct)
            .set_column_bloom_filter_fpp(path, 0.01);
    }
    Ok(builder.build())
}

fn zstd(level: i32) -> Result<Compression, LakeError> {
    Ok(Compression::ZSTD(ZstdLevel::try_new(level)?))
}

fn payload_level(effort: Effort, batch: &RecordBatch, name: &str) -> i32 {
    let texts = batch.column_by_name(name).and_then(|c| c.as_string_opt::<i32>());
    let offsets = texts.map(|t| t.value_offsets()).unwrap_or_default();
    let bytes = offsets.last().zip(offsets.first()).map_or(0, |(last, first)| last - first);
    let rows = i32::try_from(batch.num_rows()).unwrap_or(i32::MAX).max(1);
    match effort {
        Effort::Quick => QUICK_LEVEL,
        Effort::Small if bytes / rows <= SHORT_BYTES => SHORT_LEVEL,
        Effort::Small => LEVEL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::StringArray;
    use arrow::datatypes::{DataType, Field, Schema};

    fn level(effort: Effort, text: &str) -> i32 {
        let column: ArrayRef = Arc::new(StringArray::from(vec![text; 10]));
        let schema = Arc::new(Schema::new(vec![Field::new("attributes", DataType::Utf8, false)]));
        let batch = RecordBatch::try_new(schema, vec![column]).unwrap();
        payload_level(effort, &batch, "attributes")
    }

    #[test]
    fn short_payload_of_files_that_stay_is_searched_longer() {
        assert_eq!(level(Effort::Small, "short"), SHORT_LEVEL);
        assert_eq!(level(Effort::Quick, "short"), QUICK_LEVEL, "a flushed file");
        assert_eq!(level(Effort::Small, &"long".repeat(1_000)), LEVEL, "prompts");
    }
}
