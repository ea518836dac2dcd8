//! Rows of a trace request, cut into frames.

use super::outcome::DecodeError;
use crate::domain::span::{Llm, Span};
use crate::ingest::memory::MAX_DECODED;
use crate::schema::batch::{RawSpan, SourceText, SpanRows};

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
    pub(super) bytes: usize,
    /// Bytes of the request, if that is known.
    pub(super) request: usize,
    pub(super) evaluated: Option<Span>,
}

impl Traces {
    /// Nothing yet of a request of `bytes`.
    pub(super) fn of_request(bytes: usize) -> Self {
        Self { request: bytes, ..Self::default() }
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
    pub(super) fn keep_evaluated(&mut self, span: Span) {
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
