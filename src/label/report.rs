//! What is labelled, how far people agree, and the labels as a file.

use super::agreement;
use super::ask::{rows, text};
use super::csv::COLUMNS;
use super::draw::is_sent;
use super::fault::LabelError;
use super::review::Review;
use super::verdict::WITHDRAWN;
use crate::net::Scope;
use crate::sql::{Format, SqlError, Work, encode};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Most metrics that are listed.
const MAX_METRICS: usize = 500;

#[derive(Deserialize)]
struct Count {
    metric: String,
    n: u64,
}

/// Every metric that has verdicts or drawn items, with what stands where for `reviewer`.
///
/// # Errors
/// [`LabelError`].
pub async fn list(review: &Review, tenant: &str, reviewer: &str) -> Result<Value, LabelError> {
    let config = review.config();
    let seconds = config.window.as_secs();
    let scored = format!(
        "SELECT metric, count(*) AS n FROM scores_latest WHERE status = 'ok' AND passed IS NOT NULL \
         AND evaluated_at > now() - INTERVAL '{seconds} seconds' GROUP BY metric ORDER BY n DESC, metric LIMIT {MAX_METRICS}"
    );
    let drawn = format!(
        "SELECT metric, count(DISTINCT item) AS n FROM review_items WHERE queue_id IS NULL GROUP BY metric ORDER BY n DESC, metric LIMIT {MAX_METRICS}"
    );
    let scored: Vec<Count> = rows(review.sql(), tenant, &scored, Vec::new()).await?;
    let drawn: Vec<Count> = rows(review.sql(), tenant, &drawn, Vec::new()).await?;
    let drawn: BTreeSet<String> = drawn.into_iter().map(|count| count.metric).collect();
    let scored: BTreeMap<String, u64> = scored.into_iter().map(|count| (count.metric, count.n)).collect();
    let names: BTreeSet<&String> = drawn.iter().chain(scored.keys()).collect();
    let mut queues = Vec::with_capacity(names.len());
    for metric in names {
        let counts = match drawn.contains(metric) {
            true => review.counts(tenant, metric, reviewer).await?,
            false => super::book::Counts::default(),
        };
        let scored = scored.get(metric).copied().unwrap_or_default();
        queues.push(json!({"metric": metric, "question": review.question(metric), "scored": scored, "counts": counts}));
    }
    Ok(json!({
        "reviewer": reviewer, "reviews_per_item": config.reviews_per_item, "window_seconds": seconds, "queues": queues,
    }))
}

/// How far the reviewers of `metric` agree with each other, and the evaluator with the label.
///
/// # Errors
/// [`LabelError`].
pub async fn agreement(review: &Review, tenant: &str, metric: &str) -> Result<Value, LabelError> {
    let mut entries = review.entries(tenant, metric).await?;
    // What somebody picked is no sample of anything.
    entries.retain(|(entry, _)| !is_sent(&entry.drawn));
    // A thousand draws take long enough to hold up other requests of this thread.
    let measures = tokio::task::spawn_blocking(move || agreement::agreement(&entries))
        .await
        .map_err(|e| SqlError::Internal(format!("measuring agreement: {e}")))?;
    Ok(json!({ "metric": metric, "measures": measures }))
}

/// The labels that hold, as CSV with the columns that an import reads: of each annotator, or of each drawn item, the newest.
///
/// # Errors
/// [`LabelError`].
pub async fn export(review: &Review, tenant: &str, metric: Option<&str>) -> Result<Vec<u8>, LabelError> {
    let columns = COLUMNS.join(", ");
    let only = if metric.is_some() { "WHERE name = $1" } else { "" };
    let query = format!(
        "SELECT {columns}, created_at FROM (\
           SELECT DISTINCT ON (trace_id, span_id, name, coalesce(item, annotator)) {columns}, created_at FROM annotations {only} \
           ORDER BY trace_id, span_id, name, coalesce(item, annotator), created_at DESC, annotation_id DESC\
         ) WHERE label IS NULL OR label <> '{WITHDRAWN}' ORDER BY created_at, annotation_id"
    );
    let work = Work::Bound(query, metric.map(text).into_iter().collect());
    let found = review.sql().collect_from("local", &Scope::Tenant(tenant.into()), work, None).await?;
    let most = review.sql().config().max_result_size.in_memory();
    Ok(encode(Format::Csv, &found.schema, &found.batches, most.saturating_mul(4))?)
}
