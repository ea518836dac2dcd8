//! How much memory a body takes when it is decoded, told before it is.
//!
//! An empty message is two bytes on the wire and hundreds in memory, so that a small request could exhaust the memory
//! although its bytes are within the limit. One pass over the wire's structure, without reading any text, sums what the
//! messages will take.

use super::outcome::DecodeError;
use crate::ingest::memory::MAX_DECODED;
use serde_json::Value as Json;

/// More than are open for any message that is decoded: the decoder stops at 100 levels, each with two entries.
pub(super) const MAX_OPEN: usize = 256;

/// The messages of OTLP that hold others, as far as their weight needs telling apart.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum MessageKind {
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
    Entity,
    Text,
}

impl MessageKind {
    /// Roughly what one takes in memory: the wire's structure and the domain's.
    fn weight(self) -> usize {
        match self {
            MessageKind::Request => 0,
            MessageKind::PerResource | MessageKind::PerScope | MessageKind::Resource | MessageKind::Scope => {
                256
            }
            MessageKind::Item => 1_400,
            MessageKind::Event | MessageKind::Link => 256,
            MessageKind::KeyValue => 144,
            MessageKind::Value | MessageKind::Values | MessageKind::KeyValues => 72,
            MessageKind::Entity => 96,
            MessageKind::Text => 24,
        }
    }

    /// What the field `number` holds. Traces, logs and metrics differ only in the fields of an item.
    fn child(self, number: u32) -> Option<MessageKind> {
        match (self, number) {
            (MessageKind::Request, 1) => Some(MessageKind::PerResource),
            (MessageKind::PerResource, 1) => Some(MessageKind::Resource),
            (MessageKind::PerResource, 2) => Some(MessageKind::PerScope),
            (MessageKind::PerScope, 1) => Some(MessageKind::Scope),
            (MessageKind::PerScope, 2) => Some(MessageKind::Item),
            // A log's body; a span's name is text there, which weighs at most what its bytes look like.
            (MessageKind::Item, 5) => Some(MessageKind::Value),
            (MessageKind::Item, 11) => Some(MessageKind::Event),
            (MessageKind::Item, 13) => Some(MessageKind::Link),
            (MessageKind::Resource, 3) => Some(MessageKind::Entity),
            (MessageKind::Entity, 3 | 4) => Some(MessageKind::Text),
            (MessageKind::Resource, 1)
            | (MessageKind::Scope | MessageKind::Event, 3)
            | (MessageKind::Link, 4) => Some(MessageKind::KeyValue),
            (MessageKind::Item, 6 | 9) | (MessageKind::KeyValues, 1) => Some(MessageKind::KeyValue),
            (MessageKind::KeyValue, 2) | (MessageKind::Values, 1) => Some(MessageKind::Value),
            (MessageKind::Value, 5) => Some(MessageKind::Values),
            (MessageKind::Value, 6) => Some(MessageKind::KeyValues),
            _ => None,
        }
    }
}

/// What the structures of a protobuf body take, bytes; refuses more than [`MAX_DECODED`]. What is not protobuf passes:
/// the decoder says it better.
pub fn protobuf(body: &[u8]) -> Result<usize, DecodeError> {
    let mut left = MAX_DECODED;
    part(MessageKind::Request, body, &mut left)?;
    Ok(MAX_DECODED - left)
}

/// Takes what one message of `kind` will hold in memory from `left`; an error if that is not enough.
pub(super) fn part(kind: MessageKind, bytes: &[u8], left: &mut usize) -> Result<(), DecodeError> {
    *left = left.checked_sub(kind.weight()).ok_or(DecodeError::Heavy(MAX_DECODED))?;
    let mut open = vec![(kind, bytes)];
    while let Some((kind, bytes)) = open.pop() {
        let mut rest = bytes;
        // A message that cannot be read here cannot be decoded either, so nothing behind it takes memory.
        while let Some(field) = field(rest) {
            rest = field.rest;
            let (Some(child), Some(inner)) = (kind.child(field.number), field.bytes) else { continue };
            *left = left.checked_sub(child.weight()).ok_or(DecodeError::Heavy(MAX_DECODED))?;
            // Deeper than this the decoder refuses. The rest of this message is looked at after the child, so depth
            // is a list here and not a recursion.
            if !inner.is_empty() && child != MessageKind::Text && open.len() < MAX_OPEN {
                open.push((kind, rest));
                open.push((child, inner));
                rest = &[];
            }
        }
    }
    Ok(())
}

/// Refuses a JSON body with so many values that its tree would take more than [`MAX_DECODED`]; what is left of that for
/// the structures, bytes.
pub fn json(body: &[u8]) -> Result<usize, DecodeError> {
    const A_VALUE: usize = 64;
    let values = body.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
    MAX_DECODED.checked_sub(values.saturating_mul(A_VALUE)).ok_or(DecodeError::Heavy(MAX_DECODED))
}

/// Refuses a JSON tree whose lists would become more than `left` bytes of structures: an empty object of two bytes is
/// a whole span where spans are listed. What is left then, bytes.
pub fn tree(json: &Json, mut left: usize) -> Result<usize, DecodeError> {
    let mut open = vec![json];
    while let Some(value) = open.pop() {
        match value {
            Json::Array(items) => open.extend(items),
            Json::Object(fields) => {
                for (name, value) in fields {
                    let items = value.as_array().map_or(0, Vec::len);
                    let weight = items.saturating_mul(listed(name));
                    left = left.checked_sub(weight).ok_or(DecodeError::Heavy(MAX_DECODED))?;
                    open.push(value);
                }
            }
            _ => {}
        }
    }
    Ok(left)
}

/// What each item of the JSON list `name` takes, bytes.
fn listed(name: &str) -> usize {
    match name {
        "spans" | "logRecords" => MessageKind::Item.weight(),
        "resourceSpans" | "resourceLogs" => MessageKind::PerResource.weight(),
        "scopeSpans" | "scopeLogs" => MessageKind::PerScope.weight(),
        "events" | "links" => MessageKind::Event.weight(),
        "attributes" | "values" => MessageKind::KeyValue.weight() + MessageKind::Value.weight(),
        _ => 0,
    }
}

/// A field of a message.
pub(super) struct Field<'a> {
    /// Its number.
    pub(super) number: u32,
    /// Bytes, text or a message, if it holds one of these.
    pub(super) bytes: Option<&'a [u8]>,
    /// What follows it.
    pub(super) rest: &'a [u8],
}

/// The next field. Whatever the decoder reads or skips is read here too, also groups; none if it cannot be read.
pub(super) fn field(bytes: &[u8]) -> Option<Field<'_>> {
    let (number, wire, rest) = key(bytes)?;
    if wire == START_GROUP {
        return Some(Field { number, bytes: None, rest: after_group(number, rest)? });
    }
    let (bytes, rest) = single(wire, rest)?;
    Some(Field { number, bytes, rest })
}

const START_GROUP: u32 = 3;
const END_GROUP: u32 = 4;

/// What follows the group `number`, of which the beginning is read.
fn after_group(number: u32, bytes: &[u8]) -> Option<&[u8]> {
    let (mut open, mut rest) = (vec![number], bytes);
    while let Some(&innermost) = open.last() {
        let (number, wire, after) = key(rest)?;
        rest = after;
        match wire {
            // The decoder stops at 100 levels.
            START_GROUP if open.len() < MAX_OPEN => open.push(number),
            END_GROUP if number == innermost => {
                open.pop();
            }
            _ => rest = single(wire, after)?.1,
        }
    }
    Some(rest)
}

/// A field's number and wire type, and what follows them.
fn key(bytes: &[u8]) -> Option<(u32, u32, &[u8])> {
    let (tag, rest) = varint(bytes)?;
    let tag = u32::try_from(tag).ok()?;
    if tag >> 3 == 0 { None } else { Some((tag >> 3, tag & 7, rest)) }
}

/// The content of a field that is no group, if it is bytes, and what follows it.
fn single(wire: u32, bytes: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    match wire {
        0 => Some((None, varint(bytes)?.1)),
        1 => Some((None, bytes.get(8..)?)),
        2 => {
            let (length, rest) = varint(bytes)?;
            let (inner, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            Some((Some(inner), rest))
        }
        5 => Some((None, bytes.get(4..)?)),
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
pub(super) mod tests {
    use super::*;
    use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
    use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value::Value};
    use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
    use prost::Message;

    fn request(spans: Vec<Span>) -> Vec<u8> {
        let scope_spans = vec![ScopeSpans { spans, ..ScopeSpans::default() }];
        let resource_spans = vec![ResourceSpans { scope_spans, ..ResourceSpans::default() }];
        ExportTraceServiceRequest { resource_spans }.encode_to_vec()
    }

    /// A field of bytes under its key. An encoder would reckon the length of what is nested anew at each level.
    pub(in crate::ingest::decode) fn wrapped(key: u8, inner: &[u8]) -> Vec<u8> {
        let mut out = vec![key];
        prost::encoding::encode_varint(inner.len() as u64, &mut out);
        out.extend_from_slice(inner);
        out
    }

    #[test]
    fn small_bytes_that_decode_to_much_are_refused() {
        let of_scope = |inner: &[u8]| wrapped(0x0a, &wrapped(0x12, inner));
        let of_attribute = |value: &[u8]| {
            let attribute = [wrapped(0x0a, b"a"), wrapped(0x12, value)].concat();
            of_scope(&wrapped(0x12, &wrapped(0x4a, &attribute)))
        };
        let empty_groups = [0x0a, 0x00].repeat(5 << 20);
        let empty_spans = of_scope(&[0x12, 0x00].repeat(800_000));
        let mut value = wrapped(0x2a, &[0x0a, 0x00].repeat(15 << 20));
        let array = of_attribute(&value);
        for _ in 0..40 {
            value = wrapped(0x2a, &wrapped(0x0a, &value));
        }
        let nested = of_attribute(&value);
        // It is what an encoder writes.
        let one = AnyValue { value: Some(Value::IntValue(1)) };
        let attribute = KeyValue { key: "a".into(), value: Some(one.clone()), ..KeyValue::default() };
        let encoded = request(vec![Span { attributes: vec![attribute], ..Span::default() }]);
        assert_eq!(of_attribute(&one.encode_to_vec()), encoded);
        for body in [empty_groups, empty_spans, array, nested] {
            assert!(body.len() < 64 << 20);
            assert!(matches!(protobuf(&body), Err(DecodeError::Heavy(_))), "{} bytes", body.len());
        }
        assert!(json(&b"[0,".repeat(17 << 20)).is_err());
    }

    #[test]
    fn an_unknown_group_hides_nothing() {
        let mut body = vec![0x7b, 0x08, 0x01, 0x83, 0x01, 0x12, 0x01, 0x00, 0x84, 0x01, 0x7c];
        body.extend([0x0a, 0x00]);
        let decoded = ExportTraceServiceRequest::decode(body.as_slice()).unwrap();
        assert_eq!(decoded.resource_spans.len(), 1, "a group is skipped");
        protobuf(&body).unwrap();
        body.extend([0x0a, 0x00].repeat(100));
        let mut left = 10_000;
        assert!(matches!(part(MessageKind::Request, &body, &mut left), Err(DecodeError::Heavy(_))));
        // A group that does not end, ends as another or nests without end is damage.
        for damaged in [&[0x7b][..], &[0x7c], &[0x7b, 0x84, 0x01], &[0x7b; 1_000]] {
            assert!(field(damaged).is_none(), "{damaged:?}");
            assert!(ExportTraceServiceRequest::decode(damaged).is_err());
        }
    }

    #[test]
    fn entities_of_a_resource_are_weighed() {
        let (entities, mut left) = ([0x1a, 0x00].repeat(100), 5_000);
        assert!(part(MessageKind::Resource, &entities, &mut left).is_err());
    }

    #[test]
    fn empty_json_objects_weigh_what_they_become() {
        let spans = |count: usize| {
            let more = ",{}".repeat(count - 1);
            format!("{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{{}}{more}]}}]}}]}}")
        };
        let thousand = serde_json::from_str(&spans(1_000)).unwrap();
        let weight = 1_400 * 1_000 + 2 * 256;
        assert!(tree(&thousand, weight).is_ok() && tree(&thousand, weight - 1).is_err());
        let decoded = super::super::traces_from_json(spans(710_000).as_bytes());
        assert!(matches!(decoded, Err(DecodeError::Heavy(_))));
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
