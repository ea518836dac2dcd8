//! Some columns of a file, without reading the rest of it.

use super::error::LakeError;
use super::snapshot::DataFile;
use arrow::array::RecordBatch;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, TryFutureExt, TryStreamExt};
use object_store::{ObjectStore, ObjectStoreExt};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::{AsyncFileReader, ParquetRecordBatchStreamBuilder};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::statistics::Statistics;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Reads the columns `names` of a file at once; names that it does not have are left out.
pub async fn read_columns(
    store: &Arc<dyn ObjectStore>,
    file: &DataFile,
    names: &[&str],
) -> std::result::Result<Vec<RecordBatch>, LakeError> {
    Ok(stream_columns(store, file, names).await?.try_collect().await?)
}

/// [`read_columns`] batch by batch: no more than a row group is in memory.
pub async fn stream_columns(
    store: &Arc<dyn ObjectStore>,
    file: &DataFile,
    names: &[&str],
) -> std::result::Result<BoxStream<'static, Result<RecordBatch>>, LakeError> {
    let builder =
        ParquetRecordBatchStreamBuilder::new(Ranges { store: store.clone(), file: file.clone() }).await?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), names.iter().copied());
    Ok(Box::pin(builder.with_projection(mask).build()?))
}

/// [`stream_columns`] of those row groups alone that may hold one of `values` in the column `column`.
pub async fn stream_holding(
    store: &Arc<dyn ObjectStore>,
    file: &DataFile,
    names: &[&str],
    (column, values): (&str, &BTreeSet<String>),
) -> std::result::Result<BoxStream<'static, Result<RecordBatch>>, LakeError> {
    let mut builder =
        ParquetRecordBatchStreamBuilder::new(Ranges { store: store.clone(), file: file.clone() }).await?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), names.iter().copied());
    let leaves = builder.parquet_schema().columns();
    let leaf = leaves.iter().position(|leaf| leaf.path().parts() == [column]);
    let mut groups = Vec::new();
    for group in 0..builder.metadata().num_row_groups() {
        let may_hold = match leaf {
            Some(leaf) => {
                let chunk = builder.metadata().row_group(group).column(leaf);
                let is_within = chunk.statistics().is_none_or(|bounds| within(bounds, values));
                is_within && {
                    let filter = builder.get_row_group_column_bloom_filter(group, leaf).await?;
                    filter.is_none_or(|filter| values.iter().any(|value| filter.check(value.as_str())))
                }
            }
            None => true,
        };
        if may_hold {
            groups.push(group);
        }
    }
    if groups.is_empty() {
        return Ok(Box::pin(futures::stream::empty()));
    }
    Ok(Box::pin(builder.with_projection(mask).with_row_groups(groups).build()?))
}

/// Whether one of `values` lies within the bounds of a row group; so it is where nobody knows them.
fn within(bounds: &Statistics, values: &BTreeSet<String>) -> bool {
    match (bounds.min_bytes_opt(), bounds.max_bytes_opt()) {
        // Bounds of the old kind are in another order than texts.
        (Some(least), Some(most)) if !bounds.is_min_max_deprecated() => {
            values.iter().any(|value| (least..=most).contains(&value.as_bytes()))
        }
        _ => true,
    }
}

/// A file of the store, read piece by piece.
struct Ranges {
    store: Arc<dyn ObjectStore>,
    file: DataFile,
}

fn failed(error: object_store::Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}

impl AsyncFileReader for Ranges {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, Result<Bytes>> {
        self.store.get_range(&self.file.path, range).map_err(failed).boxed()
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, Result<Vec<Bytes>>> {
        async move { self.store.get_ranges(&self.file.path, &ranges).await.map_err(failed) }.boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, Result<Arc<ParquetMetaData>>> {
        async move {
            let reader = ParquetMetaDataReader::new()
                .with_metadata_options(options.map(|options| options.metadata_options().clone()));
            let bytes = self.file.bytes;
            Ok(Arc::new(reader.load_and_finish(self, bytes).await?))
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, StringArray};
    use object_store::memory::InMemory;
    use object_store::path::Path;
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::WriterProperties;

    #[tokio::test]
    async fn a_file_is_read_piece_by_piece() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["the same words"; 4_000]));
        let batch = RecordBatch::try_from_iter([("body", texts)]).unwrap();
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(1_000)).build();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        let bytes = writer.into_inner().unwrap();
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let (path, size) = (Path::from("a.parquet"), bytes.len() as u64);
        store.put(&path, Bytes::from(bytes).into()).await.unwrap();
        let file = DataFile { path: path.clone(), bytes: size, rows: 4_000, min_time: None, max_time: None };
        let all = read_columns(&store, &file, &["body"]).await.unwrap();
        assert_eq!(all.iter().map(RecordBatch::num_rows).sum::<usize>(), 4_000);
        let mut batches = stream_columns(&store, &file, &["body"]).await.unwrap();
        assert!(batches.try_next().await.unwrap().unwrap().num_rows() < 4_000);
        // The rest was not read ahead.
        store.delete(&path).await.unwrap();
        batches.try_collect::<Vec<_>>().await.unwrap_err();
    }

    /// Groups of 10 texts: the first by bounds alone, as other columns have them, the second by a filter, as trace ids have it.
    #[tokio::test]
    async fn only_row_groups_that_may_hold_a_value_are_read() {
        let column = |text: fn(usize) -> String| -> ArrayRef {
            Arc::new(StringArray::from_iter_values((0..40).map(text)))
        };
        let (ordered, mixed) = (column(|n| format!("{n:02}")), column(|n| format!("{}{n:02}", 9 - n % 10)));
        let batch = RecordBatch::try_from_iter([("item_id", ordered), ("trace_id", mixed)]).unwrap();
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(10))
            .set_column_bloom_filter_enabled("trace_id".into(), true)
            .set_column_bloom_filter_max_ndv("trace_id".into(), 1_000)
            .build();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        let bytes = writer.into_inner().unwrap();
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let (path, size) = (Path::from("a.parquet"), bytes.len() as u64);
        store.put(&path, Bytes::from(bytes).into()).await.unwrap();
        let file = DataFile { path, bytes: size, rows: 40, min_time: None, max_time: None };
        let rows = async |column: &str, values: &[&str]| -> usize {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            let found = stream_holding(&store, &file, &["item_id"], (column, &values)).await.unwrap();
            let found: Vec<RecordBatch> = found.try_collect().await.unwrap();
            found.iter().map(RecordBatch::num_rows).sum()
        };
        assert_eq!((rows("item_id", &["05"]).await, rows("item_id", &["05", "39"]).await), (10, 20));
        assert_eq!((rows("item_id", &["x"]).await, rows("item_id", &[]).await), (0, 0));
        // All groups reach from 0 to 9.
        assert_eq!((rows("trace_id", &["415"]).await, rows("trace_id", &["499"]).await), (10, 0));
        // Nothing is known of what is not there.
        assert_eq!(rows("span_id", &["x"]).await, 40);
    }
}
