//! Journal frames: one or more parts that become durable together.
//!
//! ```text
//! version u8 (2) | parts u8 | part …
//! part:  number u8 | length u32 LE | bytes
//! rows:  schema version u16 LE | metadata length u32 LE | Arrow IPC record batch message, zeros | Arrow buffers
//! queue: bytes of the room `queue`
//! drift: bytes of the room `drift`
//! ```
//! The number names the table ([`Table::number`]), and table and schema version name the columns. Format 1 has no schema
//! version: there the number of columns tells which are missing.
//!
//! What must not be torn apart by a crash (a decision and its queue item, scores and the item's completion) is one frame.

use super::columns::Table;
use super::format::FRAME_VERSION;
use super::layout::Layouts;
use super::rows::{self, Chain};
use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use bytes::Bytes;

pub use super::error::FrameError;

/// The number of the part for the queue.
const QUEUE: u8 = 64;
/// The number of the part for alerts.
const DRIFT: u8 = 65;

/// One part of a frame.
#[derive(Debug, Clone)]
pub enum Part {
    /// Rows of a table, in its stored schema.
    Rows(Table, RecordBatch),
    /// Something for the evaluation queue.
    Queue(Bytes),
    /// Something for the alerts.
    Drift(Bytes),
}

/// Which parts a frame has: one bit each, so that a reader skips what it does not want.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrameKind(pub u32);

impl FrameKind {
    /// The bit of the queue, since format 1. No table has it.
    const QUEUE_BIT: u8 = 6;
    /// Tables from this number on share a bit; a frame of theirs is opened to see whose it is.
    const LAST_BIT: u8 = 31;

    /// The bit of a table.
    pub fn of(table: Table) -> Self {
        Self::numbered(table.number())
    }

    /// The bit of the queue.
    pub fn queue() -> Self {
        Self(1 << Self::QUEUE_BIT)
    }

    /// The bit of the alerts.
    pub fn drift() -> Self {
        Self::numbered(DRIFT)
    }

    fn numbered(number: u8) -> Self {
        match number {
            QUEUE => Self::queue(),
            // Not a table, but it must not be taken for the queue.
            Self::QUEUE_BIT => Self::default(),
            _ => Self(1 << number.min(Self::LAST_BIT)),
        }
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

/// Encodes `parts` as one frame and says which kinds it holds.
pub fn encode(parts: &[Part]) -> Result<(FrameKind, Bytes), FrameError> {
    let numbered = parts.iter().map(|part| match part {
        Part::Rows(table, batch) => Ok(Piece {
            number: table.number(),
            schema: Some(rows::current_version(*table)),
            chain: rows::message(*table, batch)?,
        }),
        Part::Queue(bytes) => Ok(plain(QUEUE, bytes)),
        Part::Drift(bytes) => Ok(plain(DRIFT, bytes)),
    });
    join(numbered.collect::<Result<_, FrameError>>()?)
}

/// A part on its way into a frame.
struct Piece {
    number: u8,
    /// The schema's version, if it is rows.
    schema: Option<u16>,
    chain: Chain,
}

/// A part that is no rows.
fn plain(number: u8, bytes: &Bytes) -> Piece {
    Piece { number, schema: None, chain: Chain(vec![Buffer::from(bytes.clone())]) }
}

fn join(pieces: Vec<Piece>) -> Result<(FrameKind, Bytes), FrameError> {
    let count = u8::try_from(pieces.len()).map_err(|_| FrameError::Damaged("more than 255 parts"))?;
    let kind = pieces.iter().fold(FrameKind::default(), |all, p| all.and(FrameKind::numbered(p.number)));
    // All at once: the rows of a request take megabytes, and readers keep the frame for as long as the rows are hot.
    let bytes: usize = pieces.iter().map(|p| p.chain.len() + 7 + rows::ALIGNMENT).sum();
    let mut out = Vec::with_capacity(2 + bytes);
    out.extend_from_slice(&[FRAME_VERSION, count]);
    for Piece { number, schema, mut chain } in pieces {
        out.push(number);
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        if let Some(version) = schema {
            out.extend_from_slice(&version.to_le_bytes());
            rows::put_metadata(&mut out, &mut chain)?;
        }
        chain.append_to(&mut out);
        let length = u32::try_from(out.len() - at - 4).map_err(|_| FrameError::Damaged("part over 4 GiB"))?;
        out[at..at + 4].copy_from_slice(&length.to_le_bytes());
    }
    Ok((kind, Bytes::from(out)))
}

/// Decodes the parts of a frame that `wanted` names.
pub fn decode(frame: &Bytes, wanted: FrameKind) -> Result<Vec<Part>, FrameError> {
    let mut parts = Vec::new();
    for part in raw_parts(frame)? {
        let (number, format, body) = part?;
        if !wanted.meets(FrameKind::numbered(number)) {
            continue;
        }
        match number {
            QUEUE => {
                parts.push(Part::Queue(body));
                continue;
            }
            DRIFT => {
                parts.push(Part::Drift(body));
                continue;
            }
            _ => {}
        }
        let table = Table::ALL.into_iter().find(|table| table.number() == number);
        let table = table.ok_or(FrameError::Damaged("part of an unknown table"))?;
        parts.push(Part::Rows(table, rows::read(&body, number, format, Layouts::current())?));
    }
    Ok(parts)
}

/// Number, frame version and bytes of each part.
fn raw_parts(
    frame: &Bytes,
) -> Result<impl Iterator<Item = Result<(u8, u8, Bytes), FrameError>> + '_, FrameError> {
    let [version, count, ..] = frame.as_ref() else {
        return Err(FrameError::Damaged("shorter than its header"));
    };
    let (version, count) = (*version, *count);
    if version == 0 || version > FRAME_VERSION {
        return Err(FrameError::Version(version));
    }
    let mut at = 2;
    Ok((0..count).map(move |_| {
        let number = *frame.get(at).ok_or(FrameError::Damaged("part header cut off"))?;
        let end = at + 5 + rows::read_u32(frame, at + 1)?;
        if end > frame.len() {
            return Err(FrameError::Damaged("part cut off"));
        }
        let body = frame.slice(at + 5..end);
        at = end;
        Ok((number, version, body))
    }))
}

#[cfg(test)]
mod tests {
    use super::super::columns::{Column, Kind};
    use super::super::layout::Layout;
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

    /// The frame as format 1 wrote it: without schema versions.
    fn as_format_1(frame: &Bytes) -> Bytes {
        let mut out = vec![1, frame[1]];
        for part in raw_parts(frame).unwrap() {
            let (number, _, body) = part.unwrap();
            // Two bytes of padding keep the buffers where they were: alignment is not checked for in this test.
            let body = if number == QUEUE { body } else { body.slice(2..) };
            out.push(number);
            out.extend_from_slice(&u32::try_from(body.len()).unwrap().to_le_bytes());
            out.extend_from_slice(&body);
        }
        Bytes::from(out)
    }

    #[test]
    fn a_frame_of_format_1_without_the_newest_column_is_read() {
        let rows = rows();
        for left_out in [0, 1] {
            let old = rows.project(&(0..rows.num_columns() - left_out).collect::<Vec<_>>()).unwrap();
            let (kind, bytes) = encode(&[Part::Rows(Table::Decisions, old.clone())]).unwrap();
            let all = decode(&as_format_1(&bytes), kind).unwrap();
            let Part::Rows(_, batch) = &all[0] else { panic!("rows went in") };
            assert_eq!(batch.schema(), rows.schema());
            assert_eq!(batch.columns()[..old.num_columns()], old.columns()[..]);
            assert_eq!(batch.columns().last().unwrap().null_count(), 2 * left_out);
        }
        let old = rows.project(&(0..rows.num_columns() - 2).collect::<Vec<_>>()).unwrap();
        let (kind, bytes) = encode(&[Part::Rows(Table::Decisions, old)]).unwrap();
        assert!(matches!(decode(&as_format_1(&bytes), kind), Err(FrameError::Damaged(_))));
    }

    const NEW: [Column; 2] = [
        Column { name: "new", kind: Kind::Double, nullable: true, doc: "A column.", since: 2 },
        Column { name: "newer", kind: Kind::Texts, nullable: true, doc: "Another one.", since: 3 },
    ];

    /// The tables of a later release: those of the numbers 20 and 22, and two more columns of `decisions`.
    fn later() -> Layouts {
        let decisions: Vec<Column> = Table::Decisions.columns().iter().copied().chain(NEW).collect();
        let more = [(2, 1), (20, 0), (22, 0)].map(|(number, late)| Layout::new(number, &decisions, late));
        Layouts::current().with(more.to_vec())
    }

    #[test]
    fn more_tables_and_columns_keep_every_old_frame_readable() {
        let rows = rows();
        let queue = Part::Queue(Bytes::from_static(b"item"));
        let (_, bytes) = encode(&[Part::Rows(Table::Decisions, rows.clone()), queue]).unwrap();
        for frame in [as_format_1(&bytes), bytes] {
            let parts: Vec<_> = raw_parts(&frame).unwrap().map(Result::unwrap).collect();
            let (number, format, body) = &parts[0];
            let read = rows::read(body, *number, *format, &later()).unwrap();
            assert_eq!(read.columns()[..rows.num_columns()], rows.columns()[..]);
            assert_eq!(read.num_columns(), rows.num_columns() + 2);
            assert!(read.columns()[rows.num_columns()..].iter().all(|column| column.null_count() == 2));
            assert_eq!(parts[1].0, QUEUE);
        }
    }

    #[test]
    fn what_a_later_release_wrote_is_told_from_damage_and_skipped_by_who_does_not_want_it() {
        let rows = rows();
        let piece = |number: u8, version: u16| Piece {
            number,
            schema: Some(version),
            chain: rows::message(Table::Decisions, &rows).unwrap(),
        };
        let (kind, frame) = join(vec![piece(20, 1), piece(22, 1), piece(2, 1)]).unwrap();
        assert!(!kind.meets(FrameKind::queue()) && !kind.meets(FrameKind::of(Table::Spans)));
        assert_eq!(decode(&frame, FrameKind::of(Table::Decisions)).unwrap().len(), 1);
        assert!(matches!(decode(&frame, kind), Err(FrameError::Damaged("part of an unknown table"))));
        let (kind, frame) = join(vec![piece(2, 3)]).unwrap();
        let error = decode(&frame, kind).unwrap_err();
        assert!(matches!(error, FrameError::Schema { number: 2, version: 3, known: 1 }), "{error}");
    }

    #[test]
    fn numbers_of_tables_are_their_own() {
        let mut bits: Vec<u32> = Table::ALL.iter().map(|table| FrameKind::of(*table).0).collect();
        bits.extend([FrameKind::queue().0, FrameKind::drift().0]);
        bits.sort_unstable();
        bits.dedup();
        let mut wanted: Vec<u32> = (0..=14).map(|bit| 1 << bit).collect();
        wanted.extend([1 << 16, 1 << 17, 1 << 18, 1 << 31]);
        assert_eq!(bits, wanted);
        assert_eq!([FrameKind::numbered(20).0, FrameKind::numbered(22).0], [1 << 20, 1 << 22]);
        assert_eq!(FrameKind::numbered(200), FrameKind::numbered(31));
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
