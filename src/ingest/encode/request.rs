//! Rows of the table `spans`, as SQL shows them, to a trace request.

use crate::domain::id::{IdError, SpanId, TraceId};
use crate::domain::span::{SpanKind, StatusCode};
use crate::domain::value::{Attrs, Value};
use crate::domain::value_json::ValueError;
use arrow::array::{Array, AsArray, Int64Array, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, TimeUnit};
use arrow::error::ArrowError;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::{Event, Link};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use std::collections::HashMap;

/// The columns of `spans` in SQL that a request is made of.
pub const COLUMNS: &[&str] = &[
    "trace_id",
    "span_id",
    "parent_span_id",
    "name",
    "span_kind",
    "start_time",
    "end_time",
    "status_code",
    "status_message",
    "scope_name",
    "scope_version",
    "scope_attributes",
    "schema_url",
    "resource_attributes",
    "attributes",
    "events",
    "links",
    "trace_state",
    "flags",
    "dropped_attributes_count",
    "dropped_events_count",
    "dropped_links_count",
];

/// Why rows cannot be made into a request.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// A column is missing or of another type.
    #[error("column {0}: {1}; select the columns of the table spans as they are")]
    Column(&'static str, ArrowError),
    /// A text of a column is not what the receiver stored.
    #[error("{column} of row {row}: {source}")]
    Json {
        /// The column.
        column: &'static str,
        /// The row of the batch.
        row: usize,
        /// What is wrong.
        source: ValueError,
    },
    /// An id is none.
    #[error("{column} of row {row}: {source}")]
    Id {
        /// The column.
        column: &'static str,
        /// The row of the batch.
        row: usize,
        /// What is wrong.
        source: IdError,
    },
}

/// The columns of one batch, in the types that are read.
struct Rows {
    texts: HashMap<&'static str, StringArray>,
    numbers: HashMap<&'static str, Int64Array>,
    count: usize,
}

const NUMBERS: &[&str] =
    &["flags", "dropped_attributes_count", "dropped_events_count", "dropped_links_count"];
const TIMES: &[&str] = &["start_time", "end_time"];
/// As stored, a span has its exact start and its length instead of times in nanoseconds.
const STORED: [&str; 2] = ["start_time_unix_nano", "duration_ns"];

/// The exact times of rows as they are stored; nothing for rows as SQL shows them.
fn stored_times(batch: &RecordBatch) -> HashMap<&'static str, Int64Array> {
    let number = |name: &str| batch.column_by_name(name)?.as_primitive_opt::<Int64Type>();
    let [Some(starts), Some(durations)] = STORED.map(number) else { return HashMap::new() };
    let end = |(start, duration): (&i64, &i64)| start.saturating_add(*duration);
    let ends: Int64Array = starts.values().iter().zip(durations.values()).map(end).collect();
    HashMap::from([("start_time", starts.clone()), ("end_time", ends)])
}

impl Rows {
    fn of(batch: &RecordBatch) -> Result<Self, EncodeError> {
        let (mut texts, mut numbers) = (HashMap::new(), stored_times(batch));
        for name in COLUMNS {
            if numbers.contains_key(name) {
                continue;
            }
            let wrong = |error| EncodeError::Column(name, error);
            let missing = || wrong(ArrowError::SchemaError("it is missing".to_owned()));
            let column = batch.column_by_name(name).ok_or_else(missing)?;
            if TIMES.contains(name) || NUMBERS.contains(name) {
                // Any unit of time becomes nanoseconds, and those a number.
                let nanos = DataType::Timestamp(TimeUnit::Nanosecond, None);
                let column =
                    if TIMES.contains(name) { &cast(column, &nanos).map_err(wrong)? } else { column };
                let column = cast(column, &DataType::Int64).map_err(wrong)?;
                numbers.insert(*name, column.as_primitive::<Int64Type>().clone());
            } else {
                let column = cast(column, &DataType::Utf8).map_err(wrong)?;
                texts.insert(*name, column.as_string::<i32>().clone());
            }
        }
        Ok(Self { texts, numbers, count: batch.num_rows() })
    }

    /// The text, empty where there is none.
    fn text(&self, column: &'static str, row: usize) -> &str {
        match self.texts.get(column) {
            Some(texts) if !texts.is_null(row) => texts.value(row),
            _ => "",
        }
    }

    fn number(&self, column: &'static str, row: usize) -> i64 {
        match self.numbers.get(column) {
            Some(numbers) if !numbers.is_null(row) => numbers.value(row),
            _ => 0,
        }
    }

    /// The attributes, none where there is no text.
    fn attrs(&self, column: &'static str, row: usize) -> Result<Vec<KeyValue>, EncodeError> {
        match self.text(column, row) {
            "" => Ok(Vec::new()),
            text => match Attrs::from_json(text) {
                Ok(attrs) => Ok(key_values(attrs.0)),
                Err(source) => Err(EncodeError::Json { column, row, source }),
            },
        }
    }

    /// The objects of a list, none where there is no text.
    fn objects(&self, column: &'static str, row: usize) -> Result<Vec<Attrs>, EncodeError> {
        let text = match self.text(column, row) {
            "" => return Ok(Vec::new()),
            text => text,
        };
        let Value::Array(items) =
            Value::from_json(text).map_err(|source| EncodeError::Json { column, row, source })?
        else {
            return Ok(Vec::new());
        };
        let object = |item| if let Value::Map(pairs) = item { Some(Attrs(pairs)) } else { None };
        Ok(items.into_iter().filter_map(object).collect())
    }
}

/// A trace request with the spans of `batches`, which must have [`COLUMNS`], or be as they are stored. Spans of one resource
/// and one scope stand together, in the order of the rows.
///
/// # Errors
/// Columns that are missing or of another type, and texts that the receiver never stored.
pub fn spans_to_request(batches: &[RecordBatch]) -> Result<ExportTraceServiceRequest, EncodeError> {
    let mut request = ExportTraceServiceRequest::default();
    let mut resources: HashMap<String, usize> = HashMap::new();
    let mut scopes: HashMap<[String; 5], usize> = HashMap::new();
    for batch in batches {
        let rows = Rows::of(batch)?;
        for row in 0..rows.count {
            let text = |column| rows.text(column, row).to_owned();
            let key = text("resource_attributes");
            let at = match resources.get(&key) {
                Some(at) => *at,
                None => {
                    let attributes = rows.attrs("resource_attributes", row)?;
                    let resource = Some(Resource { attributes, ..Resource::default() });
                    request.resource_spans.push(ResourceSpans { resource, ..ResourceSpans::default() });
                    resources.insert(key.clone(), request.resource_spans.len() - 1);
                    request.resource_spans.len() - 1
                }
            };
            let groups = &mut request.resource_spans[at].scope_spans;
            let key = [
                key,
                text("scope_name"),
                text("scope_version"),
                text("scope_attributes"),
                text("schema_url"),
            ];
            let group = match scopes.get(&key) {
                Some(group) => *group,
                None => {
                    groups.push(scope(&rows, row)?);
                    scopes.insert(key, groups.len() - 1);
                    groups.len() - 1
                }
            };
            groups[group].spans.push(span(&rows, row)?);
        }
    }
    Ok(request)
}

fn scope(rows: &Rows, row: usize) -> Result<ScopeSpans, EncodeError> {
    let scope = InstrumentationScope {
        name: rows.text("scope_name", row).to_owned(),
        version: rows.text("scope_version", row).to_owned(),
        attributes: rows.attrs("scope_attributes", row)?,
        ..InstrumentationScope::default()
    };
    let schema_url = rows.text("schema_url", row).to_owned();
    Ok(ScopeSpans { scope: Some(scope), schema_url, ..ScopeSpans::default() })
}

fn span(rows: &Rows, row: usize) -> Result<Span, EncodeError> {
    let wrong = |column| move |source| EncodeError::Id { column, row, source };
    let trace_id = TraceId::from_hex(rows.text("trace_id", row)).map_err(wrong("trace_id"))?;
    let span_id = SpanId::from_hex(rows.text("span_id", row)).map_err(wrong("span_id"))?;
    let parent_span_id = match rows.text("parent_span_id", row) {
        "" => Vec::new(),
        parent => SpanId::from_hex(parent).map_err(wrong("parent_span_id"))?.0.to_vec(),
    };
    Ok(Span {
        trace_id: trace_id.0.to_vec(),
        span_id: span_id.0.to_vec(),
        parent_span_id,
        name: rows.text("name", row).to_owned(),
        kind: kind(rows.text("span_kind", row)),
        start_time_unix_nano: unsigned(rows.number("start_time", row)),
        end_time_unix_nano: unsigned(rows.number("end_time", row)),
        attributes: rows.attrs("attributes", row)?,
        dropped_attributes_count: narrow(rows.number("dropped_attributes_count", row)),
        events: rows.objects("events", row)?.into_iter().map(event).collect(),
        dropped_events_count: narrow(rows.number("dropped_events_count", row)),
        links: rows.objects("links", row)?.into_iter().map(link).collect(),
        dropped_links_count: narrow(rows.number("dropped_links_count", row)),
        trace_state: rows.text("trace_state", row).to_owned(),
        flags: narrow(rows.number("flags", row)),
        status: status(rows, row),
    })
}

fn kind(name: &str) -> i32 {
    match SpanKind::parse(name) {
        Some(SpanKind::Internal) => 1,
        Some(SpanKind::Server) => 2,
        Some(SpanKind::Client) => 3,
        Some(SpanKind::Producer) => 4,
        Some(SpanKind::Consumer) => 5,
        Some(SpanKind::Unspecified) | None => 0,
    }
}

/// A status that says nothing is left out, as senders do.
fn status(rows: &Rows, row: usize) -> Option<Status> {
    let message = rows.text("status_message", row).to_owned();
    let code = match StatusCode::parse(rows.text("status_code", row)) {
        Some(StatusCode::Ok) => 1,
        Some(StatusCode::Error) => 2,
        Some(StatusCode::Unset) | None => 0,
    };
    (code != 0 || !message.is_empty()).then_some(Status { message, code })
}

fn event(mut object: Attrs) -> Event {
    Event {
        time_unix_nano: unsigned(int(&object, "time_unix_nano")),
        name: text(&object, "name"),
        dropped_attributes_count: narrow(int(&object, "dropped_attributes_count")),
        attributes: own_attributes(&mut object),
    }
}

fn link(mut object: Attrs) -> Link {
    // The bytes were written as hex by the receiver, whatever they were.
    let id = |name| hex::decode(text(&object, name)).unwrap_or_default();
    Link {
        trace_id: id("trace_id"),
        span_id: id("span_id"),
        trace_state: text(&object, "trace_state"),
        flags: narrow(int(&object, "flags")),
        dropped_attributes_count: narrow(int(&object, "dropped_attributes_count")),
        attributes: own_attributes(&mut object),
    }
}

fn text(object: &Attrs, name: &str) -> String {
    object.str(name).unwrap_or_default().to_owned()
}

fn int(object: &Attrs, name: &str) -> i64 {
    object.get(name).and_then(Value::as_i64).unwrap_or_default()
}

fn own_attributes(object: &mut Attrs) -> Vec<KeyValue> {
    let found = object.0.iter_mut().find(|(key, _)| key == "attributes").map(|(_, value)| value);
    match found.map(|value| std::mem::replace(value, Value::Null)) {
        Some(Value::Map(pairs)) => key_values(pairs),
        _ => Vec::new(),
    }
}

pub(super) fn key_values(pairs: Vec<(String, Value)>) -> Vec<KeyValue> {
    let pair = |(key, value)| KeyValue { key, value: Some(any(value)), ..KeyValue::default() };
    pairs.into_iter().map(pair).collect()
}

pub(super) fn any(value: Value) -> AnyValue {
    let value = match value {
        Value::Null => None,
        Value::Str(text) => Some(Any::StringValue(text)),
        Value::Bool(b) => Some(Any::BoolValue(b)),
        Value::Int(n) => Some(Any::IntValue(n)),
        Value::Double(x) => Some(Any::DoubleValue(x)),
        Value::Bytes(bytes) => Some(Any::BytesValue(bytes)),
        Value::Array(values) => {
            Some(Any::ArrayValue(ArrayValue { values: values.into_iter().map(any).collect() }))
        }
        Value::Map(pairs) => Some(Any::KvlistValue(KeyValueList { values: key_values(pairs) })),
    };
    AnyValue { value }
}

pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

pub(super) fn narrow(number: i64) -> u32 {
    u32::try_from(number).unwrap_or_default()
}
