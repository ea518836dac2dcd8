//! Rows in frames: Arrow record batches without their schema.

use super::columns::Table;
use super::error::FrameError;
use super::layout::{Layout, Layouts};
use arrow::array::{RecordBatch, new_null_array};
use arrow::buffer::Buffer;
use arrow::ipc::reader::read_record_batch;
use arrow::ipc::writer::StreamEncoder;
use arrow::ipc::{MetadataVersion, root_as_message};
use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Where the buffers of rows begin in a frame, so that a reader need not copy numbers to aligned memory.
pub(super) const ALIGNMENT: usize = 8;

/// Bytes of an IPC stream before each message: a marker, and the length of the message's metadata.
const MESSAGE_PREFIX: usize = 8;

/// The schema version that rows of `table` are written in.
pub(super) fn current_version(table: Table) -> u16 {
    Layouts::current().get(table.number()).map_or(1, Layout::version)
}

/// Leaves the buffers of the rows in `chain`.
pub(super) fn put_metadata(out: &mut Vec<u8>, chain: &mut Chain) -> Result<(), FrameError> {
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
pub(super) fn message(table: Table, batch: &RecordBatch) -> Result<Chain, FrameError> {
    let at = Table::ALL.iter().position(|t| *t == table).unwrap_or_default();
    let mut kept = ENCODERS[at].lock();
    let (mut encoder, is_new) = match kept.take() {
        Some(encoder) => (encoder, false),
        None => (StreamEncoder::try_new(batch.schema_ref())?, true),
    };
    let mut chain = Chain(encoder.encode(batch)?);
    if is_new {
        // The schema, which the part's number and version name.
        chain.take_message(&mut Vec::new())?;
    }
    *kept = Some(encoder);
    Ok(chain)
}

/// Bytes in several pieces.
pub(super) struct Chain(pub(super) Vec<Buffer>);

impl Chain {
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(Buffer::len).sum()
    }

    /// Copies all of it behind `out`.
    pub(super) fn append_to(&self, out: &mut Vec<u8>) {
        self.0.iter().for_each(|buffer| out.extend_from_slice(buffer));
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

/// Reads the rows of the table `number` from a part of a frame of version `format`.
pub(super) fn read(
    body: &Bytes,
    number: u8,
    format: u8,
    layouts: &Layouts,
) -> Result<RecordBatch, FrameError> {
    let layout = layouts.get(number).ok_or(FrameError::Damaged("part of an unknown table"))?;
    if format == 1 {
        return get_rows(body, 0, layout, layout.fewest()..=layout.columns_at(1));
    }
    let version = body.get(..2).and_then(|two| <[u8; 2]>::try_from(two).ok()).map(u16::from_le_bytes);
    let version = version.ok_or(FrameError::Damaged("schema version cut off"))?;
    if version > layout.version() {
        return Err(FrameError::Schema { number, version, known: layout.version() });
    }
    let columns = layout.columns_at(version);
    get_rows(body, 2, layout, columns..=columns)
}

/// The rows whose metadata begin at `at`, with a number of columns in `allowed`; what came later is NULL.
fn get_rows(
    body: &Bytes,
    at: usize,
    layout: &Layout,
    allowed: std::ops::RangeInclusive<usize>,
) -> Result<RecordBatch, FrameError> {
    let schema = &layout.schema;
    let end = at + 4 + read_u32(body, at)?;
    let metadata = body.get(at + 4..end).ok_or(FrameError::Damaged("row metadata cut off"))?;
    let message = root_as_message(metadata).map_err(|_| FrameError::Damaged("row metadata"))?;
    let header = message.header_as_record_batch().ok_or(FrameError::Damaged("not a record batch"))?;
    let buffer = Buffer::from(body.slice(end..));
    let none = HashMap::new();
    // Where columns are nested there are more nodes than columns. With none at all, nothing would bound the number of rows
    // that a damaged frame claims.
    let columns = header.nodes().map_or(0, |nodes| nodes.len()).min(*allowed.end());
    if columns == 0 || !allowed.contains(&columns) {
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
    Ok(RecordBatch::try_new(schema.clone(), all)?)
}

/// The little-endian number at `at`.
pub(super) fn read_u32(bytes: &[u8], at: usize) -> Result<usize, FrameError> {
    let four = bytes.get(at..at + 4).and_then(|b| <[u8; 4]>::try_from(b).ok());
    let four = four.ok_or(FrameError::Damaged("length cut off"))?;
    usize::try_from(u32::from_le_bytes(four)).map_err(|_| FrameError::Damaged("length"))
}
