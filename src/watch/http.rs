//! `/metrics`, `/health/…` and the console.

use super::health::Health;
use crate::net::{Access, Role, guarded};
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

/// The routes. Health is open to everybody; the console needs the role query, and metrics the role metrics unless they
/// are open too.
pub fn router(health: Health, exporter: PrometheusHandle, access: Access, open_metrics: bool) -> Router {
    let needs = |role| axum::middleware::from_fn_with_state((access.clone(), role), guarded);
    let console = Router::new().route("/", get(|| async { Html(CONSOLE) })).layer(needs(Role::Query));
    let metrics = Router::new().route("/metrics", get(scrape));
    let metrics = if open_metrics { metrics } else { metrics.layer(needs(Role::Metrics)) };
    Router::new()
        .route("/health/live", get(|| async { "alive\n" }))
        .route("/health/ready", get(ready))
        .merge(console)
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
