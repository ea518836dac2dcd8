//! Spans on their way into an archive: read by pages of traces, and packed before the next page is read.
//!
//! Where one file ends and the next begins follows from the rows alone, so that equal rows give equal bytes.

use super::differ::contents;
use super::manifest::{Entry, OfTraces};
use super::span_files::{MAX_SPANS, name};
use super::tables::SPANS;
use super::traces::Traces;
use crate::lab::error::LabError;
use crate::lab::store::{Store, Who};
use crate::lab::zip::Writer;
use crate::units::ByteSize;
use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, TimestampMicrosecondArray};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{DataType, Int64Type, TimeUnit};
use arrow::error::ArrowError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Traces that are asked for at once.
const PAGE: usize = 200;
/// A page of more bytes is followed by smaller ones.
const LARGE_PAGE: usize = 32 << 20;
/// Bytes of rows in one file, roughly; a span that has more is a file of its own.
const FILE: usize = 8 << 20;
/// The column that queries show in nanoseconds, and the stored one that has them as an integer and is not shown.
const START: (&str, &str) = ("start_time", "start_time_unix_nano");

/// An archive that has spans and nothing else yet.
#[derive(Debug, Default)]
pub struct Packed {
    /// The archive.
    pub zip: Writer,
    /// Its files.
    pub entries: BTreeMap<String, Entry>,
    /// What it has.
    pub traces: OfTraces,
    /// Rows that no file has yet, and their bytes.
    open: (Vec<RecordBatch>, usize),
    /// Bytes of the files, and the most that they may be.
    bytes: u64,
    most: u64,
}

/// The spans of the traces that were made for `runs`, packed; `used` bytes of what `most` allows are taken by other files.
///
/// # Errors
/// [`LabError::Limit`] for more spans, or more of them, than an archive may have, and where queries meet their limits.
pub async fn packed(
    store: &Store,
    who: &Who,
    runs: &RecordBatch,
    (used, most): (u64, ByteSize),
) -> Result<Packed, LabError> {
    let Traces { own, left_out } = Traces::of(runs);
    let own: Vec<String> = own.into_iter().collect();
    // More could not be restored.
    let room = most.bytes().saturating_sub(used);
    let traces = OfTraces { left_out, ..OfTraces::default() };
    let mut packed = Packed { traces, most: room, ..Packed::default() };
    let (mut at, mut page) = (0, PAGE);
    while at < own.len() {
        let next = (at + page).min(own.len());
        let found = match read(store, who, &own[at..next]).await {
            // Long traces: the same in smaller pages.
            Err(LabError::Limit(_)) if next - at > 1 => {
                page = (next - at) / 2;
                continue;
            }
            found => found?,
        };
        if found.get_array_memory_size() > LARGE_PAGE {
            page = (page / 2).max(1);
        }
        packed = worked(move || packed.with(&found)).await?;
        at = next;
    }
    worked(move || packed.closed()).await
}

async fn worked(
    work: impl FnOnce() -> Result<Packed, LabError> + Send + 'static,
) -> Result<Packed, LabError> {
    tokio::task::spawn_blocking(work).await.map_err(|e| LabError::Broken(e.to_string()))?
}

/// The spans of traces, whose ids the lab made, in the order of their keys; of two with one key the one that came first.
async fn read(store: &Store, who: &Who, traces: &[String]) -> Result<RecordBatch, LabError> {
    let schema = SPANS.schema();
    let names = schema.fields().iter().map(|field| field.name()).filter(|name| *name != START.1);
    let columns: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    let quoted: Vec<String> = traces.iter().map(|id| format!("'{id}'")).collect();
    let sql = format!(
        "SELECT {} FROM spans WHERE trace_id IN ({}) ORDER BY trace_id, span_id, received_at",
        columns.join(", "),
        quoted.join(", ")
    );
    let rows = store.ask(&who.tenant, &sql, Vec::new()).await?;
    let stored = rows.collected().batches.iter().map(as_stored).collect::<Result<Vec<_>, _>>();
    let stored = stored.and_then(|batches| SPANS.stored(&batches));
    stored.map_err(|e| LabError::Broken(e.to_string()))
}

/// Rows of spans with the times that are stored, of rows with those that queries show.
fn as_stored(shown: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let missing = || ArrowError::SchemaError(format!("spans have no {}", START.0));
    let start = shown.column_by_name(START.0).ok_or_else(missing)?;
    let exact = cast(start, &DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())))?;
    let exact = cast(&exact, &DataType::Int64)?;
    let nanos: &Int64Array = exact.as_primitive_opt::<Int64Type>().ok_or_else(missing)?;
    let micros: TimestampMicrosecondArray =
        nanos.iter().map(|at| at.map(|nanos| nanos.div_euclid(1_000))).collect();
    let micros: ArrayRef = Arc::new(micros.with_timezone("UTC"));
    let schema = shown.schema();
    let others = schema.fields().iter().zip(shown.columns()).filter(|(field, _)| field.name() != START.0);
    let others = others.map(|(field, column)| (field.name().as_str(), column.clone()));
    RecordBatch::try_from_iter(others.chain([(START.0, micros), (START.1, exact)]))
}

impl Packed {
    /// With the spans of more traces, which come behind those that are there.
    ///
    /// # Errors
    /// What is too much.
    fn with(mut self, found: &RecordBatch) -> Result<Self, LabError> {
        let broken = |e: ArrowError| LabError::Broken(e.to_string());
        self.traces.spans = self.traces.spans.saturating_add(found.num_rows() as u64);
        if self.traces.spans > MAX_SPANS {
            return Err(LabError::Limit(format!(
                "the traces of the runs have more than {MAX_SPANS} spans: archive fewer experiments at once, or none of \
                 their traces"
            )));
        }
        let ids = found.column_by_name("trace_id").and_then(|ids| ids.as_string_opt::<i32>());
        let ids = ids.ok_or_else(|| LabError::Broken("spans have no trace_id".to_owned()))?;
        let is_first = |at: &usize| *at == 0 || ids.value(*at) != ids.value(*at - 1);
        self.traces.traces += (0..found.num_rows()).filter(is_first).count() as u64;
        let sizes = contents(found).map_err(broken)?;
        let mut from = 0;
        for at in 0..found.num_rows() {
            let more = sizes.row(at).data().len();
            if self.open.1 > 0 && self.open.1 + more > FILE {
                self.open.0.push(found.slice(from, at - from));
                self = self.closed()?;
                from = at;
            }
            self.open.1 += more;
        }
        self.open.0.push(found.slice(from, found.num_rows() - from));
        Ok(self)
    }

    /// With a file of the rows that none has yet.
    ///
    /// # Errors
    /// What is too much.
    fn closed(mut self) -> Result<Self, LabError> {
        let (open, _) = std::mem::take(&mut self.open);
        let rows = concat_batches(&SPANS.schema(), &open).map_err(|e| LabError::Broken(e.to_string()))?;
        if rows.num_rows() == 0 {
            return Ok(self);
        }
        let bytes = SPANS.written(&rows).map_err(|e| LabError::Broken(e.to_string()))?;
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        if self.bytes > self.most {
            return Err(LabError::Limit(
                "the spans and the files of the items have more than an archive may have (lab.max_zip_size): archive \
                 fewer experiments at once, or none of their traces"
                    .to_owned(),
            ));
        }
        let name = name(self.entries.len() + 1);
        self.zip.add(&name, &bytes).map_err(LabError::Limit)?;
        self.entries.insert(name, Entry::of(&bytes, Some(rows.num_rows() as u64)));
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tried::span;
    use super::*;
    use crate::domain::span::Span;
    use crate::domain::time::UnixNanos;
    use crate::schema::batch::spans_to_batch;

    /// Rows of a trace as queries show them, each with so many bytes.
    fn shown(trace: u8, spans: u8, bytes: usize) -> RecordBatch {
        let (trace, text) = (hex::encode([trace; 16]), "x".repeat(bytes));
        let spans: Vec<Span> = (1..=spans).map(|id| span(&trace, id, &text)).collect();
        let rows = spans_to_batch(&spans, "shop", UnixNanos(9_000)).unwrap();
        let schema = rows.schema();
        let columns = schema.fields().iter().zip(rows.columns()).filter(|(field, _)| field.name() != START.1);
        let shown = DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
        let nanos = cast(rows.column_by_name(START.1).unwrap(), &shown).unwrap();
        let columns = columns.map(|(field, column)| {
            let column = if field.name() == START.0 { nanos.clone() } else { column.clone() };
            (field.name().as_str(), column)
        });
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn stored(trace: u8, spans: u8, bytes: usize) -> RecordBatch {
        SPANS.stored(&[as_stored(&shown(trace, spans, bytes)).unwrap()]).unwrap()
    }

    fn empty(most: u64) -> Packed {
        Packed { most, ..Packed::default() }
    }

    #[test]
    fn times_are_stored_exactly_and_rounded_down() {
        let rows = stored(1, 1, 1);
        assert_eq!(rows.schema(), SPANS.schema());
        let exact = rows.column_by_name(START.1).unwrap().as_primitive::<Int64Type>().value(0);
        let start = rows.column_by_name(START.0).unwrap();
        let start = start.as_primitive::<arrow::datatypes::TimestampMicrosecondType>().value(0);
        assert_eq!((exact, start), (1_999, 1));
    }

    #[test]
    fn however_spans_are_read_the_files_are_the_same() {
        let large = FILE / 3;
        let whole = empty(u64::MAX).with(&stored(1, 5, large)).unwrap().with(&stored(2, 1, 10)).unwrap();
        let whole = whole.closed().unwrap();
        assert_eq!((whole.traces.spans, whole.traces.traces), (6, 2));
        let rows = whole.entries.iter().map(|(name, entry)| (name.as_str(), entry.rows.unwrap()));
        assert_eq!(
            rows.collect::<Vec<_>>(),
            [("spans/00001.parquet", 2), ("spans/00002.parquet", 2), ("spans/00003.parquet", 2)]
        );
        let all = concat_batches(&SPANS.schema(), &[stored(1, 5, large), stored(2, 1, 10)]).unwrap();
        let at_once = empty(u64::MAX).with(&all).unwrap().closed().unwrap();
        assert_eq!((&at_once.entries, at_once.traces), (&whole.entries, whole.traces));
        assert_eq!(at_once.zip.finish().unwrap(), whole.zip.finish().unwrap());
        let nothing = empty(0).with(&stored(1, 0, 0)).unwrap().closed().unwrap();
        assert_eq!((nothing.entries.len(), nothing.traces), (0, OfTraces::default()));
    }

    #[test]
    fn more_than_an_archive_may_have_is_told_with_its_key() {
        let told = empty(100).with(&stored(1, 1, 10)).unwrap().closed().unwrap_err().to_string();
        assert!(told.contains("lab.max_zip_size"), "{told}");
        let mut many = empty(u64::MAX);
        many.traces.spans = MAX_SPANS;
        let told = many.with(&stored(1, 1, 10)).unwrap_err().to_string();
        assert!(told.contains("more than 1000000 spans"), "{told}");
    }
}
