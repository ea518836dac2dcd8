//! Of all rows the newest version of each thing, as a node of a physical plan.
//!
//! Of scores there are two choices, one after the other. Of rows with one `score_id` (an item that two servers judged, a request
//! that came to both) the one that was evaluated last stays, which is also the one that a merge keeps. Of what stays, each
//! evaluator's and metric's row of the highest `score_version` about an item is the newest; where no row is a version of another,
//! the first choice is enough (`identities`), and where no id is there twice, none is needed (`distinct`): rows are passed on as
//! they come. Of what the lab keeps there is one: the highest version, revision or attempt.
//!
//! A window function would sort every row for each choice, and an aggregate holds every column for itself. This keeps of a row
//! the columns that are asked for, and a few bytes (64 of a score, 32 after one choice): hashes of what it is known by, and what
//! decides. Rows stay in the partition that they come in; only their hashes meet.

use super::super::stream::bytes_of;
use super::chosen::{Choice, Newest, Rank, Rows, Seeds, ended};
use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::Schema;
use datafusion::catalog::Session;
use datafusion::common::Statistics;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{LogicalPlanBuilder, col};
use datafusion::physical_expr::{Distribution, EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, InputDistributionRequirements,
    PlanProperties,
};
use futures::future::{BoxFuture, Shared};
use futures::{FutureExt, Stream, StreamExt, TryStreamExt};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// What tells one evaluation from another: rows that have all of these in common are repeats.
const REPEATED: &[&str] = &["tenant", "score_id"];

/// What a score is about and who gave it: rows that have all of these in common are versions of one score.
pub const KEY: &[&str] = &["tenant", "trace_id", "span_id", "rule", "evaluator", "metric"];

/// Both choices among scores are within a trace of a tenant.
const TOGETHER: &[&str] = &["tenant", "trace_id"];

/// Of repeats the one that was evaluated last.
const LAST: Choice = Choice { key: REPEATED, by: &[Rank::High("evaluated_at"), Rank::High("span_time")] };

/// The newest scores.
pub static SCORES: Newest = Newest {
    choices: &[
        LAST,
        Choice {
            key: KEY,
            by: &[Rank::High("score_version"), Rank::High("evaluated_at"), Rank::Hash("score_id")],
        },
    ],
    together: TOGETHER,
};

/// The newest scores where rows that are about the same thing have the same id.
pub static SINGLE_SCORES: Newest = Newest { choices: &[LAST], together: TOGETHER };

/// The newest scores where no two rows are about the same thing.
pub static ALL_SCORES: Newest = Newest { choices: &[], together: TOGETHER };

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
    if read.is_empty() {
        // Rows that are only counted.
        read.extend(how.together.first().map(|name| (*name).to_owned()));
    }
    let plan = rows.project(read.iter().map(|name| col(name.as_str())))?.build()?;
    let rows = state.create_physical_plan(&plan).await?;
    Ok(Arc::new(NewestExec::new(rows, how, asked, about)?))
}

/// The newest rows of its input, which has the columns of [`Newest::needed`]. Without a choice they are all of them, and are passed
/// on as they come.
#[derive(Debug)]
struct NewestExec {
    input: Arc<dyn ExecutionPlan>,
    how: &'static Newest,
    /// The columns that are passed on; no others are kept.
    asked: Vec<String>,
    /// About how many rows there are: a join reads the smaller side first, and the other only where it matches.
    about: usize,
    properties: Arc<PlanProperties>,
    /// What the partitions of one execution wait for, once the first of them has begun.
    begun: Mutex<Option<Chosen>>,
}

/// The parts, one for each partition, each to be taken once.
type Chosen =
    Shared<BoxFuture<'static, std::result::Result<Arc<[Mutex<Option<Part>>]>, Arc<DataFusionError>>>>;

impl NewestExec {
    fn new(
        input: Arc<dyn ExecutionPlan>,
        how: &'static Newest,
        asked: Vec<String>,
        about: usize,
    ) -> Result<Self> {
        let schema = input.schema();
        let places = places(&schema, &asked)?;
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::new(schema.project(&places)?)),
            Partitioning::UnknownPartitioning(input.output_partitioning().partition_count()),
            if how.choices.is_empty() { EmissionType::Incremental } else { EmissionType::Final },
            Boundedness::Bounded,
        );
        Ok(Self { input, how, asked, about, properties: Arc::new(properties), begun: Mutex::new(None) })
    }

    /// Begins to read every partition, unless another one has begun: what decides about a row may be in any of them.
    fn chosen(&self, context: &Arc<TaskContext>) -> Result<Chosen> {
        let mut begun = self.begun.lock();
        if let Some(chosen) = begun.as_ref() {
            return Ok(chosen.clone());
        }
        let places = places(&self.input.schema(), &self.asked)?;
        let seeds = Seeds::new();
        let mut reading = Vec::new();
        for partition in 0..self.input.output_partitioning().partition_count() {
            let input = self.input.execute(partition, context.clone())?;
            let held = MemoryConsumer::new("NewestExec").register(context.memory_pool());
            let rows = Rows::new(self.how, &seeds);
            reading.push(SpawnedTask::spawn(read(input, rows, places.clone(), held)));
        }
        let chosen = async move { parts(reading).await.map_err(Arc::new) }.boxed().shared();
        *begun = Some(chosen.clone());
        Ok(chosen)
    }
}

/// Where the columns `names` stand.
fn places(schema: &Schema, names: &[String]) -> Result<Vec<usize>> {
    names.iter().map(|name| Ok(schema.index_of(name)?)).collect()
}

impl DisplayAs for NewestExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.how.choices.is_empty() {
            return f.write_str("NewestExec: all");
        }
        let keys: Vec<String> =
            self.how.choices.iter().map(|choice| format!("[{}]", choice.key.join(", "))).collect();
        write!(f, "NewestExec: of={}", keys.join(", "))
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
        InputDistributionRequirements::new(vec![Distribution::UnspecifiedDistribution])
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
        if self.how.choices.is_empty() {
            let asked = places(&self.input.schema(), &self.asked)?;
            let rows = self.input.execute(partition, context)?;
            let shown = rows.map(move |batch| -> Result<RecordBatch> { Ok(batch?.project(&asked)?) });
            return Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), shown)));
        }
        let chosen = self.chosen(&context)?;
        let newest = async move {
            let parts: Arc<[Mutex<Option<Part>>]> = chosen.await.map_err(DataFusionError::Shared)?;
            let part = parts.get(partition).and_then(|part| part.lock().take());
            let twice =
                || DataFusionError::Internal(format!("the newest rows of {partition} are read twice"));
            part.map(Part::shown).ok_or_else(twice)
        };
        let newest = futures::stream::once(newest).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), newest)))
    }
}

/// What was read of a partition. It counts against the query's memory until it is passed on.
struct Read {
    batches: Vec<RecordBatch>,
    rows: Rows,
    held: MemoryReservation,
    /// Bytes of `rows` in `held`.
    counted: usize,
}

async fn read(
    mut input: SendableRecordBatchStream,
    mut rows: Rows,
    asked: Vec<usize>,
    held: MemoryReservation,
) -> Result<Read> {
    let (mut batches, mut counted) = (Vec::new(), 0);
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
    Ok(Read { batches, rows, held, counted })
}

/// Waits for every partition, and chooses among all.
async fn parts(reading: Vec<SpawnedTask<Result<Read>>>) -> Result<Arc<[Mutex<Option<Part>>]>> {
    let (mut parts, mut all) = (Vec::new(), Vec::new());
    // The first fault ends the others: a task that nobody waits for any more is aborted.
    let ended = reading.into_iter().map(|task| async move { task.join_unwind().await.map_err(ended)? });
    for Read { batches, rows, held, counted } in futures::future::try_join_all(ended).await? {
        parts.push((batches, held, counted, rows.count()));
        all.push(rows);
    }
    let tasks = all.len();
    let kept = match Rows::joined(all)? {
        Some(rows) => rows.chosen(tasks).await?,
        None => Vec::new(),
    };
    let mut rest = kept.as_slice();
    let part = |(batches, held, counted, count): (Vec<RecordBatch>, MemoryReservation, usize, usize)| {
        held.shrink(counted);
        let (own, others) = rest.split_at(count);
        rest = others;
        Mutex::new(Some(Part { batches, kept: own.to_vec(), held }))
    };
    Ok(parts.into_iter().map(part).collect())
}

/// The rows of a partition, and which of them are passed on.
struct Part {
    batches: Vec<RecordBatch>,
    kept: Vec<bool>,
    held: MemoryReservation,
}

impl Part {
    fn shown(self) -> impl Stream<Item = Result<RecordBatch>> {
        let Self { batches, kept, held } = self;
        let mut first = 0;
        let parts = batches.into_iter().map(move |batch| {
            let from = first;
            first += batch.num_rows();
            held.shrink(size(&batch));
            Ok(filter_record_batch(&batch, &BooleanArray::from(kept[from..first].to_vec()))?)
        });
        let some = |rows: &Result<RecordBatch>| !matches!(rows, Ok(batch) if batch.num_rows() == 0);
        futures::stream::iter(parts.filter(some))
    }
}

fn size(batch: &RecordBatch) -> usize {
    usize::try_from(bytes_of(batch)).unwrap_or(usize::MAX)
}
