//! Views: queries that everybody would write, written once.

use crate::schema::columns::Table;
use datafusion::datasource::ViewTable;
use datafusion::error::{DataFusionError, Result};
use datafusion::prelude::SessionContext;
use futures::FutureExt;
use std::sync::Arc;

/// Registers `scores_latest`, `traces` and `quality_hourly`.
///
/// # Errors
/// A plan error if a view names a column that its table lacks.
pub fn register(context: &SessionContext) -> Result<()> {
    let columns: Vec<&str> = Table::Scores.columns().iter().map(|c| c.name).collect();
    let latest = include_str!("views/scores_latest.sql").replace("{columns}", &columns.join(", "));
    // In this order: the last reads the first.
    add(context, "scores_latest", &latest)?;
    add(context, "traces", include_str!("views/traces.sql"))?;
    add(context, "quality_hourly", include_str!("views/quality_hourly.sql"))
}

fn add(context: &SessionContext, name: &str, sql: &str) -> Result<()> {
    let state = context.state();
    // Planning looks tables up in memory, so it never has to wait.
    let plan = state.create_logical_plan(sql).now_or_never().ok_or_else(|| {
        DataFusionError::Internal(format!("planning the view {name} had to wait for something"))
    })??;
    context.register_table(name, Arc::new(ViewTable::new(plan, Some(sql.to_owned()))))?;
    Ok(())
}
