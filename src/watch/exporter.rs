//! The Prometheus exporter.

use super::names::{METRICS, MetricKind};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use parking_lot::Mutex;

/// Bounds of the histograms, seconds: from a fast evaluator to a slow query.
const BUCKETS: &[f64] = &[
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0,
];

/// Bounds of the lag of evaluation, seconds: from the fast lane to a judge that was away for days.
const LAGS: &[f64] = &[
    1.0, 2.5, 5.0, 7.5, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 900.0, 1_800.0, 3_600.0, 21_600.0, 86_400.0,
    259_200.0,
];

/// Bounds of the wait in the queue, seconds: an item of the fast lane waits for moments, one of the slow lane for a day at most.
const WAITS: &[f64] = &[
    0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3_600.0, 21_600.0, 86_400.0,
];

/// Installs the exporter for this process and gives the handle that renders it. A second call gives the same handle.
pub fn install() -> Result<PrometheusHandle, BuildError> {
    static HANDLE: Mutex<Option<PrometheusHandle>> = Mutex::new(None);
    // Two servers that start in one process at the same time (tests do that) share one recorder.
    let mut installed = HANDLE.lock();
    if let Some(handle) = installed.as_ref() {
        return Ok(handle.clone());
    }
    let handle = builder()?.install_recorder()?;
    describe();
    Ok(installed.insert(handle).clone())
}

/// The exporter with the bounds of every histogram.
fn builder() -> Result<PrometheusBuilder, BuildError> {
    let full = |name: &str| Matcher::Full(name.to_owned());
    PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), BUCKETS)?
        .set_buckets_for_metric(full("groundline_queue_wait_seconds"), WAITS)?
        .set_buckets_for_metric(full("groundline_evaluation_lag_seconds"), LAGS)
}

/// Says what each metric is. One is there from its first event on, since most have labels that only an event knows.
fn describe() {
    for metric in METRICS {
        match metric.kind {
            MetricKind::Counter => metrics::describe_counter!(metric.name, metric.help),
            MetricKind::Gauge => metrics::describe_gauge!(metric.name, metric.help),
            MetricKind::Histogram => metrics::describe_histogram!(metric.name, metric.help),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_of_hours_has_a_bound_above_it() {
        let recorder = builder().unwrap().build_recorder();
        let shown = recorder.handle();
        metrics::with_local_recorder(&recorder, || {
            metrics::histogram!("groundline_queue_wait_seconds", "lane" => "slow").record(7_200.0);
            metrics::histogram!("groundline_sql_seconds").record(0.002);
        });
        let text = shown.render();
        let count = |bound: &str, count: u32| {
            let line =
                format!("groundline_queue_wait_seconds_bucket{{lane=\"slow\",le=\"{bound}\"}} {count}\n");
            assert!(text.contains(&line), "{line} in {text}");
        };
        count("3600", 0);
        count("21600", 1);
        assert!(text.contains("groundline_sql_seconds_bucket{le=\"0.0025\"} 1\n"), "{text}");
    }
}
