//! `POST /v1/annotations`: human judgements, one JSON object, an array of them, or CSV. One that names a drawn item goes
//! through the queue.

use super::csv::{self, Words};
use super::fault::LabelError;
use super::heard::Heard;
use super::http::{reviewer, to_its_end};
use super::review::{Review, Said};
use super::sent::{Sent, new_id};
use crate::ingest::Receiver;
use crate::net::{Access, Caller, Role};
use crate::schema::batch::{Annotation, AnswerKind};
use axum::extract::{DefaultBodyLimit, FromRequest, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Largest body, bytes.
const MAX_BODY: usize = 16 << 20;
/// Most judgements that become durable in one frame.
const FRAME_ROWS: usize = 5_000;

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Body {
    Many(Vec<Sent>),
    One(Box<Sent>),
}

/// What an import of CSV may say in the address.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Import {
    /// Whether lines without a fault are taken although others have one.
    partial: bool,
    /// `any` for words that are neither pass nor fail.
    labels: Option<String>,
}

#[derive(Clone)]
struct Behind {
    receiver: Receiver,
    access: Access,
    review: Arc<Review>,
}

/// The route.
///
/// An annotation becomes the tenant's whose token comes with it; the token needs the role query, or review for answers to drawn
/// items only.
pub fn annotations_router(receiver: Receiver, access: Access, review: Arc<Review>) -> Router {
    Router::new()
        .route("/v1/annotations", post(receive))
        .layer(from_fn(to_its_end))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(Behind { receiver, access, review })
}

async fn receive(State(behind): State<Behind>, request: Request) -> Response {
    let (caller, tenant) = match behind.access.writer_of(&request, Role::Review) {
        Ok(known) => known,
        Err(denied) => return denied.into_response(),
    };
    let headers = request.headers().clone();
    let import = Query::<Import>::try_from_uri(request.uri()).map(|Query(import)| import);
    let body = match Bytes::from_request(request, &()).await {
        Ok(body) => body,
        Err(rejection) => return fault(rejection.status(), &rejection.body_text()),
    };
    let kind = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let kind = kind.trim_start().to_ascii_lowercase();
    let work = Work { behind: &behind, caller: &caller, tenant: &tenant };
    let answered = if kind.starts_with("application/json") {
        work.take_json(&body).await
    } else if kind.starts_with("text/csv") {
        match import {
            Ok(import) => return work.import(&body, &import).await,
            Err(wrong) => return fault(StatusCode::BAD_REQUEST, &wrong.body_text()),
        }
    } else {
        // A form of a web page can send neither: what writes must not be reachable by one.
        let why = "send annotations as application/json, or as text/csv";
        return fault(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
    };
    answered.map_or_else(IntoResponse::into_response, |answer| Json(answer).into_response())
}

fn fault(status: StatusCode, why: &str) -> Response {
    (status, Json(json!({ "error": why }))).into_response()
}

/// One request.
struct Work<'a> {
    behind: &'a Behind,
    caller: &'a Caller,
    tenant: &'a str,
}

impl Work<'_> {
    async fn take_json(&self, body: &[u8]) -> Result<Value, LabelError> {
        let body: Body = serde_json::from_slice(body).map_err(|e| {
            LabelError::Wrong(format!(
                "not an annotation: {e}; send {{\"trace_id\", \"span_id\", \"name\", \"label\", \"value\", \"comment\", \
                 \"annotator\"}}, or {{\"item\", \"name\", \"label\"}} for an item of /v1/labels/next"
            ))
        })?;
        let sent = match body {
            Body::Many(many) => many,
            Body::One(one) => vec![*one],
        };
        let (drawn, plain): (Vec<_>, Vec<_>) =
            sent.into_iter().enumerate().partition(|(_, one)| one.item.is_some());
        if !plain.is_empty() {
            self.may_annotate()?;
        }
        let receiver = &self.behind.receiver;
        let row = |(at, one): (usize, Sent)| {
            one.row(receiver, self.tenant).map_err(|why| LabelError::Wrong(format!("annotation {at}: {why}")))
        };
        let plain = plain.into_iter().map(row).collect::<Result<Vec<_>, _>>()?;
        // What refuses the request comes before the answers: an answer that was taken could not be sent again with the rest.
        let heard = self.heard(&plain).await?;
        self.append(&plain).await?;
        let (mut items, mut refused, count) = (Vec::new(), Vec::new(), drawn.len());
        for (at, one) in drawn {
            match self.answer(one).await {
                Ok(item) => items.push(item),
                // The others are taken all the same: each answer is one person's work.
                Err(error) if count + plain.len() > 1 => {
                    refused.push(json!({"at": at, "error": error.to_string()}))
                }
                Err(error) => return Err(error),
            }
        }
        let ids: Vec<&str> = plain.iter().map(|row| row.annotation_id.as_str()).collect();
        let mut answer = json!({ "annotation_ids": ids });
        if !plain.is_empty() {
            heard.tell(&mut answer);
        }
        if count > 0 {
            answer["items"] = items.into();
            answer["refused"] = refused.into();
        }
        Ok(answer)
    }

    fn may_annotate(&self) -> Result<(), LabelError> {
        if !self.caller.may(Role::Query) {
            let why = "the role review answers items of /v1/labels/next only: name the item, or use a token with the role query";
            return Err(LabelError::Wrong(why.to_owned()));
        }
        Ok(())
    }

    async fn answer(&self, mut sent: Sent) -> Result<Value, LabelError> {
        if let Some(redactor) = self.behind.receiver.redactor() {
            redactor.texts(sent.comment.iter_mut());
        }
        let reviewer = reviewer(self.caller, &self.behind.access, sent.annotator.as_deref())?;
        let said = Said {
            tenant: self.tenant,
            metric: &sent.name,
            item: sent.item.as_deref().unwrap_or_default(),
            reviewer: &reviewer,
            id: sent.annotation_id.clone().filter(|id| !id.is_empty()).unwrap_or_else(new_id),
            kind: sent.kind.unwrap_or(AnswerKind::Answer),
            label: sent.label.clone(),
            comment: sent.comment.clone(),
            flagged: sent.flagged,
            seconds: sent.seconds,
        };
        self.behind.review.take(said).await
    }

    /// What there is to tell of labels that are about to be taken.
    async fn heard(&self, labels: &[Annotation]) -> Result<Heard, LabelError> {
        Heard::of(self.behind.review.sql(), self.tenant, labels).await
    }

    async fn append(&self, rows: &[Annotation]) -> Result<(), LabelError> {
        for frame in rows.chunks(FRAME_ROWS) {
            self.behind.receiver.labels(&[], &[], frame).await?;
        }
        Ok(())
    }

    async fn import(&self, body: &[u8], import: &Import) -> Response {
        let words = match import.labels.as_deref() {
            None => Words::Verdicts,
            Some("any") => Words::Any,
            Some(other) => {
                return fault(StatusCode::BAD_REQUEST, &format!("labels is {other:?}, can only be any"));
            }
        };
        if let Err(denied) = self.may_annotate() {
            return denied.into_response();
        }
        let mut read = match csv::read(body, words) {
            Ok(read) => read,
            Err(why) => return fault(StatusCode::BAD_REQUEST, &why),
        };
        let rows = std::mem::take(&mut read.rows);
        let mut labels = Vec::with_capacity(rows.len());
        for (line, sent) in rows {
            match sent.row(&self.behind.receiver, self.tenant) {
                Ok(row) => labels.push(row),
                Err(message) => read.fault(line, None, message),
            }
        }
        let (faults, faulty) = (read.faults, read.faulty);
        if faulty > 0 && !import.partial {
            let error = format!(
                "{faulty} faults, nothing was imported: mend them, or ask with partial=true (--partial) for the lines without one"
            );
            return (
                StatusCode::BAD_REQUEST,
                Json(json!({"error": error, "faults": faults, "faulty_lines": faulty})),
            )
                .into_response();
        }
        let done = async {
            let heard = self.heard(&labels).await?;
            self.append(&labels).await?;
            Ok::<Heard, LabelError>(heard)
        };
        match done.await {
            Ok(heard) => {
                let mut answer =
                    json!({ "imported": labels.len(), "faults": faults, "faulty_lines": faulty });
                heard.tell(&mut answer);
                Json(answer).into_response()
            }
            Err(error) => error.into_response(),
        }
    }
}
