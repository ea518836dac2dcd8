//! Protobuf structures to domain values. Strings move, nothing is copied.

use crate::domain::span::Source;
use crate::domain::time::UnixNanos;
use crate::domain::value::{Attrs, Value};
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;

/// How deep lists and maps may nest in one attribute.
///
/// Lists can be read deeper than that (prost stops at 100 messages, JSON at 128 brackets), so that one that is too deep costs its
/// span and not the request. Maps take more messages and brackets: one that is as deep is not read, nor what came with it.
pub(super) const MAX_DEPTH: usize = 32;

/// A value nests deeper than [`MAX_DEPTH`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooDeep;

/// One value. A value with nothing set, and a reference into a table that only profiles have, is `Null`.
pub(super) fn value(any: Option<AnyValue>, depth: usize) -> Result<Value, TooDeep> {
    if depth > MAX_DEPTH {
        return Err(TooDeep);
    }
    Ok(match any.and_then(|any| any.value) {
        None | Some(Any::StringValueStrindex(_)) => Value::Null,
        Some(Any::StringValue(text)) => Value::Str(text),
        Some(Any::BoolValue(b)) => Value::Bool(b),
        Some(Any::IntValue(n)) => Value::Int(n),
        Some(Any::DoubleValue(x)) => Value::Double(x),
        Some(Any::BytesValue(bytes)) => Value::Bytes(bytes),
        Some(Any::ArrayValue(list)) => Value::Array(
            list.values.into_iter().map(|item| value(Some(item), depth + 1)).collect::<Result<_, _>>()?,
        ),
        Some(Any::KvlistValue(list)) => Value::Map(pairs(list.values, depth + 1)?),
    })
}

fn pairs(list: Vec<KeyValue>, depth: usize) -> Result<Vec<(String, Value)>, TooDeep> {
    list.into_iter().map(|pair| Ok((pair.key, value(pair.value, depth)?))).collect()
}

/// Attributes in the order in which they came.
pub(super) fn attrs(list: Vec<KeyValue>) -> Result<Attrs, TooDeep> {
    pairs(list, 0).map(Attrs)
}

/// A time; none beyond the year 2262, which the type cannot say.
pub(super) fn time(unix_nano: u64) -> Option<UnixNanos> {
    i64::try_from(unix_nano).ok().map(UnixNanos)
}

/// The resource's part of a source: its attributes and `service.name`.
pub(super) fn resource(resource: Option<Resource>) -> Result<Source, TooDeep> {
    let resource = attrs(resource.map(|r| r.attributes).unwrap_or_default())?;
    let service_name = resource.str("service.name").unwrap_or_default().to_owned();
    Ok(Source { service_name, resource, ..Source::default() })
}

/// Adds the scope's part. The scope's schema wins over the resource's, because it speaks of the spans.
pub(super) fn scope(
    base: &Source,
    scope: Option<InstrumentationScope>,
    scope_schema: String,
    resource_schema: &str,
) -> Result<Source, TooDeep> {
    let scope = scope.unwrap_or_default();
    let schema_url = if scope_schema.is_empty() { resource_schema.to_owned() } else { scope_schema };
    Ok(Source {
        scope_name: scope.name,
        scope_version: scope.version,
        scope_attributes: attrs(scope.attributes)?,
        schema_url,
        ..base.clone()
    })
}
