//! Texts of a protobuf body that are not UTF-8.
//!
//! Some senders write the bytes of a header or of a file as they are. The decoder refuses such a message as a whole, and with
//! it everything that was gathered into the same request, also by others.

use super::weigh;
use std::ops::Range;

/// What a request is made of, as far as it is text or holds text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    Traces,
    Logs,
    ResourceSpans,
    ResourceLogs,
    ScopeSpans,
    ScopeLogs,
    Resource,
    Entity,
    Scope,
    Span,
    Record,
    Event,
    Link,
    Status,
    KeyValue,
    Value,
    Values,
    KeyValues,
    Text,
}

impl Piece {
    /// What the field `number` holds; none if there is no text in it.
    fn inside(self, number: u32) -> Option<Piece> {
        Some(match (self, number) {
            (Piece::Traces, 1) => Piece::ResourceSpans,
            (Piece::Logs, 1) => Piece::ResourceLogs,
            (Piece::ResourceSpans | Piece::ResourceLogs, 1) => Piece::Resource,
            (Piece::ResourceSpans, 2) => Piece::ScopeSpans,
            (Piece::ResourceLogs, 2) => Piece::ScopeLogs,
            (Piece::ScopeSpans | Piece::ScopeLogs, 1) => Piece::Scope,
            (Piece::ScopeSpans, 2) => Piece::Span,
            (Piece::ScopeLogs, 2) => Piece::Record,
            (Piece::Resource, 3) => Piece::Entity,
            (Piece::Span, 11) => Piece::Event,
            (Piece::Span, 13) => Piece::Link,
            (Piece::Span, 15) => Piece::Status,
            (Piece::Record, 5) | (Piece::KeyValue, 2) | (Piece::Values, 1) => Piece::Value,
            (Piece::Value, 5) => Piece::Values,
            (Piece::Value, 6) => Piece::KeyValues,
            (Piece::Resource | Piece::KeyValues, 1)
            | (Piece::Scope | Piece::Event, 3)
            | (Piece::Link, 4)
            | (Piece::Record, 6)
            | (Piece::Span, 9) => Piece::KeyValue,
            // Schemas, the state of a trace, the severity of a record.
            (Piece::ResourceSpans | Piece::ResourceLogs | Piece::ScopeSpans | Piece::ScopeLogs, 3)
            | (Piece::Span | Piece::Link | Piece::Record, 3)
            // Names, messages, keys and values.
            | (Piece::Span, 5)
            | (Piece::Record, 12)
            | (Piece::Scope | Piece::Event | Piece::Status, 2)
            | (Piece::Scope | Piece::KeyValue | Piece::Value, 1)
            | (Piece::Entity, 1..=4) => Piece::Text,
            _ => return None,
        })
    }
}

/// Tells `found` where in the body of a request, which `whole` says what it is of, each text is that is no UTF-8.
pub(super) fn each_wrong(whole: Piece, body: &[u8], found: &mut dyn FnMut(Range<usize>)) {
    // What is left of each message that is open, and where it ends in the body.
    let mut open = vec![(whole, body, body.len())];
    while let Some((piece, mut rest, end)) = open.pop() {
        while let Some(field) = weigh::field(rest) {
            rest = field.rest;
            let (Some(bytes), Some(inside)) = (field.bytes, piece.inside(field.number)) else { continue };
            let stop = end - rest.len();
            if inside == Piece::Text {
                if std::str::from_utf8(bytes).is_err() {
                    found(stop - bytes.len()..stop);
                }
            } else if open.len() < weigh::MAX_OPEN {
                // The rest of this message is looked at after what is inside.
                open.push((piece, rest, end));
                open.push((inside, bytes, stop));
                break;
            }
        }
    }
}

/// Puts a question mark for each byte that makes `text` no UTF-8: the text stays as long as the lengths around it say.
pub(super) fn mend(text: &mut [u8]) {
    let mut from = 0;
    while let Err(error) = std::str::from_utf8(&text[from..]) {
        let wrong = from + error.valid_up_to();
        from = error.error_len().map_or(text.len(), |length| wrong + length);
        text[wrong..from].fill(b'?');
    }
}
