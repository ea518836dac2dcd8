//! Of all rows the newest version of each thing, as a node of a physical plan.
//!
//! Of scores there are two choices, one after the other. Of rows with one `score_id` (an item that two servers judged, a request
//! that came to both) the one that was evaluated last stays, which is also the one that a merge keeps. Of what stays, each
//! evaluator's and metric's row of the highest `score_version` about an item is the newest. Of what the lab keeps there is one:
//! the highest version, revision or attempt.
//!
//! A window function would sort every row for each choice, and an aggregate holds every column for itself. This keeps of a row
//! the columns that are asked for, and a few bytes (64 of a score): hashes of what it is known by, and what decides. Hashes of
//! 96 bits with seeds of the query's own stand for the texts: two of ten million rows share one with a probability below 1e-15,
//! and nobody can choose texts that do.

use super::super::stream::bytes_of;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::compute::{cast, filter_record_batch};
use arrow::datatypes::{DataType, Int64Type, Schema};
use datafusion::catalog::Session;
use datafusion::common::Statistics;
use datafusion::common::hash_utils::{QualityRandomState, create_hashes};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{LogicalPlanBuilder, col};
use datafusion::physical_expr::equivalence::ProjectionMapping;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{Distribution, EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, InputDistributionRequirements,
    PlanProperties,
};
use futures::{Stream, TryStreamExt};
use std::cmp::Ordering;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;

/// What tells one evaluation from another: rows that have all of these in common are repeats.
const REPEATED: &[&str] = &["tenant", "score_id"];

/// What a score is about and who gave it: rows that have all of these in common are versions of one score.
pub const KEY: &[&str] = &["tenant", "trace_id", "span_id", "rule", "evaluator", "metric"];

/// Where rows of scores that are compared with each other must be together: both choices are within a trace of a tenant.
const TOGETHER: &[&str] = &["tenant", "trace_id"];

/// The newest scores.
pub static SCORES: Newest = Newest {
    choices: &[
        Choice { key: REPEATED, by: &[Rank::High("evaluated_at"), Rank::High("span_time")] },
        Choice {
            key: KEY,
            by: &[Rank::High("score_version"), Rank::High("evaluated_at"), Rank::Hash("score_id")],
        },
    ],
    together: TOGETHER,
};

/// Which rows of a table are the newest.
#[derive(Debug)]
pub struct Newest {
    /// Each is among the rows that the one before it left.
    pub choices: &'static [Choice],
    /// Where rows that are compared with each other must be together: columns that are in the key of every choice.
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

    /// A number for each row of `batch`; the highest wins.
    fn values(self, batch: &RecordBatch) -> Result<Vec<i64>> {
        match self {
            Self::High(name) => numbers(batch, name),
            // Turned round, every number keeps a place of its own.
            Self::Low(name) => Ok(numbers(batch, name)?.into_iter().map(|number| !number).collect()),
            Self::Hash(name) => {
                let mut hashes = vec![0; batch.num_rows()];
                create_hashes([column(batch, name)?], &QualityRandomState::with_seed(0), &mut hashes)?;
                // Turning the highest bit leaves them in their order.
                Ok(hashes.into_iter().map(|hash: u64| (hash ^ (1 << 63)).cast_signed()).collect())
            }
        }
    }
}

/// The columns `asked` of the newest of `rows`, which are about `about` so many. What of a query's filters may go below the
/// choice is in `rows` already.
///
/// # Errors
/// Those of planning, and when the rows lack a column.
pub async fn newest_of(
    state: &dyn Session,
    rows: LogicalPlanBuilder,
    how: &'static Newest,
    asked: Vec<String>,
    about: usize,
) -> Result<Arc<dyn ExecutionPlan>> {
    let mut read = asked.clone();
    for name in how.needed() {
        if read.iter().all(|known| known != name) {
            read.push(name.to_owned());
        }
    }
    let plan = rows.project(read.iter().map(|name| col(name.as_str())))?.build()?;
    let rows = state.create_physical_plan(&plan).await?;
    Ok(Arc::new(NewestExec::new(rows, how, asked, about)?))
}

/// The newest rows of its input, which has the columns of [`Newest::needed`].
#[derive(Debug)]
struct NewestExec {
    input: Arc<dyn ExecutionPlan>,
    how: &'static Newest,
    /// The columns that are passed on; no others are kept.
    asked: Vec<String>,
    /// About how many rows there are: a join reads the smaller side first, and the other only where it matches.
    about: usize,
    properties: Arc<PlanProperties>,
}

impl NewestExec {
    fn new(
        input: Arc<dyn ExecutionPlan>,
        how: &'static Newest,
        asked: Vec<String>,
        about: usize,
    ) -> Result<Self> {
        let schema = input.schema();
        let places = places(&schema, &asked)?;
        let mapping = ProjectionMapping::from_indices(&places, &schema)?;
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::new(schema.project(&places)?)),
            input.output_partitioning().project(&mapping, input.equivalence_properties()),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Ok(Self { input, how, asked, about, properties: Arc::new(properties) })
    }

    fn column(&self, name: &str) -> Option<Arc<dyn PhysicalExpr>> {
        let index = self.input.schema().index_of(name).ok()?;
        Some(Arc::new(Column::new(name, index)))
    }
}

/// Where the columns `names` stand.
fn places(schema: &Schema, names: &[String]) -> Result<Vec<usize>> {
    names.iter().map(|name| Ok(schema.index_of(name)?)).collect()
}

impl DisplayAs for NewestExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NewestExec")
    }
}

impl ExecutionPlan for NewestExec {
    fn name(&self) -> &str {
        "NewestExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        let together: Option<Vec<_>> = self.how.together.iter().map(|name| self.column(name)).collect();
        let how = together.map_or(Distribution::SinglePartition, Distribution::KeyPartitioned);
        InputDistributionRequirements::new(vec![how])
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let input = children
            .pop()
            .ok_or_else(|| DataFusionError::Internal("the newest rows have one source".to_owned()))?;
        Ok(Arc::new(Self::new(input, self.how, self.asked.clone(), self.about)?))
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let parts = partition.map_or(1, |_| self.input.output_partitioning().partition_count().max(1));
        let mut statistics = Statistics::new_unknown(&self.schema());
        statistics.num_rows = Precision::Inexact(self.about / parts);
        Ok(Arc::new(statistics))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let places = places(&self.input.schema(), &self.asked)?;
        let input = self.input.execute(partition, context.clone())?;
        let held = MemoryConsumer::new("NewestExec").register(context.memory_pool());
        let newest = futures::stream::once(newest(input, self.how, places, held)).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), newest)))
    }
}

/// Reads all of `input`; what is kept of its rows counts against the query's memory until they are passed on.
async fn newest(
    mut input: SendableRecordBatchStream,
    how: &'static Newest,
    asked: Vec<usize>,
    held: MemoryReservation,
) -> Result<impl Stream<Item = Result<RecordBatch>>> {
    let (mut batches, mut rows, mut counted) = (Vec::new(), Rows::new(how), 0);
    while let Some(batch) = input.try_next().await? {
        if batch.num_rows() > 0 {
            rows.take(&batch)?;
            let shown = batch.project(&asked)?;
            held.try_grow(size(&shown))?;
            let grown = rows.size().saturating_sub(counted);
            held.try_grow(grown)?;
            counted += grown;
            batches.push(shown);
        }
    }
    let kept = rows.chosen().await;
    held.shrink(counted);
    let mut first = 0;
    let parts = batches.into_iter().map(move |batch| {
        let from = first;
        first += batch.num_rows();
        held.shrink(size(&batch));
        Ok(filter_record_batch(&batch, &BooleanArray::from(kept[from..first].to_vec()))?)
    });
    let some = |rows: &Result<RecordBatch>| !matches!(rows, Ok(batch) if batch.num_rows() == 0);
    Ok(futures::stream::iter(parts.filter(some)))
}

fn size(batch: &RecordBatch) -> usize {
    usize::try_from(bytes_of(batch)).unwrap_or(usize::MAX)
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    let missing =
        || DataFusionError::Internal(format!("the newest rows are chosen by {name}, which is missing"));
    batch.column_by_name(name).ok_or_else(missing)
}

fn numbers(batch: &RecordBatch, name: &str) -> Result<Vec<i64>> {
    let numbers = cast(column(batch, name)?, &DataType::Int64)?;
    Ok(numbers.as_primitive::<Int64Type>().values().to_vec())
}

/// A row by what it is known by: rows that share all but the last part are compared. In the order of their rows.
type Known = (u64, u32, u32);

/// Rows are parted by their hashes: each part is sorted by itself, and others get their turn between two.
const PARTS: usize = 64;

/// Rows by one of the things that they are known by.
struct By {
    names: &'static [&'static str],
    seeds: [QualityRandomState; 2],
    parts: Vec<Vec<Known>>,
}

impl By {
    fn new(names: &'static [&'static str]) -> Self {
        let (one, other) = uuid::Uuid::new_v4().as_u64_pair();
        let seeds = [one, other].map(QualityRandomState::with_seed);
        Self { names, seeds, parts: vec![Vec::new(); PARTS] }
    }

    /// Takes the rows of `batch`, the first of which is the row `first`.
    fn take(&mut self, batch: &RecordBatch, first: u32) -> Result<()> {
        let (mut high, mut low) = (vec![0; batch.num_rows()], vec![0; batch.num_rows()]);
        for name in self.names {
            let key = column(batch, name)?;
            fold(key, &self.seeds[0], &mut high)?;
            fold(key, &self.seeds[1], &mut low)?;
        }
        for ((high, low), row) in high.into_iter().zip(low).zip(first..) {
            // All of one hash and the upper half of the other: 96 bits.
            self.parts[high as usize % PARTS].push((high, (low >> 32) as u32, row));
        }
        Ok(())
    }

    /// Of rows that are known by the same, of those that are in `kept`, the one that ranks highest stays there.
    async fn choose(self, kept: &mut [bool], order: impl Fn(usize, usize) -> Ordering) {
        for mut part in self.parts {
            part.sort_unstable();
            for same in part.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).filter(|same| same.len() > 1) {
                let rows = same.iter().map(|(.., row)| *row as usize);
                let best = rows
                    .clone()
                    .filter(|row| kept[*row])
                    .reduce(|best, row| if order(best, row).is_lt() { row } else { best });
                rows.filter(|row| Some(*row) != best).for_each(|row| kept[row] = false);
            }
            tokio::task::yield_now().await;
        }
    }

    fn size(&self) -> usize {
        self.parts.iter().map(|part| part.capacity() * size_of::<Known>()).sum()
    }
}

/// Folds the next of the columns that rows are known by into their hashes. Of several columns `create_hashes` adds the hashes
/// of texts up and passes over NULLs, so that a text could stand in another's place.
fn fold(key: &ArrayRef, seed: &QualityRandomState, hashes: &mut [u64]) -> Result<()> {
    let mut own = vec![0; hashes.len()];
    create_hashes([key], seed, &mut own)?;
    hashes.iter_mut().zip(own).for_each(|(hash, own)| *hash = seed.hash_one((*hash, own)));
    Ok(())
}

/// What the choices need of all rows.
struct Rows {
    how: &'static Newest,
    /// One for each choice.
    known: Vec<By>,
    /// Each column that decides, once.
    ranks: Vec<(Rank, Vec<i64>)>,
    count: usize,
}

impl Rows {
    fn new(how: &'static Newest) -> Self {
        let known = how.choices.iter().map(|choice| By::new(choice.key)).collect();
        let mut ranks: Vec<(Rank, Vec<i64>)> = Vec::new();
        for rank in how.choices.iter().flat_map(|choice| choice.by) {
            if ranks.iter().all(|(known, _)| known != rank) {
                ranks.push((*rank, Vec::new()));
            }
        }
        Self { how, known, ranks, count: 0 }
    }

    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        let many = |_| DataFusionError::ResourcesExhausted("a view of newest rows reads too many".to_owned());
        let count = self.count + batch.num_rows();
        // The last row has a number, too.
        u32::try_from(count).map_err(many)?;
        let first = u32::try_from(self.count).map_err(many)?;
        for known in &mut self.known {
            known.take(batch, first)?;
        }
        for (rank, values) in &mut self.ranks {
            values.extend(rank.values(batch)?);
        }
        self.count = count;
        Ok(())
    }

    fn size(&self) -> usize {
        let ranks: usize = self.ranks.iter().map(|(_, values)| values.capacity() * size_of::<i64>()).sum();
        ranks + self.known.iter().map(By::size).sum::<usize>()
    }

    /// Which rows stay.
    async fn chosen(self) -> Vec<bool> {
        let Self { how, known, ranks, count } = self;
        let mut kept = vec![true; count];
        for (choice, known) in how.choices.iter().zip(known) {
            let of = |rank: &Rank| ranks.iter().find(|(known, _)| known == rank);
            let by: Vec<&[i64]> =
                choice.by.iter().filter_map(of).map(|(_, values)| values.as_slice()).collect();
            let order = |one: usize, other: usize| {
                let mut orders = by.iter().map(|values| values[one].cmp(&values[other]));
                orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
            };
            known.choose(&mut kept, order).await;
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int32Array, Int64Array, StringArray};
    use arrow::datatypes::Field;

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

    async fn chosen(batches: &[&[Row]]) -> Vec<bool> {
        let mut rows = Rows::new(&SCORES);
        for rows_of in batches {
            rows.take(&batch(rows_of)).unwrap();
        }
        rows.chosen().await
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
