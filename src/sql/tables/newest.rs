//! Of all rows of scores the newest version of each, as a node of a physical plan.
//!
//! Two choices, one after the other. Of rows with one `score_id` (an item that two servers judged, a request that came to
//! both) the one that was evaluated last stays, which is also the one that a merge keeps. Of what stays, each evaluator's
//! and metric's row of the highest `score_version` about an item is the newest.
//!
//! A window function would sort every row for each of the two. This keeps of a row the columns that are asked for, and 60
//! bytes: hashes of what it is known by, and what decides. Hashes of 96 bits with seeds of the query's own stand for the
//! texts: two of ten million rows share one with a probability below 1e-15, and nobody can choose texts that do.

use super::super::stream::bytes_of;
use arrow::array::{ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, RecordBatch};
use arrow::compute::{cast, filter_record_batch};
use arrow::datatypes::{Int32Type, Int64Type, Schema};
use datafusion::common::Statistics;
use datafusion::common::hash_utils::{QualityRandomState, create_hashes};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
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
use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;

/// What tells one evaluation from another: rows that have all of these in common are repeats.
const REPEATED: &[&str] = &["tenant", "score_id"];

/// What a score is about and who gave it: rows that have all of these in common are versions of one score.
pub const KEY: &[&str] = &["tenant", "trace_id", "span_id", "rule", "evaluator", "metric"];

/// What decides which version is the newest.
const DECIDING: &[&str] = &["score_version", "evaluated_at", "span_time", "score_id"];

/// The columns that the choice needs.
pub fn needed() -> impl Iterator<Item = &'static str> {
    KEY.iter().chain(DECIDING).copied()
}

/// Where rows that are compared with each other must be together: both choices are within a trace of a tenant.
const TOGETHER: &[&str] = &["tenant", "trace_id"];

/// The newest rows of its input, which has the columns of [`needed`].
#[derive(Debug)]
pub struct NewestExec {
    input: Arc<dyn ExecutionPlan>,
    /// The columns that are passed on; no others are kept.
    asked: Vec<String>,
    /// About how many rows there are: a join reads the smaller side first, and the other only where it matches.
    about: usize,
    properties: Arc<PlanProperties>,
}

impl NewestExec {
    /// The columns `asked` of `input`, which has `about` so many rows.
    ///
    /// # Errors
    /// When the input has no such column.
    pub fn new(input: Arc<dyn ExecutionPlan>, asked: Vec<String>, about: usize) -> Result<Self> {
        let schema = input.schema();
        let places = places(&schema, &asked)?;
        let mapping = ProjectionMapping::from_indices(&places, &schema)?;
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::new(schema.project(&places)?)),
            input.output_partitioning().project(&mapping, input.equivalence_properties()),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Ok(Self { input, asked, about, properties: Arc::new(properties) })
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
        let together: Option<Vec<_>> = TOGETHER.iter().map(|name| self.column(name)).collect();
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
        Ok(Arc::new(Self::new(input, self.asked.clone(), self.about)?))
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
        let newest = futures::stream::once(newest(input, places, held)).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), newest)))
    }
}

/// Reads all of `input`; what is kept of its rows counts against the query's memory until they are passed on.
async fn newest(
    mut input: SendableRecordBatchStream,
    asked: Vec<usize>,
    held: MemoryReservation,
) -> Result<impl Stream<Item = Result<RecordBatch>>> {
    let (mut batches, mut rows, mut counted) = (Vec::new(), Rows::new(), 0);
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

fn numbers<T: ArrowPrimitiveType>(batch: &RecordBatch, name: &str) -> Result<Vec<T::Native>> {
    let numbers = cast(column(batch, name)?, &T::DATA_TYPE)?;
    Ok(numbers.as_primitive::<T>().values().to_vec())
}

/// A row by what it is known by: rows that share all but the last part are compared. In the order of their rows.
type Known = (u64, u32, u32);

/// Rows are parted by their hashes: each part is sorted by itself, and others get their turn between two.
const PARTS: usize = 64;

/// Rows by one of the two things that they are known by.
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
    async fn choose<R: PartialOrd>(self, kept: &mut [bool], rank: impl Fn(usize) -> R) {
        for mut part in self.parts {
            part.sort_unstable();
            for same in part.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).filter(|same| same.len() > 1) {
                let rows = same.iter().map(|(.., row)| *row as usize);
                let best = rows
                    .clone()
                    .filter(|row| kept[*row])
                    .reduce(|best, row| if rank(best) < rank(row) { row } else { best });
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

/// What the choice needs of all rows.
struct Rows {
    repeats: By,
    versions: By,
    score_version: Vec<i32>,
    evaluated_at: Vec<i64>,
    span_time: Vec<i64>,
    /// A hash of `score_id` that is the same in every run: what decides last.
    id: Vec<u64>,
}

impl Rows {
    fn new() -> Self {
        let (repeats, versions) = (By::new(REPEATED), By::new(KEY));
        let (evaluated_at, span_time) = (Vec::new(), Vec::new());
        Self { repeats, versions, score_version: Vec::new(), evaluated_at, span_time, id: Vec::new() }
    }

    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        let many = |_| DataFusionError::ResourcesExhausted("scores_latest reads too many rows".to_owned());
        // The last row has a number, too.
        u32::try_from(self.id.len() + batch.num_rows()).map_err(many)?;
        let first = u32::try_from(self.id.len()).map_err(many)?;
        self.repeats.take(batch, first)?;
        self.versions.take(batch, first)?;
        self.score_version.extend(numbers::<Int32Type>(batch, "score_version")?);
        self.evaluated_at.extend(numbers::<Int64Type>(batch, "evaluated_at")?);
        self.span_time.extend(numbers::<Int64Type>(batch, "span_time")?);
        let mut ids = vec![0; batch.num_rows()];
        create_hashes([column(batch, "score_id")?], &QualityRandomState::with_seed(0), &mut ids)?;
        self.id.extend(ids);
        Ok(())
    }

    fn size(&self) -> usize {
        let numbers = self.id.capacity() + self.evaluated_at.capacity() + self.span_time.capacity();
        let rows = numbers * size_of::<i64>() + self.score_version.capacity() * size_of::<i32>();
        rows + self.repeats.size() + self.versions.size()
    }

    /// Which rows stay.
    async fn chosen(self) -> Vec<bool> {
        let Self { repeats, versions, score_version, evaluated_at, span_time, id } = self;
        let mut kept = vec![true; id.len()];
        repeats.choose(&mut kept, |row| (evaluated_at[row], span_time[row])).await;
        versions.choose(&mut kept, |row| (score_version[row], evaluated_at[row], id[row])).await;
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int32Array, Int64Array, StringArray};
    use arrow::datatypes::{DataType, Field};

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
        let mut rows = Rows::new();
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
