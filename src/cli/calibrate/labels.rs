//! Scores with their labels, from a server or a data directory.

use super::super::sql::{offline, online};
use super::args::CalibrateArgs;
use crate::sql::{Format, encode};
use crate::stats::calibration::Labelled;
use serde::Deserialize;

/// Most labels that are read; the newest.
const MAX_LABELS: usize = 100_000;

/// The labels of one version of an evaluator.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    /// The evaluator's id.
    pub evaluator: String,
    /// Its version.
    pub version: String,
    /// Scores with labels.
    pub items: Vec<Labelled>,
    /// How many of them the queue drew, or carry the probability with which something else did.
    pub drawn: usize,
    /// Other versions with labels, and how many each has.
    pub others: Vec<(String, usize)>,
}

#[derive(Debug, Clone, Deserialize)]
struct Row {
    evaluator: String,
    evaluator_version: String,
    evaluated_at: i64,
    value: f64,
    truth: bool,
    inclusion_probability: f64,
    #[serde(default)]
    label_probability: Option<f64>,
}

/// Reads them.
///
/// # Errors
/// What is wrong, and what to do.
pub async fn read(args: &CalibrateArgs) -> Result<Labels, String> {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let mut filter = format!("metric = {}", quoted(&args.metric));
    if let Some(evaluator) = &args.evaluator {
        filter.push_str(&format!(" AND evaluator = {}", quoted(evaluator)));
    }
    if let Some(version) = &args.evaluator_version {
        filter.push_str(&format!(" AND evaluator_version = {}", quoted(version)));
    }
    let query = format!(
        "SELECT evaluator, evaluator_version, CAST(evaluated_at AS BIGINT) AS evaluated_at, value, truth, \
         inclusion_probability, label_probability FROM labelled_scores \
         WHERE {filter} AND truth IS NOT NULL AND value IS NOT NULL ORDER BY evaluated_at DESC LIMIT {MAX_LABELS}"
    );
    let (schema, batches) = match &args.data_dir {
        Some(data_dir) => offline(data_dir.clone(), args.config.as_deref(), &query).await?,
        None => online(&args.url, args.token.as_deref(), &args.trust, &query).await?,
    };
    let bytes = encode(Format::Json, &schema, &batches, usize::MAX).map_err(|e| e.to_string())?;
    let rows: Vec<Row> =
        serde_json::from_slice(&bytes).map_err(|e| format!("rows of labelled_scores: {e}"))?;
    chosen(rows).ok_or_else(|| {
        format!(
            "no score of {:?} has a label: label some at /review in the console, by GET /v1/labels/next?metric={}, or with \
             groundline labels import",
            args.metric, args.metric
        )
    })
}

/// Those of the evaluator and version of the newest score.
fn chosen(rows: Vec<Row>) -> Option<Labels> {
    let newest = rows.iter().max_by_key(|row| row.evaluated_at)?;
    let (evaluator, version) = (newest.evaluator.clone(), newest.evaluator_version.clone());
    let mut labels = Labels { evaluator, version, items: Vec::new(), drawn: 0, others: Vec::new() };
    for row in rows {
        if row.evaluator != labels.evaluator || row.evaluator_version != labels.version {
            let name = format!("{} {}", row.evaluator, row.evaluator_version);
            match labels.others.iter_mut().find(|(other, _)| *other == name) {
                Some((_, count)) => *count += 1,
                None => labels.others.push((name, 1)),
            }
            continue;
        }
        let weight = 1.0 / (row.inclusion_probability * row.label_probability.unwrap_or(1.0));
        if row.value.is_finite() && weight.is_finite() && weight > 0.0 {
            labels.drawn += usize::from(row.label_probability.is_some());
            labels.items.push(Labelled { value: row.value, good: row.truth, weight });
        }
    }
    Some(labels)
}
