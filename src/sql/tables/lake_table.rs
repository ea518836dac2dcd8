//! Files and hot batches as one table.

use super::distinct::Distinct;
use super::file_times::FileTimes;
use super::identities::{Identities, Sought};
use super::readers::Readers;
use super::shown::{self, From, START_NS, Shown};
use super::snapshots::{QuerySnapshots, Snapshots};
use super::stores::PrivateStores;
use super::tenant::{self, TENANT};
use super::time_range::TimeRange;
use super::trace_filters::{self, TraceFilters};
use crate::lake::{DataFile, TableSnapshot};
use crate::net::Scope;
use crate::schema::columns::Table;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use chrono::DateTime;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Statistics;
use datafusion::common::stats::Precision;
use datafusion::datasource::TableType;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, Operator, TableProviderFilterPushDown};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, lit};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::union::UnionExec;
use std::fmt;
use std::sync::Arc;

/// Rows that one slice of a hot batch has: a query can stop between slices, not inside one.
const HOT_SLICE: usize = 8192;

/// One table of the lake: its files and the rows that are not in files yet.
pub struct LakeTable {
    table: Table,
    columns: Vec<Shown>,
    schema: SchemaRef,
    snapshots: Snapshots,
    trace_filters: TraceFilters,
    times: Arc<FileTimes>,
    identities: Identities,
    distinct: Distinct,
}

/// What rows there may be of one score of production.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Several {
    /// Versions of it, and repeats of those; also where it is not known.
    Versions,
    /// Repeats, which have the same id.
    Repeats,
    /// No more than one row.
    Single,
}

impl LakeTable {
    /// The table as SQL shows it, reading what `snapshots` gives at the time of each query.
    pub fn new(table: Table, snapshots: Snapshots) -> Self {
        let columns = shown::shown(table);
        let schema = shown::schema(&columns);
        let (trace_filters, times) = (TraceFilters::default(), Arc::new(FileTimes::default()));
        let (identities, distinct) = (Identities::new(times.clone()), Distinct::new(times.clone()));
        Self { table, columns, schema, snapshots, trace_filters, times, identities, distinct }
    }

    fn snapshot(&self, state: &dyn Session) -> (TableSnapshot, Scope) {
        match state.config().get_extension::<QuerySnapshots>() {
            Some(taken) => (taken.get(self.table, &self.snapshots), taken.scope().clone()),
            // What runs outside of a query is ours and not a client's.
            None => ((self.snapshots)(self.table), Scope::All),
        }
    }

    /// How many rows there are about in `range` of the table's time: a guess for the planner, made without opening a file.
    pub fn rows_about(&self, state: &dyn Session, range: TimeRange) -> usize {
        rows_about(&self.snapshot(state).0, range)
    }

    /// The same where no query is at hand, of what there is now.
    pub fn rows_about_now(&self, range: TimeRange) -> usize {
        rows_about(&(self.snapshots)(self.table), range)
    }

    /// What rows of one score there may be among the scores of production that may pass `filters`, by the snapshot that the query
    /// reads. [`Several::Versions`] where that would take too long to find out.
    pub async fn several(&self, state: &dyn Session, filters: &[Expr]) -> Several {
        // Outside of a query the scan takes a snapshot of its own, and of some traces there is little to choose from.
        let taken = state.config().get_extension::<QuerySnapshots>();
        let Some(taken) = taken.filter(|_| trace_filters::wanted(filters).is_none()) else {
            return Several::Versions;
        };
        let snapshot = taken.get(self.table, &self.snapshots);
        let tenant = match taken.scope() {
            Scope::Tenant(tenant) => Some(&**tenant),
            Scope::All => None,
        };
        // What was evaluated later stands in the place of what passes.
        let from = TimeRange { to: i128::MAX, ..TimeRange::of(filters, self.table.time_column()) };
        let files = snapshot.files.iter().filter(|file| may_hold(file, from));
        let files: Vec<_> = files.map(|file| (partitioned(snapshot.table, file), file.rows)).collect();
        if let Some(present) = self.times.forget_others(snapshot.files.iter().map(|file| &file.path)) {
            self.identities.forget_others(&present);
            self.distinct.forget_others(&present);
        }
        let sought = Sought { began: TimeRange::of(filters, "span_time"), tenant };
        let readers = readers(state, &snapshot);
        // What cannot be read is told by the scan.
        let single = self.identities.are_single(files.clone(), &snapshot.hot, sought, &readers).await;
        if !single.unwrap_or(false) {
            return Several::Versions;
        }
        let distinct = self.distinct.are_distinct(files, &snapshot.hot, sought.began, &readers).await;
        if distinct.unwrap_or(false) { Several::Single } else { Several::Repeats }
    }

    /// The files that may hold rows which pass `filters`.
    async fn files<'a>(
        &self,
        state: &dyn Session,
        snapshot: &'a TableSnapshot,
        filters: &[Expr],
        range: TimeRange,
    ) -> Result<Vec<&'a DataFile>> {
        let files: Vec<&DataFile> = snapshot.files.iter().filter(|file| may_hold(file, range)).collect();
        let Some(ids) = trace_filters::wanted(filters) else { return Ok(files) };
        self.trace_filters.forget_others(snapshot.files.iter().map(|file| &file.path));
        let opened = files.iter().map(|file| partitioned(snapshot.table, file)).collect();
        let may_hold = self.trace_filters.may_hold(opened, &ids, &readers(state, snapshot)).await?;
        Ok(files.into_iter().zip(may_hold).filter_map(|(file, may)| may.then_some(file)).collect())
    }

    fn projected(&self, projection: Option<&Vec<usize>>) -> Vec<&Shown> {
        match projection {
            Some(indices) => indices.iter().filter_map(|i| self.columns.get(*i)).collect(),
            None => self.columns.iter().collect(),
        }
    }

    /// The stored columns that `columns` need, as indices into the stored schema, each once.
    fn stored_indices(&self, columns: &[&Shown]) -> Result<Vec<usize>> {
        let stored = self.table.schema();
        let mut indices = Vec::with_capacity(columns.len());
        for name in columns.iter().flat_map(|c| c.needs()) {
            let index = stored.index_of(name).map_err(DataFusionError::from)?;
            if !indices.contains(&index) {
                indices.push(index);
            }
        }
        Ok(indices)
    }
}

impl LakeTable {
    /// What the files are asked for `tenant`'s rows: whose they are, and what of the filters can fail on no row.
    fn of_tenant(
        &self,
        tenant: &str,
        time: Option<Arc<dyn PhysicalExpr>>,
        filters: &[Expr],
    ) -> Result<Option<Arc<dyn PhysicalExpr>>> {
        let stored = self.table.schema();
        if stored.index_of(TENANT).is_err() {
            return Ok(None);
        }
        let mut all = tenant::is_theirs(&stored, tenant)?;
        for more in time.into_iter().chain(tenant::harmless(filters, &self.columns, &stored)) {
            all = Arc::new(BinaryExpr::new(all, Operator::And, more));
        }
        Ok(Some(all))
    }
}

impl fmt::Debug for LakeTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LakeTable").field("table", &self.table).finish_non_exhaustive()
    }
}

#[async_trait]
impl TableProvider for LakeTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// Every filter is used where it helps and checked again above the scan.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (mut snapshot, scope) = self.snapshot(state);
        let columns = self.projected(projection);
        let mut indices = self.stored_indices(&columns)?;
        let (kept, stored) = (indices.len(), self.table.schema());
        let range = TimeRange::of(filters, self.table.time_column());
        // With filters the limit counts rows after them, which the scan does not know.
        let limit = limit.filter(|_| filters.is_empty() && scope == Scope::All);
        let mut predicate = time_predicate(self.table, &stored, range)?;
        if let Scope::Tenant(tenant) = &scope {
            match stored.index_of(TENANT) {
                Ok(at) if indices.contains(&at) => {}
                Ok(at) => indices.push(at),
                Err(_) => snapshot = TableSnapshot { files: Arc::default(), hot: Vec::new(), ..snapshot },
            }
            predicate = self.of_tenant(tenant, predicate, filters)?;
        }
        let mut parts = Vec::with_capacity(2);
        let files = self.files(state, &snapshot, filters, range).await?;
        if !files.is_empty() {
            parts.push(scan_files(state, &snapshot, &files, &indices, predicate, limit)?);
        }
        if !snapshot.hot.is_empty() || parts.is_empty() {
            parts.push(scan_hot(&snapshot, &indices, limit)?);
        }
        let mut rows = if parts.len() == 1 { parts.remove(0) } else { UnionExec::try_new(parts)? };
        if let Scope::Tenant(tenant) = &scope
            && stored.index_of(TENANT).is_ok()
        {
            rows = tenant::only(rows, tenant, kept)?;
        }
        show(rows, &columns)
    }
}

fn rows_about(snapshot: &TableSnapshot, range: TimeRange) -> usize {
    let files = snapshot.files.iter().filter(|file| may_hold(file, range));
    let stored: u64 = files.map(|file| file.rows).sum();
    let hot: usize = snapshot.hot.iter().map(RecordBatch::num_rows).sum();
    usize::try_from(stored).unwrap_or(usize::MAX).saturating_add(hot)
}

fn may_hold(file: &DataFile, range: TimeRange) -> bool {
    match (file.min_time, file.max_time) {
        (Some(min), Some(max)) => range.touches_micros(min, max),
        _ => true,
    }
}

/// Readers of a table's files that share the footers which were read already.
fn readers(state: &dyn Session, snapshot: &TableSnapshot) -> Readers {
    let footers = state.runtime_env().cache_manager.get_file_metadata_cache();
    Readers::new(snapshot.store.clone(), footers)
}

fn scan_files(
    state: &dyn Session,
    snapshot: &TableSnapshot,
    files: &[&DataFile],
    indices: &[usize],
    predicate: Option<Arc<dyn PhysicalExpr>>,
    limit: Option<usize>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let url = PrivateStores::url(snapshot.table)?;
    state.runtime_env().register_object_store(url.as_ref(), snapshot.store.clone());
    let schema = snapshot.table.schema();
    let mut source = ParquetSource::new(schema.clone())
        .with_table_parquet_options(state.default_table_options().parquet)
        .with_parquet_file_reader_factory(Arc::new(readers(state, snapshot)));
    if let Some(predicate) = predicate {
        source = source.with_predicate(predicate);
    }
    let rows = files.iter().map(|f| usize::try_from(f.rows).unwrap_or(usize::MAX)).sum();
    let mut statistics = Statistics::new_unknown(&schema);
    statistics.num_rows = Precision::Exact(rows);
    let group = FileGroup::new(files.iter().map(|f| partitioned(snapshot.table, f)).collect());
    let config = FileScanConfigBuilder::new(url, Arc::new(source))
        .with_file_groups(group.split_files(state.config().target_partitions()))
        .with_statistics(statistics)
        .with_limit(limit)
        .with_projection_indices(Some(indices.to_vec()))?
        .build();
    Ok(DataSourceExec::from_data_source(config))
}

fn partitioned(table: Table, file: &DataFile) -> PartitionedFile {
    // `PartitionedFile::new` would percent-encode the path a second time.
    let mut out = PartitionedFile::new(String::new(), file.bytes);
    out.object_meta.location = file.path.clone();
    // Cached footers are found by path, size and this time. Tables may use the same paths in stores of their own, so the
    // time stands for the table and the number of rows.
    let seconds = (table as i64) << 40 | i64::try_from(file.rows).unwrap_or_default().min((1 << 40) - 1);
    out.object_meta.last_modified = DateTime::from_timestamp(seconds, 0).unwrap_or_default();
    out
}

/// The time range in terms of the stored nanoseconds, whose statistics are exact; other tables store what SQL shows, and
/// DataFusion pushes their filters down itself.
fn time_predicate(
    table: Table,
    schema: &SchemaRef,
    range: TimeRange,
) -> Result<Option<Arc<dyn PhysicalExpr>>> {
    if table != Table::Spans {
        return Ok(None);
    }
    let index = schema.index_of(START_NS).map_err(DataFusionError::from)?;
    let compare = |op: Operator, ns: i64| -> Arc<dyn PhysicalExpr> {
        Arc::new(BinaryExpr::new(Arc::new(Column::new(START_NS, index)), op, lit(ns)))
    };
    let (from, to) = range.ends_ns();
    let from = from.map(|ns| compare(Operator::GtEq, ns));
    let to = to.map(|ns| compare(Operator::LtEq, ns));
    Ok(match (from, to) {
        (Some(from), Some(to)) => Some(Arc::new(BinaryExpr::new(from, Operator::And, to))),
        (one, other) => one.or(other),
    })
}

fn scan_hot(
    snapshot: &TableSnapshot,
    indices: &[usize],
    limit: Option<usize>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let slices: Vec<RecordBatch> = snapshot.hot.iter().flat_map(slices).collect();
    let source = MemorySourceConfig::try_new(&[slices], snapshot.table.schema(), Some(indices.to_vec()))?
        .with_limit(limit);
    Ok(DataSourceExec::from_data_source(source))
}

fn slices(batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
    let starts = (0..batch.num_rows()).step_by(HOT_SLICE);
    starts.map(|at| batch.slice(at, HOT_SLICE.min(batch.num_rows() - at)))
}

/// Brings stored columns to the shown ones.
fn show(stored: Arc<dyn ExecutionPlan>, columns: &[&Shown]) -> Result<Arc<dyn ExecutionPlan>> {
    if columns.iter().all(|c| c.from == From::Stored) {
        return Ok(stored);
    }
    let input = stored.schema();
    let exprs = columns
        .iter()
        .map(|c| Ok((c.expr(&input)?, c.name.to_owned())))
        .collect::<Result<Vec<(Arc<dyn PhysicalExpr>, String)>>>()?;
    Ok(Arc::new(ProjectionExec::try_new(exprs, stored)?))
}
