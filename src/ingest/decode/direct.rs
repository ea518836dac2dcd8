//! Ordinary trace requests from the wire straight to rows.
//!
//! The general decoder makes a structure of every message and a string of every key and value, which most spans need
//! for nothing but their row. Here a span's fields are borrowed from the request, and its attributes are written as
//! JSON while they are read. A span that carries attributes of a GenAI convention is decoded in full as well, for its meaning. Whatever is
//! damaged, refused or odd makes the whole request [`Unusual`]: the general decoder then says what is wrong with it, so
//! that there is one place that does.

use super::convert::{self, MAX_DEPTH};
use super::rows::Traces;
use super::trace;
use super::weigh::{self, MessageKind};
use super::wire::{Fields, Unusual, Wire};
use crate::domain::id::{SpanId, TraceId};
use crate::domain::span::{Llm, Span};
use crate::domain::time::UnixNanos;
use crate::domain::value::{write_bytes, write_double, write_json_string, write_key};
use crate::ingest::dialect;
use crate::ingest::memory::{Allowance, MAX_DECODED};
use crate::schema::batch::{RawSpan, SourceText};
use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1 as proto;
use prost::Message;
use std::fmt::Write as _;
use std::sync::Arc;

/// The rows of a request, if there is `room` for them.
pub(super) fn traces(body: &[u8], room: &mut Allowance<'_>) -> Result<Traces, Unusual> {
    let mut out = Traces::of_request(body.len());
    let [attributes, events, links] = <[String; 3]>::default();
    let mut scratch = Scratch { attributes, events, links, left: MAX_DECODED, room };
    for field in Fields(body) {
        match field? {
            (1, group) => resource_spans(group.bytes()?, &mut out, &mut scratch)?,
            _ => return Err(Unusual),
        }
    }
    Ok(out)
}

fn resource_spans(bytes: &[u8], out: &mut Traces, scratch: &mut Scratch<'_>) -> Result<(), Unusual> {
    let (mut resource, mut schema) = (None, "");
    for field in Fields(bytes) {
        match field? {
            (1, message) if resource.is_none() => resource = Some(message.bytes()?),
            (2, _) => {}
            (3, text) => schema = text.text()?,
            _ => return Err(Unusual),
        }
    }
    let resource =
        resource.map(|bytes| scratch.decode::<Resource>(MessageKind::Resource, bytes)).transpose()?;
    let base = convert::resource(resource).map_err(|_| Unusual)?;
    for field in Fields(bytes) {
        let (2, group) = field? else { continue };
        let group = group.bytes()?;
        let (mut scope, mut scope_schema) = (None, "");
        for field in Fields(group) {
            match field? {
                (1, message) if scope.is_none() => scope = Some(message.bytes()?),
                (2, _) => {}
                (3, text) => scope_schema = text.text()?,
                _ => return Err(Unusual),
            }
        }
        let scope = scope
            .map(|bytes| scratch.decode::<InstrumentationScope>(MessageKind::Scope, bytes))
            .transpose()?;
        let source = convert::scope(&base, scope, scope_schema.to_owned(), schema).map_err(|_| Unusual)?;
        let is_genai = dialect::scope_is_genai(&source);
        let text = SourceText::new(Arc::new(source));
        for field in Fields(group) {
            if let (2, bytes) = field? {
                span(bytes.bytes()?, &text, is_genai, out, scratch)?;
            }
        }
    }
    Ok(())
}

/// Texts that are written anew for each span, what decoded messages may still take, and who gives room.
struct Scratch<'r> {
    attributes: String,
    events: String,
    links: String,
    left: usize,
    room: &'r mut Allowance<'r>,
}

impl Scratch<'_> {
    /// Decodes a message as a whole, if it is not too much: empty messages take hundreds of times their bytes.
    fn decode<M: Message + Default>(&mut self, kind: MessageKind, bytes: &[u8]) -> Result<M, Unusual> {
        let before = self.left;
        weigh::part(kind, bytes, &mut self.left).map_err(|_| Unusual)?;
        (self.room)(before - self.left).map_err(|_| Unusual)?;
        M::decode(bytes).map_err(|_| Unusual)
    }
}

/// What a walk over a span's fields gathers.
#[derive(Default)]
struct Seen<'a> {
    trace_id: &'a [u8],
    span_id: &'a [u8],
    parent: &'a [u8],
    name: &'a str,
    trace_state: &'a str,
    kind: i32,
    start: u64,
    end: u64,
    dropped: [u32; 3],
    flags: u32,
    status: Option<&'a [u8]>,
    status_code: i32,
    status_message: &'a str,
}

fn span(
    bytes: &[u8],
    source: &SourceText,
    scope_is_genai: bool,
    out: &mut Traces,
    scratch: &mut Scratch<'_>,
) -> Result<(), Unusual> {
    let (seen, is_genai) = walk(bytes, scratch)?;
    let whole = if scope_is_genai || is_genai || seen.status_code == ERROR && !scratch.events.is_empty() {
        let span = scratch.decode::<proto::Span>(MessageKind::Item, bytes)?;
        Some(trace::one(span, source.source()).map_err(|_| Unusual)?)
    } else {
        None
    };
    let (start, end) = (time(seen.start)?, time(seen.end)?);
    if end < start {
        return Err(Unusual);
    }
    let raw = RawSpan {
        trace_id: TraceId::from_bytes(seen.trace_id).map_err(|_| Unusual)?,
        span_id: SpanId::from_bytes(seen.span_id).map_err(|_| Unusual)?,
        parent_span_id: trace::parent(seen.parent).map_err(|_| Unusual)?,
        name: seen.name,
        kind: trace::kind(seen.kind),
        start,
        end,
        status: trace::status_code(seen.status_code),
        status_message: seen.status_message,
        trace_state: seen.trace_state,
        flags: seen.flags,
        dropped: seen.dropped,
        attributes: closed(&mut scratch.attributes, "{", '}'),
        events: if scratch.events.is_empty() { "" } else { closed(&mut scratch.events, "[", ']') },
        links: if scratch.links.is_empty() { "" } else { closed(&mut scratch.links, "[", ']') },
    };
    let llm = whole.map(|span: Span| meaning(span, out));
    out.push(&raw, source, llm).map_err(|_| Unusual)?;
    (scratch.room)(out.bytes()).map_err(|_| Unusual)
}

/// Ends a list that was begun; one that was not is empty.
fn closed<'a>(text: &'a mut String, open: &str, close: char) -> &'a str {
    if text.is_empty() {
        text.push_str(open);
    }
    text.push(close);
    text
}

fn meaning(mut span: Span, out: &mut Traces) -> Box<Llm> {
    dialect::normalize_span(&mut span);
    let llm = std::mem::take(&mut span.llm);
    if dialect::may_have_evaluations(&span) {
        span.llm.request_model.clone_from(&llm.request_model);
        out.note_evaluated(span);
    }
    Box::new(llm)
}

/// The number of OTLP's status "error".
const ERROR: i32 = 2;

/// Gathers the fields and writes the lists. True if the span has to be looked at as a whole.
fn walk<'a>(bytes: &'a [u8], scratch: &mut Scratch<'_>) -> Result<(Seen<'a>, bool), Unusual> {
    scratch.attributes.clear();
    scratch.events.clear();
    scratch.links.clear();
    let (mut seen, mut is_genai) = (Seen::default(), false);
    for field in Fields(bytes) {
        match field? {
            (1, id) => seen.trace_id = id.bytes()?,
            (2, id) => seen.span_id = id.bytes()?,
            (3, text) => seen.trace_state = text.text()?,
            (4, id) => seen.parent = id.bytes()?,
            (5, text) => seen.name = text.text()?,
            (6, kind) => seen.kind = kind.varint32()?.cast_signed(),
            (7, nanos) => seen.start = nanos.fixed64()?,
            (8, nanos) => seen.end = nanos.fixed64()?,
            (9, pair) => {
                next(&mut scratch.attributes, '{');
                let (key, value) = key_value(pair.bytes()?, &mut scratch.attributes, 0)?;
                is_genai = is_genai || dialect::pair_is_genai(key, || text_of(value));
            }
            (10, count) => seen.dropped[0] = count.varint32()?,
            (11, event) => {
                next(&mut scratch.events, '[');
                is_genai |= dialect::event_is_genai(write_event(event.bytes()?, &mut scratch.events)?);
            }
            (12, count) => seen.dropped[1] = count.varint32()?,
            (13, link) => {
                next(&mut scratch.links, '[');
                write_link(link.bytes()?, &mut scratch.links)?;
            }
            (14, count) => seen.dropped[2] = count.varint32()?,
            (15, status) if seen.status.is_none() => {
                seen.status = Some(status.bytes()?);
                read_status(&mut seen)?;
            }
            (16, flags) => seen.flags = flags.fixed32()?,
            _ => return Err(Unusual),
        }
    }
    Ok((seen, is_genai))
}

fn read_status(seen: &mut Seen<'_>) -> Result<(), Unusual> {
    for field in Fields(seen.status.unwrap_or_default()) {
        match field? {
            (2, text) => seen.status_message = text.text()?,
            (3, code) => seen.status_code = code.varint32()?.cast_signed(),
            _ => return Err(Unusual),
        }
    }
    Ok(())
}

fn time(nanos: u64) -> Result<UnixNanos, Unusual> {
    convert::time(nanos).ok_or(Unusual)
}

/// Begins a list or goes on with it.
fn next(out: &mut String, open: char) {
    out.push(if out.is_empty() { open } else { ',' });
}

/// The text of an encoded value, if it is text.
fn text_of(value: &[u8]) -> Option<&str> {
    match Fields(value).next() {
        Some(Ok((1, text))) => text.text().ok(),
        _ => None,
    }
}

/// Writes `"key":value`; gives the key and the value's bytes.
fn key_value<'a>(bytes: &'a [u8], out: &mut String, depth: usize) -> Result<(&'a str, &'a [u8]), Unusual> {
    let (mut key, mut value) = ("", None);
    for field in Fields(bytes) {
        match field? {
            (1, text) => key = text.text()?,
            (2, message) if value.is_none() => value = Some(message.bytes()?),
            _ => return Err(Unusual),
        }
    }
    write_key(key, out);
    let value = value.unwrap_or_default();
    any_value(value, out, depth)?;
    Ok((key, value))
}

fn any_value(bytes: &[u8], out: &mut String, depth: usize) -> Result<(), Unusual> {
    if depth > MAX_DEPTH {
        return Err(Unusual);
    }
    let mut fields = Fields(bytes);
    let Some(field) = fields.next() else {
        out.push_str("null");
        return Ok(());
    };
    match field? {
        (1, text) => write_json_string(text.text()?, out),
        (2, truth) => out.push_str(if truth.varint()? != 0 { "true" } else { "false" }),
        (3, number) => {
            let _ = write!(out, "{}", number.varint()?.cast_signed());
        }
        (4, bits) => write_double(f64::from_bits(bits.fixed64()?), out),
        (5, list) => array(list, out, depth)?,
        (6, list) => map(list, out, depth)?,
        (7, bytes) => write_bytes(bytes.bytes()?, out),
        _ => return Err(Unusual),
    }
    // A second value would replace the first, or add to it.
    if fields.next().is_some() { Err(Unusual) } else { Ok(()) }
}

fn array(list: Wire<'_>, out: &mut String, depth: usize) -> Result<(), Unusual> {
    out.push('[');
    for (at, field) in Fields(list.bytes()?).enumerate() {
        let (1, item) = field? else { return Err(Unusual) };
        if at > 0 {
            out.push(',');
        }
        any_value(item.bytes()?, out, depth + 1)?;
    }
    out.push(']');
    Ok(())
}

fn map(list: Wire<'_>, out: &mut String, depth: usize) -> Result<(), Unusual> {
    out.push('{');
    for (at, field) in Fields(list.bytes()?).enumerate() {
        let (1, pair) = field? else { return Err(Unusual) };
        if at > 0 {
            out.push(',');
        }
        key_value(pair.bytes()?, out, depth + 1)?;
    }
    out.push('}');
    Ok(())
}

/// Writes an event as [`crate::schema::batch`] does; gives its name.
fn write_event<'a>(bytes: &'a [u8], out: &mut String) -> Result<&'a str, Unusual> {
    let (mut nanos, mut name, mut dropped) = (0, "", 0);
    for field in Fields(bytes) {
        match field? {
            (1, time) => nanos = time.fixed64()?,
            (2, text) => name = text.text()?,
            (3, _) => {}
            (4, count) => dropped = count.varint32()?,
            _ => return Err(Unusual),
        }
    }
    let _ = write!(out, "{{\"time_unix_nano\":{},\"name\":", time(nanos)?.0);
    write_json_string(name, out);
    attributes(bytes, 3, dropped, out)?;
    Ok(name)
}

/// Writes a link as [`crate::schema::batch`] does.
fn write_link(bytes: &[u8], out: &mut String) -> Result<(), Unusual> {
    let (mut ids, mut state, mut dropped, mut flags) = ([&[][..]; 2], "", 0, 0);
    for field in Fields(bytes) {
        match field? {
            (1, id) => ids[0] = id.bytes()?,
            (2, id) => ids[1] = id.bytes()?,
            (3, text) => state = text.text()?,
            (4, _) => {}
            (5, count) => dropped = count.varint32()?,
            (6, number) => flags = number.fixed32()?,
            _ => return Err(Unusual),
        }
    }
    let [trace, span] = ids.map(hex::encode);
    let _ =
        write!(out, "{{\"trace_id\":\"{trace}\",\"span_id\":\"{span}\",\"flags\":{flags},\"trace_state\":");
    write_json_string(state, out);
    attributes(bytes, 4, dropped, out)
}

/// Writes the attributes under `number` and how many were dropped, and closes the object.
fn attributes(bytes: &[u8], number: u32, dropped: u32, out: &mut String) -> Result<(), Unusual> {
    out.push_str(",\"attributes\":{");
    let mut first = true;
    for field in Fields(bytes) {
        let (found, pair) = field?;
        if found != number {
            continue;
        }
        if !first {
            out.push(',');
        }
        first = false;
        key_value(pair.bytes()?, out, 0)?;
    }
    let _ = write!(out, "}},\"dropped_attributes_count\":{dropped}}}");
    Ok(())
}

#[cfg(test)]
#[path = "direct_tests.rs"]
mod tests;
