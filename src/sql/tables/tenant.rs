//! One tenant's rows: what a query with a tenant's token sees of a table.
//!
//! The rows are cut out inside of the scan, below everything that a query can say. Nothing of the query is moved below the
//! cut except comparisons that cannot fail: `CAST(answer AS INT) = 1`, evaluated on another tenant's row, would tell that
//! row in its error. So does what a join learns of its smaller side while it runs, where it is about plain columns.

use super::shown::{From, Shown};
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{
    BinaryExpr as PhysicalBinary, Column, DynamicFilterPhysicalExpr, Literal, lit,
};
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::filter_pushdown::{
    ChildFilterDescription, FilterDescription, FilterPushdownPhase,
};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use datafusion::scalar::ScalarValue;
use std::fmt;
use std::sync::Arc;

/// The column that says whose a row is. A table without it has no rows for a tenant.
pub const TENANT: &str = "tenant";

/// `tenant = '…'` over `schema`.
///
/// # Errors
/// A plan error if `schema` has no such column.
pub fn is_theirs(schema: &Schema, tenant: &str) -> Result<Arc<dyn PhysicalExpr>> {
    let index = schema.index_of(TENANT).map_err(DataFusionError::from)?;
    Ok(Arc::new(PhysicalBinary::new(Arc::new(Column::new(TENANT, index)), Operator::Eq, lit(tenant))))
}

/// Of the filters of a query those that compare a stored column with a value of its own type, over `schema`: they fail on
/// no row, so they may be asked about every row.
pub fn harmless(filters: &[Expr], columns: &[Shown], schema: &Schema) -> Option<Arc<dyn PhysicalExpr>> {
    let all = filters.iter().filter_map(|filter| comparison(filter, columns, schema));
    all.reduce(|a, b| Arc::new(PhysicalBinary::new(a, Operator::And, b)))
}

fn comparison(filter: &Expr, columns: &[Shown], schema: &Schema) -> Option<Arc<dyn PhysicalExpr>> {
    use Operator::{Eq, Gt, GtEq, Lt, LtEq};
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = filter else { return None };
    let (column, op, value) = match (left.as_ref(), right.as_ref()) {
        (Expr::Column(column), Expr::Literal(value, _)) => (column, *op, value),
        (Expr::Literal(value, _), Expr::Column(column)) => (column, op.swap()?, value),
        _ => return None,
    };
    let shown = columns.iter().find(|c| c.name == column.name && c.from == From::Stored)?;
    let index = schema.index_of(shown.name).ok()?;
    let fits = value.data_type() == *schema.field(index).data_type() && !value.is_null();
    let plain = !value.data_type().is_nested() && matches!(op, Eq | Gt | GtEq | Lt | LtEq);
    if !fits || !plain {
        return None;
    }
    let value: ScalarValue = value.clone();
    Some(Arc::new(PhysicalBinary::new(
        Arc::new(Column::new(shown.name, index)),
        op,
        Arc::new(Literal::new(value)),
    )))
}

/// The rows of `input` that are the tenant's, with its first `keep` columns.
///
/// # Errors
/// A plan error if `input` has no tenant column.
pub fn only(input: Arc<dyn ExecutionPlan>, tenant: &str, keep: usize) -> Result<Arc<dyn ExecutionPlan>> {
    let theirs = is_theirs(&input.schema(), tenant)?;
    let cut: Arc<dyn ExecutionPlan> = Arc::new(FilterExec::try_new(theirs, input)?);
    let schema = cut.schema();
    let exprs = schema.fields().iter().take(keep).enumerate().map(|(at, field)| {
        let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(field.name(), at));
        (column, field.name().clone())
    });
    let kept: Arc<dyn ExecutionPlan> = if keep < schema.fields().len() {
        Arc::new(ProjectionExec::try_new(exprs.collect::<Vec<_>>(), cut)?)
    } else {
        cut
    };
    Ok(Arc::new(Wall { inner: kept }))
}

/// Keeps the optimizer from moving filters and projections of the query below it: to it this is a node of which it knows
/// nothing. Its plan and its numbers are those of no other tenant's rows.
///
/// What nodes above learn while they run (the keys of a join's smaller side) does go below it, because that is how a join
/// reads of the other side only what matches. It is learned from this tenant's rows.
#[derive(Debug)]
struct Wall {
    inner: Arc<dyn ExecutionPlan>,
}

impl DisplayAs for Wall {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TenantExec")
    }
}

impl ExecutionPlan for Wall {
    fn name(&self) -> &str {
        "TenantExec"
    }

    fn schema(&self) -> SchemaRef {
        self.inner.schema()
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.inner.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.inner]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let inner = children
            .pop()
            .ok_or_else(|| DataFusionError::Internal("a tenant's rows have one source".to_owned()))?;
        Ok(Arc::new(Self { inner }))
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn gather_filters_for_pushdown(
        &self,
        phase: FilterPushdownPhase,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        let child = if phase == FilterPushdownPhase::Post && filters.iter().all(is_learned) {
            ChildFilterDescription::from_child(&filters, &self.inner)?
        } else {
            ChildFilterDescription::all_unsupported(&filters)
        };
        Ok(FilterDescription::new().with_child(child))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.inner.execute(partition, context)
    }
}

/// Whether `filter` compares plain columns with what a node learns while it runs: such a comparison fails on no row.
fn is_learned(filter: &Arc<dyn PhysicalExpr>) -> bool {
    let learned = filter.downcast_ref::<DynamicFilterPhysicalExpr>();
    learned.is_some_and(|learned| {
        learned.children().iter().all(|about| about.downcast_ref::<Column>().is_some())
    })
}
