//! Readers of a table's files that share what was read of their footers.
//!
//! DataFusion keeps footers, but asks for them without the page index, and then reads the index of every file anew in every
//! query. Here a footer is read and kept with its index.

use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::ParquetFileReaderFactory;
use datafusion::datasource::physical_plan::parquet::CachedParquetFileReaderFactory;
use datafusion::error::Result;
use datafusion::execution::cache::cache_manager::FileMetadataCache;
use datafusion::parquet;
use datafusion::parquet::arrow::arrow_reader::ArrowReaderOptions;
use datafusion::parquet::arrow::async_reader::AsyncFileReader;
use datafusion::parquet::file::metadata::ParquetMetaData;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::future::BoxFuture;
use object_store::ObjectStore;
use std::ops::Range;
use std::sync::Arc;

/// Makes the readers of one store.
#[derive(Debug)]
pub struct Readers {
    cached: CachedParquetFileReaderFactory,
}

impl Readers {
    /// Of the files in `store`; footers are kept in `footers`.
    pub fn new(store: Arc<dyn ObjectStore>, footers: Arc<FileMetadataCache>) -> Self {
        Self { cached: CachedParquetFileReaderFactory::new(store, footers) }
    }
}

impl ParquetFileReaderFactory for Readers {
    fn create_reader(
        &self,
        partition: usize,
        file: PartitionedFile,
        hint: Option<usize>,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Result<Box<dyn AsyncFileReader + Send>> {
        Ok(Box::new(WithIndex(self.cached.create_reader(partition, file, hint, metrics)?)))
    }
}

/// A reader whose footers have their page index.
struct WithIndex(Box<dyn AsyncFileReader + Send>);

impl AsyncFileReader for WithIndex {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, parquet::errors::Result<bytes::Bytes>> {
        self.0.get_bytes(range)
    }

    fn get_byte_ranges(
        &mut self,
        ranges: Vec<Range<u64>>,
    ) -> BoxFuture<'_, parquet::errors::Result<Vec<bytes::Bytes>>> {
        self.0.get_byte_ranges(ranges)
    }

    fn get_metadata<'a>(
        &'a mut self,
        _: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, parquet::errors::Result<Arc<ParquetMetaData>>> {
        // The options that DataFusion gives leave the index out; without options a reader that keeps footers takes it in.
        self.0.get_metadata(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int64Array, RecordBatch};
    use datafusion::execution::cache::cache_manager::CacheManager;
    use datafusion::parquet::arrow::ArrowWriter;
    use object_store::memory::InMemory;
    use object_store::{ObjectStoreExt, path::Path};

    #[tokio::test]
    async fn a_footer_is_read_once_and_has_its_index() {
        let column = Arc::new(Int64Array::from(vec![1, 2]));
        let batch = RecordBatch::try_from_iter([("n", column as _)]).unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        let bytes = writer.into_inner().unwrap();
        let file = PartitionedFile::new("a.parquet", bytes.len() as u64);
        let (store, path) = (Arc::new(InMemory::new()), Path::from("a.parquet"));
        store.put(&path, bytes.into()).await.unwrap();
        let footers = CacheManager::try_new(&Default::default()).unwrap().get_file_metadata_cache();
        let readers = Readers::new(store.clone(), footers);
        for _ in 0..2 {
            let reader = readers.create_reader(0, file.clone(), None, &ExecutionPlanMetricsSet::new());
            let asked = ArrowReaderOptions::new();
            let footer = reader.unwrap().get_metadata(Some(&asked)).await.unwrap();
            assert!(footer.column_index().is_some() && footer.offset_index().is_some());
            // What is read once more would not be found.
            let _ = store.delete(&path).await;
        }
    }
}
