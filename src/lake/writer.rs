//! A batch to the bytes of one Parquet file.
//!
//! Layout, from measurements on a million spans: rows in order of time bucket, trace and start keep a trace together
//! (a sort by service costs 43 % more bytes); a bloom filter on the trace id makes a look-up four times faster; payload
//! columns want zstd without a dictionary and without statistics, which would copy whole prompts into the footer.

use super::config::Config;
use super::lake::LakeError;
use crate::domain::columns::{Kind, Table};
use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, UInt32Array};
use arrow::compute::{SortColumn, concat_batches, lexsort_to_indices, take_record_batch};
use arrow::datatypes::{Int64Type, TimestampMicrosecondType};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::sync::Arc;

/// Spans of one bucket of this many nanoseconds are ordered by trace.
const BUCKET_NANOS: i64 = 600 * 1_000_000_000;

/// The zstd level of most columns.
const LEVEL: i32 = 3;

/// The zstd level of short payload in files of more rows than a row group has. Those are merged ones, which stay.
///
/// Attributes of ordinary spans are alike, and the longer search finds a quarter more; but it takes a fifth to a third of
/// the server's CPU, which a file that is merged soon is not worth. Prompts and answers are not alike: there it would
/// cost two and a half times the CPU for a twentieth.
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

/// Writes `batches` of `table` as one file. Costs CPU: call it off the async threads.
pub fn write(table: Table, batches: &[RecordBatch], config: &Config) -> Result<Written, LakeError> {
    let all = sort(table, concat_batches(&table.schema(), batches)?)?;
    let (min_time, max_time) = time_range(table, &all);
    let properties = properties(table, &all, config)?;
    let mut writer = ArrowWriter::try_new(Vec::new(), all.schema(), Some(properties))?;
    let rows_a_group = rows_a_group(&all, config);
    let mut at = 0;
    while at < all.num_rows() {
        let rows = rows_a_group.min(all.num_rows() - at);
        writer.write(&all.slice(at, rows))?;
        writer.flush()?;
        at += rows;
    }
    let rows = u64::try_from(all.num_rows()).unwrap_or(u64::MAX);
    Ok(Written { bytes: writer.into_inner()?, rows, min_time, max_time })
}

/// Row groups are capped by bytes as well: 131,072 rows of 24 KB would be 3 GB.
fn rows_a_group(batch: &RecordBatch, config: &Config) -> usize {
    let row_bytes = batch.get_array_memory_size() / batch.num_rows().max(1);
    (config.row_group_bytes / row_bytes.max(1)).clamp(1, config.row_group_rows)
}

fn sort(table: Table, batch: RecordBatch) -> Result<RecordBatch, LakeError> {
    let column = |name: &str| batch.column_by_name(name).cloned();
    let keys: Vec<ArrayRef> = match (table, column("start_time_unix_nano"), column("trace_id")) {
        (Table::Spans, Some(start), Some(trace)) => {
            let buckets: Int64Array =
                start.as_primitive::<Int64Type>().unary(|nanos| nanos.div_euclid(BUCKET_NANOS));
            vec![Arc::new(buckets), trace, start]
        }
        _ => column(table.time_column()).into_iter().collect(),
    };
    let keys: Vec<SortColumn> = keys.into_iter().map(|values| SortColumn { values, options: None }).collect();
    let order: UInt32Array = lexsort_to_indices(&keys, None)?;
    Ok(take_record_batch(&batch, &order)?)
}

fn time_range(table: Table, batch: &RecordBatch) -> (Option<i64>, Option<i64>) {
    let column = batch.column_by_name(table.time_column());
    let Some(times) = column.and_then(|c| c.as_primitive_opt::<TimestampMicrosecondType>()) else {
        return (None, None);
    };
    (arrow::compute::min(times), arrow::compute::max(times))
}

fn properties(table: Table, batch: &RecordBatch, config: &Config) -> Result<WriterProperties, LakeError> {
    let mut builder = WriterProperties::builder()
        .set_compression(zstd(LEVEL)?)
        .set_max_row_group_row_count(Some(config.row_group_rows))
        .set_created_by("groundline".to_owned());
    for column in table.columns() {
        let path = ColumnPath::from(column.name);
        builder = match column.kind {
            Kind::Payload => builder
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_statistics_enabled(path.clone(), EnabledStatistics::None)
                .set_column_compression(path, zstd(payload_level(batch, column.name, config))?),
            _ if IDS.contains(&column.name) => builder
                .set_column_dictionary_enabled(path.clone(), false)
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
    if batch.schema_ref().column_with_name("trace_id").is_some() {
        let distinct = u64::try_from(batch.num_rows()).unwrap_or(u64::MAX).max(1);
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

/// The level for the payload column `name`: high for short payload in a file that stays.
fn payload_level(batch: &RecordBatch, name: &str, config: &Config) -> i32 {
    let texts = batch.column_by_name(name).and_then(|c| c.as_string_opt::<i32>());
    let offsets = texts.map(|t| t.value_offsets()).unwrap_or_default();
    let bytes = offsets.last().zip(offsets.first()).map_or(0, |(last, first)| last - first);
    let rows = i32::try_from(batch.num_rows()).unwrap_or(i32::MAX).max(1);
    let stays = batch.num_rows() > config.row_group_rows;
    if stays && bytes / rows <= SHORT_BYTES { SHORT_LEVEL } else { LEVEL }
}

/// Reads the columns `names` of a file back.
pub async fn read_columns(
    store: &Arc<dyn ObjectStore>,
    path: &Path,
    names: &[&str],
) -> Result<Vec<RecordBatch>, LakeError> {
    let bytes = store.get(path).await?.bytes().await?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes)?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), names.iter().copied());
    Ok(builder.with_projection(mask).build()?.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::StringArray;
    use arrow::datatypes::{DataType, Field, Schema};

    fn level(rows: usize, text: &str) -> i32 {
        let column: ArrayRef = Arc::new(StringArray::from(vec![text; rows]));
        let schema = Arc::new(Schema::new(vec![Field::new("attributes", DataType::Utf8, false)]));
        let batch = RecordBatch::try_new(schema, vec![column]).unwrap();
        payload_level(&batch, "attributes", &Config { row_group_rows: 10, ..Config::default() })
    }

    #[test]
    fn short_payload_of_files_that_stay_is_searched_longer() {
        assert_eq!(level(11, "short"), SHORT_LEVEL);
        assert_eq!(level(10, "short"), LEVEL, "a flushed file");
        assert_eq!(level(11, &"long".repeat(1_000)), LEVEL, "prompts");
    }
}
