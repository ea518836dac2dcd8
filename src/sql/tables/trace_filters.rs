//! Which files may hold a trace: the bloom filters of their trace ids, kept in memory.
//!
//! DataFusion looks into the filters too, but of every file, in every query, from the disk, after it has opened the file.
//! Here a file that does not hold the trace is not opened at all.

use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::ParquetFileReaderFactory;
use datafusion::error::Result;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use datafusion::parquet::arrow::ParquetRecordBatchStreamBuilder;
use datafusion::parquet::arrow::async_reader::AsyncFileReader;
use datafusion::parquet::bloom_filter::Sbbf;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The column that the filters are about.
pub const TRACE_ID: &str = "trace_id";

/// Most bytes of filters that are kept; a trace takes about one.
const MAX_BYTES: usize = 64 << 20;

/// Bytes of a block of a filter.
const BLOCK: usize = 32;

/// Files whose filters are read at once.
const AT_ONCE: usize = 8;

/// Most ids that are looked up one by one; a longer list is left to the scan.
const MAX_IDS: usize = 1_000;

/// The filters of one file, one a row group; `None` for a row group without one.
type FileFilters = Arc<Vec<Option<Sbbf>>>;

/// The filters of a table's files.
#[derive(Default)]
pub struct TraceFilters {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    files: HashMap<Path, FileFilters>,
    bytes: usize,
}

impl TraceFilters {
    /// For each of `files` whether it may hold one of `ids`. Reads the filters that are not in memory.
    ///
    /// # Errors
    /// Those of the object store and of damaged files.
    pub async fn may_hold(
        &self,
        files: Vec<PartitionedFile>,
        ids: &BTreeSet<String>,
        readers: &dyn ParquetFileReaderFactory,
    ) -> Result<Vec<bool>> {
        let checked = futures::stream::iter(files.into_iter().map(|file| async move {
            let filters = self.of(&file, readers).await?;
            Ok(filters.iter().any(|group| match group {
                Some(filter) => ids.iter().any(|id| filter.check(id.as_str())),
                None => true,
            }))
        }));
        checked.buffered(AT_ONCE).try_collect().await
    }

    async fn of(
        &self,
        file: &PartitionedFile,
        readers: &dyn ParquetFileReaderFactory,
    ) -> Result<FileFilters> {
        let path = &file.object_meta.location;
        if let Some(filters) = self.kept.lock().files.get(path) {
            return Ok(filters.clone());
        }
        let metrics = ExecutionPlanMetricsSet::new();
        let reader: Box<dyn AsyncFileReader> = readers.create_reader(0, file.clone(), None, &metrics)?;
        let mut builder = ParquetRecordBatchStreamBuilder::new(reader).await?;
        let schema = builder.parquet_schema();
        let column = schema.columns().iter().position(|c| c.path().parts() == [TRACE_ID]);
        let mut filters = Vec::new();
        for group in 0..builder.metadata().num_row_groups() {
            filters.push(match column {
                Some(column) => builder.get_row_group_column_bloom_filter(group, column).await?,
                None => None,
            });
        }
        let filters = Arc::new(filters);
        self.kept.lock().keep(path, &filters);
        Ok(filters)
    }

    /// Forgets the files that are not in `present`, once there are far more than those.
    pub fn forget_others<'a>(&self, present: impl ExactSizeIterator<Item = &'a Path>) {
        let mut kept = self.kept.lock();
        if kept.files.len() <= 2 * present.len() {
            return;
        }
        let present: BTreeSet<&Path> = present.collect();
        kept.files.retain(|path, _| present.contains(path));
        kept.bytes = kept.files.values().map(bytes_of).sum();
    }
}

impl Kept {
    /// Keeps `filters` as long as there is room. Beyond it they are read again by the next query: a lake of more traces
    /// than that has other worries than one look-up.
    fn keep(&mut self, path: &Path, filters: &FileFilters) {
        let bytes = bytes_of(filters);
        if self.bytes + bytes <= MAX_BYTES && self.files.insert(path.clone(), filters.clone()).is_none() {
            self.bytes += bytes;
        }
    }
}

fn bytes_of(filters: &FileFilters) -> usize {
    filters.iter().flatten().map(|filter| filter.num_blocks() * BLOCK).sum()
}

/// The trace ids of which a row must have one to pass `filters`; `None` if they do not say, or name very many.
pub fn wanted(filters: &[Expr]) -> Option<BTreeSet<String>> {
    let ids = filters.iter().filter_map(of_expr).reduce(|a, b| &a & &b)?;
    (ids.len() <= MAX_IDS).then_some(ids)
}

fn of_expr(expr: &Expr) -> Option<BTreeSet<String>> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            match (of_expr(left), of_expr(right)) {
                (Some(a), Some(b)) => Some(&a & &b),
                (one, other) => one.or(other),
            }
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            Some(&of_expr(left)? | &of_expr(right)?)
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
            let id = match (is_trace_id(left), is_trace_id(right)) {
                (true, false) => literal(right)?,
                (false, true) => literal(left)?,
                _ => return None,
            };
            Some(BTreeSet::from([id]))
        }
        Expr::InList(InList { expr, list, negated: false }) if is_trace_id(expr) => {
            list.iter().map(literal).collect()
        }
        _ => None,
    }
}

fn is_trace_id(expr: &Expr) -> bool {
    matches!(expr, Expr::Column(column) if column.name == TRACE_ID)
}

fn literal(expr: &Expr) -> Option<String> {
    let Expr::Literal(value, _) = expr else { return None };
    value.try_as_str().flatten().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::{col, lit};

    fn ids(filter: Expr) -> Option<Vec<String>> {
        wanted(&[filter]).map(|ids| ids.into_iter().collect())
    }

    fn some(ids: &[&str]) -> Option<Vec<String>> {
        Some(ids.iter().map(|id| (*id).to_owned()).collect())
    }

    #[test]
    fn equalities_are_understood() {
        assert_eq!(ids(col(TRACE_ID).eq(lit("a"))), some(&["a"]));
        assert_eq!(ids(lit("a").eq(col(TRACE_ID))), some(&["a"]));
        assert_eq!(ids(col(TRACE_ID).in_list(vec![lit("b"), lit("a")], false)), some(&["a", "b"]));
        assert_eq!(ids(col(TRACE_ID).eq(lit("a")).or(col(TRACE_ID).eq(lit("b")))), some(&["a", "b"]));
        assert_eq!(ids(col(TRACE_ID).eq(lit("a")).and(col("name").eq(lit("b")))), some(&["a"]));
        assert_eq!(ids(col(TRACE_ID).eq(lit("a")).and(col(TRACE_ID).eq(lit("b")))), some(&[]));
    }

    #[test]
    fn what_another_row_may_pass_restricts_nothing() {
        assert_eq!(ids(col(TRACE_ID).not_eq(lit("a"))), None);
        assert_eq!(ids(col(TRACE_ID).in_list(vec![lit("a")], true)), None);
        assert_eq!(ids(col(TRACE_ID).eq(lit("a")).or(col("name").eq(lit("b")))), None);
        assert_eq!(ids(col(TRACE_ID).eq(col("span_id"))), None);
        assert_eq!(ids(col("span_id").eq(lit("a"))), None);
        let many = (0..=MAX_IDS).map(|id| lit(id.to_string())).collect();
        assert_eq!(ids(col(TRACE_ID).in_list(many, false)), None);
    }
}
