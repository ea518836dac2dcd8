//! Rows of a table as Parquet, and back.
//!
//! The files have the stored columns without the tenant, in the order of the rows' keys, not compressed (the archive is)
//! and without dictionaries, so that equal rows give equal bytes and a small file cannot claim to be a large one.

use crate::schema::columns::Table;
use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch, StringArray, new_null_array};
use arrow::compute::{cast, concat_batches, filter_record_batch};
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::row::{RowConverter, SortField};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::sync::Arc;

/// Whose the rows are: not in the file.
const TENANT: &str = "tenant";
/// Rows that are read at once.
const BATCH: usize = 256;
/// Bytes of one table in memory.
const MAX_BYTES: usize = 1 << 30;
/// Values of one column, with those of lists: nothing takes no room in a file.
const MAX_VALUES: u64 = 1 << 24;
/// Bytes that the head of a page has at least.
const PAGE_HEAD: usize = 8;

/// A table of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// The table.
    pub table: Table,
    /// Its file.
    pub file: &'static str,
    /// The columns that name a row.
    pub key: &'static [&'static str],
}

/// Versions of datasets.
pub const DATASETS: Kept =
    Kept { table: Table::Datasets, file: "datasets/datasets.parquet", key: &["dataset_id", "version"] };
/// Revisions of items.
pub const ITEMS: Kept = Kept {
    table: Table::DatasetItems,
    file: "datasets/dataset_items.parquet",
    key: &["dataset_id", "version", "item_id"],
};
/// States of experiments.
pub const EXPERIMENTS: Kept =
    Kept { table: Table::Experiments, file: "experiments.parquet", key: &["experiment_id", "revision"] };
/// Attempts.
pub const RUNS: Kept = Kept { table: Table::Runs, file: "runs.parquet", key: &["run_id", "attempt"] };
/// What evaluators said of them.
pub const SCORES: Kept = Kept { table: Table::Scores, file: "scores.parquet", key: &["score_id"] };

/// Revisions and versions of suites.
pub const SUITES: Kept = Kept {
    table: Table::Suites,
    file: "suites/suites.parquet",
    key: &["suite_id", "revision", "version", "draft"],
};
/// Their tests.
pub const SUITE_TESTS: Kept = Kept {
    table: Table::SuiteTests,
    file: "suites/suite_tests.parquet",
    key: &["suite_id", "revision", "test_id"],
};
/// Their checks.
pub const SUITE_CHECKS: Kept = Kept {
    table: Table::SuiteChecks,
    file: "suites/suite_checks.parquet",
    key: &["suite_id", "revision", "test_id", "ordinal"],
};
/// What checks said of runs, with edits.
pub const CHECK_RESULTS: Kept = Kept {
    table: Table::CheckResults,
    file: "check_results.parquet",
    key: &["run_id", "attempt", "ordinal", "check_id", "revision"],
};
/// States of queues of review.
pub const QUEUES: Kept = Kept {
    table: Table::ReviewQueues,
    file: "reviews/review_queues.parquet",
    // The queue that an experiment has by itself is told again with each of its frames.
    key: &["queue_id", "revision", "created_at"],
};
/// What people are asked about.
pub const REVIEW_ITEMS: Kept = Kept {
    table: Table::ReviewItems,
    file: "reviews/review_items.parquet",
    key: &["queue_id", "item", "draw"],
};
/// What they answered.
pub const REVIEW_ANSWERS: Kept = Kept {
    table: Table::ReviewAnswers,
    file: "reviews/review_answers.parquet",
    key: &["queue_id", "item", "answer_id"],
};
/// The labels that follow from it.
pub const LABELS: Kept =
    Kept { table: Table::Annotations, file: "reviews/annotations.parquet", key: &["annotation_id"] };
/// Tables that an archive has only if they have rows.
pub const MORE: [Kept; 8] =
    [SUITES, SUITE_TESTS, SUITE_CHECKS, CHECK_RESULTS, QUEUES, REVIEW_ITEMS, REVIEW_ANSWERS, LABELS];

/// Spans of runs, which stand in several files of a folder.
pub const SPANS: Kept = Kept { table: Table::Spans, file: "spans/", key: &["trace_id", "span_id"] };

/// Rows of each table.
#[derive(Debug, Clone)]
pub struct Rows {
    /// Versions of datasets.
    pub datasets: RecordBatch,
    /// Revisions of items.
    pub items: RecordBatch,
    /// States of experiments.
    pub experiments: RecordBatch,
    /// Attempts.
    pub runs: RecordBatch,
    /// Scores.
    pub scores: RecordBatch,
    /// Those of [`MORE`] that are there.
    pub more: Vec<(Kept, RecordBatch)>,
}

impl Rows {
    /// Each table with its rows.
    pub fn all(&self) -> Vec<(Kept, &RecordBatch)> {
        let own = [
            (DATASETS, &self.datasets),
            (ITEMS, &self.items),
            (EXPERIMENTS, &self.experiments),
            (RUNS, &self.runs),
            (SCORES, &self.scores),
        ];
        own.into_iter().chain(self.more.iter().map(|(kept, rows)| (*kept, rows))).collect()
    }

    /// The rows of one of [`MORE`], if there are any.
    pub fn more(&self, kept: Kept) -> Option<&RecordBatch> {
        self.more.iter().find(|(one, _)| *one == kept).map(|(_, rows)| rows)
    }

    /// Rows of each table that every archive has, as `of` makes them.
    ///
    /// # Errors
    /// Those of `of`.
    pub fn made<E>(mut of: impl FnMut(Kept) -> Result<RecordBatch, E>) -> Result<Self, E> {
        Ok(Self {
            datasets: of(DATASETS)?,
            items: of(ITEMS)?,
            experiments: of(EXPERIMENTS)?,
            runs: of(RUNS)?,
            scores: of(SCORES)?,
            more: Vec::new(),
        })
    }
}

impl Kept {
    /// The columns of its file.
    pub fn schema(self) -> SchemaRef {
        let stored = self.table.schema();
        let fields: Vec<Arc<Field>> =
            stored.fields().iter().filter(|f| f.name() != TENANT).cloned().collect();
        Arc::new(Schema::new(fields))
    }

    /// The columns, for a query.
    pub fn columns(self) -> String {
        let schema = self.schema();
        schema.fields().iter().map(|field| format!("\"{}\"", field.name())).collect::<Vec<_>>().join(", ")
    }

    /// The rows of an answer, which are in the order of their keys; a key that comes again is left out.
    ///
    /// # Errors
    /// When a column is not what is stored.
    pub fn stored(self, batches: &[RecordBatch]) -> Result<RecordBatch, ArrowError> {
        let schema = self.schema();
        let of = |batch: &RecordBatch| {
            let column = |field: &Arc<Field>| {
                cast(batch.column(batch.schema().index_of(field.name())?), field.data_type())
            };
            let columns = schema.fields().iter().map(column).collect::<Result<Vec<ArrayRef>, _>>()?;
            RecordBatch::try_new(schema.clone(), columns)
        };
        let batches = batches.iter().map(of).collect::<Result<Vec<_>, _>>()?;
        let all = concat_batches(&schema, &batches)?;
        let keys = rows_of(&all, self.key)?;
        let is_first = (0..all.num_rows()).map(|at| Some(at == 0 || keys.row(at) != keys.row(at - 1)));
        filter_record_batch(&all, &is_first.collect::<BooleanArray>())
    }

    /// The rows as the bytes of its file.
    ///
    /// # Errors
    /// When memory does.
    pub fn written(self, rows: &RecordBatch) -> Result<Vec<u8>, ParquetError> {
        let how = WriterProperties::builder()
            .set_created_by("groundline".to_owned())
            .set_compression(Compression::UNCOMPRESSED)
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None)
            .build();
        let mut writer = ArrowWriter::try_new(Vec::new(), self.schema(), Some(how))?;
        writer.write(rows)?;
        writer.into_inner()
    }

    /// The rows of its file.
    ///
    /// # Errors
    /// What is damaged, too large, or of a later release.
    pub fn read(self, bytes: Vec<u8>) -> Result<RecordBatch, String> {
        self.read_as(self.file, bytes)
    }

    /// The same of a table that has several files, of which this one is `file`.
    ///
    /// # Errors
    /// As [`Kept::read`].
    pub fn read_as(self, file: &str, bytes: Vec<u8>) -> Result<RecordBatch, String> {
        let wrong = |e: &dyn ToString| format!("{file}: {}", e.to_string());
        let bytes = Bytes::from(bytes);
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes.clone()).map_err(|e| wrong(&e))?;
        let mut columns = builder.metadata().row_groups().iter().flat_map(|group| group.columns());
        if columns.any(|column| column.compression() != Compression::UNCOMPRESSED) {
            return Err(wrong(&"it has compressed columns, which no archive of the lab has"));
        }
        let schema = self.schema();
        if builder.schema().index_of(TENANT).is_ok() {
            return Err(wrong(&"it says whose its rows are: they belong to who restores them"));
        }
        if let Some(unknown) = builder.schema().fields().iter().find(|f| schema.index_of(f.name()).is_err()) {
            let why = format!(
                "the column {:?} is not known here: a later release made the archive; restore it with that one or a newer one",
                unknown.name()
            );
            return Err(wrong(&why));
        }
        plain(bytes).map_err(|why| wrong(&why))?;
        let (mut batches, mut size) = (Vec::new(), 0);
        for batch in builder.with_batch_size(BATCH).build().map_err(|e| wrong(&e))? {
            let batch = self.whole(&batch.map_err(|e| wrong(&e))?, &schema).map_err(|e| wrong(&e))?;
            size += batch.get_array_memory_size();
            if size > MAX_BYTES {
                return Err(wrong(&"its rows have more than 1 GiB"));
            }
            batches.push(batch);
        }
        concat_batches(&schema, &batches).map_err(|e| wrong(&e))
    }

    /// The rows with all columns: those that a release did not have yet are NULL.
    fn whole(self, batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        let column = |field: &Arc<Field>| match batch.column_by_name(field.name()) {
            Some(column) => Ok(column.clone()),
            None if field.is_nullable() => Ok(new_null_array(field.data_type(), batch.num_rows())),
            None => Err(ArrowError::SchemaError(format!("the column {:?} is missing", field.name()))),
        };
        let columns = schema.fields().iter().map(column).collect::<Result<Vec<_>, _>>()?;
        RecordBatch::try_new(schema.clone(), columns)
    }

    /// The rows as they are stored for `tenant`.
    ///
    /// # Errors
    /// Never for rows that [`Kept::read`] or [`Kept::stored`] gave.
    pub fn of_tenant(self, rows: &RecordBatch, tenant: &str) -> Result<RecordBatch, ArrowError> {
        let schema = self.table.schema();
        let column = |field: &Arc<Field>| -> ArrayRef {
            let own = || -> ArrayRef { Arc::new(StringArray::from(vec![tenant; rows.num_rows()])) };
            rows.column_by_name(field.name()).cloned().unwrap_or_else(own)
        };
        RecordBatch::try_new(schema.clone(), schema.fields().iter().map(column).collect())
    }

    /// The rows with one text in a column.
    ///
    /// # Errors
    /// When the table has no such column of texts.
    pub fn with(self, rows: &RecordBatch, name: &str, text: &str) -> Result<RecordBatch, ArrowError> {
        let at = rows.schema().index_of(name)?;
        let mut columns = rows.columns().to_vec();
        columns[at] = Arc::new(StringArray::from(vec![text; rows.num_rows()]));
        RecordBatch::try_new(rows.schema(), columns)
    }
}

/// Looks through the pages of a file before a row of it is in memory: nowhere one text may stand for many, or several columns
/// for the same bytes.
///
/// # Errors
/// What makes its rows larger than it is.
fn plain(bytes: Bytes) -> Result<(), String> {
    let wrong = |e: ParquetError| e.to_string();
    let (most, mut taken) = (bytes.len(), 0usize);
    let file = SerializedFileReader::new(bytes).map_err(wrong)?;
    for column in 0..file.metadata().file_metadata().schema_descr().num_columns() {
        let mut values = 0u64;
        for group in 0..file.num_row_groups() {
            let group = file.get_row_group(group).map_err(wrong)?;
            for page in group.get_column_page_reader(column).map_err(wrong)? {
                let page = page.map_err(wrong)?;
                if page.is_dictionary_page() || page.encoding() != Encoding::PLAIN {
                    return Err(
                        "it has columns that are not plain, which no archive of the lab has".to_owned()
                    );
                }
                values = values.saturating_add(u64::from(page.num_values()));
                taken = taken.saturating_add(page.buffer().len()).saturating_add(PAGE_HEAD);
                if values > MAX_VALUES || taken > most {
                    return Err("its columns have more than the file can have".to_owned());
                }
            }
        }
    }
    Ok(())
}

/// The columns of a batch that are named, as one comparable value a row.
pub fn rows_of(batch: &RecordBatch, names: &[&str]) -> Result<arrow::row::Rows, ArrowError> {
    let columns = names.iter().map(|name| Ok(batch.column(batch.schema().index_of(name)?).clone()));
    let columns = columns.collect::<Result<Vec<_>, ArrowError>>()?;
    let fields = columns.iter().map(|column| SortField::new(column.data_type().clone()));
    RowConverter::new(fields.collect())?.convert_columns(&columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::UnixNanos;
    use crate::schema::batch::{ItemRow, Made, dataset_items_to_batch};
    use parquet::schema::types::ColumnPath;

    fn rows() -> RecordBatch {
        let item = |id: &str| ItemRow {
            item_id: id.to_owned(),
            input: Some("\"Where?\"".to_owned()),
            tags: vec!["a".to_owned(), String::new()],
            weight: Some(0.1),
            ..ItemRow::default()
        };
        let made = Made { tenant: "shop".to_owned(), at: UnixNanos(1_000), by: "me".to_owned() };
        dataset_items_to_batch(&[item("1"), item("2"), item("2")], "d", 1, &made).unwrap()
    }

    #[test]
    fn rows_come_back_for_another_tenant_and_equal_rows_give_equal_bytes() {
        let stored = ITEMS.stored(&[rows()]).unwrap();
        assert_eq!(stored.num_rows(), 2, "a row that is there twice is one");
        let bytes = ITEMS.written(&stored).unwrap();
        let split = [rows().slice(0, 1), rows().slice(1, 2)];
        assert_eq!(bytes, ITEMS.written(&ITEMS.stored(&split).unwrap()).unwrap());
        let read = ITEMS.read(bytes.clone()).unwrap();
        assert_eq!(read, stored);
        let back = ITEMS.of_tenant(&read, "other").unwrap();
        assert_eq!(back.schema(), Table::DatasetItems.schema());
        let tenants: &StringArray = back.column_by_name("tenant").unwrap().as_any().downcast_ref().unwrap();
        assert_eq!(tenants.value(1), "other");
        let empty = ITEMS.stored(&[]).unwrap();
        assert_eq!(ITEMS.read(ITEMS.written(&empty).unwrap()).unwrap().num_rows(), 0);
    }

    #[test]
    fn a_small_file_that_stands_for_many_rows_is_refused() {
        let stored = ITEMS.stored(&[rows()]).unwrap();
        let told = |how: WriterProperties| {
            let mut writer = ArrowWriter::try_new(Vec::new(), stored.schema(), Some(how)).unwrap();
            writer.write(&stored).unwrap();
            ITEMS.read(writer.into_inner().unwrap()).unwrap_err()
        };
        let plain = || WriterProperties::builder().set_dictionary_enabled(false);
        for how in [
            WriterProperties::builder(),
            plain().set_column_encoding(ColumnPath::from("input"), Encoding::DELTA_BYTE_ARRAY),
        ] {
            let why = told(how.build());
            assert!(
                why.starts_with("datasets/dataset_items.parquet: ") && why.contains("not plain"),
                "{why}"
            );
        }
    }

    #[test]
    fn columns_of_a_later_release_are_told_and_those_of_an_earlier_one_are_empty() {
        let stored = SCORES.schema();
        let fewer: Vec<_> = stored.fields().iter().filter(|f| f.name() != "check_id").cloned().collect();
        let early = RecordBatch::new_empty(Arc::new(Schema::new(fewer.clone())));
        let bytes = |batch: &RecordBatch| {
            let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
            writer.write(batch).unwrap();
            writer.into_inner().unwrap()
        };
        assert_eq!(SCORES.read(bytes(&early)).unwrap().schema(), stored);
        let more =
            [fewer, vec![Arc::new(Field::new("mood", arrow::datatypes::DataType::Utf8, true))]].concat();
        let later = RecordBatch::new_empty(Arc::new(Schema::new(more)));
        let why = SCORES.read(bytes(&later)).unwrap_err();
        assert!(why.contains("\"mood\"") && why.contains("a later release"), "{why}");
        assert!(SCORES.read(b"PAR1 but no file".to_vec()).unwrap_err().starts_with("scores.parquet: "));
    }
}
