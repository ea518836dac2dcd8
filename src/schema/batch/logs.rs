//! Log records to the stored columns of `log_records`, and what they say about their spans back.

use super::build::{int, micros, owned, said, text, text_at};
use crate::domain::id::{SpanId, TenantId, TraceId};
use crate::domain::log::LogRecord;
use crate::domain::span::Llm;
use crate::domain::time::UnixNanos;
use crate::domain::value::Value;
use crate::schema::columns::Table;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::datatypes::Int64Type;
use arrow::error::ArrowError;
use std::sync::Arc;

/// `records` as one batch of the stored schema.
pub fn logs_to_batch(
    records: &[LogRecord],
    tenant: &str,
    received: UnixNanos,
) -> Result<RecordBatch, ArrowError> {
    // Content that was left out here would never come to its span, and nobody would know.
    let contents = records.iter().map(|r| r.content.as_ref().map(serde_json::to_string).transpose());
    let contents = contents.collect::<Result<StringArray, _>>();
    let contents = contents.map_err(|e| ArrowError::JsonError(format!("content of a log record: {e}")))?;
    let columns: Vec<ArrayRef> = vec![
        micros(records, |r| Some(r.time.micros())),
        int(records, |r| Some(r.time.0)),
        owned(records, |r| r.trace_id.map(|id| id.to_string())),
        owned(records, |r| r.span_id.map(|id| id.to_string())),
        text(records, |r| said(&r.event_name)),
        int(records, |r| Some(i64::from(r.severity_number))),
        text(records, |r| said(&r.severity_text)),
        owned(records, |r| body_json(&r.body)),
        owned(records, |r| Some(r.attributes.to_json())),
        owned(records, |r| Some(r.source.resource.to_json())),
        text(records, |r| said(&r.source.service_name)),
        text(records, |r| said(&r.source.scope_name)),
        int(records, |r| Some(i64::from(r.flags))),
        int(records, |r| Some(i64::from(r.dropped_attributes_count))),
        text(records, |_| Some(tenant)),
        micros(records, |_| Some(received.micros())),
        Arc::new(contents),
    ];
    RecordBatch::try_new(Table::LogRecords.schema(), columns)
}

fn body_json(body: &Value) -> Option<String> {
    if *body == Value::Null {
        return None;
    }
    let mut out = String::new();
    body.write_json(&mut out);
    Some(out)
}

/// What a log record says about its span.
#[derive(Debug, Clone, PartialEq)]
pub struct LogContent {
    /// Whose it is.
    pub tenant: TenantId,
    /// The trace.
    pub trace_id: TraceId,
    /// The span.
    pub span_id: SpanId,
    /// When the record was made: content is joined in this order.
    pub time: UnixNanos,
    /// What it says.
    pub llm: Llm,
}

/// The content of every record that has some and belongs to a span, in order of time.
pub fn read_log_content(batch: &RecordBatch) -> Vec<LogContent> {
    let texts = |name: &str| batch.column_by_name(name).and_then(|c| c.as_string_opt::<i32>());
    let get = |name: &str, row: usize| texts(name).and_then(|c| text_at(c, row));
    let times = batch.column_by_name("time_unix_nano").and_then(|c| c.as_primitive_opt::<Int64Type>());
    let Some(contents) = texts("content") else { return Vec::new() };
    let mut found = Vec::new();
    for row in (0..batch.num_rows()).filter(|row| !contents.is_null(*row)) {
        let trace_id = get("trace_id", row).and_then(|t| TraceId::from_hex(&t).ok());
        let span_id = get("span_id", row).and_then(|t| SpanId::from_hex(&t).ok());
        let llm = serde_json::from_str::<Llm>(contents.value(row)).ok();
        if let (Some(trace_id), Some(span_id), Some(llm)) = (trace_id, span_id, llm) {
            let time = UnixNanos(times.map_or(0, |t| t.value(row)));
            let tenant = TenantId::from(get("tenant", row).unwrap_or_default());
            found.push(LogContent { tenant, trace_id, span_id, time, llm });
        }
    }
    found.sort_by_key(|content| content.time);
    found
}
