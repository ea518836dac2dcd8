//! OTLP/JSON to the protobuf structures.
//!
//! The mapping is protobuf's with OTLP's exceptions: ids are hexadecimal, enumerations are integers, keys are
//! lowerCamelCase only. Unknown keys are ignored at every level and `null` means absent.

use super::outcome::DecodeError;
use super::walk::Node;
use super::weigh;
use crate::ingest::memory::{Allowance, MAX_DECODED};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList,
};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::{Event, Link};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use serde_json::Value as Json;

/// A trace request from its JSON text. An empty body is the empty request.
///
/// Fails on text that is not JSON and on fields of the wrong type. A bad id fails nothing here: it makes an id of a
/// width that [`super::spans`] refuses, so that it costs one span.
pub fn traces_from_json(body: &[u8]) -> Result<ExportTraceServiceRequest, DecodeError> {
    traces_within(body, &mut |_| Ok(()))
}

/// As [`traces_from_json`], if there is `room` for it.
pub(super) fn traces_within(
    body: &[u8],
    room: &mut Allowance<'_>,
) -> Result<ExportTraceServiceRequest, DecodeError> {
    let json = parse(body, room)?;
    let resource_spans = Node::root(&json)?.list("resourceSpans", resource_spans)?;
    Ok(ExportTraceServiceRequest { resource_spans })
}

/// A log request from its JSON text. As [`traces_from_json`].
pub fn logs_from_json(body: &[u8]) -> Result<ExportLogsServiceRequest, DecodeError> {
    logs_within(body, &mut |_| Ok(()))
}

/// As [`logs_from_json`], if there is `room` for it.
pub(super) fn logs_within(
    body: &[u8],
    room: &mut Allowance<'_>,
) -> Result<ExportLogsServiceRequest, DecodeError> {
    let json = parse(body, room)?;
    let resource_logs = Node::root(&json)?.list("resourceLogs", resource_logs)?;
    Ok(ExportLogsServiceRequest { resource_logs })
}

/// Checks that a metrics body is a JSON object with a list of resources, if there is `room` to read it. Metrics are
/// accepted and dropped, so their inside does not matter.
pub fn metrics_from_json(body: &[u8], room: &mut Allowance<'_>) -> Result<(), DecodeError> {
    let json = parse(body, room)?;
    Node::root(&json)?.list("resourceMetrics", |_| Ok(())).map(drop)
}

/// Keys as protobuf's own JSON may also write them, with how OTLP does.
const SNAKE_CASE: [(&str, &str); 7] = [
    ("resource_spans", "resourceSpans"),
    ("resource_logs", "resourceLogs"),
    ("scope_spans", "scopeSpans"),
    ("scope_logs", "scopeLogs"),
    ("log_records", "logRecords"),
    ("trace_id", "traceId"),
    ("span_id", "spanId"),
];
/// A longer body is not looked at once more: nobody writes one by hand.
const MAX_LOOKED_AT: usize = 64 << 10;

/// What to say of a body of which nothing was taken, where its keys are the likely cause: without a word an unknown key looks
/// like success. `wanted` is the key of a request.
pub(super) fn unread(body: &[u8], wanted: &str) -> Option<String> {
    if body.len() > MAX_LOOKED_AT {
        return None;
    }
    if let Some((wrong, right)) = SNAKE_CASE.iter().find(|(wrong, _)| has_key(body, wrong)) {
        return Some(format!("the key {wrong:?} is not read: OTLP/JSON has lowerCamelCase keys, {right:?}"));
    }
    let has_keys = body.contains(&b':');
    (has_keys && !has_key(body, wanted)).then(|| format!("there is no key {wanted:?}: nothing is stored"))
}

/// Whether a text has a key somewhere; a value of the same word is none.
fn has_key(body: &[u8], key: &str) -> bool {
    let quoted = format!("\"{key}\"");
    let found = body.windows(quoted.len()).enumerate().filter(|(_, part)| *part == quoted.as_bytes());
    let mut rests = found.filter_map(|(at, _)| body.get(at + quoted.len()..));
    rests.any(|rest| rest.trim_ascii_start().first() == Some(&b':'))
}

fn parse(body: &[u8], room: &mut Allowance<'_>) -> Result<Json, DecodeError> {
    if body.is_empty() {
        return Ok(Json::Object(serde_json::Map::new()));
    }
    let left = weigh::json(body)?;
    room(MAX_DECODED - left)?;
    let json = read(body, MAX_DECODED - left, room)?;
    room(MAX_DECODED - weigh::tree(&json, left)?)?;
    Ok(json)
}

/// The tree of a text, which takes `bytes`. Half a character costs itself, and not all that came with it.
fn read(body: &[u8], bytes: usize, room: &mut Allowance<'_>) -> Result<Json, DecodeError> {
    let wrong = |error: serde_json::Error| DecodeError::Json(error.to_string());
    let error = match serde_json::from_slice(body) {
        Ok(json) => return Ok(json),
        Err(error) => error,
    };
    if halves(body).next().is_none() {
        return Err(wrong(error));
    }
    room(bytes.saturating_add(body.len()))?;
    let mut mended = body.to_vec();
    for at in halves(body) {
        mended[at..at + REPLACEMENT.len()].copy_from_slice(REPLACEMENT);
    }
    serde_json::from_slice(&mended).map_err(wrong)
}

/// What stands for half a character, as in text that is not UTF-8. It is as long as what it replaces.
const REPLACEMENT: &[u8] = b"\\ufffd";

/// Where `\u` escapes stand that are half of a pair without the other half. JavaScript cuts long texts between both, and its
/// JSON then has one of them.
fn halves(body: &[u8]) -> impl Iterator<Item = usize> {
    let unit = move |at: usize| {
        let digits = body.get(at..at + REPLACEMENT.len())?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut next = 0;
    std::iter::from_fn(move || {
        while let Some(found) = body.get(next..)?.iter().position(|byte| *byte == b'\\') {
            let at = next + found;
            let pair = (unit(at), unit(at + REPLACEMENT.len()));
            // Behind another escape there may be a backslash that is text.
            next = at + if matches!(pair, (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff))) { 12 } else { 2 };
            if next == at + 2 && matches!(pair.0, Some(0xd800..=0xdfff)) {
                return Some(at);
            }
        }
        None
    })
}

fn resource_spans(node: &Node<'_>) -> Result<ResourceSpans, DecodeError> {
    Ok(ResourceSpans {
        resource: resource(node)?,
        scope_spans: node.list("scopeSpans", scope_spans)?,
        schema_url: node.text("schemaUrl")?,
    })
}

fn scope_spans(node: &Node<'_>) -> Result<ScopeSpans, DecodeError> {
    Ok(ScopeSpans {
        scope: scope(node)?,
        spans: node.list("spans", span)?,
        schema_url: node.text("schemaUrl")?,
    })
}

fn span(node: &Node<'_>) -> Result<Span, DecodeError> {
    Ok(Span {
        trace_id: node.id("traceId")?,
        span_id: node.id("spanId")?,
        trace_state: node.text("traceState")?,
        parent_span_id: node.id("parentSpanId")?,
        flags: node.unsigned32("flags")?,
        name: node.text("name")?,
        kind: node.enumeration("kind")?,
        start_time_unix_nano: node.unsigned("startTimeUnixNano")?,
        end_time_unix_nano: node.unsigned("endTimeUnixNano")?,
        attributes: node.list("attributes", key_value)?,
        dropped_attributes_count: node.unsigned32("droppedAttributesCount")?,
        events: node.list("events", event)?,
        dropped_events_count: node.unsigned32("droppedEventsCount")?,
        links: node.list("links", link)?,
        dropped_links_count: node.unsigned32("droppedLinksCount")?,
        status: status(node)?,
    })
}

fn status(node: &Node<'_>) -> Result<Option<Status>, DecodeError> {
    let Some(status) = node.object("status")? else { return Ok(None) };
    Ok(Some(Status { message: status.text("message")?, code: status.enumeration("code")? }))
}

fn event(node: &Node<'_>) -> Result<Event, DecodeError> {
    Ok(Event {
        time_unix_nano: node.unsigned("timeUnixNano")?,
        name: node.text("name")?,
        attributes: node.list("attributes", key_value)?,
        dropped_attributes_count: node.unsigned32("droppedAttributesCount")?,
    })
}

fn link(node: &Node<'_>) -> Result<Link, DecodeError> {
    Ok(Link {
        trace_id: node.id("traceId")?,
        span_id: node.id("spanId")?,
        trace_state: node.text("traceState")?,
        attributes: node.list("attributes", key_value)?,
        dropped_attributes_count: node.unsigned32("droppedAttributesCount")?,
        flags: node.unsigned32("flags")?,
    })
}

fn resource_logs(node: &Node<'_>) -> Result<ResourceLogs, DecodeError> {
    Ok(ResourceLogs {
        resource: resource(node)?,
        scope_logs: node.list("scopeLogs", scope_logs)?,
        schema_url: node.text("schemaUrl")?,
    })
}

fn scope_logs(node: &Node<'_>) -> Result<ScopeLogs, DecodeError> {
    Ok(ScopeLogs {
        scope: scope(node)?,
        log_records: node.list("logRecords", log_record)?,
        schema_url: node.text("schemaUrl")?,
    })
}

fn log_record(node: &Node<'_>) -> Result<LogRecord, DecodeError> {
    Ok(LogRecord {
        time_unix_nano: node.unsigned("timeUnixNano")?,
        observed_time_unix_nano: node.unsigned("observedTimeUnixNano")?,
        severity_number: node.enumeration("severityNumber")?,
        severity_text: node.text("severityText")?,
        body: node.object("body")?.map(|body| any_value(&body)).transpose()?,
        attributes: node.list("attributes", key_value)?,
        dropped_attributes_count: node.unsigned32("droppedAttributesCount")?,
        flags: node.unsigned32("flags")?,
        trace_id: node.id("traceId")?,
        span_id: node.id("spanId")?,
        event_name: node.text("eventName")?,
    })
}

fn resource(node: &Node<'_>) -> Result<Option<Resource>, DecodeError> {
    let Some(resource) = node.object("resource")? else { return Ok(None) };
    Ok(Some(Resource {
        attributes: resource.list("attributes", key_value)?,
        dropped_attributes_count: resource.unsigned32("droppedAttributesCount")?,
        ..Resource::default()
    }))
}

fn scope(node: &Node<'_>) -> Result<Option<InstrumentationScope>, DecodeError> {
    let Some(scope) = node.object("scope")? else { return Ok(None) };
    Ok(Some(InstrumentationScope {
        name: scope.text("name")?,
        version: scope.text("version")?,
        attributes: scope.list("attributes", key_value)?,
        dropped_attributes_count: scope.unsigned32("droppedAttributesCount")?,
    }))
}

fn key_value(node: &Node<'_>) -> Result<KeyValue, DecodeError> {
    let value = node.object("value")?.map(|value| any_value(&value)).transpose()?;
    Ok(KeyValue { key: node.text("key")?, value, ..KeyValue::default() })
}

/// The recursion is bounded: the JSON parser stops at 128 brackets.
fn any_value(node: &Node<'_>) -> Result<AnyValue, DecodeError> {
    let has = |name: &str| node.get(name).is_some();
    let value = if has("stringValue") {
        Some(Any::StringValue(node.text("stringValue")?))
    } else if has("boolValue") {
        Some(Any::BoolValue(node.boolean("boolValue")?))
    } else if has("intValue") {
        Some(Any::IntValue(node.int("intValue")?))
    } else if has("doubleValue") {
        Some(Any::DoubleValue(node.double("doubleValue")?))
    } else if let Some(list) = node.object("arrayValue")? {
        Some(Any::ArrayValue(ArrayValue { values: list.list("values", any_value)? }))
    } else if let Some(list) = node.object("kvlistValue")? {
        Some(Any::KvlistValue(KeyValueList { values: list.list("values", key_value)? }))
    } else if has("bytesValue") {
        Some(Any::BytesValue(node.bytes("bytesValue")?))
    } else {
        None
    };
    Ok(AnyValue { value })
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
