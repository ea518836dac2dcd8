//! The routes of the HTTP address.

use super::lab::{Laboratory, lab_routes};
use crate::config::Config;
use crate::console::{Files, console_router, guard_answers};
use crate::drift::{AlertEndpoint, Alerts, alert_router};
use crate::eval::{JudgeDesk, Registry};
use crate::ingest::Receiver;
use crate::lab::Production;
use crate::lab::experiment::RunSpans;
use crate::label::{Review, annotations_router, label_router};
use crate::net::{Access, Browsers, known_browser};
use crate::queue::{QueueEndpoint, queue_router};
use crate::sql::Sql;
use crate::watch::{Facts, Health, StatusEndpoint, status_router};
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;

/// What stands behind the routes.
pub(super) struct Behind<'a> {
    pub config: &'a Config,
    pub access: &'a Access,
    pub health: &'a Health,
    pub sql: &'a Arc<Sql>,
    pub alerts: &'a Alerts,
    pub receiver: &'a Receiver,
    pub registry: &'a Arc<Registry>,
    pub desk: Option<Arc<dyn JudgeDesk>>,
    pub exporter: PrometheusHandle,
    pub facts: Facts,
    pub files: Files,
    pub writer: Option<Arc<dyn crate::eval::Writer>>,
}

/// SQL, annotations and labels, the lab, the queue, alerts, metrics, health, status, and the console; and the loop of the lab.
pub(super) fn http_routes(behind: Behind<'_>) -> (Router, RunSpans) {
    let (config, health, access) = (&behind.config.server, behind.health, behind.access);
    let queue = QueueEndpoint {
        journal: health.journal.clone(),
        queue: health.queue.clone(),
        clock: health.clock.clone(),
        access: access.clone(),
    };
    let alerts = AlertEndpoint { alerts: behind.alerts.clone(), access: access.clone() };
    let status = StatusEndpoint {
        health: health.clone(),
        sql: behind.sql.clone(),
        exporter: behind.exporter.clone(),
        facts: Arc::new(behind.facts),
        access: access.clone(),
    };
    let review =
        Arc::new(Review::new(behind.sql.clone(), behind.receiver.clone(), behind.config.labels.clone()));
    let waiting = health.queue.clone();
    let lab = Laboratory {
        production: Production::new(move || waiting.is_behind()),
        journal: health.journal.clone(),
        lake: health.lake.clone(),
        sql: behind.sql.clone(),
        clock: health.clock.clone(),
        registry: behind.registry.clone(),
        desk: behind.desk,
        redactor: behind.receiver.redactor(),
        access: access.clone(),
        writer: behind.writer,
    };
    let (lab, spans) = lab_routes(lab, &behind.config.lab);
    let browsers = Browsers::new(access.clone(), config);
    let routes = crate::sql::http::router(behind.sql.clone(), access.clone())
        .merge(queue_router(queue))
        .merge(alert_router(alerts))
        .merge(annotations_router(behind.receiver.clone(), access.clone(), review.clone()))
        .merge(label_router(review, access.clone()))
        .merge(lab)
        .merge(crate::watch::router(health.clone(), behind.exporter, access.clone(), config.open_metrics))
        .merge(status_router(status))
        .merge(console_router(behind.files, browsers.clone()))
        .layer(from_fn_with_state(browsers, known_browser))
        .layer(from_fn(guard_answers));
    (routes, spans)
}
