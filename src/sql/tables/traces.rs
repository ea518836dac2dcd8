//! `traces`: one row a trace, and what a time filter on it leaves unread.
//!
//! # What may be asked of the files
//!
//! A row is made of all spans of its trace. A filter on its times may not be asked of the spans: of a trace that began
//! before the range only the later spans would be left, and they would seem to begin in it. But a trace whose first start
//! lies in a range has a span that began there, and one whose last end lies in a range has a span that ended there. So a
//! first pass reads the ids of the traces that have such a span, of the files of that time alone, and the rows are made
//! of all spans of these traces. This leaves out no trace that passes and no span of one; traces that only reach into
//! the range are made as well, and the filter, which is asked again above, drops them.
//!
//! The second pass is a semi join: what it has learned of the ids goes down to the files, so of those of other times the
//! ids alone are read, and other columns where a trace matches. Where the first pass would read more than half of the
//! rows, it is left out.
//!
//! The view is put into a plan by a rule of the optimizer, after the filters have reached it and before the next pass, so
//! that the rest of a query (its columns, a filter on `trace_id`) goes through it as through any view.

use super::lake_table::LakeTable;
use super::time_range::TimeRange;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::TableReference;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Constraint, Constraints};
use datafusion::datasource::{TableType, provider_as_source, source_as_provider};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    Expr, JoinType, LogicalPlan, LogicalPlanBuilder, TableProviderFilterPushDown, TableScan, col, lit,
};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::scalar::ScalarValue;
use std::fmt;
use std::sync::Arc;

/// The view, as SQL.
pub const TRACES: &str = include_str!("../views/traces.sql");

/// The traces that have a span in the time that is asked for.
const IN_RANGE: &str = "in_range";

/// The columns that a time filter may be about, by the same names in `spans`.
const TIMES: [&str; 2] = ["start_time", "end_time"];

/// The view.
pub struct Traces {
    spans: Arc<LakeTable>,
    view: LogicalPlan,
    key: Constraints,
}

impl Traces {
    /// Over the table `spans`; `view` is the checked plan of [`TRACES`].
    ///
    /// # Errors
    /// A plan error if the view has no tenant or no trace id.
    pub fn new(spans: Arc<LakeTable>, view: LogicalPlan) -> Result<Self> {
        let schema = view.schema().as_arrow();
        let key = [schema.index_of("tenant")?, schema.index_of("trace_id")?];
        let key = Constraints::new_unverified(vec![Constraint::PrimaryKey(key.to_vec())]);
        Ok(Self { spans, view, key })
    }

    /// The rows of the view that may pass `filters`, under the name `name`.
    fn rows(&self, filters: &[Expr], name: TableReference) -> Result<LogicalPlanBuilder> {
        let view = match self.witness(filters) {
            Some(witness) => self.of_traces_with(&witness)?,
            None => self.view.clone(),
        };
        LogicalPlanBuilder::from(view).alias(name)
    }

    /// What at least one span of a trace fulfils if the trace passes `filters`; `None` if that would leave out little.
    fn witness(&self, filters: &[Expr]) -> Option<Expr> {
        let ranges = TIMES.map(|column| (column, TimeRange::of(filters, column)));
        let restricted = ranges.into_iter().filter(|(_, range)| *range != TimeRange::ALL);
        // Spans end soon after they begin: how many ended in a range is guessed by how many began there.
        let (rows, column, range) = restricted
            .map(|(column, range)| (self.spans.rows_about_now(range), column, range))
            .min_by_key(|(rows, ..)| *rows)?;
        let all = self.spans.rows_about_now(TimeRange::ALL);
        (rows <= all / 2).then(|| within(column, range)).flatten()
    }

    /// The view over all spans of the traces that have a span which fulfils `witness`.
    fn of_traces_with(&self, witness: &Expr) -> Result<LogicalPlan> {
        let spans = LogicalPlanBuilder::scan("spans", provider_as_source(self.spans.clone()), None)?;
        let ids = spans.filter(witness.clone())?.project([col("trace_id")])?.distinct()?;
        let ids = ids.alias(IN_RANGE)?.build()?;
        let only = |node: LogicalPlan| -> Result<Transformed<LogicalPlan>> {
            let LogicalPlan::TableScan(_) = &node else { return Ok(Transformed::no(node)) };
            let keys = (vec![format!("{IN_RANGE}.trace_id")], vec!["spans.trace_id".to_owned()]);
            let joined = LogicalPlanBuilder::from(ids.clone()).join(node, JoinType::RightSemi, keys, None)?;
            Ok(Transformed::yes(joined.build()?))
        };
        self.view.clone().transform_up(only).data()
    }
}

/// `column` lies in `range`; `None` if that restricts nothing.
fn within(column: &str, range: TimeRange) -> Option<Expr> {
    let at = |ns| lit(ScalarValue::TimestampNanosecond(Some(ns), Some("UTC".into())));
    let (from, to) = range.ends_ns();
    let from = from.map(|ns| col(column).gt_eq(at(ns)));
    let to = to.map(|ns| col(column).lt_eq(at(ns)));
    from.into_iter().chain(to).reduce(Expr::and)
}

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Traces")
    }
}

#[async_trait]
impl TableProvider for Traces {
    fn schema(&self) -> SchemaRef {
        self.view.schema().inner().clone()
    }

    fn constraints(&self) -> Option<&Constraints> {
        Some(&self.key)
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    fn get_table_definition(&self) -> Option<&str> {
        Some(TRACES)
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    /// For plans that the optimizer has not seen; it leaves none of the view in a plan.
    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut plan = self.rows(filters, TableReference::bare("traces"))?;
        if let Some(indices) = projection {
            plan = plan.select(indices.iter().copied())?;
        }
        state.create_physical_plan(&plan.build()?).await
    }
}

/// Puts the view into the plans of queries that name it.
#[derive(Debug)]
pub struct ExpandTraces;

impl OptimizerRule for ExpandTraces {
    fn name(&self) -> &str {
        "expand_traces"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>, DataFusionError> {
        let LogicalPlan::TableScan(scan) = &plan else { return Ok(Transformed::no(plan)) };
        match expanded(scan)? {
            Some(rows) => Ok(Transformed::yes(rows)),
            None => Ok(Transformed::no(plan)),
        }
    }
}

/// What `scan` stands for if it is one of the view.
fn expanded(scan: &TableScan) -> Result<Option<LogicalPlan>> {
    // Other sources than tables are none of ours.
    let Ok(table) = source_as_provider(&scan.source) else { return Ok(None) };
    let Some(traces) = table.downcast_ref::<Traces>() else { return Ok(None) };
    let rows = traces.rows(&scan.filters, scan.table_name.clone())?;
    let columns = scan.projected_schema.columns().into_iter().map(Expr::Column);
    Ok(Some(rows.project(columns)?.build()?))
}
