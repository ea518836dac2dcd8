//! A log record. Those that carry the content of a model call are joined to their span.

use super::id::{SpanId, TraceId};
use super::span::{Llm, Source};
use super::time::UnixNanos;
use super::value::{Attrs, Value};
use std::sync::Arc;

/// One log record: what came, and what it says about its span.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRecord {
    /// When it happened; the time of observation where the sender did not say.
    pub time: UnixNanos,
    /// The trace; none for a record outside of any.
    pub trace_id: Option<TraceId>,
    /// The span.
    pub span_id: Option<SpanId>,
    /// The event's name, from the field or from the attribute `event.name`.
    pub event_name: String,
    /// Severity, 0 to 24.
    pub severity_number: i32,
    /// Severity as the sender spells it.
    pub severity_text: String,
    /// The body.
    pub body: Value,
    /// Attributes.
    pub attributes: Attrs,
    /// Attributes that the sender dropped.
    pub dropped_attributes_count: u32,
    /// W3C flags.
    pub flags: u32,
    /// Resource and scope.
    pub source: Arc<Source>,
    /// What the record says about its span (messages, model, …); none for an ordinary record.
    pub content: Option<Box<Llm>>,
    /// The result of an evaluation elsewhere (`gen_ai.evaluation.result`).
    pub evaluation: Option<Evaluation>,
}

/// An evaluation that another system made and sent as a log record or span attributes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evaluation {
    /// The metric's name.
    pub name: String,
    /// The score, in the other system's scale.
    pub value: Option<f64>,
    /// The label.
    pub label: Option<String>,
    /// Why.
    pub explanation: Option<String>,
    /// Set if the evaluation failed.
    pub error_type: Option<String>,
}
