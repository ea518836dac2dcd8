//! The loop that keeps the quality gauges fresh: pass rates with intervals of production's scores, by tenant,
//! service, evaluator and metric. As in the quality views, too few effective items have no rate (`sql.min_n_eff`).

use super::config::Config;
use crate::sql::{Sql, SqlError};
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Float64Type, Int64Type};
use std::collections::HashSet;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What identifies a series.
type Series = (String, String, String, String);

/// The loop.
pub struct Quality {
    sql: Arc<Sql>,
    config: Config,
    shown: HashSet<Series>,
}

impl Quality {
    /// A loop over `sql`.
    pub fn new(sql: Arc<Sql>, config: Config) -> Self {
        Self { sql, config, shown: HashSet::new() }
    }

    /// Runs until `stop`.
    pub async fn run(mut self, stop: CancellationToken) {
        let every = self.config.quality_interval;
        while !stop.is_cancelled() {
            if let Err(error) = self.refresh().await {
                metrics::counter!("groundline_quality_errors_total").increment(1);
                tracing::warn!(%error, "quality gauges could not be computed");
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(every) => {}
            }
        }
    }

    async fn refresh(&mut self) -> Result<(), SqlError> {
        let query = format!(
            "SELECT tenant, coalesce(service_name, ''), evaluator, metric, q['estimate'], q['lower'], q['upper'], \
             q['n'], q['n_eff'] FROM (SELECT tenant, service_name, evaluator, metric, \
             quality_rate(passed, inclusion_probability, 0.95, {:?}) AS q FROM scores_latest \
             WHERE status = 'ok' AND passed IS NOT NULL AND evaluated_at > now() - INTERVAL '{} seconds' \
             GROUP BY tenant, service_name, evaluator, metric) ORDER BY 1, 2, 3, 4",
            self.sql.config().min_n_eff,
            self.config.quality_window.as_secs()
        );
        let (_, batches) = self.sql.collect(&query).await?;
        let (mut fresh, mut dropped) = (HashSet::new(), 0u64);
        for batch in &batches {
            for row in 0..batch.num_rows() {
                if fresh.len() >= self.config.quality_max_series {
                    dropped += 1;
                    continue;
                }
                if let Some(series) = show(batch, row) {
                    fresh.insert(series);
                }
            }
        }
        // A series without scores in the window has no rate: NaN, not the last one.
        for gone in self.shown.difference(&fresh) {
            set(gone, [f64::NAN, f64::NAN, f64::NAN, 0.0, 0.0]);
        }
        metrics::gauge!("groundline_quality_series_dropped").set(dropped as f64);
        self.shown = fresh;
        Ok(())
    }
}

fn show(batch: &RecordBatch, row: usize) -> Option<Series> {
    let text = |at: usize| Some(batch.column(at).as_string_opt::<i32>()?.value(row).to_owned());
    let double = |at: usize| {
        let column = batch.column(at).as_primitive_opt::<Float64Type>();
        column.filter(|c| !c.is_null(row)).map_or(f64::NAN, |c| c.value(row))
    };
    let n = batch.column(7).as_primitive_opt::<Int64Type>().map_or(0, |c| c.value(row));
    let series = (text(0)?, text(1)?, text(2)?, text(3)?);
    set(&series, [double(4), double(5), double(6), n as f64, double(8)]);
    Some(series)
}

fn set((tenant, service, evaluator, metric): &Series, [rate, lower, upper, n, n_eff]: [f64; 5]) {
    let labels = || {
        let [tenant, service] = [tenant, service].map(String::clone);
        [
            ("tenant", tenant),
            ("service", service),
            ("evaluator", evaluator.clone()),
            ("metric", metric.clone()),
        ]
    };
    metrics::gauge!("groundline_quality_pass_rate", &labels()).set(rate);
    metrics::gauge!("groundline_quality_pass_rate_lower", &labels()).set(lower);
    metrics::gauge!("groundline_quality_pass_rate_upper", &labels()).set(upper);
    metrics::gauge!("groundline_quality_scores", &labels()).set(n);
    metrics::gauge!("groundline_quality_effective_scores", &labels()).set(n_eff);
}
