//! `POST /v1/queue/retry` and `POST /v1/queue/drop`: what becomes of items that failed or expired.

use super::event::{Item, QueueEvent};
use super::queue::Queue;
use crate::domain::decision::{Decision, DecisionKind, PUT_BACK};
use crate::domain::time::{Clock, UnixNanos};
use crate::journal::{Journal, JournalError};
use crate::net::{Access, Role, Scope};
use crate::schema::batch::decisions_to_batch;
use crate::schema::columns::Table;
use crate::schema::frame::{self, FrameError, Part};
use arrow::error::ArrowError;
use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use std::sync::Arc;

/// Largest body, bytes: some ten thousand ids.
const MAX_BODY: usize = 1 << 20;
/// Items that are put back in one frame.
const ITEMS_A_FRAME: usize = 500;

/// What the routes work on.
#[derive(Clone)]
pub struct QueueEndpoint {
    /// Where it becomes durable.
    pub journal: Journal,
    /// The items.
    pub queue: Arc<Queue>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Who may: the role admin.
    pub access: Access,
}

/// What is sent: ids, or `"all": true`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    #[serde(default)]
    items: Vec<String>,
    #[serde(default)]
    all: bool,
}

/// The routes. Both need the role admin, take JSON, and answer `{"items": n}` when that is durable.
pub fn queue_router(endpoint: QueueEndpoint) -> Router {
    Router::new()
        .route("/v1/queue/retry", post(retry))
        .route("/v1/queue/drop", post(forget))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(endpoint)
}

async fn retry(State(endpoint): State<QueueEndpoint>, request: Request) -> Response {
    let (sent, tenant) = match read(&endpoint, request).await {
        Ok(read) => read,
        Err(response) => return response,
    };
    let now = endpoint.clock.now();
    let found = endpoint.queue.put_back(&sent.items, tenant.as_deref(), now);
    answer(write(&endpoint, found, Some(now)).await)
}

async fn forget(State(endpoint): State<QueueEndpoint>, request: Request) -> Response {
    let (sent, tenant) = match read(&endpoint, request).await {
        Ok(read) => read,
        Err(response) => return response,
    };
    let found = endpoint.queue.drop_ended(&sent.items, tenant.as_deref());
    answer(write(&endpoint, found, None).await)
}

/// The request's content, and the tenant to whose items it is limited.
async fn read(endpoint: &QueueEndpoint, request: Request) -> Result<(Sent, Option<String>), Response> {
    let caller = endpoint.access.check_request(&request, Role::Admin).map_err(IntoResponse::into_response)?;
    let tenant = match caller.scope() {
        Scope::All => None,
        Scope::Tenant(tenant) => Some(tenant.to_string()),
    };
    // A form of a web page cannot send JSON: what writes must not be reachable by one.
    let sent: Result<Json<Sent>, JsonRejection> = Json::from_request(request, &()).await;
    let Json(sent) = sent.map_err(|wrong| fault(wrong.status(), &wrong.body_text()))?;
    match sent.items.is_empty() == sent.all {
        true => Ok((sent, tenant)),
        false => {
            let error = "name items, {\"items\": [\"…\"]}, or all that failed or expired, {\"all\": true}";
            Err(fault(StatusCode::BAD_REQUEST, error))
        }
    }
}

/// Makes the events durable, then has the queue follow them. How many there were.
async fn write(
    endpoint: &QueueEndpoint,
    found: Vec<(Item, QueueEvent)>,
    queued: Option<UnixNanos>,
) -> Result<usize, String> {
    for chunk in found.chunks(ITEMS_A_FRAME) {
        let (kind, payload) = encoded(chunk, queued).map_err(|e| e.to_string())?;
        let written: Result<u64, JournalError> = endpoint.journal.append(kind.0, payload).await;
        written.map_err(|e| e.to_string())?;
        chunk.iter().for_each(|(_, event)| endpoint.queue.apply(event.clone()));
    }
    Ok(found.len())
}

fn encoded(
    chunk: &[(Item, QueueEvent)],
    queued: Option<UnixNanos>,
) -> Result<(frame::FrameKind, bytes::Bytes), FrameError> {
    let events: Vec<QueueEvent> = chunk.iter().map(|(_, event)| event.clone()).collect();
    let mut parts = Vec::new();
    if let Some(now) = queued {
        let decisions: Vec<Decision> = chunk.iter().map(|(item, _)| put_back(item, now)).collect();
        parts.push(Part::Rows(Table::Decisions, decisions_to_batch(&decisions)?));
    }
    let events = QueueEvent::encode(&events).map_err(|e| ArrowError::ExternalError(Box::new(e)))?;
    parts.push(Part::Queue(events));
    frame::encode(&parts)
}

fn put_back(item: &Item, now: UnixNanos) -> Decision {
    Decision {
        trace_id: item.trace_id,
        span_id: Some(item.span_id),
        rule: item.rule.clone(),
        rule_version: item.rule_version.clone(),
        decision: DecisionKind::Queued,
        reason: PUT_BACK.to_owned(),
        inclusion_probability: item.inclusion_probability,
        stratum: item.stratum.clone(),
        decided_at: now,
        span_time: UnixNanos(item.span_time),
        tenant: item.tenant.clone(),
    }
}

fn answer(done: Result<usize, String>) -> Response {
    match done {
        Ok(items) => (StatusCode::OK, Json(serde_json::json!({ "items": items }))).into_response(),
        Err(error) => fault(StatusCode::SERVICE_UNAVAILABLE, &error),
    }
}

fn fault(status: StatusCode, error: &str) -> Response {
    (status, Json(serde_json::json!({ "error": error }))).into_response()
}
