//! Whether no two scores of production have the same id, so that nothing is chosen among them and no row has to wait.
//!
//! A score is made once. Its id is there twice only where two servers judged a trace, or a request came to both, and no merge
//! has seen both rows yet. Where no score is a version of another (`identities`) and no id is there twice, the newest scores are
//! all that there are: ids are not read, nothing is compared, and rows are passed on as they come instead of being held until
//! the last one is there.
//!
//! # How it is known
//!
//! Of each row of production in a file eight bytes are kept, a hash of whose it is and of its id. They are read once, of the
//! files alone whose spans began in the time that is asked for. Whether one is there twice is looked for once for each set of
//! files; rows that are not in files yet are looked up each time. Two ids that share a hash count as one, which only means that
//! the choice is made: what is shown does not depend on it.

use super::file_times::{FileTimes, opened};
use super::identities::{AT_ONCE, BATCH, SOURCE};
use super::time_range::TimeRange;
use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::hash_utils::{QualityRandomState, create_hashes};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::ParquetFileReaderFactory;
use datafusion::error::Result;
use datafusion::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use datafusion::parquet::arrow::{ParquetRecordBatchStreamBuilder, ProjectionMask};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use parking_lot::Mutex;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::BuildHasher;
use std::sync::Arc;

/// Whose a score is.
const TENANT: &str = "tenant";

/// What tells one evaluation of a tenant's from another.
const SCORE_ID: &str = "score_id";

/// Most rows of files that one query may look at; with more there may be repeats.
const MOST_ROWS: u64 = 4_000_000;

/// Most rows of files of which hashes are kept, 32 MB; those that were not asked for the longest go first.
const MOST_KEPT: usize = 4_000_000;

/// Most rows in memory that are looked up; with more there may be repeats.
const MOST_HOT: usize = 20_000;

/// Most sets of files of which is kept whether an id is there twice.
const MOST_SETS: usize = 64;

/// Hashes are compared in parts, by their first bits: others get their turn between two.
const PARTS: u64 = 256;

/// How far the bits of a part are from the last one.
const PART_AT: u32 = 56;

/// Hashes of the ids of a file's rows of production, ascending.
type Ids = Arc<[u64]>;

/// What is known of the ids in a table's files.
pub struct Distinct {
    /// Of this process alone, so that nobody can choose ids that share a hash.
    seed: QualityRandomState,
    times: Arc<FileTimes>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    files: HashMap<Path, OfFile>,
    /// Of some files, by their numbers in order, whether no hash is there twice.
    sets: HashMap<Vec<u64>, bool>,
    /// The last number that was given; none is given again.
    last: u64,
}

struct OfFile {
    number: u64,
    /// Higher the later it was asked for.
    used: u64,
    ids: Ids,
}

impl Distinct {
    /// Nothing is known yet but what `times` has.
    pub fn new(times: Arc<FileTimes>) -> Self {
        let (seed, _) = uuid::Uuid::new_v4().as_u64_pair();
        Self { seed: QualityRandomState::with_seed(seed), times, kept: Mutex::default() }
    }

    /// Whether no two rows of production in `files`, each with how many rows it has, and in `hot` have the same id, of those
    /// whose spans may have begun in the time `began`. `false` where that is not known.
    ///
    /// # Errors
    /// Those of the object store and of damaged files.
    pub async fn are_distinct(
        &self,
        files: Vec<(PartitionedFile, u64)>,
        hot: &[RecordBatch],
        began: TimeRange,
        readers: &dyn ParquetFileReaderFactory,
    ) -> Result<bool> {
        if hot.iter().map(RecordBatch::num_rows).sum::<usize>() > MOST_HOT {
            return Ok(false);
        }
        let mut present = Vec::new();
        for batch in hot {
            self.take(batch, &mut present)?;
        }
        present.sort_unstable();
        if has_twice(&present) {
            return Ok(false);
        }
        let (mut within, mut rows) = (Vec::new(), 0_u64);
        for (file, count) in files {
            if self.times.may_touch(&file, began, readers).await? {
                rows = rows.saturating_add(count);
                within.push(file);
            }
        }
        if rows > MOST_ROWS {
            return Ok(false);
        }
        let found = futures::stream::iter(
            within.into_iter().map(|file| async move { self.of(&file, readers).await }),
        );
        let found: Vec<(u64, Ids)> = found.buffered(AT_ONCE).try_collect().await?;
        if !self.none_twice(&found).await {
            return Ok(false);
        }
        for (_, ids) in &found {
            if have_one_in_common(&present, ids) {
                return Ok(false);
            }
            tokio::task::yield_now().await;
        }
        Ok(true)
    }

    /// The number of a file, and the hashes of its ids.
    async fn of(&self, file: &PartitionedFile, readers: &dyn ParquetFileReaderFactory) -> Result<(u64, Ids)> {
        let path = &file.object_meta.location;
        let known = self.kept.lock().used(path);
        if let Some(known) = known {
            return Ok(known);
        }
        let ids = self.ids_of(file, readers).await?;
        Ok(self.kept.lock().keep(path, ids))
    }

    /// Reads the ids of a file's rows of production, and gives their hashes, ascending.
    async fn ids_of(
        &self,
        file: &PartitionedFile,
        readers: &dyn ParquetFileReaderFactory,
    ) -> Result<Vec<u64>> {
        let (reader, footer) = opened(file, readers).await?;
        let read = ArrowReaderMetadata::try_new(footer, ArrowReaderOptions::new())?;
        let builder = ParquetRecordBatchStreamBuilder::new_with_metadata(reader, read).with_batch_size(BATCH);
        let columns = ProjectionMask::columns(builder.parquet_schema(), [TENANT, SCORE_ID, SOURCE.0]);
        let mut batches = builder.with_projection(columns).build()?;
        let mut ids = Vec::new();
        while let Some(batch) = batches.try_next().await? {
            self.take(&batch, &mut ids)?;
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// Puts a hash of each row of production behind `ids`.
    ///
    /// # Errors
    /// When a column is missing.
    fn take(&self, batch: &RecordBatch, ids: &mut Vec<u64>) -> Result<()> {
        // Files and memory may have texts in different forms, whose hashes differ.
        let text = |name: &str| -> Result<ArrayRef> {
            Ok(cast(batch.column(batch.schema().index_of(name)?), &DataType::Utf8)?)
        };
        let hashed = |name: &str| -> Result<Vec<u64>> {
            let (column, mut hashes) = (text(name)?, vec![0; batch.num_rows()]);
            create_hashes([&column], &self.seed, &mut hashes)?;
            Ok(hashes)
        };
        let (tenants, names, source) = (hashed(TENANT)?, hashed(SCORE_ID)?, text(SOURCE.0)?);
        let rows = tenants.into_iter().zip(names).zip(source.as_string::<i32>());
        let of_production = rows.filter(|(_, source)| *source == Some(SOURCE.1));
        ids.extend(of_production.map(|(id, _)| self.seed.hash_one(id)));
        Ok(())
    }

    /// Whether no hash is there twice in all of `files`.
    async fn none_twice(&self, files: &[(u64, Ids)]) -> bool {
        let mut numbers: Vec<u64> = files.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        let known = self.kept.lock().sets.get(&numbers).copied();
        if let Some(known) = known {
            return known;
        }
        let none = are_apart(files).await;
        let mut kept = self.kept.lock();
        if kept.sets.len() >= MOST_SETS {
            kept.sets.clear();
        }
        kept.sets.insert(numbers, none);
        none
    }

    /// Forgets the files that are not in `present`, and the sets that one of them was in.
    pub fn forget_others(&self, present: &BTreeSet<&Path>) {
        let kept = &mut *self.kept.lock();
        kept.files.retain(|path, _| present.contains(path));
        // A file that is read again has another number, so nobody asks for these any more.
        let known: HashSet<u64> = kept.files.values().map(|file| file.number).collect();
        kept.sets.retain(|numbers, _| numbers.iter().all(|number| known.contains(number)));
    }
}

impl Kept {
    fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// What is known of a file, which is asked for now.
    fn used(&mut self, path: &Path) -> Option<(u64, Ids)> {
        let now = self.number();
        let known = self.files.get_mut(path)?;
        known.used = now;
        Some((known.number, known.ids.clone()))
    }

    fn keep(&mut self, path: &Path, ids: Vec<u64>) -> (u64, Ids) {
        // Another query may have read it meanwhile.
        if let Some(known) = self.used(path) {
            return known;
        }
        self.make_room(ids.len());
        let (number, ids) = (self.number(), Ids::from(ids));
        self.files.insert(path.clone(), OfFile { number, used: number, ids: ids.clone() });
        (number, ids)
    }

    fn make_room(&mut self, rows: usize) {
        let mut kept: usize = self.files.values().map(|file| file.ids.len()).sum();
        while kept + rows > MOST_KEPT {
            let oldest = self.files.iter().min_by_key(|(_, file)| file.used).map(|(path, _)| path.clone());
            let Some(gone) = oldest.and_then(|path| self.files.remove(&path)) else { return };
            kept -= gone.ids.len();
        }
    }
}

/// Whether one of the numbers, which are in order, is there twice.
fn has_twice(ids: &[u64]) -> bool {
    ids.windows(2).any(|two| two[0] == two[1])
}

/// Whether one of the numbers in `few` is in `many`; both are in order.
fn have_one_in_common(few: &[u64], many: &[u64]) -> bool {
    if is_merged(few.len(), many.len()) {
        return is_met(few, many);
    }
    few.iter().any(|id| many.binary_search(id).is_ok())
}

/// Whether it takes fewer steps to go through both than to search `many` for each of `few`: one for each number of both, and
/// one for each halving of `many`.
fn is_merged(few: usize, many: usize) -> bool {
    match (many.checked_div(few), many.checked_ilog2()) {
        (Some(for_each), Some(halvings)) => u32::try_from(for_each).is_ok_and(|each| each < halvings),
        _ => false,
    }
}

/// Goes through both once.
fn is_met(mut few: &[u64], mut many: &[u64]) -> bool {
    while let ([one, fewer @ ..], [other, less @ ..]) = (few, many) {
        match one.cmp(other) {
            Ordering::Less => few = fewer,
            Ordering::Greater => many = less,
            Ordering::Equal => return true,
        }
    }
    false
}

async fn are_apart(files: &[(u64, Ids)]) -> bool {
    let mut part = Vec::new();
    for at in 0..PARTS {
        part.clear();
        for (_, ids) in files {
            let first = ids.partition_point(|id| (id >> PART_AT) < at);
            let end = ids.partition_point(|id| (id >> PART_AT) <= at);
            part.extend_from_slice(&ids[first..end]);
        }
        part.sort_unstable();
        if has_twice(&part) {
            return false;
        }
        tokio::task::yield_now().await;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::identities::{Identities, Sought};
    use super::super::readers::Readers;
    use super::*;
    use arrow::array::{StringArray, TimestampMicrosecondArray};
    use datafusion::execution::cache::cache_manager::CacheManager;
    use datafusion::parquet::arrow::ArrowWriter;
    use object_store::memory::InMemory;
    use object_store::{ObjectStore, ObjectStoreExt};

    /// A row: tenant, id, source.
    type Row = (&'static str, &'static str, &'static str);

    /// Rows of spans that began at `began`, microseconds.
    fn batch(rows: &[Row], began: i64) -> RecordBatch {
        let texts = |of: fn(&Row) -> &'static str| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(rows.iter().map(of)))
        };
        let times = TimestampMicrosecondArray::from(vec![began; rows.len()]).with_timezone("UTC");
        let columns: [(&str, ArrayRef); 4] = [
            ("span_time", Arc::new(times)),
            (TENANT, texts(|row| row.0)),
            (SCORE_ID, texts(|row| row.1)),
            (SOURCE.0, texts(|row| row.2)),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    struct Lake {
        store: Arc<InMemory>,
        readers: Readers,
        known: Distinct,
    }

    impl Lake {
        fn new() -> Self {
            let store = Arc::new(InMemory::new());
            let footers = CacheManager::try_new(&Default::default()).unwrap().get_file_metadata_cache();
            let readers = Readers::new(store.clone() as Arc<dyn ObjectStore>, footers);
            Self { store, readers, known: Distinct::new(Arc::default()) }
        }

        async fn file(&self, name: &str, rows: &RecordBatch) -> (PartitionedFile, u64) {
            let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), None).unwrap();
            writer.write(rows).unwrap();
            let bytes = writer.into_inner().unwrap();
            let file = PartitionedFile::new(name, bytes.len() as u64);
            self.store.put(&Path::from(name), bytes.into()).await.unwrap();
            (file, rows.num_rows() as u64)
        }

        /// Whether rows of spans that began before this microsecond have an id each.
        async fn asked(
            &self,
            files: &[(PartitionedFile, u64)],
            hot: &[RecordBatch],
            to: i128,
        ) -> Result<bool> {
            let began = TimeRange { from: 0, to: to * 1_000 };
            self.known.are_distinct(files.to_vec(), hot, began, &self.readers).await
        }
    }

    #[tokio::test]
    async fn an_id_that_is_there_twice_is_found_wherever_it_is() {
        let lake = Lake::new();
        let one = lake.file("one", &batch(&[("a", "1", "rule"), ("b", "1", "rule")], 0)).await;
        let two = lake.file("two", &batch(&[("a", "2", "rule"), ("a", "1", "experiment")], 0)).await;
        let again = lake.file("again", &batch(&[("b", "1", "rule")], 0)).await;
        let inside = lake.file("inside", &batch(&[("a", "7", "rule"), ("a", "7", "rule")], 0)).await;
        let hot = |row: Row| [batch(&[row], 0)];
        assert!(lake.asked(&[], &[], 9).await.unwrap());
        let apart = [one.clone(), two.clone()];
        assert!(lake.asked(&apart, &[], 9).await.unwrap(), "another tenant's, and what is not of production");
        assert!(!lake.asked(&[one.clone(), two.clone(), again], &[], 9).await.unwrap(), "in another file");
        assert!(!lake.asked(&[one, inside], &[], 9).await.unwrap(), "in one file");
        assert!(lake.asked(&apart, &hot(("a", "3", "rule")), 9).await.unwrap());
        assert!(!lake.asked(&apart, &hot(("a", "2", "rule")), 9).await.unwrap(), "in a file and in memory");
        assert!(lake.asked(&apart, &hot(("a", "2", "annotation")), 9).await.unwrap());
        let twice = [batch(&[("a", "3", "rule")], 0), batch(&[("a", "3", "rule")], 0)];
        assert!(!lake.asked(&apart, &twice, 9).await.unwrap(), "in memory");
        // What is known is not read again.
        for (file, _) in &apart {
            lake.store.delete(&file.object_meta.location).await.unwrap();
        }
        assert!(lake.asked(&apart, &[], 9).await.unwrap());
        lake.known.forget_others(&BTreeSet::from([&Path::from("two")]));
        assert!(lake.asked(&apart, &[], 9).await.is_err());
    }

    #[tokio::test]
    async fn sets_that_a_forgotten_file_was_in_go_with_it() {
        let lake = Lake::new();
        let one = lake.file("one", &batch(&[("a", "1", "rule")], 0)).await;
        let two = lake.file("two", &batch(&[("a", "2", "rule")], 0)).await;
        for files in [vec![one.clone()], vec![two.clone()], vec![one, two]] {
            assert!(lake.asked(&files, &[], 9).await.unwrap());
        }
        let sets = || lake.known.kept.lock().sets.len();
        assert_eq!(sets(), 3);
        let (one, two) = (Path::from("one"), Path::from("two"));
        lake.known.forget_others(&BTreeSet::from([&one, &two]));
        assert_eq!(sets(), 3);
        lake.known.forget_others(&BTreeSet::from([&two]));
        assert_eq!((sets(), lake.known.kept.lock().files.len()), (1, 1));
    }

    #[tokio::test]
    async fn when_spans_began_is_asked_of_a_footer_once_for_all() {
        let lake = Lake::new();
        let times = Arc::new(FileTimes::default());
        let (file, rows) = lake.file("late", &batch(&[("a", "1", "rule")], 900)).await;
        let began = TimeRange { from: 0, to: 100_000 };
        let identities = Identities::new(times.clone());
        let sought = Sought { began, tenant: None };
        let files = || vec![(file.clone(), rows)];
        assert!(identities.are_single(files(), &[], sought, &lake.readers).await.unwrap());
        // What was opened once more would not be found.
        let elsewhere = Lake::new().readers;
        let known = Distinct::new(times);
        assert!(known.are_distinct(files(), &[], began, &elsewhere).await.unwrap());
        let apart = Distinct::new(Arc::default());
        assert!(apart.are_distinct(files(), &[], began, &elsewhere).await.is_err());
    }

    #[test]
    fn going_through_both_finds_what_a_search_finds() {
        let every = |step: u64, from: u64| (0..400).map(|n| from + n * step).collect::<Vec<u64>>();
        let (threes, beside, behind) = (every(3, 0), every(3, 1), every(7, 1_300));
        let all: [&[u64]; 8] = [&[], &[0], &[1], &[1, 4, 1_197], &[1, 4, 1_198], &[5_000], &beside, &behind];
        for few in all {
            let searched = few.iter().any(|id| threes.binary_search(id).is_ok());
            assert_eq!(is_met(few, &threes), searched, "{few:?}");
            assert_eq!(have_one_in_common(few, &threes), searched, "{few:?}");
        }
        // 20,000 rows in memory: 16 steps of a search for each against one for each row of the file.
        assert!(is_merged(20_000, 100_000) && !is_merged(20_000, 4_000_000));
        assert!(!is_merged(1, 100_000) && !is_merged(0, 100_000) && !is_merged(20_000, 0));
    }

    #[tokio::test]
    async fn files_of_other_times_are_left_out_until_they_are_asked_for() {
        let lake = Lake::new();
        let early = lake.file("early", &batch(&[("a", "1", "rule")], 10)).await;
        let late = lake.file("late", &batch(&[("a", "1", "rule")], 900)).await;
        let both = [early, late];
        assert!(lake.asked(&both, &[], 100).await.unwrap());
        assert!(!lake.asked(&both, &[], 1_000).await.unwrap());
        assert!(lake.asked(&both, &[], 100).await.unwrap());
        let large = [(both[0].0.clone(), MOST_ROWS + 1)];
        assert!(!lake.asked(&large, &[], 100).await.unwrap(), "more than one query may look at");
    }

    #[test]
    fn what_is_kept_is_bounded_and_what_was_asked_for_stays() {
        let mut kept = Kept::default();
        let third = |first: u64| (first..).take(MOST_KEPT / 3).collect::<Vec<u64>>();
        for name in ["one", "two", "three"] {
            kept.keep(&Path::from(name), third(0));
        }
        let (number, _) = kept.used(&Path::from("one")).unwrap();
        kept.keep(&Path::from("four"), third(0));
        assert_eq!(kept.used(&Path::from("one")).map(|known| known.0), Some(number));
        assert!(kept.used(&Path::from("two")).is_none(), "asked for the longest ago");
        assert!(kept.used(&Path::from("three")).is_some() && kept.used(&Path::from("four")).is_some());
    }

    #[tokio::test]
    async fn hashes_of_every_part_are_compared() {
        let ids = |all: &[u64]| -> (u64, Ids) { (0, Ids::from(all.to_vec())) };
        let ends = [0, 1, (1 << PART_AT) - 1, 1 << PART_AT, u64::MAX - 1, u64::MAX];
        assert!(are_apart(&[ids(&ends), ids(&[2, u64::MAX - 2])]).await);
        for id in ends {
            assert!(!are_apart(&[ids(&ends), ids(&[id])]).await, "{id}");
        }
        assert!(!are_apart(&[ids(&[5, 5])]).await);
    }
}
