//! The loop that learns what items cost, for budgets in money.

use crate::sample::{COSTS, Prices, Rule};
use crate::sql::Sql;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often the scores are asked.
const EVERY: Duration = Duration::from_mins(1);

/// Whether any rule has a budget in money.
pub(super) fn are_needed(rules: &[Rule]) -> bool {
    rules.iter().any(|rule| rule.config.budget.is_in_money())
}

/// Asks once. What cannot be asked is told, and what was known before goes on to hold.
pub(super) async fn ask(sql: &Sql, prices: &Prices) {
    match sql.collect(COSTS).await {
        Ok((_, rows)) => prices.learn(&rows),
        Err(error) => {
            tracing::warn!(%error, "what items cost could not be learned; budgets keep the prices of before")
        }
    }
}

/// Asks again and again until `stop`.
pub(super) async fn learn(sql: Arc<Sql>, prices: Prices, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(EVERY) => ask(&sql, &prices).await,
        }
    }
}
