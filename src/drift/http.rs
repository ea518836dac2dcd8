//! `GET /v1/alerts`, `POST /v1/alerts/rebase` and `POST /v1/alerts/acknowledge`.

use super::acknowledge::Wish;
use super::run::Alerts;
use crate::net::{Access, Role, Scope};
use crate::units;
use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

/// Largest body, bytes.
const MAX_BODY: usize = 64 << 10;

/// What the routes work on.
#[derive(Clone)]
pub struct AlertEndpoint {
    /// The alerts.
    pub alerts: Alerts,
    /// Who may: to look, whoever may query everybody's rows; to change, the role admin.
    pub access: Access,
}

/// What is sent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rebase {
    alert: String,
    #[serde(default)]
    slice: Option<String>,
}

/// What is sent to acknowledge.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Acknowledge {
    alert: String,
    #[serde(default)]
    slice: Option<String>,
    /// Who; the token's name where there are tokens.
    #[serde(default)]
    by: Option<String>,
    #[serde(default)]
    note: String,
    /// For how long, such as `4h`.
    #[serde(rename = "for", with = "units::Time")]
    lasts: Duration,
}

/// The routes. Alerts are about everybody's traffic: a token that sees one tenant's rows only may not look.
pub fn alert_router(endpoint: AlertEndpoint) -> Router {
    Router::new()
        .route("/v1/alerts", get(list))
        .route("/v1/alerts/rebase", post(rebase))
        .route("/v1/alerts/acknowledge", post(acknowledge))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(endpoint)
}

async fn list(State(endpoint): State<AlertEndpoint>, request: Request) -> Response {
    let caller = match endpoint.access.check_request(&request, Role::Query) {
        Ok(caller) => caller,
        Err(denied) => return denied.into_response(),
    };
    if caller.scope() != Scope::All {
        let why = "alerts are about all tenants: use a token with the role admin or without a tenant";
        return fault(StatusCode::FORBIDDEN, why);
    }
    Json(json!({ "alerts": endpoint.alerts.standings(), "anchors": *endpoint.alerts.anchors() }))
        .into_response()
}

async fn rebase(State(endpoint): State<AlertEndpoint>, request: Request) -> Response {
    if let Err(denied) = endpoint.access.check_request(&request, Role::Admin) {
        return denied.into_response();
    }
    // A form of a web page cannot send JSON: what writes must not be reachable by one.
    let sent: Result<Json<Rebase>, JsonRejection> = Json::from_request(request, &()).await;
    let Json(sent) = match sent {
        Ok(sent) => sent,
        Err(wrong) => return fault(wrong.status(), &wrong.body_text()),
    };
    match endpoint.alerts.rebase(&sent.alert, sent.slice.as_deref()).await {
        Ok(true) => Json(json!({"rebased": sent.alert})).into_response(),
        Ok(false) => {
            fault(StatusCode::NOT_FOUND, "there is no alert of this name; GET /v1/alerts lists them")
        }
        Err(error) => fault(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
    }
}

async fn acknowledge(State(endpoint): State<AlertEndpoint>, request: Request) -> Response {
    let caller = match endpoint.access.check_request(&request, Role::Admin) {
        Ok(caller) => caller,
        Err(denied) => return denied.into_response(),
    };
    let sent: Result<Json<Acknowledge>, JsonRejection> = Json::from_request(request, &()).await;
    let Json(sent) = match sent {
        Ok(sent) => sent,
        Err(wrong) => return fault(wrong.status(), &wrong.body_text()),
    };
    if !endpoint.alerts.is_defined(&sent.alert) {
        return fault(StatusCode::NOT_FOUND, "there is no alert of this name; GET /v1/alerts lists them");
    }
    // Where there are tokens, nobody speaks in another's name.
    let by = match endpoint.access.is_open() {
        true => sent.by.unwrap_or_default(),
        false => caller.name().to_owned(),
    };
    let wish = Wish { alert: sent.alert, slice: sent.slice, by, note: sent.note, lasts: sent.lasts };
    if let Some(why) = wish.fault() {
        return fault(StatusCode::BAD_REQUEST, &why);
    }
    match endpoint.alerts.acknowledge(wish).await {
        Some(known) if known.is_empty() => {
            fault(StatusCode::CONFLICT, "nothing of this alert fires now, so there is nothing to acknowledge")
        }
        Some(known) => Json(json!({ "acknowledged": known })).into_response(),
        None => fault(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping: ask GET /v1/alerts later"),
    }
}

fn fault(status: StatusCode, why: &str) -> Response {
    (status, Json(json!({ "error": why }))).into_response()
}
