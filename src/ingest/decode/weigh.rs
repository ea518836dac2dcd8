//! How much memory a body takes when it is decoded, told before it is.
//!
//! An empty message is two bytes on the wire and hundreds in memory, so that a small request could exhaust the memory
//! although its bytes are within the limit. One pass over the wire's structure, without reading any text, sums what the
//! messages will take.

use super::outcome::DecodeError;

/// The most memory that one request's structures may take, bytes. A 64 MiB request of ordinary spans takes a third.
pub const MAX_DECODED: usize = 1 << 30;

/// More than are open for any message that is decoded: the decoder stops at 100 levels, each with two entries.
const MAX_OPEN: usize = 256;

/// The messages of OTLP that hold others, as far as their weight needs telling apart.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Request,
    PerResource,
    Resource,
    PerScope,
    Scope,
    Item,
    Event,
    Link,
    KeyValue,
    Value,
    Values,
    KeyValues,
}

impl Kind {
    /// Roughly what one takes in memory: the wire's structure and the domain's.
    fn weight(self) -> usize {
        match self {
            Kind::Request => 0,
            Kind::PerResource | Kind::PerScope | Kind::Resource | Kind::Scope => 256,
            Kind::Item => 1_400,
            Kind::Event | Kind::Link => 256,
            Kind::KeyValue => 144,
            Kind::Value | Kind::Values | Kind::KeyValues => 72,
        }
    }

    /// What the field `number` holds. Traces, logs and metrics differ only in the fields of an item.
    fn child(self, number: u64) -> Option<Kind> {
        match (self, number) {
            (Kind::Request, 1) => Some(Kind::PerResource),
            (Kind::PerResource, 1) => Some(Kind::Resource),
            (Kind::PerResource, 2) => Some(Kind::PerScope),
            (Kind::PerScope, 1) => Some(Kind::Scope),
            (Kind::PerScope, 2) => Some(Kind::Item),
            // A log's body; a span's name is text there, which weighs at most what its bytes look like.
            (Kind::Item, 5) => Some(Kind::Value),
            (Kind::Item, 11) => Some(Kind::Event),
            (Kind::Item, 13) => Some(Kind::Link),
            (Kind::Resource, 1) | (Kind::Scope | Kind::Event, 3) | (Kind::Link, 4) => Some(Kind::KeyValue),
            (Kind::Item, 6 | 9) | (Kind::KeyValues, 1) => Some(Kind::KeyValue),
            (Kind::KeyValue, 2) | (Kind::Values, 1) => Some(Kind::Value),
            (Kind::Value, 5) => Some(Kind::Values),
            (Kind::Value, 6) => Some(Kind::KeyValues),
            _ => None,
        }
    }
}

/// Refuses a protobuf body whose structures would take more than [`MAX_DECODED`]. What is not protobuf passes: the
/// decoder says it better.
pub fn protobuf(body: &[u8]) -> Result<(), DecodeError> {
    let mut left = MAX_DECODED;
    part(Kind::Request, body, &mut left)
}

/// Takes what one message of `kind` will hold in memory from `left`; an error if that is not enough.
pub(super) fn part(kind: Kind, bytes: &[u8], left: &mut usize) -> Result<(), DecodeError> {
    *left = left.checked_sub(kind.weight()).ok_or(DecodeError::Heavy(MAX_DECODED))?;
    let mut open = vec![(kind, bytes)];
    while let Some((kind, bytes)) = open.pop() {
        let mut rest = bytes;
        while let Some((number, inner, after)) = field(rest) {
            rest = after;
            let Some(child) = kind.child(number) else { continue };
            *left = left.checked_sub(child.weight()).ok_or(DecodeError::Heavy(MAX_DECODED))?;
            // Deeper than this the decoder refuses. The rest of this message is looked at after the child, so depth
            // is a list here and not a recursion.
            if !inner.is_empty() && open.len() < MAX_OPEN {
                open.push((kind, rest));
                open.push((child, inner));
                rest = &[];
            }
        }
    }
    Ok(())
}

/// Refuses a JSON body with so many values that its tree would take more than [`MAX_DECODED`].
pub fn json(body: &[u8]) -> Result<(), DecodeError> {
    const A_VALUE: usize = 64;
    let values = body.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
    if values > MAX_DECODED / A_VALUE { Err(DecodeError::Heavy(MAX_DECODED)) } else { Ok(()) }
}

/// The number and the bytes of the next field, and what follows it. Fields that hold no bytes give none.
fn field(bytes: &[u8]) -> Option<(u64, &[u8], &[u8])> {
    let (tag, rest) = varint(bytes)?;
    let number = tag >> 3;
    let fixed = |size: usize| Some((0, &rest[..0], rest.get(size..)?));
    match tag & 7 {
        0 => Some((0, &rest[..0], varint(rest)?.1)),
        1 => fixed(8),
        2 => {
            let (length, rest) = varint(rest)?;
            let length = usize::try_from(length).ok()?;
            Some((number, rest.get(..length)?, rest.get(length..)?))
        }
        5 => fixed(4),
        _ => None,
    }
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0u64;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f).checked_shl(u32::try_from(at * 7).ok()?)?;
        if byte & 0x80 == 0 {
            return Some((value, &bytes[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
    use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue, any_value::Value};
    use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
    use prost::Message;

    fn request(spans: Vec<Span>) -> Vec<u8> {
        let scope_spans = vec![ScopeSpans { spans, ..ScopeSpans::default() }];
        let resource_spans = vec![ResourceSpans { scope_spans, ..ResourceSpans::default() }];
        ExportTraceServiceRequest { resource_spans }.encode_to_vec()
    }

    #[test]
    fn small_bytes_that_decode_to_much_are_refused() {
        let empty_groups = [0x0a, 0x00].repeat(5 << 20);
        let empty_spans = request(vec![Span::default(); 800_000]);
        let values = vec![AnyValue::default(); 15 << 20];
        let array = AnyValue { value: Some(Value::ArrayValue(ArrayValue { values })) };
        let attribute = KeyValue { key: "a".into(), value: Some(array), ..KeyValue::default() };
        let array = request(vec![Span { attributes: vec![attribute], ..Span::default() }]);
        let mut nested = AnyValue {
            value: Some(Value::ArrayValue(ArrayValue { values: vec![AnyValue::default(); 15 << 20] })),
        };
        for _ in 0..40 {
            nested = AnyValue { value: Some(Value::ArrayValue(ArrayValue { values: vec![nested] })) };
        }
        let attribute = KeyValue { key: "a".into(), value: Some(nested), ..KeyValue::default() };
        let nested = request(vec![Span { attributes: vec![attribute], ..Span::default() }]);
        for body in [empty_groups, empty_spans, array, nested] {
            assert!(body.len() < 64 << 20);
            assert!(matches!(protobuf(&body), Err(DecodeError::Heavy(_))), "{} bytes", body.len());
        }
        assert!(json(&b"[0,".repeat(17 << 20)).is_err());
    }

    #[test]
    fn ordinary_requests_pass() {
        let text = AnyValue { value: Some(Value::StringValue("some text of a value".repeat(2))) };
        let attribute = KeyValue { key: "some.attribute".into(), value: Some(text), ..KeyValue::default() };
        let span = Span { name: "operation".into(), attributes: vec![attribute; 11], ..Span::default() };
        let body = request(vec![span; 90_000]);
        assert!(body.len() > 60_000_000, "{}", body.len());
        protobuf(&body).unwrap();
        for odd in [&b""[..], b"\xff\xff", b"\x0a\x05ab", b"not protobuf at all"] {
            protobuf(odd).unwrap();
        }
    }
}
