//! A trace request as OTLP/JSON text: ids in hexadecimal, enumerations as numbers, 64-bit integers as text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::trace::v1::span::{Event, Link};
use opentelemetry_proto::tonic::trace::v1::{ScopeSpans, Span};
use serde_json::{Map, Value as Json, json};

/// The request as one line of OTLP/JSON, the form that file exporters and `POST /v1/traces` take.
pub fn traces_to_json(request: &ExportTraceServiceRequest) -> String {
    let groups = request.resource_spans.iter().map(|group| {
        let resource = group.resource.as_ref();
        let mut object = Object::default();
        object.0.insert(
            "resource".to_owned(),
            json!({ "attributes": resource.map(|r| list(&r.attributes, key_value)).unwrap_or_default() }),
        );
        object.0.insert("scopeSpans".to_owned(), Json::Array(list(&group.scope_spans, scope_spans)));
        object.text("schemaUrl", &group.schema_url);
        Json::Object(object.0)
    });
    json!({ "resourceSpans": groups.collect::<Vec<_>>() }).to_string()
}

/// An object that leaves out what has the default value, as the protobuf mapping does.
#[derive(Default)]
struct Object(Map<String, Json>);

impl Object {
    fn text(&mut self, key: &str, text: &str) {
        if !text.is_empty() {
            self.0.insert(key.to_owned(), Json::from(text));
        }
    }

    fn number(&mut self, key: &str, number: i64) {
        if number != 0 {
            self.0.insert(key.to_owned(), Json::from(number));
        }
    }

    fn list(&mut self, key: &str, items: Vec<Json>) {
        if !items.is_empty() {
            self.0.insert(key.to_owned(), Json::Array(items));
        }
    }
}

fn list<T>(items: &[T], one: impl Fn(&T) -> Json) -> Vec<Json> {
    items.iter().map(one).collect()
}

fn scope_spans(group: &ScopeSpans) -> Json {
    let mut object = Object::default();
    object.0.insert("scope".to_owned(), scope(group.scope.as_ref()));
    object.0.insert("spans".to_owned(), Json::Array(list(&group.spans, span)));
    object.text("schemaUrl", &group.schema_url);
    Json::Object(object.0)
}

fn scope(scope: Option<&InstrumentationScope>) -> Json {
    let mut object = Object::default();
    if let Some(scope) = scope {
        object.text("name", &scope.name);
        object.text("version", &scope.version);
        object.list("attributes", list(&scope.attributes, key_value));
    }
    Json::Object(object.0)
}

fn span(span: &Span) -> Json {
    let mut object = Object::default();
    object.text("traceId", &hex::encode(&span.trace_id));
    object.text("spanId", &hex::encode(&span.span_id));
    object.text("parentSpanId", &hex::encode(&span.parent_span_id));
    object.text("traceState", &span.trace_state);
    object.number("flags", span.flags.into());
    object.text("name", &span.name);
    object.number("kind", span.kind.into());
    object.text("startTimeUnixNano", &span.start_time_unix_nano.to_string());
    object.text("endTimeUnixNano", &span.end_time_unix_nano.to_string());
    object.list("attributes", list(&span.attributes, key_value));
    object.number("droppedAttributesCount", span.dropped_attributes_count.into());
    object.list("events", list(&span.events, event));
    object.number("droppedEventsCount", span.dropped_events_count.into());
    object.list("links", list(&span.links, link));
    object.number("droppedLinksCount", span.dropped_links_count.into());
    if let Some(status) = &span.status {
        let mut inner = Object::default();
        inner.text("message", &status.message);
        inner.number("code", status.code.into());
        object.0.insert("status".to_owned(), Json::Object(inner.0));
    }
    Json::Object(object.0)
}

fn event(event: &Event) -> Json {
    let mut object = Object::default();
    object.text("timeUnixNano", &event.time_unix_nano.to_string());
    object.text("name", &event.name);
    object.list("attributes", list(&event.attributes, key_value));
    object.number("droppedAttributesCount", event.dropped_attributes_count.into());
    Json::Object(object.0)
}

fn link(link: &Link) -> Json {
    let mut object = Object::default();
    object.text("traceId", &hex::encode(&link.trace_id));
    object.text("spanId", &hex::encode(&link.span_id));
    object.text("traceState", &link.trace_state);
    object.number("flags", link.flags.into());
    object.list("attributes", list(&link.attributes, key_value));
    object.number("droppedAttributesCount", link.dropped_attributes_count.into());
    Json::Object(object.0)
}

fn key_value(pair: &KeyValue) -> Json {
    json!({ "key": pair.key, "value": pair.value.as_ref().map_or_else(|| json!({}), any) })
}

fn any(value: &AnyValue) -> Json {
    match &value.value {
        None | Some(Any::StringValueStrindex(_)) => json!({}),
        Some(Any::StringValue(text)) => json!({ "stringValue": text }),
        Some(Any::BoolValue(b)) => json!({ "boolValue": b }),
        Some(Any::IntValue(n)) => json!({ "intValue": n.to_string() }),
        Some(Any::DoubleValue(x)) => json!({ "doubleValue": double(*x) }),
        Some(Any::BytesValue(bytes)) => json!({ "bytesValue": BASE64.encode(bytes) }),
        Some(Any::ArrayValue(values)) => json!({ "arrayValue": { "values": list(&values.values, any) } }),
        Some(Any::KvlistValue(pairs)) => {
            json!({ "kvlistValue": { "values": list(&pairs.values, key_value) } })
        }
    }
}

/// JSON has no number for three doubles; the protobuf mapping names them.
fn double(x: f64) -> Json {
    match x {
        x if x.is_nan() => Json::from("NaN"),
        f64::INFINITY => Json::from("Infinity"),
        f64::NEG_INFINITY => Json::from("-Infinity"),
        x => Json::from(x),
    }
}
