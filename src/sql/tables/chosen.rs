//! Which rows are the newest of what they are known by.
//!
//! Hashes of 96 bits with seeds of the query's own stand for the texts: two of ten million rows share one with a probability
//! below 1e-15, and nobody can choose texts that do. Of columns with few different texts 64 bits are taken, which two of ten
//! thousand texts share with a probability below 1e-11. Each partition takes its own rows; what is known of them is put
//! together and looked through by several tasks.

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::hash_utils::{QualityRandomState, create_hashes};
use datafusion::common::runtime::SpawnedTask;
use datafusion::error::{DataFusionError, Result};
use std::cmp::Ordering;
use std::hash::BuildHasher;
use std::sync::Arc;

/// Which rows of a table are the newest.
#[derive(Debug)]
pub struct Newest {
    /// Each is among the rows that the one before it left; with none all rows are the newest.
    pub choices: &'static [Choice],
    /// Columns that are in the key of every choice: a filter on them takes all rows that are compared with each other, or none.
    pub together: &'static [&'static str],
}

/// Of the rows that have `key` in common, the one that ranks highest. NULL is in common with NULL alone.
#[derive(Debug)]
pub struct Choice {
    /// What a row is known by, at most eight columns.
    pub key: &'static [&'static str],
    /// What decides, the first that differs; where nothing does, the row that was read first stays.
    pub by: &'static [Rank],
}

/// How a column decides. It has no NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    /// The highest number or latest time.
    High(&'static str),
    /// The lowest number or earliest time.
    Low(&'static str),
    /// Whichever has the higher hash, which is the same in every run.
    Hash(&'static str),
}

impl Newest {
    /// The columns that the choice needs; some more than once.
    pub fn needed(&'static self) -> impl Iterator<Item = &'static str> {
        let of = |choice: &'static Choice| {
            choice.key.iter().copied().chain(choice.by.iter().map(|rank| rank.column()))
        };
        self.choices.iter().flat_map(of)
    }
}

impl Rank {
    fn column(self) -> &'static str {
        match self {
            Self::High(name) | Self::Low(name) | Self::Hash(name) => name,
        }
    }

    /// Puts a number for each row of `batch` behind `values`; the highest wins.
    fn put(self, batch: &RecordBatch, values: &mut Vec<i64>) -> Result<()> {
        match self {
            Self::High(name) => values.extend_from_slice(numbers(batch, name)?.values()),
            // Turned round, every number keeps a place of its own.
            Self::Low(name) => values.extend(numbers(batch, name)?.values().iter().map(|number| !number)),
            Self::Hash(name) => {
                let mut hashes = vec![0; batch.num_rows()];
                create_hashes([column(batch, name)?], &QualityRandomState::with_seed(0), &mut hashes)?;
                // Turning the highest bit leaves them in their order.
                values.extend(hashes.into_iter().map(|hash: u64| (hash ^ (1 << 63)).cast_signed()));
            }
        }
        Ok(())
    }
}

/// Why a task has no end of its own: the query was given up.
pub(super) fn ended(error: tokio::task::JoinError) -> DataFusionError {
    DataFusionError::ExecutionJoin(Box::new(error))
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    let missing =
        || DataFusionError::Internal(format!("the newest rows are chosen by {name}, which is missing"));
    batch.column_by_name(name).ok_or_else(missing)
}

fn numbers(batch: &RecordBatch, name: &str) -> Result<Int64Array> {
    let numbers = cast(column(batch, name)?, &DataType::Int64)?;
    Ok(numbers.as_primitive::<Int64Type>().clone())
}

/// A row by what it is known by: rows that share all but the last part are compared. In the order of their rows.
type Known = (u64, u32, u32);

/// Rows are parted by their hashes: each part is looked through by itself, and others get their turn between two.
const PARTS: usize = 64;

/// Columns that have few different texts in a lake.
const FEW: &[&str] = &["tenant", "rule", "evaluator", "metric"];

/// The seeds of a query's hashes.
#[derive(Clone)]
pub(super) struct Seeds([QualityRandomState; 2]);

impl Seeds {
    pub(super) fn new() -> Self {
        let (one, other) = uuid::Uuid::new_v4().as_u64_pair();
        Self([one, other].map(QualityRandomState::with_seed))
    }
}

/// The hashes of a column's rows.
struct Hashes {
    high: Vec<u64>,
    /// None of a column of few texts.
    low: Option<Vec<u64>>,
}

impl Hashes {
    fn of(name: &str, batch: &RecordBatch, Seeds([high, low]): &Seeds) -> Result<Self> {
        let hashed = |seed| {
            let mut hashes = vec![0; batch.num_rows()];
            create_hashes([column(batch, name)?], seed, &mut hashes)?;
            Ok::<_, DataFusionError>(hashes)
        };
        let low = if FEW.contains(&name) { None } else { Some(hashed(low)?) };
        Ok(Self { high: hashed(high)?, low })
    }
}

/// Rows by one of the things that they are known by.
struct By {
    /// Which of the columns that are hashed are the key.
    key: Vec<usize>,
    parts: Vec<Vec<Known>>,
}

impl By {
    /// Takes `count` rows whose columns have these `hashes`, the first of which is the row `first`.
    fn take(&mut self, hashes: &[Hashes], count: usize, first: u32, Seeds(seeds): &Seeds) {
        let (mut high, mut low) = (vec![0; count], vec![0; count]);
        for hashes in self.key.iter().map(|at| &hashes[*at]) {
            fold(&hashes.high, &seeds[0], &mut high);
            if let Some(own) = &hashes.low {
                fold(own, &seeds[1], &mut low);
            }
        }
        for ((high, low), row) in high.into_iter().zip(low).zip(first..) {
            // All of one hash and the upper half of the other: 96 bits.
            self.parts[high as usize % PARTS].push((high, (low >> 32) as u32, row));
        }
    }

    /// Takes what another partition took, whose first row is the row `first` now.
    fn join(&mut self, other: Self, first: u32) {
        for (into, from) in self.parts.iter_mut().zip(other.parts) {
            into.reserve_exact(from.len());
            into.extend(from.into_iter().map(|(high, low, row)| (high, low, first + row)));
        }
    }

    fn size(&self) -> usize {
        self.parts.iter().map(|part| part.capacity() * size_of::<Known>()).sum()
    }
}

/// Folds the next of the columns that rows are known by into their hashes. Of several columns `create_hashes` adds the hashes
/// of texts up and passes over NULLs, so that a text could stand in another's place.
fn fold(own: &[u64], seed: &QualityRandomState, hashes: &mut [u64]) {
    hashes.iter_mut().zip(own).for_each(|(hash, own)| *hash = seed.hash_one((*hash, *own)));
}

/// A place of a table that holds no row.
const NOTHING: u32 = u32::MAX;

/// Where the row that is known by `high` and `low` stands in a table of rows of `part`, or would stand. The table has a place
/// that holds nothing, and as many as a power of two.
fn place<'a>(table: &'a mut [u32], part: &[Known], (high, low): (u64, u32)) -> &'a mut u32 {
    let last = table.len() - 1;
    let mut at = (high as usize / PARTS) & last;
    while part.get(table[at] as usize).is_some_and(|known| (known.0, known.1) != (high, low)) {
        at = (at + 1) & last;
    }
    &mut table[at]
}

/// Of the rows of `parts` that are known by the same, of those that are in `kept`, the one that ranks highest stays. Gives the
/// others.
async fn left_out(
    parts: Vec<Vec<Known>>,
    kept: Arc<Vec<bool>>,
    ranks: Arc<Vec<(Rank, Vec<i64>)>>,
    by: &'static [Rank],
) -> Vec<u32> {
    let of = |rank: &Rank| ranks.iter().find(|(known, _)| known == rank);
    let by: Vec<&[i64]> = by.iter().filter_map(of).map(|(_, values)| values.as_slice()).collect();
    let order = |one: u32, other: u32| {
        let mut orders = by.iter().map(|values| values[one as usize].cmp(&values[other as usize]));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    let mut left = Vec::new();
    for part in parts {
        let mut table = vec![NOTHING; (part.len() * 2).next_power_of_two()];
        for (at, (high, low, row)) in (0..).zip(&part).filter(|(_, (.., row))| kept[*row as usize]) {
            let best = place(&mut table, &part, (*high, *low));
            match part.get(*best as usize) {
                Some((.., known)) if order(*known, *row).is_lt() => left.push(*known),
                Some(_) => {
                    left.push(*row);
                    continue;
                }
                None => {}
            }
            *best = at;
        }
        tokio::task::yield_now().await;
    }
    left
}

/// What the choices need of all rows.
pub(super) struct Rows {
    how: &'static Newest,
    seeds: Seeds,
    /// Each column of a key, once.
    columns: Vec<&'static str>,
    /// One for each choice.
    known: Vec<By>,
    /// Each column that decides, once.
    ranks: Vec<(Rank, Vec<i64>)>,
    count: usize,
}

fn too_many<E>(_: E) -> DataFusionError {
    DataFusionError::ResourcesExhausted("a view of newest rows reads too many".to_owned())
}

impl Rows {
    /// None yet. Rows of one query have the same `seeds`.
    pub(super) fn new(how: &'static Newest, seeds: &Seeds) -> Self {
        let mut columns: Vec<&'static str> = Vec::new();
        let mut place = |name: &'static str| {
            columns.iter().position(|known| *known == name).unwrap_or_else(|| {
                columns.push(name);
                columns.len() - 1
            })
        };
        let mut known = Vec::new();
        for choice in how.choices {
            let key = choice.key.iter().map(|name| place(name)).collect();
            known.push(By { key, parts: vec![Vec::new(); PARTS] });
        }
        let mut ranks: Vec<(Rank, Vec<i64>)> = Vec::new();
        for rank in how.choices.iter().flat_map(|choice| choice.by) {
            if ranks.iter().all(|(known, _)| known != rank) {
                ranks.push((*rank, Vec::new()));
            }
        }
        Self { how, seeds: seeds.clone(), columns, known, ranks, count: 0 }
    }

    /// Takes the next rows.
    ///
    /// # Errors
    /// When there are more than a `u32` counts, or a column is missing.
    pub(super) fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        let count = self.count + batch.num_rows();
        // The last row has a number, too.
        u32::try_from(count).map_err(too_many)?;
        let first = u32::try_from(self.count).map_err(too_many)?;
        let hashes = self.columns.iter().map(|name| Hashes::of(name, batch, &self.seeds));
        let hashes = hashes.collect::<Result<Vec<_>>>()?;
        for known in &mut self.known {
            known.take(&hashes, batch.num_rows(), first, &self.seeds);
        }
        for (rank, values) in &mut self.ranks {
            rank.put(batch, values)?;
        }
        self.count = count;
        Ok(())
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Bytes that they take.
    pub(super) fn size(&self) -> usize {
        let ranks: usize = self.ranks.iter().map(|(_, values)| values.capacity() * size_of::<i64>()).sum();
        ranks + self.known.iter().map(By::size).sum::<usize>()
    }

    /// The rows of `all` partitions, one behind the other.
    ///
    /// # Errors
    /// As of [`Rows::take`].
    pub(super) fn joined(all: Vec<Self>) -> Result<Option<Self>> {
        let mut all = all.into_iter();
        let Some(mut joined) = all.next() else { return Ok(None) };
        for other in all {
            let first = u32::try_from(joined.count).map_err(too_many)?;
            joined.count += other.count;
            u32::try_from(joined.count).map_err(too_many)?;
            for (into, from) in joined.known.iter_mut().zip(other.known) {
                into.join(from, first);
            }
            for ((_, into), (_, from)) in joined.ranks.iter_mut().zip(other.ranks) {
                into.reserve_exact(from.len());
                into.extend(from);
            }
        }
        Ok(Some(joined))
    }

    /// Which rows stay; so many `tasks` look for it.
    ///
    /// # Errors
    /// When the query is given up.
    pub(super) async fn chosen(self, tasks: usize) -> Result<Vec<bool>> {
        let Self { how, known, ranks, count, .. } = self;
        let (ranks, mut kept) = (Arc::new(ranks), Arc::new(vec![true; count]));
        for (choice, known) in how.choices.iter().zip(known) {
            let mut shares: Vec<Vec<Vec<Known>>> = (0..tasks.max(1)).map(|_| Vec::new()).collect();
            for (at, part) in known.parts.into_iter().enumerate() {
                shares[at % tasks.max(1)].push(part);
            }
            let look = |parts| SpawnedTask::spawn(left_out(parts, kept.clone(), ranks.clone(), choice.by));
            let looking: Vec<_> = shares.into_iter().map(look).collect();
            let looking =
                looking.into_iter().map(|task| async move { task.join_unwind().await.map_err(ended) });
            let left = futures::future::try_join_all(looking).await?;
            // Nobody else holds it any more.
            let kept = Arc::make_mut(&mut kept);
            left.into_iter().flatten().for_each(|row| kept[row as usize] = false);
        }
        Ok(Arc::unwrap_or_clone(kept))
    }
}

#[cfg(test)]
mod tests {
    use super::super::newest::SCORES;
    use super::*;
    use arrow::array::{Int32Array, StringArray};
    use arrow::datatypes::{Field, Schema};

    /// A row: `score_id`, `span_id`, `rule`, `score_version`, `evaluated_at`.
    type Row = (&'static str, Option<&'static str>, Option<&'static str>, i32, i64);

    fn batch(rows: &[Row]) -> RecordBatch {
        let same = |text: &'static str| Arc::new(StringArray::from(vec![text; rows.len()])) as ArrayRef;
        let texts = |of: fn(&Row) -> Option<&'static str>| {
            Arc::new(rows.iter().map(of).collect::<StringArray>()) as ArrayRef
        };
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("tenant", same("t")),
            ("trace_id", same("1")),
            ("span_id", texts(|row| row.1)),
            ("rule", texts(|row| row.2)),
            ("evaluator", same("e")),
            ("metric", same("m")),
            ("score_id", texts(|row| Some(row.0))),
            ("score_version", Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.3)))),
            ("evaluated_at", Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.4)))),
            ("span_time", Arc::new(Int64Array::from(vec![0; rows.len()]))),
        ];
        let field = |(name, column): &(&str, ArrayRef)| Field::new(*name, column.data_type().clone(), true);
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        assert_eq!(schema.field(0).data_type(), &DataType::Utf8);
        RecordBatch::try_new(schema, columns.into_iter().map(|(_, column)| column).collect()).unwrap()
    }

    /// In one partition, and each batch in a partition of its own: the same stay.
    async fn chosen(batches: &[&[Row]]) -> Vec<bool> {
        let seeds = Seeds::new();
        let mut rows = Rows::new(&SCORES, &seeds);
        let mut all = Vec::new();
        for rows_of in batches {
            rows.take(&batch(rows_of)).unwrap();
            let mut own = Rows::new(&SCORES, &seeds);
            own.take(&batch(rows_of)).unwrap();
            all.push(own);
        }
        let count = rows.count();
        let kept = rows.chosen(1).await.unwrap();
        let joined = Rows::joined(all).unwrap().unwrap();
        assert_eq!((joined.count(), joined.chosen(3).await.unwrap()), (count, kept.clone()));
        kept
    }

    #[tokio::test]
    async fn the_last_of_repeats_and_the_newest_of_versions_stay() {
        let kept = chosen(&[
            &[
                ("a", Some("s"), Some("r"), 1, 10),
                ("b", Some("s"), Some("r"), 2, 5),
                ("c", Some("q"), Some("r"), 1, 1),
            ],
            // A repeat of the second that was evaluated later, and one of the third that is older.
            &[("b", Some("s"), Some("r"), 2, 6), ("c", Some("q"), Some("r"), 1, 0)],
        ])
        .await;
        assert_eq!(kept, [false, false, true, true, false]);
    }

    #[tokio::test]
    async fn nothing_and_an_equal_text_beside_it_are_two_things() {
        let kept = chosen(&[&[
            ("a", None, Some("x"), 1, 1),
            ("b", Some("x"), None, 1, 2),
            ("c", None, Some("x"), 1, 3),
        ]])
        .await;
        assert_eq!(kept, [false, true, true]);
    }

    #[tokio::test]
    async fn texts_in_each_others_places_are_two_things() {
        let kept = chosen(&[&[("a", Some("x"), Some("y"), 1, 1), ("b", Some("y"), Some("x"), 1, 2)]]).await;
        assert_eq!(kept, [true, true]);
        let kept = chosen(&[&[("a", None, Some("e"), 1, 1), ("b", Some("e"), None, 1, 2)]]).await;
        assert_eq!(kept, [true, true], "the evaluators of both are called e, too");
    }
}
