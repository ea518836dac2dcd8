//! `GET /v1/status`: the server in one JSON, for people who run it.

use super::health::Health;
use super::samples::Samples;
use crate::domain::time::UnixNanos;
use crate::lake::TableSnapshot;
use crate::net::{Access, Role, Scope};
use crate::queue::{Lane, QueueStats};
use crate::schema::batch::{QueueRow, Watermark};
use crate::schema::columns::Table;
use crate::sql::Sql;
use arrow::array::AsArray;
use arrow::datatypes::TimestampMicrosecondType;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use chrono::{DateTime, SecondsFormat};
use metrics_exporter_prometheus::PrometheusHandle;
use serde_json::{Map, Value, json};
use std::net::SocketAddr;
use std::sync::Arc;

/// What does not change while the server runs.
pub struct Facts {
    /// When it was started.
    pub started: UnixNanos,
    /// The addresses, by the names that metrics give to their endpoints.
    pub endpoints: Vec<(&'static str, SocketAddr)>,
    /// The evaluators that run, with their versions.
    pub evaluators: Vec<(String, String)>,
    /// The configuration in force, without its secrets.
    pub configuration: Value,
}

/// What the route reads.
#[derive(Clone)]
pub struct StatusEndpoint {
    /// The stores.
    pub health: Health,
    /// The engine of queries.
    pub sql: Arc<Sql>,
    /// What was counted.
    pub exporter: PrometheusHandle,
    /// What does not change.
    pub facts: Arc<Facts>,
    /// Who may: the role query. A token of one tenant sees what concerns that one.
    pub access: Access,
}

/// The route.
pub fn status_router(endpoint: StatusEndpoint) -> Router {
    Router::new().route("/v1/status", get(status)).with_state(endpoint)
}

async fn status(State(endpoint): State<StatusEndpoint>, request: Request) -> Response {
    let caller = match endpoint.access.check_request(&request, Role::Query) {
        Ok(caller) => caller,
        Err(denied) => return denied.into_response(),
    };
    let mut shown = endpoint.about();
    shown.extend(match caller.scope() {
        Scope::All => endpoint.of_all(),
        Scope::Tenant(tenant) => endpoint.of_tenant(&tenant),
    });
    Json(shown).into_response()
}

impl StatusEndpoint {
    /// What every caller may know.
    fn about(&self) -> Map<String, Value> {
        let now = self.health.clock.now();
        let mut shown = Map::new();
        shown.insert("version".to_owned(), json!(env!("CARGO_PKG_VERSION")));
        shown.insert("started_at".to_owned(), json!(time(self.facts.started)));
        shown
            .insert("uptime_seconds".to_owned(), json!(now.since(self.facts.started).max(0) / 1_000_000_000));
        shown
    }

    fn of_all(&self) -> Map<String, Value> {
        self.health.set_gauges();
        self.exporter.run_upkeep();
        let counted = Samples::read(&self.exporter.render());
        let mut shown = Map::new();
        let mut add = |name: &str, value: Value| shown.insert(name.to_owned(), value);
        add("tenant", Value::Null);
        add("not_ready", json!(Vec::from_iter(self.health.not_ready())));
        add("damage", json!(Vec::from_iter(self.health.damage())));
        add("journal", self.journal());
        add(
            "hot",
            json!({"rows": counted.total("groundline_hot_rows"), "bytes": counted.total("groundline_hot_bytes")}),
        );
        add("tables", Table::ALL.map(|table| of_table(&self.health.lake.snapshot(table))).to_vec().into());
        add("watermarks", self.watermarks());
        add("queue", self.queue());
        add("evaluators", self.evaluators(&counted));
        add("endpoints", self.endpoints(&counted));
        add("ingest", ingest(&counted));
        add("queries", self.queries(&counted));
        add("memory", json!({"resident_bytes": counted.total("groundline_process_resident_bytes")}));
        add("disk", self.health.disk.told());
        add("tls", self.tls());
        add("configuration", self.facts.configuration.clone());
        shown
    }

    /// The part of one tenant: nothing by which another one could be known.
    fn of_tenant(&self, tenant: &str) -> Map<String, Value> {
        let rows = self.health.queue.rows();
        let now = self.health.clock.now();
        let lane = |lane: Lane| {
            let theirs: Vec<&QueueRow> =
                rows.iter().filter(|row| row.tenant == tenant && row.lane == lane.as_str()).collect();
            let count = |states: &[&str]| theirs.iter().filter(|row| states.contains(&row.state)).count();
            let waiting = theirs.iter().filter(|row| matches!(row.state, "waiting" | "leased"));
            let oldest = waiting.map(|row| now.since(row.queued_at)).max().unwrap_or(0);
            json!({"lane": lane.as_str(), "items": count(&["waiting", "leased"]), "leased": count(&["leased"]),
                "ended": count(&["failed", "expired"]), "oldest_seconds": seconds(oldest)})
        };
        let queue = Lane::ALL.map(lane).to_vec();
        Map::from_iter([("tenant".to_owned(), json!(tenant)), ("queue".to_owned(), Value::from(queue))])
    }

    fn journal(&self) -> Value {
        let stats = self.health.journal.stats();
        let behind = |(name, at): (String, u64)| json!({"name": name, "behind_frames": stats.durable_seq.saturating_sub(at)});
        let readers: Vec<Value> = self.health.journal.cursors().into_iter().map(behind).collect();
        json!({"bytes": stats.bytes_on_disk, "segments": stats.segments, "queued_bytes": stats.queued_bytes,
            "frames": stats.durable_seq, "damaged_segments": stats.quarantined_segments,
            "damaged_frames": stats.quarantined_frames, "readers": readers})
    }

    fn watermarks(&self) -> Value {
        let one = |mark: Watermark| {
            json!({"table": mark.table.name(), "time": mark.time, "final_until": mark.until.map(time),
                "lag_seconds": mark.lag_seconds(), "waits_for": mark.waits_for})
        };
        self.sql.watermarks().all().into_iter().map(one).collect::<Vec<_>>().into()
    }

    /// When the certificate ends; null without TLS.
    fn tls(&self) -> Value {
        let Some(tls) = &self.health.tls else { return Value::Null };
        let end = tls.end().and_then(|end| DateTime::from_timestamp(end, 0));
        json!({"certificate_ends": end.map(|end| end.to_rfc3339_opts(SecondsFormat::Secs, true))})
    }

    fn queue(&self) -> Value {
        let now = self.health.clock.now();
        let lane = |lane: Lane| {
            let QueueStats { items, leased, ended, bytes, oldest_nanos } =
                self.health.queue.lane_stats(lane, now);
            json!({"lane": lane.as_str(), "items": items, "leased": leased, "ended": ended, "bytes": bytes,
                "oldest_seconds": seconds(oldest_nanos)})
        };
        Lane::ALL.map(lane).to_vec().into()
    }

    /// The scores since the start.
    fn evaluators(&self, counted: &Samples) -> Value {
        let one = |(id, version): &(String, String)| {
            let scores = counted.by("groundline_scores_total", "status", &[("evaluator", id.as_str())]);
            json!({"evaluator": id, "version": version, "scores": scores})
        };
        self.facts.evaluators.iter().map(one).collect::<Vec<_>>().into()
    }

    fn endpoints(&self, counted: &Samples) -> Value {
        let open = counted.by("groundline_connections", "door", &[]);
        let refused = counted.by("groundline_connections_refused_total", "door", &[]);
        let one = |(endpoint, address): &(&'static str, SocketAddr)| {
            let ended = counted.by("groundline_connections_reaped_total", "reason", &[("door", *endpoint)]);
            json!({"door": endpoint, "address": address.to_string(), "connections": open.get(*endpoint),
                "connections_refused": refused.get(*endpoint), "connections_ended": ended})
        };
        self.facts.endpoints.iter().map(one).collect::<Vec<_>>().into()
    }

    fn queries(&self, counted: &Samples) -> Value {
        let load = self.sql.load();
        let config = self.sql.config();
        let endpoints = counted.by("groundline_sql_queries_total", "door", &[]);
        let outcomes = |endpoint: &String| {
            (
                endpoint.clone(),
                counted.by("groundline_sql_queries_total", "outcome", &[("door", endpoint.as_str())]).into(),
            )
        };
        let ended: Map<String, Value> = endpoints.keys().map(outcomes).collect();
        json!({"running": load.running, "waiting": load.waiting, "max_running": config.max_concurrent,
            "max_waiting": config.max_waiting(), "ended": ended})
    }
}

/// What came since the start, and why some of it was refused.
fn ingest(counted: &Samples) -> Value {
    json!({
        "received": counted.by("groundline_received_total", "what", &[]),
        "rejected": counted.by("groundline_rejected_total", "what", &[]),
        "requests_refused": counted.by("groundline_requests_refused_total", "reason", &[]),
    })
}

fn of_table(snapshot: &TableSnapshot) -> Value {
    let hot: usize = snapshot.hot.iter().map(|batch| batch.num_rows()).sum();
    let in_files: u64 = snapshot.files.iter().map(|file| file.rows).sum();
    let bytes: u64 = snapshot.files.iter().map(|file| file.bytes).sum();
    let column = snapshot.table.time_column();
    let hot_times = snapshot.hot.iter().filter_map(|batch| {
        let times = batch.column_by_name(column)?.as_primitive_opt::<TimestampMicrosecondType>()?;
        arrow::compute::min(times)
    });
    let oldest = snapshot.files.iter().filter_map(|file| file.min_time).chain(hot_times).min();
    let oldest = oldest.map(|micros| time(UnixNanos(micros.saturating_mul(1_000))));
    json!({"table": snapshot.table.name(), "rows": in_files + hot as u64, "hot_rows": hot,
        "files": snapshot.files.len(), "bytes": bytes, "oldest": oldest})
}

fn time(at: UnixNanos) -> String {
    DateTime::from_timestamp_nanos(at.0).to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn seconds(nanos: i64) -> f64 {
    nanos.max(0) as f64 / 1e9
}
