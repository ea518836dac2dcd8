//! Shorthand for OTLP attributes.

use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value::Value};

/// A text attribute.
pub fn text(key: &str, value: impl Into<String>) -> KeyValue {
    of(key, Value::StringValue(value.into()))
}

/// An integer attribute.
pub fn int(key: &str, value: u64) -> KeyValue {
    of(key, Value::IntValue(i64::try_from(value).unwrap_or(i64::MAX)))
}

/// A floating point attribute.
pub fn double(key: &str, value: f64) -> KeyValue {
    of(key, Value::DoubleValue(value))
}

/// An attribute with a list of texts.
pub fn texts(key: &str, values: &[&str]) -> KeyValue {
    use opentelemetry_proto::tonic::common::v1::ArrayValue;
    let values = values.iter().map(|v| AnyValue { value: Some(Value::StringValue((*v).to_owned())) });
    of(key, Value::ArrayValue(ArrayValue { values: values.collect() }))
}

fn of(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}
