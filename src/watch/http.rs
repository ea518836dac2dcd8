//! `/metrics`, `/health/…` and the console.

use super::health::Health;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusHandle;

/// The console: one page, no script from elsewhere.
const CONSOLE: &str = include_str!("console.html");

#[derive(Clone)]
struct Watch {
    health: Health,
    exporter: PrometheusHandle,
}

/// The routes.
pub fn router(health: Health, exporter: PrometheusHandle) -> Router {
    Router::new()
        .route("/", get(|| async { Html(CONSOLE) }))
        .route("/health/live", get(|| async { "alive\n" }))
        .route("/health/ready", get(ready))
        .route("/metrics", get(scrape))
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
