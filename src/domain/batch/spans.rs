//! Spans to the stored columns of `spans`, and the part of a row that sampling needs back.

use super::build::{int, micros, owned, said, text, text_at};
use super::llm::{llm_columns, read_llm};
use crate::domain::columns::Table;
use crate::domain::id::{SpanId, TraceId};
use crate::domain::span::{Event, Link, Llm, Source, Span, StatusCode};
use crate::domain::time::UnixNanos;
use crate::domain::value::{Attrs, write_json_string};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::datatypes::{Int64Type, TimestampMicrosecondType};
use arrow::error::ArrowError;
use std::fmt::Write as _;
use std::sync::Arc;

/// `spans` as one batch of the stored schema.
pub fn spans_to_batch(spans: &[Span], tenant: &str, received: UnixNanos) -> Result<RecordBatch, ArrowError> {
    let shared = SharedJson::of(spans);
    let mut columns: Vec<ArrayRef> = vec![
        owned(spans, |s| Some(s.trace_id.to_string())),
        owned(spans, |s| Some(s.span_id.to_string())),
        owned(spans, |s| s.parent_span_id.map(|id| id.to_string())),
        text(spans, |s| Some(&s.name)),
        text(spans, |s| Some(s.kind.as_str())),
        micros(spans, |s| Some(s.start.micros())),
        int(spans, |s| Some(s.start.0)),
        int(spans, |s| Some(s.end.since(s.start))),
        text(spans, |s| Some(s.status.as_str())),
        text(spans, |s| said(&s.status_message)),
        text(spans, |s| said(&s.source.service_name)),
        text(spans, |s| said(&s.source.scope_name)),
        text(spans, |s| said(&s.source.scope_version)),
        owned(spans, |s| {
            (!s.source.scope_attributes.0.is_empty()).then(|| s.source.scope_attributes.to_json())
        }),
        text(spans, |s| said(&s.source.schema_url)),
        shared.resources,
        owned(spans, |s| Some(s.attributes.to_json())),
        owned(spans, |s| events_json(&s.events)),
        owned(spans, |s| links_json(&s.links)),
        text(spans, |s| said(&s.trace_state)),
        int(spans, |s| Some(i64::from(s.flags))),
        int(spans, |s| Some(i64::from(s.dropped_attributes_count))),
        int(spans, |s| Some(i64::from(s.dropped_events_count))),
        int(spans, |s| Some(i64::from(s.dropped_links_count))),
        text(spans, |_| Some(tenant)),
        micros(spans, |_| Some(received.micros())),
    ];
    columns.extend(llm_columns(spans, |s: &Span| &s.llm));
    RecordBatch::try_new(Table::Spans.schema(), columns)
}

/// Resource attributes as JSON; spans of one source share the work.
struct SharedJson {
    resources: ArrayRef,
}

impl SharedJson {
    fn of(spans: &[Span]) -> Self {
        let mut last: Option<(*const Source, String)> = None;
        let mut texts: Vec<String> = Vec::with_capacity(spans.len());
        for span in spans {
            let at = Arc::as_ptr(&span.source);
            if last.as_ref().is_none_or(|(seen, _)| *seen != at) {
                last = Some((at, span.source.resource.to_json()));
            }
            texts.push(last.as_ref().map(|(_, json)| json.clone()).unwrap_or_default());
        }
        Self { resources: Arc::new(StringArray::from(texts)) }
    }
}

fn events_json(events: &[Event]) -> Option<String> {
    if events.is_empty() {
        return None;
    }
    let mut out = String::from("[");
    for (i, event) in events.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        let _ = write!(out, "{{\"time_unix_nano\":{},\"name\":", event.time.0);
        write_json_string(&event.name, &mut out);
        close(&event.attributes, event.dropped_attributes_count, &mut out);
    }
    out.push(']');
    Some(out)
}

fn links_json(links: &[Link]) -> Option<String> {
    if links.is_empty() {
        return None;
    }
    let mut out = String::from("[");
    for (i, link) in links.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        let (trace, span) = (hex::encode(&link.trace_id), hex::encode(&link.span_id));
        let _ = write!(out, "{{\"trace_id\":\"{trace}\",\"span_id\":\"{span}\",\"flags\":{}", link.flags);
        out.push_str(",\"trace_state\":");
        write_json_string(&link.trace_state, &mut out);
        close(&link.attributes, link.dropped_attributes_count, &mut out);
    }
    out.push(']');
    Some(out)
}

fn close(attributes: &Attrs, dropped: u32, out: &mut String) {
    out.push_str(",\"attributes\":");
    out.push_str(&attributes.to_json());
    let _ = write!(out, ",\"dropped_attributes_count\":{dropped}}}");
}

/// The part of a span that sampling and evaluation need.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanRow {
    /// The trace.
    pub trace_id: TraceId,
    /// The span.
    pub span_id: SpanId,
    /// The parent; none for a root.
    pub parent_span_id: Option<SpanId>,
    /// When it began.
    pub start: UnixNanos,
    /// When it ended.
    pub end: UnixNanos,
    /// When the server received it.
    pub received: UnixNanos,
    /// How it ended.
    pub status: StatusCode,
    /// `service.name`; empty if it was not said.
    pub service_name: String,
    /// The tenant.
    pub tenant: String,
    /// W3C tracestate, which carries an upstream sampling threshold.
    pub trace_state: String,
    /// What the span means.
    pub llm: Llm,
}

/// Reads the rows of a batch of spans. Rows whose ids do not parse are left out: the door admits none.
pub fn read_span_rows(batch: &RecordBatch) -> Vec<SpanRow> {
    let texts = |name: &str| batch.column_by_name(name).and_then(|c| c.as_string_opt::<i32>());
    let get = |name: &str, row: usize| texts(name).and_then(|c| text_at(c, row));
    let ints = |name: &str, row: usize| {
        let column = batch.column_by_name(name).and_then(|c| c.as_primitive_opt::<Int64Type>());
        column.filter(|c| !c.is_null(row)).map_or(0, |c| c.value(row))
    };
    let received = batch.column_by_name("received_at");
    let received = received.and_then(|c| c.as_primitive_opt::<TimestampMicrosecondType>());
    let mut rows = Vec::with_capacity(batch.num_rows());
    for (row, llm) in read_llm(batch).into_iter().enumerate() {
        let trace_id = get("trace_id", row).and_then(|t| TraceId::from_hex(&t).ok());
        let span_id = get("span_id", row).and_then(|t| SpanId::from_hex(&t).ok());
        let (Some(trace_id), Some(span_id)) = (trace_id, span_id) else { continue };
        let start = ints("start_time_unix_nano", row);
        rows.push(SpanRow {
            trace_id,
            span_id,
            parent_span_id: get("parent_span_id", row).and_then(|t| SpanId::from_hex(&t).ok()),
            start: UnixNanos(start),
            end: UnixNanos(start.saturating_add(ints("duration_ns", row))),
            received: UnixNanos(received.map_or(0, |c| c.value(row)).saturating_mul(1_000)),
            status: get("status_code", row).and_then(|t| StatusCode::parse(&t)).unwrap_or(StatusCode::Unset),
            service_name: get("service_name", row).unwrap_or_default(),
            tenant: get("tenant", row).unwrap_or_default(),
            trace_state: get("trace_state", row).unwrap_or_default(),
            llm,
        });
    }
    rows
}
