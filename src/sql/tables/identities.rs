//! Whether scores of production that are about the same thing have the same id, so that none is a version of another.
//!
//! To choose among versions, long ids of every row are read and hashed; and in most lakes there is nothing to choose from.
//!
//! # What ids are made of
//!
//! A `score_id` is made of an item, the evaluator, the metric and the score version (`score/rows.rs`); an item of its trace, or
//! trace and span, of the rule and its version, and of the lane that it waits in (`sample/decide.rs`). So of two rows of a tenant
//! that agree in what a score is about and who gave it, the ids differ only where one of these differs:
//!
//! * the score version: one was judged again;
//! * the version of the rule: two servers of different configurations judged a trace;
//! * the lane: an evaluator is in one by what it is, so in two of them are two evaluators of one name, whose versions differ.
//!
//! Where all rows have score version 1 and each evaluator of a rule comes with one version of both, nothing is chosen among
//! versions, and the choice among rows of one id is enough; `distinct` tells where there is nothing to choose among those.
//!
//! # How it is known
//!
//! Of each file the kinds of its rows are kept, which are few: tenant, rule, evaluator, and their versions. They are read once,
//! of the files alone whose spans began in the time that is asked for, and of no more than four million rows for one query;
//! until all are known, there may be versions. What is not in files yet is looked through each time.

use super::file_times::{FileTimes, opened};
use super::time_range::TimeRange;
use arrow::array::{Array, AsArray, DictionaryArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int32Type, Int64Type, Schema};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::ParquetFileReaderFactory;
use datafusion::error::Result;
use datafusion::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use datafusion::parquet::arrow::{ParquetRecordBatchStreamBuilder, ProjectionMask};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a kind of rows has in common: whose they are and who gave them, and the versions of those.
const TEXTS: [&str; 5] = ["tenant", "rule", "evaluator", "rule_version", "evaluator_version"];

/// How many of [`TEXTS`] say whose rows are and who gave them.
const GIVEN_BY: usize = 3;

/// Where a score comes from, and what it says of scores of production.
pub(super) const SOURCE: (&str, &str) = ("source", "rule");

/// Counts the evaluations of an item from 1.
const SCORE_VERSION: &str = "score_version";

/// Most rows whose kinds one query reads from files.
const MOST_NEW: u64 = 4_000_000;

/// Most rows that are looked through in memory.
const MOST_HOT: usize = 100_000;

/// Most kinds of one file's rows that are kept; with more there may be versions.
const MOST_KINDS: usize = 1_024;

/// Most kinds of all files' rows that are kept, some 30 MB; of files beyond these there may be versions.
const MOST_KEPT: usize = 100_000;

/// Files that are looked into at once.
pub(super) const AT_ONCE: usize = 8;

/// Rows that are read at once.
pub(super) const BATCH: usize = 8_192;

/// What some rows of production have in common: [`TEXTS`], and whether all of these are there and the score version is 1.
type Kind = (Vec<Option<String>>, bool);

/// The kinds of some rows of production.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Kinds(BTreeSet<Kind>);

/// What is known of a table's files.
pub struct Identities {
    times: Arc<FileTimes>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// None of a file with more than are kept.
    kinds: HashMap<Path, Option<Arc<Kinds>>>,
    /// Each once: most files have the same.
    shared: BTreeSet<Arc<Kinds>>,
}

/// Which rows are asked about.
#[derive(Debug, Clone, Copy)]
pub struct Sought<'a> {
    /// When their spans began.
    pub began: TimeRange,
    /// Whose they are; everybody's without one.
    pub tenant: Option<&'a str>,
}

impl Identities {
    /// Nothing is known yet but what `times` has.
    pub fn new(times: Arc<FileTimes>) -> Self {
        Self { times, kept: Mutex::default() }
    }

    /// Whether the rows of `files`, each with how many it has, and of `hot` have the same id where they are about the same thing.
    /// `false` where that is not known.
    ///
    /// # Errors
    /// Those of the object store and of damaged files.
    pub async fn are_single(
        &self,
        files: Vec<(PartitionedFile, u64)>,
        hot: &[RecordBatch],
        sought: Sought<'_>,
        readers: &dyn ParquetFileReaderFactory,
    ) -> Result<bool> {
        if hot.iter().map(RecordBatch::num_rows).sum::<usize>() > MOST_HOT {
            return Ok(false);
        }
        let mut present = Kinds::default();
        for batch in hot {
            if !present.take(batch)? {
                return Ok(false);
            }
        }
        if !are_single(present.0.iter(), sought.tenant) {
            return Ok(false);
        }
        let budget = &AtomicU64::new(MOST_NEW);
        let found =
            futures::stream::iter(files.into_iter().map(|(file, rows)| async move {
                self.of(&file, (rows, budget), sought.began, readers).await
            }));
        let found: Vec<Option<Arc<Kinds>>> = found.buffered(AT_ONCE).try_collect().await?;
        let Some(mut found) = found.into_iter().collect::<Option<Vec<_>>>() else { return Ok(false) };
        found.sort_unstable_by_key(Arc::as_ptr);
        found.dedup_by(|one, other| Arc::ptr_eq(one, other));
        let all = found.iter().flat_map(|kinds| &kinds.0).chain(&present.0);
        Ok(are_single(all, sought.tenant))
    }

    /// The kinds of a file's rows if it has `rows` and they may be of the time `began`; none where they are not known.
    async fn of(
        &self,
        file: &PartitionedFile,
        (rows, budget): (u64, &AtomicU64),
        began: TimeRange,
        readers: &dyn ParquetFileReaderFactory,
    ) -> Result<Option<Arc<Kinds>>> {
        let path = &file.object_meta.location;
        if !self.times.may_touch(file, began, readers).await? {
            return Ok(Some(Arc::default()));
        }
        let known = self.kept.lock().kinds.get(path).cloned();
        if let Some(kinds) = known {
            return Ok(kinds);
        }
        let less = |left: u64| left.checked_sub(rows);
        if budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err() {
            return Ok(None);
        }
        let kinds = kinds_of(file, readers).await?;
        Ok(self.kept.lock().keep(path, kinds))
    }

    /// Forgets the files that are not in `present`.
    pub fn forget_others(&self, present: &BTreeSet<&Path>) {
        let kept = &mut *self.kept.lock();
        kept.kinds.retain(|path, _| present.contains(path));
        kept.shared.retain(|kinds| Arc::strong_count(kinds) > 1);
    }
}

impl Kept {
    fn keep(&mut self, path: &Path, kinds: Option<Kinds>) -> Option<Arc<Kinds>> {
        let kept: usize = self.shared.iter().map(|kinds| kinds.0.len()).sum();
        let kinds = kinds.and_then(|kinds| match self.shared.get(&kinds) {
            Some(known) => Some(known.clone()),
            None => (kept + kinds.0.len() <= MOST_KEPT).then(|| Arc::new(kinds)),
        });
        self.shared.extend(kinds.clone());
        self.kinds.insert(path.clone(), kinds.clone());
        kinds
    }
}

/// Whether rows of these `kinds` that are about the same thing have the same id, those of `tenant` or all.
fn are_single<'a>(kinds: impl Iterator<Item = &'a Kind>, tenant: Option<&str>) -> bool {
    let mut versions = BTreeMap::new();
    for (texts, is_first) in kinds {
        if tenant.is_some_and(|tenant| texts[0].as_deref() != Some(tenant)) {
            continue;
        }
        let (given_by, version) = texts.split_at(GIVEN_BY);
        if !*is_first || *versions.entry(given_by).or_insert(version) != version {
            return false;
        }
    }
    true
}

/// A column of texts, each of which has a number.
struct Coded(DictionaryArray<Int32Type>);

impl Coded {
    fn of(batch: &RecordBatch, name: &str) -> Result<Self> {
        let column = cast(batch.column(batch.schema().index_of(name)?), &coded())?;
        Ok(Self(column.as_dictionary::<Int32Type>().clone()))
    }

    /// How many numbers there are; the last one stands for NULL.
    fn count(&self) -> usize {
        self.0.values().len() + 1
    }

    fn number(&self, row: usize) -> usize {
        self.0.key(row).unwrap_or(self.0.values().len())
    }

    fn text(&self, row: usize) -> Option<&str> {
        let (texts, at) = (self.0.values().as_string_opt::<i32>()?, self.0.key(row)?);
        texts.is_valid(at).then(|| texts.value(at))
    }
}

/// Texts as numbers, which is how files have them where there are few.
fn coded() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

impl Kinds {
    /// Takes the rows of production in `batch`; `false` where they are of too many kinds to be told apart.
    ///
    /// # Errors
    /// When a column is missing.
    fn take(&mut self, batch: &RecordBatch) -> Result<bool> {
        let texts = TEXTS.iter().map(|name| Coded::of(batch, name)).collect::<Result<Vec<_>>>()?;
        let source = Coded::of(batch, SOURCE.0)?;
        let versions = cast(batch.column(batch.schema().index_of(SCORE_VERSION)?), &DataType::Int64)?;
        let versions = versions.as_primitive::<Int64Type>();
        // Every combination has a number, so that texts are looked at once for each that comes.
        let numbers = texts.iter().try_fold(2 * source.count(), |all, text| all.checked_mul(text.count()));
        if numbers.is_none() {
            return Ok(false);
        }
        let mut seen = HashSet::new();
        for row in 0..batch.num_rows() {
            let is_first = versions.is_valid(row) && versions.value(row) == 1;
            let start = 2 * source.number(row) + usize::from(is_first);
            let number = texts.iter().fold(start, |number, text| number * text.count() + text.number(row));
            if seen.insert(number) && source.text(row) == Some(SOURCE.1) {
                let told: Vec<_> = texts.iter().map(|text| text.text(row).map(str::to_owned)).collect();
                let is_known = told.iter().all(Option::is_some);
                self.0.insert((told, is_first && is_known));
            }
        }
        Ok(self.0.len() <= MOST_KINDS)
    }
}

/// Reads the kinds of a file's rows; none of more than are kept.
async fn kinds_of(file: &PartitionedFile, readers: &dyn ParquetFileReaderFactory) -> Result<Option<Kinds>> {
    let (reader, footer) = opened(file, readers).await?;
    let as_stored = ArrowReaderMetadata::try_new(footer.clone(), ArrowReaderOptions::new())?;
    let few = |field: &Field| TEXTS.contains(&field.name().as_str()) || field.name() == SOURCE.0;
    let fields = as_stored.schema().fields().iter().map(|field| {
        let kind = if few(field) { coded() } else { field.data_type().clone() };
        field.as_ref().clone().with_data_type(kind)
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let read = ArrowReaderMetadata::try_new(footer, ArrowReaderOptions::new().with_schema(schema))?;
    let builder = ParquetRecordBatchStreamBuilder::new_with_metadata(reader, read).with_batch_size(BATCH);
    let columns = TEXTS.into_iter().chain([SOURCE.0, SCORE_VERSION]);
    let columns = ProjectionMask::columns(builder.parquet_schema(), columns);
    let mut batches = builder.with_projection(columns).build()?;
    let mut kinds = Kinds::default();
    while let Some(batch) = batches.try_next().await? {
        if !kinds.take(&batch)? {
            return Ok(None);
        }
    }
    Ok(Some(kinds))
}

#[cfg(test)]
mod tests {
    use super::super::readers::Readers;
    use super::*;
    use arrow::array::{ArrayRef, Int64Array, StringArray, TimestampMicrosecondArray};
    use datafusion::execution::cache::cache_manager::CacheManager;
    use datafusion::parquet::arrow::ArrowWriter;
    use object_store::memory::InMemory;
    use object_store::{ObjectStore, ObjectStoreExt};

    /// A row: tenant, rule, its version, the evaluator's version, score version, source.
    type Row = (&'static str, Option<&'static str>, Option<&'static str>, &'static str, i64, &'static str);

    const FIRST: Row = ("a", Some("r"), Some("1"), "1", 1, "rule");

    /// Rows of spans that began at `began`, microseconds.
    fn batch(rows: &[Row], began: i64) -> RecordBatch {
        let texts = |of: fn(&Row) -> Option<&'static str>| -> ArrayRef {
            Arc::new(rows.iter().map(of).collect::<StringArray>())
        };
        let versions = Int64Array::from_iter_values(rows.iter().map(|row| row.4));
        let times = TimestampMicrosecondArray::from(vec![began; rows.len()]).with_timezone("UTC");
        let columns: [(&str, ArrayRef, bool); 8] = [
            ("span_time", Arc::new(times), false),
            ("tenant", texts(|row| Some(row.0)), false),
            ("rule", texts(|row| row.1), true),
            ("rule_version", texts(|row| row.2), true),
            ("evaluator", texts(|_| Some("e")), false),
            ("evaluator_version", texts(|row| Some(row.3)), false),
            ("score_version", Arc::new(versions), false),
            ("source", texts(|row| Some(row.5)), false),
        ];
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    }

    fn alone(rows: &[Row], tenant: Option<&str>) -> bool {
        let mut kinds = Kinds::default();
        assert!(kinds.take(&batch(rows, 0)).unwrap());
        are_single(kinds.0.iter(), tenant)
    }

    #[test]
    fn a_second_version_of_anything_that_an_id_is_made_of_is_seen() {
        assert!(alone(&[], None));
        assert!(alone(&[FIRST, FIRST, ("a", Some("q"), Some("2"), "1", 1, "rule")], None));
        assert!(alone(&[FIRST, ("b", Some("r"), Some("2"), "2", 1, "rule")], None), "another tenant's rule");
        for (other, why) in [
            (("a", Some("r"), Some("1"), "1", 2, "rule"), "judged again"),
            (("a", Some("r"), Some("2"), "1", 1, "rule"), "the rule was changed"),
            (("a", Some("r"), Some("1"), "2", 1, "rule"), "the evaluator was changed"),
            (("a", None, Some("1"), "1", 1, "rule"), "of no rule"),
            (("a", Some("r"), None, "1", 1, "rule"), "of nobody knows which version"),
        ] {
            assert!(!alone(&[FIRST, other], None), "{why}");
            assert!(!alone(&[other, FIRST], Some("a")), "{why}");
            let elsewhere = (other.0, other.1, other.2, other.3, other.4, "experiment");
            assert!(alone(&[FIRST, elsewhere], None), "not of production: {why}");
            let theirs = ("b", other.1, other.2, other.3, other.4, "rule");
            assert!(alone(&[FIRST, theirs], Some("a")), "another tenant's: {why}");
        }
    }

    #[test]
    fn more_kinds_than_are_kept_are_told() {
        let names: Vec<String> = (0..=MOST_KINDS).map(|n| n.to_string()).collect();
        let mut kinds = Kinds::default();
        let rows = batch(&vec![FIRST; names.len()], 0);
        let mut columns = rows.columns().to_vec();
        columns[2] = Arc::new(StringArray::from(names));
        let rows = RecordBatch::try_new(rows.schema(), columns).unwrap();
        assert!(kinds.take(&rows.slice(0, MOST_KINDS)).unwrap());
        assert!(!kinds.take(&rows).unwrap());
    }

    #[test]
    fn what_is_kept_of_many_files_is_bounded() {
        let mut kept = Kept::default();
        let kinds =
            |file: usize| (0..MOST_KINDS).map(|n| (vec![Some(format!("{file}/{n}"))], true)).collect();
        let mut keep = |name: usize, file| kept.keep(&Path::from(name.to_string()), Some(Kinds(kinds(file))));
        let most = MOST_KEPT / MOST_KINDS;
        assert!((0..most).all(|file| keep(file, file).is_some()));
        assert!(keep(most, most).is_none());
        assert!(keep(most + 1, 0).is_some(), "files of the same kinds share them");
    }

    struct Lake {
        store: Arc<InMemory>,
        readers: Readers,
        known: Identities,
    }

    impl Lake {
        fn new() -> Self {
            let store = Arc::new(InMemory::new());
            let footers = CacheManager::try_new(&Default::default()).unwrap().get_file_metadata_cache();
            let readers = Readers::new(store.clone() as Arc<dyn ObjectStore>, footers);
            Self { store, readers, known: Identities::new(Arc::default()) }
        }

        async fn file(&self, name: &str, rows: &RecordBatch) -> (PartitionedFile, u64) {
            let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), None).unwrap();
            writer.write(rows).unwrap();
            let bytes = writer.into_inner().unwrap();
            let file = PartitionedFile::new(name, bytes.len() as u64);
            self.store.put(&Path::from(name), bytes.into()).await.unwrap();
            (file, rows.num_rows() as u64)
        }

        /// Whether rows of spans that began at these microseconds have one id.
        async fn asked(
            &self,
            files: &[(PartitionedFile, u64)],
            hot: &[RecordBatch],
            micros: std::ops::RangeInclusive<i128>,
        ) -> Result<bool> {
            let began = TimeRange { from: micros.start() * 1_000, to: micros.end() * 1_000 };
            let sought = Sought { began, tenant: None };
            self.known.are_single(files.to_vec(), hot, sought, &self.readers).await
        }
    }

    #[tokio::test]
    async fn of_files_of_other_times_nothing_is_asked_and_of_others_once() {
        let lake = Lake::new();
        let again = ("a", Some("r"), Some("1"), "1", 2, "rule");
        let mut files = vec![lake.file("late", &batch(&[FIRST, again], 900)).await];
        for at in 0..20 {
            files.push(lake.file(&format!("{at}"), &batch(&[FIRST, FIRST], at)).await);
        }
        assert!(lake.asked(&files, &[], 0..=100).await.unwrap());
        assert!(!lake.asked(&files, &[], 0..=1_000).await.unwrap(), "one file of many has a version 2");
        assert_eq!(lake.known.kept.lock().shared.len(), 2, "files of the same kinds share them");
        assert!(!lake.asked(&files, &[batch(&[again], 0)], 0..=100).await.unwrap(), "in memory");
        assert!(lake.asked(&files, &[batch(&[FIRST], 0)], 0..=100).await.unwrap());
        // What is known is not read again.
        for (file, _) in &files {
            lake.store.delete(&file.object_meta.location).await.unwrap();
        }
        assert!(lake.asked(&files, &[], 0..=100).await.unwrap());
        let gone = [(PartitionedFile::new("gone", 10), 1)];
        assert!(lake.asked(&gone, &[], 0..=100).await.is_err());
        lake.known.forget_others(&BTreeSet::from([&Path::from("3")]));
        let kept = lake.known.kept.lock();
        assert_eq!((kept.kinds.len(), kept.shared.len()), (1, 1));
    }

    #[tokio::test]
    async fn one_query_reads_no_more_than_it_may() {
        let lake = Lake::new();
        let (small, rows) = lake.file("small", &batch(&[FIRST], 0)).await;
        let (large, _) = lake.file("large", &batch(&[FIRST], 0)).await;
        let of = |most| [(small.clone(), rows), (large.clone(), most)];
        assert!(!lake.asked(&of(MOST_NEW + 1), &[], 0..=100).await.unwrap());
        assert!(!lake.known.kept.lock().kinds.contains_key(&large.object_meta.location));
        assert!(lake.asked(&of(MOST_NEW), &[], 0..=100).await.unwrap(), "the small one is known by now");
    }
}
