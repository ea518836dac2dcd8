//! Some columns of a file, without reading the rest of it.

use super::lake::LakeError;
use super::snapshot::DataFile;
use arrow::array::RecordBatch;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt, TryStreamExt};
use object_store::{ObjectStore, ObjectStoreExt};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::{AsyncFileReader, ParquetRecordBatchStreamBuilder};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use std::ops::Range;
use std::sync::Arc;

/// Reads the columns `names` of a file; names that it does not have are left out.
pub async fn read_columns(
    store: &Arc<dyn ObjectStore>,
    file: &DataFile,
    names: &[&str],
) -> std::result::Result<Vec<RecordBatch>, LakeError> {
    let builder =
        ParquetRecordBatchStreamBuilder::new(Ranges { store: store.clone(), file: file.clone() }).await?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), names.iter().copied());
    Ok(builder.with_projection(mask).build()?.try_collect().await?)
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
