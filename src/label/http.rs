//! `GET /v1/labels`, `/v1/labels/next`, `/v1/labels/agreement` and `/v1/labels/export`; `POST /v1/labels/items`.

use super::fault::LabelError;
use super::report;
use super::review::{Chosen, MAX_COUNT, Review, Wish};
use crate::net::{Access, Caller, Denied, Role, guarded};
use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, FromRequestParts, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use std::sync::Arc;

/// Who answers where there are no tokens and no name is given.
const NOBODY: &str = "reviewer";
/// Longest name of a reviewer, bytes.
const MAX_NAME: usize = 128;
/// Largest body, bytes.
const MAX_BODY: usize = 4096;

#[derive(Clone)]
struct Behind {
    access: Access,
    review: Arc<Review>,
}

/// What is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Asked {
    metric: Option<String>,
    count: Option<usize>,
    reviewer: Option<String>,
    adjudicate: bool,
}

/// The routes. What is labelled is the tenant's whose token comes with the request; the token needs the role review or query, and
/// query to send an item to the queue.
pub fn label_router(review: Arc<Review>, access: Access) -> Router {
    let behind = Behind { access, review };
    let guard = |role: Role| from_fn_with_state((behind.access.clone(), role), guarded);
    let draws = Router::new().route("/v1/labels/next", get(next)).layer(from_fn(to_its_end));
    let sends = Router::new()
        .route("/v1/labels/items", post(send))
        .layer(from_fn(to_its_end))
        .layer(DefaultBodyLimit::max(MAX_BODY));
    let reviewers = Router::new().route("/v1/labels", get(list)).merge(draws).layer(guard(Role::Review));
    let readers = Router::new()
        .route("/v1/labels/agreement", get(agreement))
        .route("/v1/labels/export", get(export))
        .merge(sends)
        .layer(guard(Role::Query));
    reviewers.merge(readers).with_state(behind)
}

/// Goes on with a request whose sender hangs up: what became durable must be known to the queue, too.
pub async fn to_its_end(request: Request, next: Next) -> Response {
    match tokio::spawn(next.run(request)).await {
        Ok(response) => response,
        Err(error) => {
            let body = serde_json::json!({ "error": error.to_string() });
            (StatusCode::INTERNAL_SERVER_ERROR, Json(body)).into_response()
        }
    }
}

/// Who asks, of which tenant, and for what.
struct Reader {
    caller: Caller,
    tenant: Arc<str>,
    asked: Asked,
}

impl<S: Send + Sync> FromRequestParts<S> for Reader {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        let caller =
            parts.extensions.get::<Caller>().cloned().ok_or_else(|| Denied::Missing.into_response())?;
        let tenant = caller.own_tenant().map_err(IntoResponse::into_response)?;
        let sent = Query::<Asked>::try_from_uri(&parts.uri);
        let Query(asked) = sent.map_err(|wrong| LabelError::Wrong(wrong.body_text()).into_response())?;
        Ok(Self { caller, tenant, asked })
    }
}

type Told = Result<Json<serde_json::Value>, LabelError>;

/// The name under which answers are kept: the token's, or the one that is given where there are no tokens.
///
/// # Errors
/// For a name that no list could show.
pub fn reviewer(caller: &Caller, access: &Access, given: Option<&str>) -> Result<String, LabelError> {
    if !access.is_open() {
        return Ok(caller.name().to_owned());
    }
    let name = given.map(str::trim).filter(|name| !name.is_empty()).unwrap_or(NOBODY);
    if name.len() > MAX_NAME || name.chars().any(char::is_control) {
        let why = format!("the name of a reviewer has at most {MAX_NAME} bytes and no control characters");
        return Err(LabelError::Wrong(why));
    }
    Ok(name.to_owned())
}

async fn next(State(behind): State<Behind>, Reader { caller, tenant, asked }: Reader) -> Told {
    let reviewer = reviewer(&caller, &behind.access, asked.reviewer.as_deref())?;
    let count = asked.count.unwrap_or(1);
    if !(1..=MAX_COUNT).contains(&count) {
        return Err(LabelError::Wrong(format!("count is {count}, must be 1 to {MAX_COUNT}")));
    }
    let metric = metric(&asked)?;
    let (tenant, adjudicates) = (&*tenant, asked.adjudicate);
    behind.review.next(&Wish { tenant, metric, reviewer: &reviewer, count, adjudicates }).await.map(Json)
}

async fn send(
    State(behind): State<Behind>,
    Reader { tenant, .. }: Reader,
    chosen: Result<Json<Chosen>, JsonRejection>,
) -> Told {
    let Json(chosen) = chosen.map_err(|wrong| {
        let why = wrong.body_text();
        LabelError::Wrong(format!(
            "{why}; send {{\"metric\", \"trace_id\"}} and, if you like, {{\"span_id\"}}"
        ))
    })?;
    behind.review.send(&tenant, &chosen).await.map(Json)
}

async fn list(State(behind): State<Behind>, Reader { caller, tenant, asked }: Reader) -> Told {
    let reviewer = reviewer(&caller, &behind.access, asked.reviewer.as_deref())?;
    report::list(&behind.review, &tenant, &reviewer).await.map(Json)
}

async fn agreement(State(behind): State<Behind>, Reader { tenant, asked, .. }: Reader) -> Told {
    report::agreement(&behind.review, &tenant, metric(&asked)?).await.map(Json)
}

async fn export(
    State(behind): State<Behind>,
    Reader { tenant, asked, .. }: Reader,
) -> Result<Response, LabelError> {
    let bytes = report::export(&behind.review, &tenant, asked.metric.as_deref()).await?;
    let kind = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"labels.csv\""),
    ];
    Ok((kind, bytes).into_response())
}

fn metric(asked: &Asked) -> Result<&str, LabelError> {
    let why = "metric is missing: ask for one, such as /v1/labels/next?metric=hallucination; /v1/labels tells what there is";
    asked.metric.as_deref().ok_or_else(|| LabelError::Wrong(why.to_owned()))
}
