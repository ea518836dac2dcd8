//! `/metrics` and `/health/…`.

use super::health::Health;
use crate::net::{Access, Role, guarded};
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusHandle;

#[derive(Clone)]
struct Watch {
    health: Health,
    exporter: PrometheusHandle,
}

/// The routes. Health is open to everybody; metrics need the role metrics unless they are open too.
pub fn router(health: Health, exporter: PrometheusHandle, access: Access, open_metrics: bool) -> Router {
    let needed = axum::middleware::from_fn_with_state((access, Role::Metrics), guarded);
    let metrics = Router::new().route("/metrics", get(scrape));
    let metrics = if open_metrics { metrics } else { metrics.layer(needed) };
    Router::new()
        .route("/health/live", get(|| async { "alive\n" }))
        .route("/health/ready", get(ready))
        .merge(metrics)
        .with_state(Watch { health, exporter })
}

async fn ready(State(watch): State<Watch>) -> Response {
    match watch.health.not_ready() {
        None => match watch.health.damage() {
            None => "ready\n".into_response(),
            Some(what) => format!("ready\n{what}\n").into_response(),
        },
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}\n")).into_response(),
    }
}

async fn scrape(State(watch): State<Watch>) -> Response {
    watch.health.set_gauges();
    watch.exporter.run_upkeep();
    let text = watch.exporter.render();
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}
