//! Of all rows of scores the newest version of each, as a node of a physical plan.
//!
//! Two choices, one after the other. Of rows with one `score_id` (an item that two servers judged, a request that came to
//! both) the one that was evaluated last stays, which is also the one that a merge keeps. Of what stays, each evaluator's
//! and metric's row of the highest `score_version` about an item is the newest.
//!
//! A window function would sort every row for each of the two; this keeps the rows as they are and a number for each key.

use super::super::stream::bytes_of;
use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::compute::{cast, filter_record_batch};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use datafusion::common::Statistics;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{Distribution, EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::aggregates::group_values::{GroupValues, new_group_values};
use datafusion::physical_plan::aggregates::order::GroupOrdering;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, InputDistributionRequirements,
    PlanProperties,
};
use futures::{Stream, TryStreamExt};
use std::fmt;
use std::hash::{DefaultHasher, Hasher};
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
    /// About how many rows there are: a join reads the smaller side first, and the other only where it matches.
    about: usize,
    properties: Arc<PlanProperties>,
}

impl NewestExec {
    /// Of `input`, which has `about` so many rows.
    pub fn new(input: Arc<dyn ExecutionPlan>, about: usize) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            input.output_partitioning().clone(),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Self { input, about, properties: Arc::new(properties) }
    }

    fn column(&self, name: &str) -> Option<Arc<dyn PhysicalExpr>> {
        let index = self.input.schema().index_of(name).ok()?;
        Some(Arc::new(Column::new(name, index)))
    }
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
        Ok(Arc::new(Self::new(input, self.about)))
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
        let input = self.input.execute(partition, context.clone())?;
        let held = MemoryConsumer::new("NewestExec").register(context.memory_pool());
        let newest = futures::stream::once(newest(input, held)).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), newest)))
    }
}

/// Reads all of `input`; its rows count against the query's memory until they are passed on.
async fn newest(
    mut input: SendableRecordBatchStream,
    held: MemoryReservation,
) -> Result<impl Stream<Item = Result<RecordBatch>>> {
    let schema = input.schema();
    let (mut batches, mut repeats) = (Vec::new(), Best::new(&schema, REPEATED)?);
    while let Some(batch) = input.try_next().await? {
        if batch.num_rows() > 0 {
            held.try_grow(size(&batch))?;
            let ranks = ranks(&batch, ["evaluated_at", "span_time"])?;
            repeats.offer(&batch, batches.len(), &ranks, |_| true)?;
            held.try_grow(repeats.grown())?;
            batches.push(batch);
        }
    }
    let once = repeats.kept(&batches);
    held.shrink(repeats.counted);
    drop(repeats);
    let mut versions = Best::new(&schema, KEY)?;
    for (at, batch) in batches.iter().enumerate() {
        let ranks = ranks(batch, ["score_version", "evaluated_at"])?;
        versions.offer(batch, at, &ranks, |row| once[at].value(row))?;
        held.try_grow(versions.grown())?;
        // Many rows are a while's work: others get their turn.
        tokio::task::yield_now().await;
    }
    let kept = versions.kept(&batches);
    held.shrink(versions.counted);
    let rows = batches.into_iter().zip(kept).map(move |(batch, kept)| {
        held.shrink(size(&batch));
        Ok(filter_record_batch(&batch, &kept)?)
    });
    let some = |rows: &Result<RecordBatch>| !matches!(rows, Ok(batch) if batch.num_rows() == 0);
    Ok(futures::stream::iter(rows.filter(some)))
}

fn size(batch: &RecordBatch) -> usize {
    usize::try_from(bytes_of(batch)).unwrap_or(usize::MAX)
}

/// What decides between two rows: the greater one stays. The last part is the same in every run.
type Rank = (i64, i64, u64);

/// The ranks of the rows of `batch`, by two columns of numbers or times, and then by the id.
fn ranks(batch: &RecordBatch, names: [&str; 2]) -> Result<Vec<Rank>> {
    let [first, second] = names.map(|name| integers(batch, name));
    let ids = column(batch, "score_id")?.as_string_opt::<i32>();
    let id = |row: usize| {
        let mut hasher = DefaultHasher::new();
        hasher.write(ids.map_or("", |ids| ids.value(row)).as_bytes());
        hasher.finish()
    };
    let numbers = first?.into_iter().zip(second?).enumerate();
    Ok(numbers.map(|(row, (first, second))| (first, second, id(row))).collect())
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    let missing =
        || DataFusionError::Internal(format!("the newest rows are chosen by {name}, which is missing"));
    batch.column_by_name(name).ok_or_else(missing)
}

fn integers(batch: &RecordBatch, name: &str) -> Result<Vec<i64>> {
    let numbers = cast(column(batch, name)?, &DataType::Int64)?;
    Ok(numbers.as_primitive::<Int64Type>().values().to_vec())
}

/// For each key the row that ranks highest.
struct Best {
    names: &'static [&'static str],
    groups: Box<dyn GroupValues>,
    /// By number of the key: rank, batch and row.
    best: Vec<Option<(Rank, usize, usize)>>,
    numbers: Vec<usize>,
    counted: usize,
}

impl Best {
    fn new(schema: &Schema, names: &'static [&'static str]) -> Result<Self> {
        let fields = names.iter().map(|name| Ok(schema.field_with_name(name)?.clone()));
        let keys = Arc::new(Schema::new(fields.collect::<Result<Vec<Field>>>()?));
        let groups = new_group_values(keys, &GroupOrdering::None)?;
        Ok(Self { names, groups, best: Vec::new(), numbers: Vec::new(), counted: 0 })
    }

    /// Takes part of the rows of `batch` that are `in_play`; it is the batch number `at`.
    fn offer(
        &mut self,
        batch: &RecordBatch,
        at: usize,
        ranks: &[Rank],
        in_play: impl Fn(usize) -> bool,
    ) -> Result<()> {
        let keys = self.names.iter().map(|name| column(batch, name).cloned()).collect::<Result<Vec<_>>>()?;
        self.numbers.clear();
        self.groups.intern(&keys, &mut self.numbers)?;
        self.best.resize(self.groups.len(), None);
        for (row, (number, rank)) in self.numbers.iter().zip(ranks).enumerate() {
            let best = &mut self.best[*number];
            if in_play(row) && best.is_none_or(|(known, ..)| known < *rank) {
                *best = Some((*rank, at, row));
            }
        }
        Ok(())
    }

    /// Bytes that came on top of those which were counted before.
    fn grown(&mut self) -> usize {
        let now = self.groups.size() + self.best.capacity() * size_of::<Option<(Rank, usize, usize)>>();
        let more = now.saturating_sub(self.counted);
        self.counted += more;
        more
    }

    /// Which rows of each batch are the best of their key.
    fn kept(&self, batches: &[RecordBatch]) -> Vec<BooleanArray> {
        let mut kept: Vec<Vec<bool>> = batches.iter().map(|batch| vec![false; batch.num_rows()]).collect();
        for (_, batch, row) in self.best.iter().flatten() {
            kept[*batch][*row] = true;
        }
        kept.into_iter().map(BooleanArray::from).collect()
    }
}
