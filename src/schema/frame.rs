//! Journal frames: one or more parts that become durable together.
//!
//! ```text
//! version u8 (1) | parts u8 | part …
//! part:  tag u8 | length u32 LE | bytes
//! rows:  metadata length u32 LE | Arrow IPC record batch message, zeros | Arrow buffers   (no schema: the tag names it)
//! queue: bytes of the room `sample`
//! ```
//! What must not be torn apart by a crash (a decision and its queue item, scores and the item's completion) is one frame.

use super::columns::Table;
use arrow::array::{RecordBatch, new_null_array};
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::reader::read_record_batch;
use arrow::ipc::writer::StreamEncoder;
use arrow::ipc::{MetadataVersion, root_as_message};
use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

const VERSION: u8 = 1;
const QUEUE_TAG: u8 = 64;

/// Why bytes are not a frame.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// Written by a newer version, or not a frame at all.
    #[error("frame version {0} is not known; this program reads version {VERSION}")]
    Version(u8),
    /// The parts do not add up to the frame.
    #[error("frame is damaged: {0}")]
    Damaged(&'static str),
    /// Arrow could not write or read the rows.
    #[error("frame rows: {0}")]
    Arrow(#[from] ArrowError),
}

/// One part of a frame.
#[derive(Debug, Clone)]
pub enum Part {
    /// Rows of a table, in its stored schema.
    Rows(Table, RecordBatch),
    /// Something for the evaluation queue.
    Queue(Bytes),
}

/// Which parts a frame has: one bit each, so that a reader skips what it does not want.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrameKind(pub u8);

impl FrameKind {
    /// The bit of a table.
    pub fn of(table: Table) -> Self {
        Self(1 << tag_of(table))
    }

    /// The bit of the queue.
    pub fn queue() -> Self {
        Self(QUEUE_TAG)
    }

    /// Whether the two share a bit.
    pub fn meets(self, other: FrameKind) -> bool {
        self.0 & other.0 != 0
    }

    /// Both.
    #[must_use]
    pub fn and(self, other: FrameKind) -> Self {
        Self(self.0 | other.0)
    }
}

fn tag_of(table: Table) -> u8 {
    Table::ALL.iter().position(|t| *t == table).and_then(|at| u8::try_from(at).ok()).unwrap_or_default()
}

/// Encodes `parts` as one frame and says which kinds it holds.
pub fn encode(parts: &[Part]) -> Result<(FrameKind, Bytes), FrameError> {
    let count = u8::try_from(parts.len()).map_err(|_| FrameError::Damaged("more than 255 parts"))?;
    let mut kind = FrameKind::default();
    let mut pieces = Vec::with_capacity(parts.len());
    for part in parts {
        let piece = match part {
            Part::Rows(table, batch) => {
                kind = kind.and(FrameKind::of(*table));
                (tag_of(*table), rows(*table, batch)?)
            }
            Part::Queue(bytes) => {
                kind = kind.and(FrameKind::queue());
                (QUEUE_TAG, Chain(vec![Buffer::from(bytes.clone())]))
            }
        };
        pieces.push(piece);
    }
    // All at once: the rows of a request take megabytes, and readers keep the frame for as long as the rows are hot.
    let bytes: usize = pieces.iter().map(|(_, chain)| chain.len() + 5 + ALIGNMENT).sum();
    let mut out = Vec::with_capacity(2 + bytes);
    out.extend_from_slice(&[VERSION, count]);
    for (tag, chain) in pieces {
        put_part(&mut out, tag, chain)?;
    }
    Ok((kind, Bytes::from(out)))
}

/// Where the buffers of rows begin in a frame, so that a reader need not copy numbers to aligned memory.
const ALIGNMENT: usize = 8;

/// Bytes of an IPC stream before each message: a marker, and the length of the message's metadata.
const MESSAGE_PREFIX: usize = 8;

fn put_part(out: &mut Vec<u8>, tag: u8, mut chain: Chain) -> Result<(), FrameError> {
    out.push(tag);
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    if tag != QUEUE_TAG {
        put_metadata(out, &mut chain)?;
    }
    chain.0.iter().for_each(|buffer| out.extend_from_slice(buffer));
    let length = u32::try_from(out.len() - at - 4).map_err(|_| FrameError::Damaged("part over 4 GiB"))?;
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// Leaves the buffers of the rows in `chain`.
fn put_metadata(out: &mut Vec<u8>, chain: &mut Chain) -> Result<(), FrameError> {
    let mut metadata = Vec::new();
    chain.take_message(&mut metadata)?;
    let body = out.len() + 4 + metadata.len();
    metadata.resize(metadata.len() + body.next_multiple_of(ALIGNMENT) - body, 0);
    let length = u32::try_from(metadata.len()).map_err(|_| FrameError::Damaged("metadata over 4 GiB"))?;
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&metadata);
    Ok(())
}

/// One encoder a table, kept because the first message of each is the schema: for a request of one span it would be
/// most of the work.
static ENCODERS: [Mutex<Option<StreamEncoder>>; Table::ALL.len()] =
    [const { Mutex::new(None) }; Table::ALL.len()];

/// The rows as a message of an IPC stream that shares the memory of their columns.
fn rows(table: Table, batch: &RecordBatch) -> Result<Chain, FrameError> {
    let mut kept = ENCODERS[usize::from(tag_of(table))].lock();
    let (mut encoder, is_new) = match kept.take() {
        Some(encoder) => (encoder, false),
        None => (StreamEncoder::try_new(batch.schema_ref())?, true),
    };
    let mut chain = Chain(encoder.encode(batch)?);
    if is_new {
        // The schema, which the tag names.
        chain.take_message(&mut Vec::new())?;
    }
    *kept = Some(encoder);
    Ok(chain)
}

/// Bytes in several pieces.
struct Chain(Vec<Buffer>);

impl Chain {
    fn len(&self) -> usize {
        self.0.iter().map(Buffer::len).sum()
    }

    /// Moves the first `count` bytes to `out`.
    fn take(&mut self, mut count: usize, out: &mut Vec<u8>) -> Result<(), FrameError> {
        let mut whole = 0;
        for buffer in &mut self.0 {
            let part = count.min(buffer.len());
            out.extend_from_slice(&buffer[..part]);
            count -= part;
            if part < buffer.len() {
                *buffer = buffer.slice(part);
                break;
            }
            whole += 1;
        }
        self.0.drain(..whole);
        if count == 0 { Ok(()) } else { Err(FrameError::Damaged("shorter than it says")) }
    }

    /// Moves the metadata of the first message of an IPC stream to `out`.
    fn take_message(&mut self, out: &mut Vec<u8>) -> Result<(), FrameError> {
        let mut prefix = Vec::with_capacity(MESSAGE_PREFIX);
        self.take(MESSAGE_PREFIX, &mut prefix)?;
        self.take(read_u32(&prefix, 4)?, out)
    }
}

/// Decodes the parts of a frame that `wanted` names.
pub fn decode(frame: &Bytes, wanted: FrameKind) -> Result<Vec<Part>, FrameError> {
    let [version, count, ..] = frame.as_ref() else {
        return Err(FrameError::Damaged("shorter than its header"));
    };
    if *version != VERSION {
        return Err(FrameError::Version(*version));
    }
    let mut parts = Vec::with_capacity(usize::from(*count));
    let mut at = 2;
    for _ in 0..*count {
        let tag = *frame.get(at).ok_or(FrameError::Damaged("part header cut off"))?;
        let length = read_u32(frame, at + 1)?;
        let end = at + 5 + length;
        if end > frame.len() {
            return Err(FrameError::Damaged("part cut off"));
        }
        let body = frame.slice(at + 5..end);
        at = end;
        if tag == QUEUE_TAG {
            if wanted.meets(FrameKind::queue()) {
                parts.push(Part::Queue(body));
            }
        } else if let Some(table) = Table::ALL.get(usize::from(tag)) {
            if wanted.meets(FrameKind::of(*table)) {
                parts.push(Part::Rows(*table, get_rows(&body, table.schema())?));
            }
        } else {
            return Err(FrameError::Damaged("part of an unknown table"));
        }
    }
    Ok(parts)
}

fn get_rows(body: &Bytes, schema: SchemaRef) -> Result<RecordBatch, FrameError> {
    let length = read_u32(body, 0)?;
    let metadata = body.get(4..4 + length).ok_or(FrameError::Damaged("row metadata cut off"))?;
    let message = root_as_message(metadata).map_err(|_| FrameError::Damaged("row metadata"))?;
    let header = message.header_as_record_batch().ok_or(FrameError::Damaged("not a record batch"))?;
    let buffer = Buffer::from(body.slice(4 + length..));
    let none = HashMap::new();
    // A frame of an earlier release lacks the columns that were added at the end since. Where columns are nested there
    // are more nodes than columns, and none was added.
    let columns = header.nodes().map_or(0, |nodes| nodes.len()).min(schema.fields().len());
    // One column was added so far. With none at all, nothing would bound the number of rows that a damaged frame claims.
    if columns == 0 || columns + 1 < schema.fields().len() {
        return Err(FrameError::Damaged("columns are missing"));
    }
    let known = Arc::new(schema.project(&(0..columns).collect::<Vec<_>>())?);
    let read = || read_record_batch(&buffer, header, known, &none, None, &MetadataVersion::V5);
    // Arrow trusts the lengths in the metadata and panics on some wrong ones. One bad frame must not end its reader.
    let batch = catch_unwind(AssertUnwindSafe(read)).map_err(|_| FrameError::Damaged("row lengths"))??;
    if columns == schema.fields().len() {
        return Ok(batch);
    }
    let mut all = batch.columns().to_vec();
    let added = schema.fields().iter().skip(columns);
    all.extend(added.map(|field| new_null_array(field.data_type(), batch.num_rows())));
    Ok(RecordBatch::try_new(schema, all)?)
}

fn read_u32(bytes: &[u8], at: usize) -> Result<usize, FrameError> {
    let four = bytes.get(at..at + 4).and_then(|b| <[u8; 4]>::try_from(b).ok());
    let four = four.ok_or(FrameError::Damaged("length cut off"))?;
    usize::try_from(u32::from_le_bytes(four)).map_err(|_| FrameError::Damaged("length"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::decision::{Decision, DecisionKind};
    use crate::domain::id::TraceId;
    use crate::domain::time::UnixNanos;
    use crate::schema::batch::decisions_to_batch;

    fn rows() -> RecordBatch {
        let decision = Decision {
            trace_id: TraceId([7; 16]),
            span_id: None,
            rule: "all".into(),
            rule_version: "v".into(),
            decision: DecisionKind::Queued,
            reason: String::new(),
            inclusion_probability: 0.5,
            stratum: None,
            decided_at: UnixNanos(1_000),
            span_time: UnixNanos(2_000),
            tenant: "default".into(),
        };
        decisions_to_batch(&[decision.clone(), decision]).unwrap()
    }

    #[test]
    fn parts_come_back_as_they_went_in() {
        let parts = [Part::Rows(Table::Decisions, rows()), Part::Queue(Bytes::from_static(b"item"))];
        let (kind, bytes) = encode(&parts).unwrap();
        assert!(kind.meets(FrameKind::of(Table::Decisions)) && kind.meets(FrameKind::queue()));
        assert!(!kind.meets(FrameKind::of(Table::Spans)));
        let all = decode(&bytes, kind).unwrap();
        assert!(matches!(&all[0], Part::Rows(Table::Decisions, batch) if *batch == rows()));
        assert!(matches!(&all[1], Part::Queue(item) if item.as_ref() == b"item"));
        assert_eq!(decode(&bytes, FrameKind::queue()).unwrap().len(), 1);
    }

    #[test]
    fn rows_are_read_where_they_are() {
        let parts = [Part::Queue(Bytes::from_static(b"odd")), Part::Rows(Table::Decisions, rows())];
        let (kind, bytes) = encode(&parts).unwrap();
        let all = decode(&bytes, kind).unwrap();
        let Part::Rows(_, batch) = &all[1] else { panic!("rows went in") };
        let inside = bytes.as_ptr_range();
        for column in batch.columns().iter().map(|column| column.to_data()) {
            for buffer in column.buffers().iter().filter(|buffer| !buffer.is_empty()) {
                assert!(inside.contains(&buffer.as_ptr()), "{} was copied", column.data_type());
            }
        }
    }

    #[test]
    fn a_frame_without_the_newest_column_is_read() {
        let rows = rows();
        let old = rows.project(&(0..rows.num_columns() - 1).collect::<Vec<_>>()).unwrap();
        let (kind, bytes) = encode(&[Part::Rows(Table::Decisions, old.clone())]).unwrap();
        let all = decode(&bytes, kind).unwrap();
        let Part::Rows(_, batch) = &all[0] else { panic!("rows went in") };
        assert_eq!(batch.schema(), rows.schema());
        assert_eq!(batch.columns()[..old.num_columns()], old.columns()[..]);
        assert_eq!(batch.columns().last().unwrap().null_count(), 2);
    }

    #[test]
    fn a_frame_that_claims_rows_without_columns_is_an_error() {
        let schema = std::sync::Arc::new(arrow::datatypes::Schema::empty());
        let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(usize::MAX >> 8));
        let empty = RecordBatch::try_new_with_options(schema, vec![], &options).unwrap();
        let (kind, bytes) = encode(&[Part::Rows(Table::Decisions, empty)]).unwrap();
        assert!(matches!(decode(&bytes, kind), Err(FrameError::Damaged(_))));
    }

    #[test]
    fn a_cut_frame_is_an_error_at_every_byte() {
        let (kind, bytes) = encode(&[Part::Rows(Table::Decisions, rows())]).unwrap();
        for length in 0..bytes.len() {
            assert!(decode(&bytes.slice(..length), kind).is_err(), "cut at {length}");
        }
    }
}
