//! The query engine: one session with tables, views and functions, and the limits around every query.

use super::cancel::{self, Flag};
use super::catalog;
use super::config::Config;
use super::constants;
use super::error::SqlError;
use super::explain;
use super::functions;
use super::guard;
use super::params;
use super::plan::planned;
use super::session::session;
use super::stream::{AbortOnDrop, Item, QueryStream, Record, bytes_of, deadline, pump, timed_out};
use super::tables::{LiveRows, QuerySnapshots, Snapshots};
use super::watermarks::{Watermarks, final_until};
use crate::net::Scope;
use crate::stats::calibration::Calibrated;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::ScalarValue;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, SessionState};
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionContext;
use datafusion::sql::sqlparser::ast::Statement;
use futures::TryStreamExt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

/// Stack of a query thread: plans of deep expressions are walked recursively.
const STACK: usize = 16 << 20;

/// Batches that wait between a query and a slow reader.
const BUFFERED: usize = 2;

/// The query engine over the lake.
///
/// Queries run on threads of their own, so that one which computes for long does not hold up the server's other work.
pub struct Sql {
    core: Arc<Core>,
    threads: Handle,
    /// None where they are another engine's.
    runtime: Option<Runtime>,
}

struct Core {
    context: SessionContext,
    calibrations: functions::Calibrations,
    watermarks: Watermarks,
    queue: Arc<OnceLock<LiveRows>>,
    config: Config,
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// What is to be run.
pub enum Work {
    /// Text of one statement, not checked yet.
    Text(String),
    /// The same, with the values of its `$1`, `$2` ….
    Bound(String, Vec<ScalarValue>),
    /// A parsed statement, not checked yet.
    Parsed(Box<Statement>),
    /// A plan, not checked yet.
    Plan(Box<LogicalPlan>),
}

/// How many queries there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Those that run.
    pub running: usize,
    /// Those that wait for their turn.
    pub waiting: usize,
}

/// A whole result, counted against the memory limit for as long as it is held.
pub struct Collected {
    /// The columns.
    pub schema: SchemaRef,
    /// The rows.
    pub batches: Vec<RecordBatch>,
    /// Whether there were more rows than the limit of the request.
    pub is_cut: bool,
    /// Up to when what was read is final, microseconds since 1970; none if that is not known of the tables.
    pub final_until: Option<i64>,
    _held: MemoryReservation,
}

impl Sql {
    /// Prepares the session; reads nothing yet.
    ///
    /// # Errors
    /// [`SqlError::Wrong`] with every fault of `config`; [`SqlError::Internal`] if threads cannot be started or a view does
    /// not fit its tables.
    pub fn new(snapshots: Snapshots, config: Config) -> Result<Self, SqlError> {
        let faults = config.faults();
        if !faults.is_empty() {
            return Err(SqlError::Wrong(faults.join("; ")));
        }
        let (calibrations, watermarks) = (functions::Calibrations::default(), Watermarks::default());
        let queue = Arc::default();
        let context = session(&snapshots, &config, &calibrations, &watermarks, &queue)
            .map_err(|e| SqlError::Internal(e.strip_backtrace()))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(config.target_partitions)
            .thread_name("sql")
            .thread_stack_size(STACK)
            .enable_all()
            .build()
            .map_err(|e| SqlError::Internal(format!("query threads: {e}")))?;
        let permits = Arc::new(Semaphore::new(config.max_concurrent));
        let waiting = AtomicUsize::new(0);
        let core = Core { context, calibrations, watermarks, queue, config, permits, waiting };
        Ok(Self { core: Arc::new(core), threads: runtime.handle().clone(), runtime: Some(runtime) })
    }

    /// The same engine for what a query asks on its way, such as a table that is made of other queries: so many of these run
    /// at once. The query has its turn already; to wait for another would be to wait for itself.
    #[must_use]
    pub fn within(&self, at_once: usize) -> Self {
        let Core { context, calibrations, watermarks, queue, config, .. } = &*self.core;
        let core = Core {
            context: context.clone(),
            calibrations: calibrations.clone(),
            watermarks: watermarks.clone(),
            queue: queue.clone(),
            config: config.clone(),
            permits: Arc::new(Semaphore::new(at_once)),
            waiting: AtomicUsize::new(0),
        };
        Self { core: Arc::new(core), threads: self.threads.clone(), runtime: None }
    }

    /// The same engine with the rows of the table `queue`, which has none without this. Views read them too.
    ///
    /// # Errors
    /// [`SqlError::Internal`] if it has rows already.
    pub fn with_queue(self, rows: LiveRows) -> Result<Self, SqlError> {
        let set = self.core.queue.set(rows);
        set.map_err(|_| SqlError::Internal("the table queue has its rows already".to_owned()))?;
        Ok(self)
    }

    /// The same engine, in which `calibrated` and `abstains` know these curves.
    #[must_use]
    pub fn with_calibrations(self, known: Vec<Calibrated>) -> Self {
        self.set_calibrations(known);
        self
    }

    /// From the next query on, `calibrated` and `abstains` know these curves.
    pub fn set_calibrations(&self, known: Vec<Calibrated>) {
        self.core.calibrations.set(known);
    }

    /// The curves that `calibrated` and `abstains` know now.
    pub fn calibrations(&self) -> Arc<Vec<Calibrated>> {
        self.core.calibrations.all()
    }

    /// Up to when tables are final. Who runs the loops sets it; until then nothing is known.
    pub fn watermarks(&self) -> Watermarks {
        self.core.watermarks.clone()
    }

    /// The limits.
    pub fn config(&self) -> &Config {
        &self.core.config
    }

    /// The session with all tables and functions; what runs on it directly is not limited.
    pub fn session(&self) -> SessionContext {
        self.core.context.clone()
    }

    /// Runs one reading statement over everybody's rows; when the call returns, planning is done and rows can be read.
    ///
    /// # Errors
    /// [`SqlError::Wrong`] for anything that is not one valid reading statement, [`SqlError::Limit`] and
    /// [`SqlError::Busy`] for the limits of [`Config`].
    pub async fn query(&self, sql: &str) -> Result<QueryStream, SqlError> {
        self.run("local", &Scope::All, Work::Text(sql.to_owned()), None).await
    }

    /// Runs one reading statement and collects all of its rows.
    ///
    /// # Errors
    /// As [`Sql::query`].
    pub async fn collect(&self, sql: &str) -> Result<(SchemaRef, Vec<RecordBatch>), SqlError> {
        let all = self.collect_from("local", &Scope::All, Work::Text(sql.to_owned()), None).await?;
        Ok((all.schema, all.batches))
    }

    /// Like [`Sql::collect`], for a named endpoint and the rows of `scope`; the rows count against `max_memory` until they
    /// are dropped. What is beyond `limit` is cut off, and the query ends there.
    ///
    /// # Errors
    /// As [`Sql::query`].
    pub async fn collect_from(
        &self,
        endpoint: &'static str,
        scope: &Scope,
        work: Work,
        limit: Option<NonZeroU64>,
    ) -> Result<Collected, SqlError> {
        let (marks, snapshots) = (self.core.watermarks.all(), Arc::new(QuerySnapshots::new(scope.clone())));
        let mut rows = self.run_in(endpoint, scope, work, None, Some(snapshots.clone())).await?;
        let pool = &self.core.context.runtime_env().memory_pool;
        let held = MemoryConsumer::new("result").register(pool);
        let mut room = limit.map_or(usize::MAX, |most| usize::try_from(most.get()).unwrap_or(usize::MAX));
        let (mut batches, mut is_cut) = (Vec::new(), false);
        while !is_cut && let Some(batch) = rows.try_next().await? {
            is_cut = batch.num_rows() > room;
            let batch = if is_cut { batch.slice(0, room) } else { batch };
            room -= batch.num_rows();
            held.try_grow(usize::try_from(bytes_of(&batch)).unwrap_or(usize::MAX))?;
            batches.push(batch);
        }
        if is_cut {
            rows.suffice();
        }
        let final_until = final_until(&marks, &snapshots.tables());
        Ok(Collected { schema: rows.schema(), batches, is_cut, final_until, _held: held })
    }

    /// How busy the engine is now.
    pub fn load(&self) -> Load {
        let (config, core) = (&self.core.config, &self.core);
        Load {
            running: config.max_concurrent.saturating_sub(core.permits.available_permits()),
            waiting: core.waiting.load(Ordering::Relaxed).min(config.max_waiting()),
        }
    }

    /// Runs `work` that came through `endpoint` and sees the rows of `scope`, for at most `timeout` if that is shorter than the configured limit.
    ///
    /// # Errors
    /// As [`Sql::query`].
    pub async fn run(
        &self,
        endpoint: &'static str,
        scope: &Scope,
        work: Work,
        timeout: Option<Duration>,
    ) -> Result<QueryStream, SqlError> {
        self.run_in(endpoint, scope, work, timeout, None).await
    }

    /// Like [`Sql::run`], over snapshots that other queries share; they see the rows of the same scope.
    ///
    /// # Errors
    /// As [`Sql::query`].
    pub async fn run_in(
        &self,
        endpoint: &'static str,
        scope: &Scope,
        work: Work,
        timeout: Option<Duration>,
        shared: Option<Arc<QuerySnapshots>>,
    ) -> Result<QueryStream, SqlError> {
        let mut record = Record::new(endpoint);
        let snapshots = shared.unwrap_or_else(|| Arc::new(QuerySnapshots::new(scope.clone())));
        let result = self.begin(snapshots, work, timeout).await;
        match result {
            Ok(begun) => Ok(begun.into_stream(record)),
            Err(error) => {
                record.set(error.outcome());
                Err(error)
            }
        }
    }

    async fn begin(
        &self,
        snapshots: Arc<QuerySnapshots>,
        work: Work,
        timeout: Option<Duration>,
    ) -> Result<Begun, SqlError> {
        let config = &self.core.config;
        if let Work::Text(sql) | Work::Bound(sql, _) = &work
            && sql.len() > config.max_sql_size.in_memory()
        {
            let most = config.max_sql_size;
            return Err(SqlError::Limit(format!("the query is longer than {most} (sql.max_sql_size)")));
        }
        let timeout = timeout.unwrap_or(config.timeout).min(config.timeout);
        let deadline = deadline(timeout);
        let permit = self.admit(deadline).await?;
        let (head, schema) = oneshot::channel();
        let (to, rows) = mpsc::channel(BUFFERED);
        let flag = Flag::default();
        let asked = Asked { snapshots, work, flag: flag.clone() };
        let task = self.threads.spawn(drive(self.core.clone(), asked, permit, deadline, (head, to)));
        let abort = AbortOnDrop(task.abort_handle(), flag);
        let schema = timeout_at(deadline, schema)
            .await
            .map_err(|_| timed_out(timeout))?
            .map_err(|_| unplanned(deadline, timeout))??;
        Ok(Begun { schema, rows, deadline, timeout, abort })
    }

    /// Plans `statement` for later; placeholders such as `$1` may stay open.
    ///
    /// # Errors
    /// As [`Sql::query`].
    pub async fn prepare(&self, statement: Statement) -> Result<LogicalPlan, SqlError> {
        let core = self.core.clone();
        // The state is large, and whoever waits should not be.
        let work = Box::pin(async move {
            guard::check(&statement)?;
            let statement = datafusion::sql::parser::Statement::Statement(Box::new(statement));
            let statement = guard::listed(statement)?;
            // The plan is for later, with the scope of then; nothing is read now.
            let snapshots = Arc::new(QuerySnapshots::new(Scope::All));
            let mut state = query_state(&core.context, snapshots, Flag::default());
            // Nor is it known what `now()` is then.
            state.execution_props_mut().query_execution_start_time = None;
            let plan = planned(&state, statement).await?;
            guard::verify(&plan)?;
            Ok(plan)
        });
        self.on_query_thread(work).await?
    }

    /// Runs `work` as if it were a query: on a query thread with its big stack, with a permit, within the time limit.
    ///
    /// # Errors
    /// [`SqlError::Busy`] and [`SqlError::Limit`] for the limits, [`SqlError::Internal`] if `work` panics.
    pub async fn on_query_thread<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, SqlError> {
        let deadline = deadline(self.core.config.timeout);
        let permit = self.admit(deadline).await?;
        let task = self.threads.spawn(async move {
            let _permit = permit;
            work.await
        });
        match timeout_at(deadline, task).await {
            Ok(done) => done.map_err(|e| SqlError::Internal(format!("query thread: {e}"))),
            Err(_) => Err(timed_out(self.core.config.timeout)),
        }
    }

    /// Waits for a turn, unless too many wait already.
    async fn admit(&self, deadline: Instant) -> Result<OwnedSemaphorePermit, SqlError> {
        let permits = self.core.permits.clone();
        if let Ok(permit) = permits.clone().try_acquire_owned() {
            return Ok(permit);
        }
        let _waiting = Waiting::enter(&self.core)?;
        match timeout_at(deadline, permits.acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(SqlError::Busy),
        }
    }
}

impl Drop for Sql {
    fn drop(&mut self) {
        // A runtime that is dropped waits for its threads, which async callers must not do.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Why a query's task ended without columns.
fn unplanned(deadline: Instant, timeout: Duration) -> SqlError {
    if Instant::now() >= deadline {
        return timed_out(timeout);
    }
    SqlError::Internal("the query ended before it was planned".to_owned())
}

struct Begun {
    schema: SchemaRef,
    rows: mpsc::Receiver<Item>,
    deadline: Instant,
    timeout: Duration,
    abort: AbortOnDrop,
}

impl Begun {
    fn into_stream(self, record: Record) -> QueryStream {
        QueryStream::new(self.schema, self.rows, self.deadline, self.timeout, record, self.abort)
    }
}

/// One place in the queue before the permits.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn enter(core: &'a Core) -> Result<Self, SqlError> {
        let place = Waiting(&core.waiting);
        if core.waiting.fetch_add(1, Ordering::Relaxed) < core.config.max_waiting() {
            Ok(place)
        } else {
            // Dropping the place counts it out again.
            Err(SqlError::Busy)
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What one query asks, for whom, and whether it should stop.
struct Asked {
    snapshots: Arc<QuerySnapshots>,
    work: Work,
    flag: Flag,
}

/// Where the query's task sends the columns, and then the rows.
type Answer = (oneshot::Sender<Result<SchemaRef, SqlError>>, mpsc::Sender<Item>);

/// The task of one query. It holds the permit, so that a query which cannot be stopped at once still counts; at the
/// deadline it ends even if nobody reads its rows or asks for them.
async fn drive(
    core: Arc<Core>,
    asked: Asked,
    permit: OwnedSemaphorePermit,
    deadline: Instant,
    (head, to): Answer,
) {
    let _permit = permit;
    // The snapshots in it keep the files from being deleted until the last row was read.
    let flag = asked.flag.clone();
    let state = query_state(&core.context, asked.snapshots.clone(), flag.clone());
    let work = async {
        match execute(&state, asked).await {
            Err(error) => drop(head.send(Err(error))),
            Ok(rows) => {
                if head.send(Ok(rows.schema())).is_ok() {
                    pump(rows, &core.config, &to).await;
                }
            }
        }
    };
    if timeout_at(deadline, work).await.is_err() {
        flag.set();
    }
}

async fn execute(state: &SessionState, asked: Asked) -> Result<SendableRecordBatchStream, SqlError> {
    let plan = match asked.work {
        Work::Text(sql) => planned(state, guard::parse(&sql)?).await?,
        Work::Bound(sql, values) => {
            let plan = planned(state, guard::parse(&sql)?).await?;
            guard::verify(&plan)?;
            params::bind(plan, values)?
        }
        Work::Parsed(statement) => {
            guard::check(&statement)?;
            let statement = guard::listed(datafusion::sql::parser::Statement::Statement(statement))?;
            planned(state, statement).await?
        }
        Work::Plan(plan) => *plan,
    };
    guard::verify(&plan)?;
    let plan = match asked.snapshots.scope() {
        Scope::All => catalog::tell(plan)?,
        _ => {
            guard::no_explain(&plan)?;
            plan
        }
    };
    let (plan, told) = explain::opened(functions::filled_series(plan, state)?);
    let plan = state.optimize(&plan)?;
    constants::check(&plan)?;
    let plan = state.query_planner().create_physical_plan(&plan, state).await?;
    let plan = cancel::stoppable(plan, &asked.flag)?;
    Ok(explain::rows(plan, told, state.task_ctx())?)
}

/// A state for one query, with a clock of its own and the rows of `snapshots`; its functions see `flag`.
fn query_state(context: &SessionContext, snapshots: Arc<QuerySnapshots>, flag: Flag) -> SessionState {
    let mut state = context.state();
    state.config_mut().set_extension(snapshots);
    state.config_mut().options_mut().extensions.insert(flag);
    // Expressions are made with the options of this moment.
    state.mark_start_execution();
    state
}
