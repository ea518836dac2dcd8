//! A trace request as rows, ready for the journal.

use super::direct;
use super::json;
use super::outcome::{DecodeError, Decoded, from_protobuf_within};
use super::trace;
use super::weigh::{MAX_DECODED, Room};
use crate::domain::span::{Llm, Span};
use crate::ingest::dialect;
use crate::ingest::redact::Redactor;
use crate::schema::batch::{RawSpan, SourceText, SpanRows, with_raw};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;

/// Rows of about this many bytes become one frame. A row that is larger has a frame of its own.
const FRAME_BYTES: usize = 16 << 20;

/// Rows that become one frame.
pub struct Chunk {
    /// The spans.
    pub rows: SpanRows,
    /// Those of them that may carry evaluations from elsewhere.
    pub evaluated: Vec<Span>,
}

/// The accepted spans of a request, cut into frames, and what to answer about the others.
#[derive(Default)]
pub struct Traces {
    /// The rows. Resource attributes stand in every row, so a small request can be large as rows.
    pub chunks: Vec<Chunk>,
    /// How many spans were accepted.
    pub accepted: u64,
    /// How many were rejected. Exact.
    pub rejected: u64,
    /// Why, at most ten distinct sentences.
    pub reasons: Vec<String>,
    /// What is odd about accepted spans, at most ten distinct sentences.
    pub warnings: Vec<String>,
    bytes: usize,
    /// Bytes of the request, if that is known.
    request: usize,
    evaluated: Option<Span>,
}

impl Traces {
    /// Nothing yet of a request of `bytes`.
    pub(super) fn of_request(bytes: usize) -> Self {
        Self { request: bytes, ..Self::default() }
    }

    /// From a protobuf body.
    pub fn from_protobuf(body: &[u8]) -> Result<Self, DecodeError> {
        Self::from_protobuf_within(body, &mut |_| Ok(()))
    }

    fn from_protobuf_within(body: &[u8], room: &mut Room<'_>) -> Result<Self, DecodeError> {
        let mut is_full = false;
        let traces = direct::traces(body, &mut |bytes| room(bytes).inspect_err(|_| is_full = true));
        match traces {
            Ok(traces) => Ok(traces),
            Err(_) if is_full => Err(DecodeError::Full),
            Err(_) => Self::from_request_within(from_protobuf_within(body, room)?, room),
        }
    }

    /// From a protobuf body, of which `redactor` puts out what it finds before anything else looks at it, if there is
    /// `room` for what it decodes to.
    pub fn redacted(
        body: &[u8],
        redactor: Option<&Redactor>,
        room: &mut Room<'_>,
    ) -> Result<Self, DecodeError> {
        match redactor {
            None => Self::from_protobuf_within(body, room),
            Some(_) => Self::redacted_request(from_protobuf_within(body, room)?, redactor, room),
        }
    }

    /// As [`Traces::redacted`], from a JSON body.
    pub fn redacted_json(
        body: &[u8],
        redactor: Option<&Redactor>,
        room: &mut Room<'_>,
    ) -> Result<Self, DecodeError> {
        Self::redacted_request(json::traces_within(body, room)?, redactor, room)
    }

    fn redacted_request(
        mut request: ExportTraceServiceRequest,
        redactor: Option<&Redactor>,
        room: &mut Room<'_>,
    ) -> Result<Self, DecodeError> {
        if let Some(redactor) = redactor {
            redactor.traces(&mut request);
        }
        Self::from_request_within(request, room)
    }

    /// From a JSON body.
    pub fn from_json(body: &[u8]) -> Result<Self, DecodeError> {
        Self::from_request(json::traces_from_json(body)?)
    }

    /// From the general decoder's structures.
    pub fn from_request(request: ExportTraceServiceRequest) -> Result<Self, DecodeError> {
        Self::from_request_within(request, &mut |_| Ok(()))
    }

    fn from_request_within(
        request: ExportTraceServiceRequest,
        room: &mut Room<'_>,
    ) -> Result<Self, DecodeError> {
        let Decoded { items, rejected, reasons, warnings } = trace::spans(request);
        let mut out = Self { rejected, reasons, warnings, ..Self::default() };
        let mut source = None;
        for span in items {
            let llm = Some(Box::new(span.llm.clone()));
            with_raw(&span, &mut source, |raw, text| out.push(raw, text, llm))?;
            room(out.bytes)?;
            if dialect::may_have_evaluations(&span) {
                out.keep_evaluated(span);
            }
        }
        Ok(out)
    }

    /// Roughly the bytes of all rows.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a row.
    pub(super) fn push(
        &mut self,
        raw: &RawSpan<'_>,
        source: &SourceText,
        llm: Option<Box<Llm>>,
    ) -> Result<(), DecodeError> {
        let weight = SpanRows::weight(raw, source, llm.is_some());
        self.room(weight)?.push(raw, source, llm);
        self.bytes += weight;
        self.accepted += 1;
        if let Some(span) = self.evaluated.take() {
            self.keep_evaluated(span);
        }
        Ok(())
    }

    /// Keeps `span` with the chunk that its row is in, also when that row has filled it: they are to be one frame.
    fn keep_evaluated(&mut self, span: Span) {
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.evaluated.push(span);
        }
    }

    /// The span that is pushed next may carry evaluations.
    pub(super) fn note_evaluated(&mut self, span: Span) {
        self.evaluated = Some(span);
    }

    /// The chunk that takes the next row, of `weight` bytes. A row that would make a chunk too large begins a new one.
    fn room(&mut self, weight: usize) -> Result<&mut SpanRows, DecodeError> {
        if self.bytes.saturating_add(weight) > MAX_DECODED {
            return Err(DecodeError::Heavy(MAX_DECODED));
        }
        let held = self.chunks.last().map_or(usize::MAX, |chunk| chunk.rows.bytes());
        let full = held > 0 && held.saturating_add(weight) > FRAME_BYTES;
        if full {
            let left = self.request.saturating_sub(self.bytes).min(FRAME_BYTES);
            let rows = SpanRows::with_capacity(FIRST_ROWS, left);
            self.chunks.push(Chunk { rows, evaluated: Vec::new() });
        }
        let at = self.chunks.len() - 1;
        Ok(&mut self.chunks[at].rows)
    }
}

/// Room that a chunk begins with, rows.
const FIRST_ROWS: usize = 64;
