//! Makes plans stop when nobody waits for them.
//!
//! A task can only be aborted where it yields. DataFusion's sources yield, but a join can turn a handful of their batches
//! into years of work: a cross join whose rows are all filtered out again never returns to the runtime. Every node that can
//! multiply rows gets a yield point above it, and every join filter looks at a flag, as functions on regular expressions do.

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, FieldRef, Schema};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::config::{ConfigEntry, ConfigExtension, ExtensionOptions};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::unnest::UnnestExec;
use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a query should stop.
#[derive(Debug, Clone, Default)]
pub struct Flag(Arc<AtomicBool>);

impl Flag {
    /// Asks the query to stop.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Goes on while the query may.
    ///
    /// # Errors
    /// An error once [`Flag::set`] was called.
    pub fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) {
            return Err(DataFusionError::Execution("the query was cancelled".to_owned()));
        }
        Ok(())
    }
}

/// Functions find the flag among the options of their query.
impl ConfigExtension for Flag {
    const PREFIX: &'static str = "groundline_stop";
}

impl ExtensionOptions for Flag {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(self.clone())
    }

    fn set(&mut self, key: &str, _: &str) -> Result<()> {
        Err(DataFusionError::Configuration(format!("{key} is no setting")))
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        vec![]
    }
}

/// The plan with places where it can stop; its rows stay the same.
///
/// # Errors
/// Those of rebuilding a join, none of which are expected.
pub fn stoppable(plan: Arc<dyn ExecutionPlan>, flag: &Flag) -> Result<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|node| {
        if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
            return Ok(Transformed::yes(yielding(nested_loop(join, flag)?)));
        }
        if let Some(join) = node.downcast_ref::<HashJoinExec>() {
            return Ok(Transformed::yes(yielding(hash(join, flag)?)));
        }
        if node.is::<CrossJoinExec>()
            || node.is::<SortMergeJoinExec>()
            || node.is::<UnnestExec>()
            || node.is::<RecursiveQueryExec>()
        {
            return Ok(Transformed::yes(yielding(node)));
        }
        Ok(Transformed::no(node))
    })
    .data()
}

fn yielding(node: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    Arc::new(CooperativeExec::new(node))
}

fn nested_loop(join: &NestedLoopJoinExec, flag: &Flag) -> Result<Arc<dyn ExecutionPlan>> {
    let projection = join.projection().as_ref().map(|p| p.to_vec());
    Ok(Arc::new(NestedLoopJoinExec::try_new(
        join.left().clone(),
        join.right().clone(),
        join.filter().map(|f| checked(f, flag)),
        join.join_type(),
        projection,
    )?))
}

fn hash(join: &HashJoinExec, flag: &Flag) -> Result<Arc<dyn ExecutionPlan>> {
    join.builder().with_filter(join.filter().map(|f| checked(f, flag))).build_exec()
}

fn checked(filter: &JoinFilter, flag: &Flag) -> JoinFilter {
    let expr = Arc::new(Checked { inner: filter.expression().clone(), flag: flag.clone() });
    JoinFilter::new(expr, filter.column_indices().to_vec(), filter.schema().clone())
}

/// An expression that fails once its flag is set.
#[derive(Debug)]
struct Checked {
    inner: Arc<dyn PhysicalExpr>,
    flag: Flag,
}

impl PartialEq for Checked {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.flag.0, &other.flag.0) && self.inner.as_ref() == other.inner.as_ref()
    }
}

impl Eq for Checked {}

impl Hash for Checked {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.hash(state);
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl PhysicalExpr for Checked {
    fn data_type(&self, input_schema: &Schema) -> Result<DataType> {
        self.inner.data_type(input_schema)
    }

    fn nullable(&self, input_schema: &Schema) -> Result<bool> {
        self.inner.nullable(input_schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        self.flag.check()?;
        self.inner.evaluate(batch)
    }

    fn return_field(&self, input_schema: &Schema) -> Result<FieldRef> {
        self.inner.return_field(input_schema)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.inner]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let inner = children
            .pop()
            .ok_or_else(|| DataFusionError::Internal("a checked expression has one child".to_owned()))?;
        Ok(Arc::new(Self { inner, flag: self.flag.clone() }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt_sql(f)
    }
}
