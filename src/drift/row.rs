//! A change as a row of `alerts`.

use super::alert::{About, Change};
use super::message;
use crate::domain::time::UnixNanos;
use crate::schema::batch::Alert as Row;

/// The row of a change of `alert`, whose definition `about` is, with its sentence.
pub(super) fn row(alert: &str, about: &About, change: &Change, sentence: String) -> Row {
    let reading = &change.reading;
    let estimate = reading.estimate;
    let examples: Vec<serde_json::Value> = change.examples.iter().map(message::example).collect();
    Row {
        alert: alert.to_owned(),
        slice: change.slice.clone(),
        state: change.state,
        statistic: Some(reading.statistic),
        estimate: estimate.map(|e| e.estimate),
        lower: estimate.and_then(|e| e.lower),
        upper: estimate.and_then(|e| e.upper),
        n: estimate.map_or(0, |e| i64::try_from(e.n).unwrap_or(i64::MAX)),
        threshold: reading.bound.or(about.bound),
        alpha: Some(about.alpha),
        since: UnixNanos(reading.since),
        evaluated_at: UnixNanos(change.since),
        metric: about.metric.clone(),
        method: about.method.as_str(),
        severity: about.severity.clone(),
        message: sentence,
        examples: serde_json::Value::Array(examples).to_string(),
    }
}
