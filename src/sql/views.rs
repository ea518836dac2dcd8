//! Views: queries that everybody would write, written once.

use super::functions::with_bounded_sums;
use super::tables::{ExpandTraces, LakeTable, TRACES, Traces};
use datafusion::datasource::ViewTable;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionContext;
use futures::FutureExt;
use std::sync::Arc;

/// Stands in the texts of views for the least effective sample size of an estimate.
const LEAST: &str = "$min_n_eff";

/// Registers `traces` over `spans`, and `quality_hourly`, `quality_by_model`, `evaluator_quality`, `evaluation_hourly`,
/// `evaluation_outcomes` and `labelled_scores`, over the tables and `scores_latest`. Estimates with an effective sample size
/// below `min_n_eff` are NULL in them.
///
/// # Errors
/// A plan error if a view names a column that its table lacks.
pub fn register(context: &SessionContext, spans: Arc<LakeTable>, min_n_eff: f64) -> Result<()> {
    let state = context.state();
    // It is put into plans that are checked already, so it is checked here.
    let checked = state.analyzer().execute_and_check(
        planned(context, "traces", TRACES)?,
        state.config_options(),
        |_, _| {},
    )?;
    context.register_table("traces", Arc::new(Traces::new(spans, with_bounded_sums(checked)?)?))?;
    context.add_optimizer_rule(Arc::new(ExpandTraces));
    let of_estimates = |name, sql: &str| add(context, name, &sql.replace(LEAST, &format!("{min_n_eff:?}")));
    of_estimates("quality_hourly", include_str!("views/quality_hourly.sql"))?;
    of_estimates("quality_by_model", include_str!("views/quality_by_model.sql"))?;
    of_estimates("evaluator_quality", include_str!("views/evaluator_quality.sql"))?;
    add(context, "evaluation_hourly", include_str!("views/evaluation_hourly.sql"))?;
    add(context, "evaluation_outcomes", include_str!("views/evaluation_outcomes.sql"))?;
    add(context, "labelled_scores", include_str!("views/labelled_scores.sql"))
}

fn add(context: &SessionContext, name: &str, sql: &str) -> Result<()> {
    let plan = planned(context, name, sql)?;
    context.register_table(name, Arc::new(ViewTable::new(plan, Some(sql.to_owned()))))?;
    Ok(())
}

fn planned(context: &SessionContext, name: &str, sql: &str) -> Result<LogicalPlan> {
    let state = context.state();
    // Planning looks tables up in memory, so it never has to wait.
    state.create_logical_plan(sql).now_or_never().ok_or_else(|| {
        DataFusionError::Internal(format!("planning the view {name} had to wait for something"))
    })?
}
