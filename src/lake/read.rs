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
}
