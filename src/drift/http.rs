//! `GET /v1/alerts`, and what changes alerts: `POST /v1/alerts/rebase`, `POST /v1/alerts/acknowledge`, and silences, at
//! `/v1/alerts/silences`.

use super::acknowledge::Wish;
use super::handle::{Alerts, RebaseFault};
use super::silence::{Ends, Silence, SilenceFault, SilenceWish, moment};
use crate::net::{Access, Role, Scope};
use crate::units;
use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, FromRequest, Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Largest body, bytes.
const MAX_BODY: usize = 64 << 10;

const NO_ALERT: &str = "there is no alert of this name; GET /v1/alerts lists them";
const STOPPING: &str = "the server is stopping: ask GET /v1/alerts later";

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

/// A time as it is sent.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Lasts(#[serde(with = "units::Time")] Duration);

/// What is sent to silence.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Quiet {
    /// Every alert if none.
    #[serde(default)]
    alert: Option<String>,
    /// Columns and values; every slice if none.
    #[serde(default)]
    slice: Option<BTreeMap<String, String>>,
    /// When it ends, RFC 3339; this or `for`.
    #[serde(default)]
    until: Option<String>,
    /// For how long, such as `2h`.
    #[serde(default, rename = "for")]
    lasts: Option<Lasts>,
    #[serde(default)]
    comment: String,
    /// Who; the token's name where there are tokens.
    #[serde(default)]
    by: Option<String>,
}

impl Quiet {
    /// When it ends, or what is wrong with that.
    fn ends(&self) -> Result<Ends, &'static str> {
        match (&self.until, self.lasts) {
            (None, Some(Lasts(lasts))) => Ok(Ends::After(lasts)),
            (Some(until), None) => {
                let wrong = "until is not a time as RFC 3339 writes it, such as 2026-12-24T00:00:00Z";
                moment(until).map(Ends::At).ok_or(wrong)
            }
            _ => Err("set until or for, one of them: a silence has an end"),
        }
    }
}

/// The routes. Alerts are about everybody's traffic: a token that sees one tenant's rows only may not look.
pub fn alert_router(endpoint: AlertEndpoint) -> Router {
    Router::new()
        .route("/v1/alerts", get(list))
        .route("/v1/alerts/rebase", post(rebase))
        .route("/v1/alerts/acknowledge", post(acknowledge))
        .route("/v1/alerts/silences", get(silences).post(silence))
        .route("/v1/alerts/silences/{id}", delete(unsilence))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(endpoint)
}

/// What is wrong with a caller who wants to look; none if nothing is.
fn may_look(endpoint: &AlertEndpoint, request: &Request) -> Option<Response> {
    match endpoint.access.check_request(request, Role::Query) {
        Err(denied) => Some(denied.into_response()),
        Ok(caller) => (caller.scope() != Scope::All).then(|| {
            let why = "alerts are about all tenants: use a token with the role admin or without a tenant";
            fault(StatusCode::FORBIDDEN, why)
        }),
    }
}

async fn list(State(endpoint): State<AlertEndpoint>, request: Request) -> Response {
    let alerts = &endpoint.alerts;
    let told = || json!({ "alerts": alerts.standings(), "anchors": *alerts.anchors(), "deliveries": alerts.deliveries() });
    may_look(&endpoint, &request).unwrap_or_else(|| Json(told()).into_response())
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
        Ok(()) => Json(json!({"rebased": sent.alert})).into_response(),
        Err(why) => {
            let status = match why {
                RebaseFault::Alert | RebaseFault::Slice(_) => StatusCode::NOT_FOUND,
                RebaseFault::Method(_) => StatusCode::CONFLICT,
                RebaseFault::Journal(_) => StatusCode::SERVICE_UNAVAILABLE,
            };
            fault(status, &why.to_string())
        }
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
        return fault(StatusCode::NOT_FOUND, NO_ALERT);
    }
    let by = who(&endpoint, sent.by, caller.name());
    let wish = Wish { alert: sent.alert, slice: sent.slice, by, note: sent.note, lasts: sent.lasts };
    if let Some(why) = wish.fault() {
        return fault(StatusCode::BAD_REQUEST, &why);
    }
    match endpoint.alerts.acknowledge(wish).await {
        Some(known) if known.is_empty() => {
            fault(StatusCode::CONFLICT, "nothing of this alert fires now, so there is nothing to acknowledge")
        }
        Some(known) => Json(json!({ "acknowledged": known })).into_response(),
        None => fault(StatusCode::SERVICE_UNAVAILABLE, STOPPING),
    }
}

/// Who asks: where there are tokens, nobody speaks in another's name.
fn who(endpoint: &AlertEndpoint, said: Option<String>, name: &str) -> String {
    if endpoint.access.is_open() { said.unwrap_or_default() } else { name.to_owned() }
}

async fn silences(State(endpoint): State<AlertEndpoint>, request: Request) -> Response {
    if let Some(refused) = may_look(&endpoint, &request) {
        return refused;
    }
    let all: Vec<Value> = endpoint.alerts.silences().iter().map(Silence::json).collect();
    Json(json!({ "silences": all })).into_response()
}

async fn silence(State(endpoint): State<AlertEndpoint>, request: Request) -> Response {
    let caller = match endpoint.access.check_request(&request, Role::Admin) {
        Ok(caller) => caller,
        Err(denied) => return denied.into_response(),
    };
    let sent: Result<Json<Quiet>, JsonRejection> = Json::from_request(request, &()).await;
    let sent = match sent {
        Ok(Json(sent)) => sent,
        Err(wrong) => return fault(wrong.status(), &wrong.body_text()),
    };
    if sent.alert.as_ref().is_some_and(|name| !endpoint.alerts.is_defined(name)) {
        return fault(StatusCode::NOT_FOUND, NO_ALERT);
    }
    // One that can match nothing would be taken for a silence.
    let columns = endpoint.alerts.columns(sent.alert.as_deref());
    let mut named = sent.slice.iter().flat_map(BTreeMap::keys);
    if let Some(unknown) = named.find(|column| !columns.contains(column)) {
        let known = if columns.is_empty() { "none".to_owned() } else { columns.join(", ") };
        let why = format!("slice names {unknown:?}, by which the alert is not cut; its columns: {known}");
        return fault(StatusCode::BAD_REQUEST, &why);
    }
    let ends = match sent.ends() {
        Ok(ends) => ends,
        Err(why) => return fault(StatusCode::BAD_REQUEST, why),
    };
    let by = who(&endpoint, sent.by, caller.name());
    let wish = SilenceWish { alert: sent.alert, slice: sent.slice, ends, by, comment: sent.comment };
    if let Some(why) = wish.fault() {
        return fault(StatusCode::BAD_REQUEST, &why);
    }
    match endpoint.alerts.silence(wish).await {
        Some(Ok(made)) => (StatusCode::CREATED, Json(made.json())).into_response(),
        Some(Err(why @ SilenceFault::Time)) => fault(StatusCode::BAD_REQUEST, &why.to_string()),
        Some(Err(why @ SilenceFault::Full)) => fault(StatusCode::CONFLICT, &why.to_string()),
        None => fault(StatusCode::SERVICE_UNAVAILABLE, STOPPING),
    }
}

async fn unsilence(
    State(endpoint): State<AlertEndpoint>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    if let Err(denied) = endpoint.access.check_request(&request, Role::Admin) {
        return denied.into_response();
    }
    if endpoint.alerts.silences().iter().any(|silence| silence.id == id && silence.is_configured) {
        let why = "this silence stands in the configuration: take it out there and send SIGHUP";
        return fault(StatusCode::CONFLICT, why);
    }
    match endpoint.alerts.unsilence(id).await {
        Some(true) => StatusCode::NO_CONTENT.into_response(),
        Some(false) => fault(
            StatusCode::NOT_FOUND,
            "there is no silence of this id, or it is over; GET /v1/alerts/silences lists them",
        ),
        None => fault(StatusCode::SERVICE_UNAVAILABLE, STOPPING),
    }
}

fn fault(status: StatusCode, why: &str) -> Response {
    (status, Json(json!({ "error": why }))).into_response()
}
