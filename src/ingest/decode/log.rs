//! A log request to records.

use super::convert::{self, MAX_DEPTH, TooDeep};
use super::json;
use super::outcome::{DecodeError, Decoded};
use super::protobuf::from_protobuf_within;
use crate::domain::id::{SpanId, TraceId};
use crate::domain::log::LogRecord;
use crate::domain::span::Source;
use crate::domain::time::UnixNanos;
use crate::ingest::dialect;
use crate::ingest::memory::Allowance;
use crate::ingest::redact::Redactor;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::logs::v1::{self as proto, ScopeLogs};
use std::sync::Arc;

/// Decodes and normalises every record of a request.
///
/// Only a value that nests too deep costs a record. A bad id is dropped with a warning and the record stays; a record
/// without a usable time of its own gets the time of observation, else `received_at`.
pub fn logs(request: ExportLogsServiceRequest, received_at: UnixNanos) -> Decoded<LogRecord> {
    let groups = request.resource_logs.iter().flat_map(|r| &r.scope_logs);
    let mut out = Decoded::with_capacity(groups.map(|s| s.log_records.len()).sum());
    for (r, resource_logs) in request.resource_logs.into_iter().enumerate() {
        let base = convert::resource(resource_logs.resource);
        for (s, mut group) in resource_logs.scope_logs.into_iter().enumerate() {
            let (scope, schema) = (group.scope.take(), std::mem::take(&mut group.schema_url));
            let source = base
                .as_ref()
                .map_err(|too_deep| *too_deep)
                .and_then(|base| convert::scope(base, scope, schema, &resource_logs.schema_url));
            match source {
                Ok(source) => group_logs(group, &Arc::new(source), received_at, (r, s), &mut out),
                Err(TooDeep) => {
                    let at = || format!("resource_logs[{r}].scope_logs[{s}]");
                    let problem =
                        format!("an attribute of the resource or scope nests deeper than {MAX_DEPTH}");
                    for _ in &group.log_records {
                        out.reject(at, &problem);
                    }
                }
            }
        }
    }
    out
}

/// The records of a protobuf body, of which `redactor` redacts what it finds before anything else looks at it, if there
/// is `room` for what it decodes to.
pub fn redacted_logs(
    body: &[u8],
    redactor: Option<&Redactor>,
    received_at: UnixNanos,
    room: &mut Allowance<'_>,
) -> Result<Decoded<LogRecord>, DecodeError> {
    let (request, warning) = from_protobuf_within(body, room)?;
    let mut out = redacted(request, redactor, received_at);
    out.warnings.extend(warning);
    Ok(out)
}

/// As [`redacted_logs`], from a JSON body.
pub fn redacted_logs_json(
    body: &[u8],
    redactor: Option<&Redactor>,
    received_at: UnixNanos,
    room: &mut Allowance<'_>,
) -> Result<Decoded<LogRecord>, DecodeError> {
    let mut out = redacted(json::logs_within(body, room)?, redactor, received_at);
    if out.items.is_empty() {
        out.warnings.extend(json::unread(body, "resourceLogs"));
    }
    Ok(out)
}

fn redacted(
    mut request: ExportLogsServiceRequest,
    redactor: Option<&Redactor>,
    received_at: UnixNanos,
) -> Decoded<LogRecord> {
    if let Some(redactor) = redactor {
        redactor.logs(&mut request);
    }
    logs(request, received_at)
}

fn group_logs(
    group: ScopeLogs,
    source: &Arc<Source>,
    received_at: UnixNanos,
    (r, s): (usize, usize),
    out: &mut Decoded<LogRecord>,
) {
    for (i, record) in group.log_records.into_iter().enumerate() {
        let at = || format!("resource_logs[{r}].scope_logs[{s}].log_records[{i}]");
        let trace_id = TraceId::from_bytes(&record.trace_id);
        let span_id = SpanId::from_bytes(&record.span_id);
        // No bytes mean that the record stands outside of any trace: that is no fault.
        for (bytes, error) in
            [(&record.trace_id, trace_id.as_ref().err()), (&record.span_id, span_id.as_ref().err())]
        {
            if let (false, Some(error)) = (bytes.is_empty(), error) {
                out.warn(at, &format!("{error}; the record is kept without it"));
            }
        }
        let ids = (trace_id.ok(), span_id.ok());
        match one(record, ids, source, received_at) {
            Ok(mut record) => {
                dialect::normalize_log(&mut record);
                out.items.push(record);
            }
            Err(TooDeep) => out.reject(at, &format!("a value nests deeper than {MAX_DEPTH}")),
        }
    }
}

fn one(
    record: proto::LogRecord,
    (trace_id, span_id): (Option<TraceId>, Option<SpanId>),
    source: &Arc<Source>,
    received_at: UnixNanos,
) -> Result<LogRecord, TooDeep> {
    let attributes = convert::attrs(record.attributes)?;
    // Before the field existed, senders put the name into an attribute.
    let event_name = match record.event_name {
        name if name.is_empty() => attributes.str("event.name").unwrap_or_default().to_owned(),
        name => name,
    };
    let said = |nanos: u64| if nanos == 0 { None } else { convert::time(nanos) };
    Ok(LogRecord {
        time: said(record.time_unix_nano)
            .or_else(|| said(record.observed_time_unix_nano))
            .unwrap_or(received_at),
        trace_id,
        // A span id means nothing without its trace.
        span_id: trace_id.and(span_id),
        event_name,
        severity_number: record.severity_number,
        severity_text: record.severity_text,
        body: convert::value(record.body, 0)?,
        attributes,
        dropped_attributes_count: record.dropped_attributes_count,
        flags: record.flags,
        source: Arc::clone(source),
        content: None,
        evaluation: None,
    })
}
