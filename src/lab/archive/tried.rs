//! What tests of archives have in common.

use crate::domain::id::{SpanId, TraceId};
use crate::domain::span::{Llm, Source, Span, SpanKind, StatusCode};
use crate::domain::time::UnixNanos;
use crate::domain::value::{Attrs, Value};
use std::sync::Arc;

/// A span of a trace that is named in hex, whose id repeats one byte, with a text among its attributes.
pub fn span(trace: &str, id: u8, text: &str) -> Span {
    Span {
        trace_id: TraceId::from_hex(trace).unwrap(),
        span_id: SpanId([id; 8]),
        parent_span_id: Some(SpanId([3; 8])),
        name: "call".to_owned(),
        kind: SpanKind::Client,
        start: UnixNanos(1_999),
        end: UnixNanos(5_000),
        status: StatusCode::Ok,
        status_message: String::new(),
        source: Arc::new(Source::default()),
        attributes: Attrs(vec![("text".to_owned(), Value::Str(text.to_owned()))]),
        events: Vec::new(),
        links: Vec::new(),
        trace_state: String::new(),
        flags: 1,
        dropped_attributes_count: 0,
        dropped_events_count: 0,
        dropped_links_count: 0,
        llm: Llm::default(),
    }
}
