//! Spans of an archive on their way into the table.

use super::differ::contents;
use super::span_files::SpanFiles;
use super::tables::SPANS;
use crate::lab::cells;
use crate::lab::error::LabError;
use crate::lab::store::{Store, Who};
use crate::schema::frame::Part;
use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::error::ArrowError;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Bytes of rows that are written as one frame.
const FRAME: usize = 32 << 20;
/// Traces that are asked for at once.
const PAGE: usize = 200;

/// Writes the spans that are not there for `who`'s tenant, file by file, or only counts them if it `is_tried`. Gives how many
/// those are, and how many were there: a span is one by its ids, and the one that came first stays, as it does when a sender
/// sends one twice. When it returns, what was written is durable and visible.
///
/// # Errors
/// As [`Store::ask`] and [`Store::write`]; what was written before stays, and the same archive restores the rest.
pub async fn put(
    store: &Store,
    who: &Who,
    spans: &Arc<SpanFiles>,
    is_tried: bool,
) -> Result<(usize, usize), LabError> {
    let (mut written, mut there) = (0, 0);
    for at in 0..spans.files() {
        let files = spans.clone();
        let rows = tokio::task::spawn_blocking(move || files.read(at)).await;
        let rows = rows.map_err(|e| LabError::Broken(e.to_string()))?.map_err(LabError::Wrong)?;
        let known = known(store, who, &rows).await?;
        let new = missing(&rows, &known).map_err(broken)?;
        there += rows.num_rows() - new.num_rows();
        written += new.num_rows();
        if is_tried {
            continue;
        }
        for part in parts(&new, FRAME).map_err(broken)? {
            let part = SPANS.of_tenant(&part, &who.tenant).map_err(broken)?;
            store.write(vec![Part::Rows(SPANS.table, part)]).await?;
        }
    }
    Ok((written, there))
}

fn broken(error: ArrowError) -> LabError {
    LabError::Broken(error.to_string())
}

/// A span by its trace and its own id.
type Key = (String, String);

/// The spans that are there of the traces of `rows`, whose ids the lab made.
async fn known(store: &Store, who: &Who, rows: &RecordBatch) -> Result<HashSet<Key>, LabError> {
    let traces: BTreeSet<String> =
        cells::rows(std::slice::from_ref(rows)).map(|row| format!("'{}'", row.text("trace_id"))).collect();
    let traces: Vec<String> = traces.into_iter().collect();
    let mut known = HashSet::new();
    for page in traces.chunks(PAGE) {
        let sql = format!("SELECT trace_id, span_id FROM spans WHERE trace_id IN ({})", page.join(", "));
        let found = store.ask(&who.tenant, &sql, Vec::new()).await?;
        known.extend(found.iter().map(|row| (row.text("trace_id"), row.text("span_id"))));
    }
    Ok(known)
}

/// The rows that are not among those.
fn missing(rows: &RecordBatch, known: &HashSet<Key>) -> Result<RecordBatch, ArrowError> {
    let is_new = |row: cells::Row<'_>| Some(!known.contains(&(row.text("trace_id"), row.text("span_id"))));
    let is_new: BooleanArray = cells::rows(std::slice::from_ref(rows)).map(is_new).collect();
    filter_record_batch(rows, &is_new)
}

/// The rows in parts of at most so many bytes, or of one row.
fn parts(rows: &RecordBatch, most: usize) -> Result<Vec<RecordBatch>, ArrowError> {
    let sizes = contents(rows)?;
    let (mut parts, mut from, mut size) = (Vec::new(), 0, 0);
    for at in 0..rows.num_rows() {
        let more = sizes.row(at).data().len();
        if size > 0 && size + more > most {
            parts.push(rows.slice(from, at - from));
            (from, size) = (at, 0);
        }
        size += more;
    }
    if from < rows.num_rows() {
        parts.push(rows.slice(from, rows.num_rows() - from));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::super::tried::span;
    use super::*;
    use crate::domain::time::UnixNanos;
    use crate::schema::batch::spans_to_batch;
    use crate::schema::columns::Table;

    #[test]
    fn what_is_there_by_its_ids_is_left_out_and_the_rest_comes_in_parts() {
        let (one, two) = ("1f".repeat(16), "2f".repeat(16));
        let spans = [span(&one, 1, "a"), span(&one, 2, "b"), span(&two, 1, &"c".repeat(10_000))];
        let rows = spans_to_batch(&spans, "shop", UnixNanos(7_000)).unwrap();
        assert_eq!(missing(&rows, &HashSet::new()).unwrap(), rows);
        let id = |byte: u8| hex::encode([byte; 8]);
        // The same span of another trace is another one.
        let known = HashSet::from([(one.clone(), id(2)), (one, id(9)), (two, id(2))]);
        let new = missing(&rows, &known).unwrap();
        assert_eq!(new.num_rows(), 2);
        let sizes = |most: usize| -> Vec<usize> {
            parts(&new, most).unwrap().iter().map(RecordBatch::num_rows).collect()
        };
        assert_eq!((sizes(1 << 20), sizes(5_000), sizes(1)), (vec![2], vec![1, 1], vec![1, 1]));
        assert!(parts(&new.slice(0, 0), 1).unwrap().is_empty());
        let stored = SPANS.of_tenant(&SPANS.stored(&[rows]).unwrap(), "b").unwrap();
        assert_eq!(stored.schema(), Table::Spans.schema());
        assert!(cells::rows(&[stored]).all(|row| row.text("tenant") == "b"));
    }
}
