//! When the spans of the rows of a table's files began, told by the files' footers.
//!
//! Files are named by their paths and never change, so a footer is looked into once for all that ask.

use super::time_range::TimeRange;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::ParquetFileReaderFactory;
use datafusion::error::Result;
use datafusion::parquet::arrow::async_reader::AsyncFileReader;
use datafusion::parquet::file::metadata::ParquetMetaData;
use datafusion::parquet::file::statistics::Statistics;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use object_store::path::Path;
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// When the span began.
const SPAN_TIME: &str = "span_time";

/// First and last, microseconds; none where the file does not say.
type Times = Option<(i64, i64)>;

/// The times of a table's files that were asked for.
#[derive(Default)]
pub struct FileTimes {
    kept: Mutex<HashMap<Path, Times>>,
}

impl FileTimes {
    /// Whether rows of the file may be of spans that began in the time `began`.
    ///
    /// # Errors
    /// Those of the object store and of damaged files.
    pub async fn may_touch(
        &self,
        file: &PartitionedFile,
        began: TimeRange,
        readers: &dyn ParquetFileReaderFactory,
    ) -> Result<bool> {
        let path = &file.object_meta.location;
        let known = self.kept.lock().get(path).copied();
        let times = match known {
            Some(times) => times,
            None => {
                let (_, footer) = opened(file, readers).await?;
                let times = times_of(&footer);
                self.kept.lock().insert(path.clone(), times);
                times
            }
        };
        Ok(times.is_none_or(|(first, last)| began.touches_micros(first, last)))
    }

    /// Forgets the files that are not in `present`, once there are far more than those. Gives `present` then, for who keeps
    /// more about files.
    pub fn forget_others<'a>(
        &self,
        present: impl ExactSizeIterator<Item = &'a Path>,
    ) -> Option<BTreeSet<&'a Path>> {
        let mut kept = self.kept.lock();
        if kept.len() <= 2 * present.len() {
            return None;
        }
        let present: BTreeSet<&Path> = present.collect();
        kept.retain(|path, _| present.contains(path));
        Some(present)
    }
}

/// A reader of `file`, and its footer.
///
/// # Errors
/// Those of the object store and of damaged files.
pub async fn opened(
    file: &PartitionedFile,
    readers: &dyn ParquetFileReaderFactory,
) -> Result<(Box<dyn AsyncFileReader>, Arc<ParquetMetaData>)> {
    let metrics = ExecutionPlanMetricsSet::new();
    let mut reader: Box<dyn AsyncFileReader> = readers.create_reader(0, file.clone(), None, &metrics)?;
    let footer = reader.get_metadata(None).await?;
    Ok((reader, footer))
}

/// When the spans of a file's rows began, first and last; none where a row group does not say.
fn times_of(footer: &ParquetMetaData) -> Times {
    let columns = footer.file_metadata().schema_descr().columns();
    let at = columns.iter().position(|column| column.path().parts() == [SPAN_TIME])?;
    let mut all: Times = None;
    for group in footer.row_groups() {
        let Some(Statistics::Int64(told)) = group.column(at).statistics() else { return None };
        let (first, last) = (*told.min_opt()?, *told.max_opt()?);
        all = Some(all.map_or((first, last), |known| (known.0.min(first), known.1.max(last))));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::readers::Readers;
    use super::*;
    use arrow::array::{ArrayRef, Int64Array, RecordBatch, TimestampMicrosecondArray};
    use datafusion::execution::cache::cache_manager::CacheManager;
    use datafusion::parquet::arrow::ArrowWriter;
    use object_store::memory::InMemory;
    use object_store::{ObjectStore, ObjectStoreExt};

    struct Lake {
        store: Arc<InMemory>,
        times: FileTimes,
    }

    impl Lake {
        /// A file with one column, a row group for each of `groups`.
        async fn file(&self, name: &str, column: &str, groups: Vec<ArrayRef>) -> PartitionedFile {
            let batch = |rows: ArrayRef| RecordBatch::try_from_iter([(column, rows)]).unwrap();
            let batches: Vec<RecordBatch> = groups.into_iter().map(batch).collect();
            let mut writer = ArrowWriter::try_new(Vec::new(), batches[0].schema(), None).unwrap();
            for batch in &batches {
                writer.write(batch).unwrap();
                writer.flush().unwrap();
            }
            let bytes = writer.into_inner().unwrap();
            let file = PartitionedFile::new(name, bytes.len() as u64);
            self.store.put(&Path::from(name), bytes.into()).await.unwrap();
            file
        }

        /// Whether rows may be of spans that began at these microseconds; no footer is kept beside.
        async fn touches(&self, file: &PartitionedFile, from: i128, to: i128) -> Result<bool> {
            let footers = CacheManager::try_new(&Default::default()).unwrap().get_file_metadata_cache();
            let readers = Readers::new(self.store.clone() as Arc<dyn ObjectStore>, footers);
            let began = TimeRange { from: from * 1_000, to: to * 1_000 };
            self.times.may_touch(file, began, &readers).await
        }
    }

    fn at(micros: &[i64]) -> ArrayRef {
        Arc::new(TimestampMicrosecondArray::from(micros.to_vec()).with_timezone("UTC"))
    }

    #[tokio::test]
    async fn a_footer_is_opened_once_and_tells_of_all_its_row_groups() {
        let lake = Lake { store: Arc::default(), times: FileTimes::default() };
        let file = lake.file("a", SPAN_TIME, vec![at(&[50, 70]), at(&[10, 20]), at(&[90])]).await;
        assert!(lake.touches(&file, 0, 10).await.unwrap());
        // What was opened once more would not be found.
        lake.store.delete(&Path::from("a")).await.unwrap();
        assert!(lake.touches(&file, 90, 100).await.unwrap());
        assert!(lake.touches(&file, 30, 40).await.unwrap(), "between the first and the last");
        assert!(!lake.touches(&file, 0, 9).await.unwrap());
        assert!(!lake.touches(&file, 91, 100).await.unwrap());
        let other = PartitionedFile::new("b", 10);
        assert!(lake.touches(&other, 0, 10).await.is_err());
    }

    #[tokio::test]
    async fn a_file_that_does_not_say_may_be_of_any_time() {
        let lake = Lake { store: Arc::default(), times: FileTimes::default() };
        let without = lake.file("without", "n", vec![Arc::new(Int64Array::from(vec![1]))]).await;
        assert!(lake.touches(&without, 900, 901).await.unwrap());
        lake.store.delete(&Path::from("without")).await.unwrap();
        assert!(lake.touches(&without, 900, 901).await.unwrap(), "that it does not is kept too");
    }

    #[tokio::test]
    async fn files_are_forgotten_once_there_are_far_more_than_are_present() {
        let lake = Lake { store: Arc::default(), times: FileTimes::default() };
        for name in ["a", "b", "c"] {
            let file = lake.file(name, SPAN_TIME, vec![at(&[10])]).await;
            lake.touches(&file, 0, 100).await.unwrap();
        }
        let (one, two) = (Path::from("a"), Path::from("b"));
        assert_eq!(lake.times.forget_others([&one, &two].into_iter()), None);
        assert_eq!(lake.times.kept.lock().len(), 3);
        assert_eq!(lake.times.forget_others([&two].into_iter()), Some(BTreeSet::from([&two])));
        assert_eq!(lake.times.kept.lock().keys().collect::<Vec<_>>(), [&two]);
    }
}
