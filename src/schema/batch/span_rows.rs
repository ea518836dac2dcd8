//! Rows of `spans`, built one by one from borrowed parts.

use super::build::said;
use super::llm::llm_columns;
use crate::domain::id::{SpanId, TraceId};
use crate::domain::span::{Llm, Source, SpanKind, StatusCode};
use crate::domain::time::UnixNanos;
use crate::schema::columns::Table;
use arrow::array::{
    ArrayRef, Int64Builder, RecordBatch, StringArray, StringBuilder, TimestampMicrosecondArray,
    TimestampMicrosecondBuilder,
};
use arrow::error::ArrowError;
use std::sync::{Arc, LazyLock};

/// A span's own fields, wherever they stand.
#[derive(Debug, Clone, Copy)]
pub struct RawSpan<'a> {
    /// The trace.
    pub trace_id: TraceId,
    /// The span.
    pub span_id: SpanId,
    /// The parent; none for a root.
    pub parent_span_id: Option<SpanId>,
    /// The name.
    pub name: &'a str,
    /// The role.
    pub kind: SpanKind,
    /// When it began.
    pub start: UnixNanos,
    /// When it ended.
    pub end: UnixNanos,
    /// How it ended.
    pub status: StatusCode,
    /// What the sender said of the status.
    pub status_message: &'a str,
    /// W3C tracestate.
    pub trace_state: &'a str,
    /// W3C flags and the bits that OTLP adds.
    pub flags: u32,
    /// Attributes, events and links that the sender dropped.
    pub dropped: [u32; 3],
    /// Attributes as a JSON object.
    pub attributes: &'a str,
    /// Events as a JSON array; empty for none.
    pub events: &'a str,
    /// Links as a JSON array; empty for none.
    pub links: &'a str,
}

/// The columns that all spans of a resource and scope share.
#[derive(Debug, Clone)]
pub struct SourceText {
    source: Arc<Source>,
    resource: String,
    scope_attributes: Option<String>,
}

impl SourceText {
    /// Writes the JSON of `source` once.
    pub fn new(source: Arc<Source>) -> Self {
        let resource = source.resource.to_json();
        let scope = &source.scope_attributes;
        let scope_attributes = (!scope.0.is_empty()).then(|| scope.to_json());
        Self { source, resource, scope_attributes }
    }

    /// The source.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The bytes that every row repeats.
    fn bytes(&self) -> usize {
        let scope = self.scope_attributes.as_ref().map_or(0, String::len);
        let Source { service_name, schema_url, scope_name, scope_version, .. } = &*self.source;
        let texts = [service_name, schema_url, scope_name, scope_version];
        self.resource.len() + scope + texts.into_iter().map(String::len).sum::<usize>()
    }
}

/// Rows on their way to a batch.
pub struct SpanRows {
    trace_id: StringBuilder,
    span_id: StringBuilder,
    parent_span_id: StringBuilder,
    name: StringBuilder,
    kind: StringBuilder,
    start_time: TimestampMicrosecondBuilder,
    start_nanos: Int64Builder,
    duration: Int64Builder,
    status: StringBuilder,
    status_message: StringBuilder,
    service_name: StringBuilder,
    scope_name: StringBuilder,
    scope_version: StringBuilder,
    scope_attributes: StringBuilder,
    schema_url: StringBuilder,
    resource: StringBuilder,
    attributes: StringBuilder,
    events: StringBuilder,
    links: StringBuilder,
    trace_state: StringBuilder,
    flags: Int64Builder,
    dropped: [Int64Builder; 3],
    llm: Vec<Option<Box<Llm>>>,
    bytes: usize,
}

/// What an ordinary span means: nothing.
static NOTHING: LazyLock<Llm> = LazyLock::new(Llm::default);

/// The fixed part of a row, bytes: ids, numbers, offsets and the columns of conventions.
const ROW_BYTES: usize = 512;

impl SpanRows {
    /// No rows yet; room for about `rows` with `attributes` bytes of attributes.
    pub fn with_capacity(rows: usize, attributes: usize) -> Self {
        let text = |width: usize| StringBuilder::with_capacity(rows, rows * width);
        let int = || Int64Builder::with_capacity(rows);
        Self {
            trace_id: text(32),
            span_id: text(16),
            parent_span_id: text(16),
            name: text(16),
            kind: text(8),
            start_time: TimestampMicrosecondBuilder::with_capacity(rows),
            start_nanos: int(),
            duration: int(),
            status: text(5),
            status_message: text(0),
            service_name: text(16),
            scope_name: text(16),
            scope_version: text(8),
            scope_attributes: text(0),
            schema_url: text(0),
            resource: text(128),
            attributes: StringBuilder::with_capacity(rows, attributes.max(rows * 256)),
            events: text(0),
            links: text(0),
            trace_state: text(0),
            flags: int(),
            dropped: [int(), int(), int()],
            llm: Vec::with_capacity(rows),
            bytes: 0,
        }
    }

    /// Roughly the bytes of the rows.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Roughly the bytes of one span's row. `is_genai`: it carries attributes of a GenAI convention.
    pub fn weight(span: &RawSpan<'_>, source: &SourceText, is_genai: bool) -> usize {
        // What a convention makes of the attributes repeats them at most.
        let said_twice = if is_genai { 2 } else { 1 };
        let own = span.name.len() + said_twice * span.attributes.len() + span.events.len() + span.links.len();
        ROW_BYTES + own + span.status_message.len() + span.trace_state.len() + source.bytes()
    }

    /// Adds one span, with what it means if it means anything.
    pub fn push(&mut self, span: &RawSpan<'_>, source: &SourceText, llm: Option<Box<Llm>>) {
        let (mut trace, mut id) = ([0u8; 32], [0u8; 16]);
        self.trace_id.append_value(hex_text(&span.trace_id.0, &mut trace));
        self.span_id.append_value(hex_text(&span.span_id.0, &mut id));
        match span.parent_span_id {
            Some(parent) => self.parent_span_id.append_value(hex_text(&parent.0, &mut id)),
            None => self.parent_span_id.append_null(),
        }
        self.name.append_value(span.name);
        self.kind.append_value(span.kind.as_str());
        self.start_time.append_value(span.start.micros());
        self.start_nanos.append_value(span.start.0);
        self.duration.append_value(span.end.since(span.start));
        self.status.append_value(span.status.as_str());
        self.status_message.append_option(said(span.status_message));
        self.trace_state.append_option(said(span.trace_state));
        self.flags.append_value(i64::from(span.flags));
        for (column, count) in self.dropped.iter_mut().zip(span.dropped) {
            column.append_value(i64::from(count));
        }
        self.attributes.append_value(span.attributes);
        self.events.append_option(said(span.events));
        self.links.append_option(said(span.links));
        self.push_source(source);
        self.bytes += Self::weight(span, source, llm.is_some());
        self.llm.push(llm);
    }

    fn push_source(&mut self, text: &SourceText) {
        self.service_name.append_option(said(&text.source.service_name));
        self.scope_name.append_option(said(&text.source.scope_name));
        self.scope_version.append_option(said(&text.source.scope_version));
        self.scope_attributes.append_option(text.scope_attributes.as_deref());
        self.schema_url.append_option(said(&text.source.schema_url));
        self.resource.append_value(&text.resource);
    }

    /// The batch, with the columns that are the same for all rows.
    pub fn finish(mut self, tenant: &str, received: UnixNanos) -> Result<RecordBatch, ArrowError> {
        let rows = self.llm.len();
        let tenants = StringArray::from_iter_values(std::iter::repeat_n(tenant, rows));
        let times = TimestampMicrosecondArray::from_value(received.micros(), rows).with_timezone("UTC");
        let start_time = self.start_time.finish().with_timezone("UTC");
        let [attributes_dropped, events_dropped, links_dropped] = &mut self.dropped;
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.trace_id.finish()),
            Arc::new(self.span_id.finish()),
            Arc::new(self.parent_span_id.finish()),
            Arc::new(self.name.finish()),
            Arc::new(self.kind.finish()),
            Arc::new(start_time),
            Arc::new(self.start_nanos.finish()),
            Arc::new(self.duration.finish()),
            Arc::new(self.status.finish()),
            Arc::new(self.status_message.finish()),
            Arc::new(self.service_name.finish()),
            Arc::new(self.scope_name.finish()),
            Arc::new(self.scope_version.finish()),
            Arc::new(self.scope_attributes.finish()),
            Arc::new(self.schema_url.finish()),
            Arc::new(self.resource.finish()),
            Arc::new(self.attributes.finish()),
            Arc::new(self.events.finish()),
            Arc::new(self.links.finish()),
            Arc::new(self.trace_state.finish()),
            Arc::new(self.flags.finish()),
            Arc::new(attributes_dropped.finish()),
            Arc::new(events_dropped.finish()),
            Arc::new(links_dropped.finish()),
            Arc::new(tenants),
            Arc::new(times),
        ];
        columns.extend(llm_columns(&self.llm, |llm| llm.as_deref().unwrap_or(&NOTHING)));
        RecordBatch::try_new(Table::Spans.schema(), columns)
    }
}

/// `bytes` as hex in `out`, which is twice as long.
fn hex_text<'a>(bytes: &[u8], out: &'a mut [u8]) -> &'a str {
    let written = hex::encode_to_slice(bytes, out).is_ok();
    if written { std::str::from_utf8(out).unwrap_or_default() } else { "" }
}
