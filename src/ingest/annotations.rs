//! `POST /v1/annotations`: human judgements, one JSON object or an array of them.

use super::admit::Door;
use super::receipt::Refusal;
use crate::domain::id::{SpanId, TraceId};
use crate::net::{Access, Role};
use crate::schema::batch::Annotation;
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use bytes::Bytes;
use serde::Deserialize;

/// Largest body, bytes.
const MAX_BODY: usize = 4 << 20;

/// What is sent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    annotation_id: Option<String>,
    trace_id: String,
    span_id: Option<String>,
    name: String,
    label: Option<String>,
    value: Option<f64>,
    comment: Option<String>,
    annotator: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Body {
    Many(Vec<Sent>),
    One(Box<Sent>),
}

/// The route.
///
/// An annotation becomes the tenant's whose token comes with it; the token needs the role query.
pub fn annotations_router(door: Door, access: Access) -> Router {
    Router::new()
        .route("/v1/annotations", post(receive))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state((door, access))
}

async fn receive(State((door, access)): State<(Door, Access)>, request: Request) -> Response {
    let tenant = match access.writer_of(&request, Role::Query) {
        Ok(tenant) => tenant,
        Err(denied) => return denied.into_response(),
    };
    let headers = request.headers().clone();
    let body = match Bytes::from_request(request, &()).await {
        Ok(body) => body,
        Err(rejection) => {
            return answer(rejection.status(), &serde_json::json!({ "error": rejection.body_text() }));
        }
    };
    let kind = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    // A form of a web page cannot send JSON: what writes must not be reachable by one.
    if !kind.trim_start().to_ascii_lowercase().starts_with("application/json") {
        let error = "send annotations as application/json";
        return answer(StatusCode::UNSUPPORTED_MEDIA_TYPE, &serde_json::json!({ "error": error }));
    }
    let rows = match parse(&door, &tenant, &body) {
        Ok(rows) => rows,
        Err(error) => return answer(StatusCode::BAD_REQUEST, &serde_json::json!({ "error": error })),
    };
    match door.annotations(&rows).await {
        Ok(()) => {
            let ids: Vec<&str> = rows.iter().map(|r| r.annotation_id.as_str()).collect();
            answer(StatusCode::OK, &serde_json::json!({ "annotation_ids": ids }))
        }
        Err(error) => {
            let (status, seconds) = match &error {
                Refusal::Overloaded { retry_after, .. } => {
                    (StatusCode::SERVICE_UNAVAILABLE, Some(retry_after.as_secs() + 1))
                }
                Refusal::Invalid(_) => (StatusCode::BAD_REQUEST, None),
                Refusal::Broken(_) => (StatusCode::INTERNAL_SERVER_ERROR, None),
            };
            let mut response = answer(status, &serde_json::json!({ "error": error.to_string() }));
            if let Some(seconds) = seconds {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            }
            response
        }
    }
}

fn answer(status: StatusCode, body: &serde_json::Value) -> Response {
    (status, Json(body)).into_response()
}

fn parse(door: &Door, tenant: &str, body: &[u8]) -> Result<Vec<Annotation>, String> {
    let body: Body = serde_json::from_slice(body).map_err(|e| {
        format!("not an annotation: {e}; send {{\"trace_id\", \"span_id\", \"name\", \"label\", \"value\", \"comment\", \"annotator\"}}")
    })?;
    let sent = match body {
        Body::Many(many) => many,
        Body::One(one) => vec![*one],
    };
    sent.into_iter().enumerate().map(|(at, one)| row(door, tenant, at, one)).collect()
}

fn row(door: &Door, tenant: &str, at: usize, sent: Sent) -> Result<Annotation, String> {
    let wrong = |e: crate::domain::id::IdError| format!("annotation {at}: {e}");
    if sent.name.is_empty() {
        return Err(format!("annotation {at}: name is empty; say what is judged"));
    }
    if sent.annotation_id.as_deref() == Some("") {
        return Err(format!("annotation {at}: annotation_id is empty; leave it out to get one"));
    }
    if sent.label.is_none() && sent.value.is_none() && sent.comment.is_none() {
        return Err(format!("annotation {at}: give a label, a value or a comment"));
    }
    let mut sent = sent;
    if let Some(redactor) = door.redactor() {
        let texts = [&mut sent.label, &mut sent.comment, &mut sent.annotator];
        redactor.texts(texts.into_iter().flatten().chain([&mut sent.name]));
    }
    Ok(Annotation {
        annotation_id: sent.annotation_id.unwrap_or_else(|| uuid::Uuid::now_v7().to_string()),
        trace_id: TraceId::from_hex(&sent.trace_id).map_err(wrong)?,
        span_id: sent.span_id.map(|id| SpanId::from_hex(&id)).transpose().map_err(wrong)?,
        name: sent.name,
        label: sent.label,
        value: sent.value,
        comment: sent.comment,
        annotator: sent.annotator,
        created_at: door.now(),
        tenant: tenant.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::SystemClock;
    use crate::ingest::Config;
    use crate::journal::{self, Journal};
    use std::sync::Arc;

    #[tokio::test]
    async fn no_text_of_an_annotation_holds_a_finding() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal =
            Journal::open(folder.path(), journal::Config::default(), crate::schema::FORMAT).expect("opens");
        let mut config = Config::default();
        config.redact.kinds = vec!["*".to_owned()];
        let door = Door::new(journal, Arc::new(SystemClock), config);
        let said = "said by jane.doe@example.org";
        let sent = serde_json::json!({"trace_id": "0af7651916cd43dd8448eb211c80319c", "name": said,
            "label": said, "comment": said, "annotator": said});
        let rows = parse(&door, "t", sent.to_string().as_bytes()).expect("is an annotation");
        let clean = Some("said by [EMAIL]");
        let row = &rows[0];
        assert_eq!(Some(row.name.as_str()), clean);
        for text in [&row.label, &row.comment, &row.annotator] {
            assert_eq!(text.as_deref(), clean);
        }
    }
}
