//! A trace request to spans.

use super::convert::{self, MAX_DEPTH, TooDeep};
use super::outcome::Decoded;
use crate::domain::id::{IdError, SpanId, TraceId};
use crate::domain::span::{Event, Link, Llm, Source, Span, SpanKind, StatusCode};
use crate::ingest::dialect;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::{self as proto, ScopeSpans};
use std::sync::Arc;

/// Decodes and normalises every span of a request.
///
/// A span with an id of the wrong width or all zeros, a time beyond 2262 or a value that nests too deep is rejected,
/// counted and named. A span that ends before it starts is kept with a warning.
pub fn spans(request: ExportTraceServiceRequest) -> Decoded<Span> {
    let groups = request.resource_spans.iter().flat_map(|r| &r.scope_spans);
    let mut out = Decoded::with_capacity(groups.map(|s| s.spans.len()).sum());
    for (r, resource_spans) in request.resource_spans.into_iter().enumerate() {
        let base = convert::resource(resource_spans.resource);
        for (s, mut group) in resource_spans.scope_spans.into_iter().enumerate() {
            let (scope, schema) = (group.scope.take(), std::mem::take(&mut group.schema_url));
            let source = base
                .as_ref()
                .map_err(|too_deep| *too_deep)
                .and_then(|base| convert::scope(base, scope, schema, &resource_spans.schema_url));
            match source {
                Ok(source) => group_spans(group, &Arc::new(source), (r, s), &mut out),
                Err(TooDeep) => {
                    let at = || format!("resource_spans[{r}].scope_spans[{s}]");
                    let problem =
                        format!("an attribute of the resource or scope nests deeper than {MAX_DEPTH}");
                    for _ in &group.spans {
                        out.reject(at, &problem);
                    }
                }
            }
        }
    }
    out
}

fn group_spans(group: ScopeSpans, source: &Arc<Source>, (r, s): (usize, usize), out: &mut Decoded<Span>) {
    for (i, span) in group.spans.into_iter().enumerate() {
        let at = || format!("resource_spans[{r}].scope_spans[{s}].spans[{i}]");
        match one(span, source) {
            Ok(mut span) => {
                if span.end < span.start {
                    out.warn(at, "the span ends before it starts");
                }
                dialect::normalize_span(&mut span);
                out.items.push(span);
            }
            Err(problem) => out.reject(at, &told(&problem)),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Problem {
    #[error("{0}")]
    Id(#[from] IdError),
    #[error("parent {0}")]
    Parent(IdError),
    #[error("{0} is after the year 2262")]
    Time(&'static str),
    #[error("an attribute nests deeper than {MAX_DEPTH}")]
    Deep,
}

impl From<TooDeep> for Problem {
    fn from(_: TooDeep) -> Self {
        Problem::Deep
    }
}

/// The problem in words. Of text that is not hexadecimal the reader of JSON makes an id of one byte.
fn told(problem: &Problem) -> String {
    match problem {
        Problem::Id(IdError::Length { got: 1, .. }) | Problem::Parent(IdError::Length { got: 1, .. }) => {
            format!("{problem}; in OTLP/JSON an id is hexadecimal text, not base64")
        }
        other => other.to_string(),
    }
}

pub(super) fn one(span: proto::Span, source: &Arc<Source>) -> Result<Span, Problem> {
    let status = span.status.unwrap_or_default();
    Ok(Span {
        trace_id: TraceId::from_bytes(&span.trace_id)?,
        span_id: SpanId::from_bytes(&span.span_id)?,
        parent_span_id: parent(&span.parent_span_id)?,
        name: span.name,
        kind: kind(span.kind),
        start: convert::time(span.start_time_unix_nano).ok_or(Problem::Time("start_time_unix_nano"))?,
        end: convert::time(span.end_time_unix_nano).ok_or(Problem::Time("end_time_unix_nano"))?,
        status: status_code(status.code),
        status_message: status.message,
        source: Arc::clone(source),
        attributes: convert::attrs(span.attributes)?,
        events: span.events.into_iter().map(event).collect::<Result<_, _>>()?,
        links: span.links.into_iter().map(link).collect::<Result<_, _>>()?,
        trace_state: span.trace_state,
        flags: span.flags,
        dropped_attributes_count: span.dropped_attributes_count,
        dropped_events_count: span.dropped_events_count,
        dropped_links_count: span.dropped_links_count,
        llm: Llm::default(),
    })
}

/// No bytes mean a root, and so do all zeros: some senders write W3C's "no id" out in full.
pub(super) fn parent(bytes: &[u8]) -> Result<Option<SpanId>, Problem> {
    if bytes.is_empty() {
        return Ok(None);
    }
    match SpanId::from_bytes(bytes) {
        Ok(id) => Ok(Some(id)),
        Err(IdError::Zero { .. }) => Ok(None),
        Err(error) => Err(Problem::Parent(error)),
    }
}

pub(super) fn kind(number: i32) -> SpanKind {
    match number {
        1 => SpanKind::Internal,
        2 => SpanKind::Server,
        3 => SpanKind::Client,
        4 => SpanKind::Producer,
        5 => SpanKind::Consumer,
        _ => SpanKind::Unspecified,
    }
}

pub(super) fn status_code(number: i32) -> StatusCode {
    match number {
        1 => StatusCode::Ok,
        2 => StatusCode::Error,
        _ => StatusCode::Unset,
    }
}

fn event(event: proto::span::Event) -> Result<Event, Problem> {
    Ok(Event {
        time: convert::time(event.time_unix_nano).ok_or(Problem::Time("time_unix_nano of an event"))?,
        name: event.name,
        attributes: convert::attrs(event.attributes)?,
        dropped_attributes_count: event.dropped_attributes_count,
    })
}

fn link(link: proto::span::Link) -> Result<Link, Problem> {
    Ok(Link {
        trace_id: link.trace_id,
        span_id: link.span_id,
        trace_state: link.trace_state,
        attributes: convert::attrs(link.attributes)?,
        dropped_attributes_count: link.dropped_attributes_count,
        flags: link.flags,
    })
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
