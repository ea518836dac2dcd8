//! Spans to the stored columns of `spans`, and the part of a row that sampling needs back.

use super::llm::read_llm_at;
use super::span_rows::{RawSpan, SourceText, SpanRows};
use crate::domain::id::{SpanId, TenantId, TraceId};
use crate::domain::span::{Dialect, Event, Link, Llm, Span, StatusCode};
use crate::domain::time::UnixNanos;
use crate::domain::value::{Attrs, write_json_string};
use arrow::array::{Array, AsArray, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{Int64Type, TimestampMicrosecondType};
use arrow::error::ArrowError;
use std::fmt::Write as _;
use std::sync::Arc;

/// `spans` as one batch of the stored schema.
pub fn spans_to_batch(spans: &[Span], tenant: &str, received: UnixNanos) -> Result<RecordBatch, ArrowError> {
    let mut rows = SpanRows::with_capacity(spans.len(), 0);
    let mut source: Option<SourceText> = None;
    for span in spans {
        let llm = Some(Box::new(span.llm.clone()));
        with_raw(span, &mut source, |raw, text| rows.push(raw, text, llm));
    }
    rows.finish(tenant, received)
}

/// Gives the parts of `span`'s row to `take`. `source` carries the text of its resource and scope to the next span.
pub fn with_raw<T>(
    span: &Span,
    source: &mut Option<SourceText>,
    take: impl FnOnce(&RawSpan<'_>, &SourceText) -> T,
) -> T {
    let same = source.take().filter(|text| Arc::ptr_eq(text.source(), &span.source));
    let text = source.insert(same.unwrap_or_else(|| SourceText::new(span.source.clone())));
    let raw = RawSpan {
        trace_id: span.trace_id,
        span_id: span.span_id,
        parent_span_id: span.parent_span_id,
        name: &span.name,
        kind: span.kind,
        start: span.start,
        end: span.end,
        status: span.status,
        status_message: &span.status_message,
        trace_state: &span.trace_state,
        flags: span.flags,
        dropped: [span.dropped_attributes_count, span.dropped_events_count, span.dropped_links_count],
        attributes: &span.attributes.to_json(),
        events: &events_json(&span.events),
        links: &links_json(&span.links),
    };
    take(&raw, text)
}

fn events_json(events: &[Event]) -> String {
    if events.is_empty() {
        return String::new();
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
    out
}

fn links_json(links: &[Link]) -> String {
    if links.is_empty() {
        return String::new();
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
    out
}

fn close(attributes: &Attrs, dropped: u32, out: &mut String) {
    out.push_str(",\"attributes\":");
    out.push_str(&attributes.to_json());
    let _ = write!(out, ",\"dropped_attributes_count\":{dropped}}}");
}

/// The part of a span that sampling and evaluation need.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanRow {
    /// Where it stands in its trace.
    pub head: SpanHead,
    /// What the span means.
    pub llm: Llm,
}

/// A span's place in its trace, without what it says.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanHead {
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
    pub service_name: Arc<str>,
    /// The tenant.
    pub tenant: TenantId,
    /// W3C tracestate, which carries an upstream sampling threshold.
    pub trace_state: Option<Arc<str>>,
}

/// Reads rows of a batch of spans one by one. Columns are looked up once.
pub struct SpanReader<'a> {
    batch: &'a RecordBatch,
    trace_id: &'a StringArray,
    span_id: &'a StringArray,
    parent: &'a StringArray,
    status: &'a StringArray,
    dialect: &'a StringArray,
    service: Shared<'a>,
    tenant: Shared<'a>,
    trace_state: &'a StringArray,
    start: &'a Int64Array,
    duration: &'a Int64Array,
    received: &'a TimestampMicrosecondArray,
}

/// A text column whose neighbouring values are mostly the same: they share one text.
struct Shared<'a> {
    column: &'a StringArray,
    last: Arc<str>,
}

impl Shared<'_> {
    fn at(&mut self, row: usize) -> Arc<str> {
        let text = if self.column.is_null(row) { "" } else { self.column.value(row) };
        if *self.last != *text {
            self.last = Arc::from(text);
        }
        self.last.clone()
    }
}

impl<'a> SpanReader<'a> {
    /// A reader of `batch`; none if it is not a batch of spans.
    pub fn new(batch: &'a RecordBatch) -> Option<Self> {
        let text = |name: &str| batch.column_by_name(name)?.as_string_opt::<i32>();
        let int = |name: &str| batch.column_by_name(name)?.as_primitive_opt::<Int64Type>();
        let received = batch.column_by_name("received_at")?;
        let shared = |column| Shared { column, last: Arc::from("") };
        Some(Self {
            batch,
            trace_id: text("trace_id")?,
            span_id: text("span_id")?,
            parent: text("parent_span_id")?,
            status: text("status_code")?,
            dialect: text("dialect")?,
            service: shared(text("service_name")?),
            tenant: shared(text("tenant")?),
            trace_state: text("trace_state")?,
            start: int("start_time_unix_nano")?,
            duration: int("duration_ns")?,
            received: received.as_primitive_opt::<TimestampMicrosecondType>()?,
        })
    }

    /// The trace of `row`; none if its id does not parse, which the receiver does not admit.
    pub fn trace_id(&self, row: usize) -> Option<TraceId> {
        TraceId::from_hex(self.trace_id.value(row)).ok()
    }

    /// Whether `row` carries attributes of a GenAI convention.
    pub fn has_dialect(&self, row: usize) -> bool {
        self.dialect.value(row) != Dialect::None.as_str()
    }

    /// The place of `row` in its trace.
    pub fn head(&mut self, row: usize) -> Option<SpanHead> {
        let start = self.start.value(row);
        let parent = (!self.parent.is_null(row)).then(|| self.parent.value(row));
        let state = (!self.trace_state.is_null(row)).then(|| Arc::from(self.trace_state.value(row)));
        Some(SpanHead {
            trace_id: self.trace_id(row)?,
            span_id: SpanId::from_hex(self.span_id.value(row)).ok()?,
            parent_span_id: parent.and_then(|text| SpanId::from_hex(text).ok()),
            start: UnixNanos(start),
            end: UnixNanos(start.saturating_add(self.duration.value(row))),
            received: UnixNanos(self.received.value(row).saturating_mul(1_000)),
            status: StatusCode::parse(self.status.value(row)).unwrap_or(StatusCode::Unset),
            service_name: self.service.at(row),
            tenant: self.tenant.at(row).into(),
            trace_state: state,
        })
    }

    /// What `row` means.
    pub fn llm(&self, row: usize) -> Llm {
        read_llm_at(self.batch, row)
    }
}
