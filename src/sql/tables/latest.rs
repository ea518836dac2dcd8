//! `scores_latest`: the newest version of each score of production.
//!
//! # What may be asked of the files
//!
//! The newest version must win whatever a query asks, so a filter goes below the choice only if it takes all versions of a
//! score or none, or leaves at least the newest:
//!
//! * What a score is about and who gave it ([`KEY`]): the versions of a score have it in common.
//! * `span_time`, both ends: it is that of the item, and a new evaluation of the item keeps it.
//! * `evaluated_at`, the lower end: a newer version was evaluated no earlier than an older one. If the newest passes, it is
//!   there and wins; if it does not, no older one does. The upper end would let an older version win; it stays above.
//!
//! Everything else stays above, such as `passed` and `status`, in which versions differ. All filters are checked again
//! above the choice. Rows with one `score_id` that differ in `span_id` or `span_time` are repeats (a trace that two servers
//! judged by halves): one of them is shown, and these filters may choose which.

use super::lake_table::LakeTable;
use super::newest::{KEY, SCORES, newest_of};
use super::time_range::TimeRange;
use arrow::datatypes::{Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::TreeNode;
use datafusion::datasource::{TableType, provider_as_source};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder, TableProviderFilterPushDown, col, lit};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::scalar::ScalarValue;
use std::fmt;
use std::sync::Arc;

/// A span is judged within about this time, nanoseconds.
const SOON: i128 = 3_600 * 1_000_000_000;

/// The view.
pub struct LatestScores {
    scores: Arc<LakeTable>,
}

impl LatestScores {
    /// Over the table `scores`.
    pub fn new(scores: Arc<LakeTable>) -> Self {
        Self { scores }
    }
}

impl fmt::Debug for LatestScores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LatestScores")
    }
}

#[async_trait]
impl TableProvider for LatestScores {
    fn schema(&self) -> SchemaRef {
        self.scores.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    fn get_table_definition(&self) -> Option<&str> {
        Some(include_str!("../views/scores_latest.sql"))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let production = below(filters).into_iter().fold(col("source").eq(lit("rule")), Expr::and);
        let scores = LogicalPlanBuilder::scan("scores", provider_as_source(self.scores.clone()), None)?;
        let about = self.scores.rows_about(state, evaluated_about(filters));
        let asked = asked(&self.schema(), projection);
        newest_of(state, scores.filter(production)?, &SCORES, asked, about).await
    }
}

/// The names of the columns that a scan is asked for.
pub fn asked(schema: &Schema, projection: Option<&Vec<usize>>) -> Vec<String> {
    match projection {
        Some(indices) => indices.iter().map(|at| schema.field(*at).name().clone()).collect(),
        None => schema.fields().iter().map(|field| field.name().clone()).collect(),
    }
}

/// What of `filters` may go below the choice of the newest version.
fn below(filters: &[Expr]) -> Vec<Expr> {
    let mut below: Vec<Expr> = filters.iter().filter(|filter| is_of(filter, KEY)).cloned().collect();
    let (from, to) = TimeRange::of(filters, "span_time").ends_micros();
    below.extend(from.map(|at| col("span_time").gt_eq(micros(at))));
    below.extend(to.map(|at| col("span_time").lt_eq(micros(at))));
    let (from, _) = TimeRange::of(filters, "evaluated_at").ends_micros();
    below.extend(from.map(|at| col("evaluated_at").gt_eq(micros(at))));
    below
}

/// When the scores that pass `filters` were evaluated, by experience: soon after their spans began. Only for guesses, by
/// which a join decides what it reads first.
fn evaluated_about(filters: &[Expr]) -> TimeRange {
    let began = TimeRange::of(filters, "span_time");
    let soon = TimeRange { from: began.from, to: began.to.saturating_add(SOON) };
    TimeRange::of(filters, "evaluated_at").and(soon)
}

fn micros(at: i64) -> Expr {
    lit(ScalarValue::TimestampMicrosecond(Some(at), Some("UTC".into())))
}

/// Whether `filter` says the same of all rows that have the columns `key` in common, by these and constants alone.
pub fn is_of(filter: &Expr, key: &[&str]) -> bool {
    let queries = |expr: &Expr| {
        matches!(
            expr,
            Expr::ScalarSubquery(_) | Expr::InSubquery(_) | Expr::Exists(_) | Expr::OuterReferenceColumn(..)
        )
    };
    let columns = filter.column_refs();
    !columns.is_empty()
        && columns.iter().all(|column| key.contains(&column.name.as_str()))
        && !filter.exists(|expr| Ok(queries(expr))).unwrap_or(true)
}
