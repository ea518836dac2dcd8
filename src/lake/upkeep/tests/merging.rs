//! The merge itself: every row once, in order, in a file as the writer makes them.

use super::super::merge::{Merge, merge};
use super::{batch, config, span};
use crate::domain::time::SECOND;
use crate::lake::{Config, LakeError};
use crate::schema::columns::Table;
use crate::units::ByteSize;
use arrow::array::{AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::Int64Type;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use tokio_util::sync::CancellationToken;

fn file(table: Table, rows: Vec<Value>) -> Bytes {
    super::super::super::writer::write(table, &[batch(table, rows)], &config()).unwrap().bytes.into()
}

fn merged(table: Table, inputs: Vec<Bytes>, without: &[&str]) -> (Bytes, u64) {
    let without: BTreeSet<String> = without.iter().map(|t| (*t).to_owned()).collect();
    let done = merge(Merge { table, inputs, without }, &config(), &CancellationToken::new()).unwrap();
    (done.written.bytes.into(), done.left_out)
}

fn read(file: &Bytes) -> RecordBatch {
    let reader = ParquetRecordBatchReaderBuilder::try_new(file.clone()).unwrap().build().unwrap();
    let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>().unwrap();
    let schema = batches.first().map_or_else(|| Table::Spans.schema(), |b| b.schema());
    concat_batches(&schema, &batches).unwrap()
}

/// Each row as text, counted.
fn rows(batch: &RecordBatch) -> BTreeMap<String, usize> {
    let mut out = Vec::new();
    arrow::json::LineDelimitedWriter::new(&mut out).write(batch).unwrap();
    let mut counts = BTreeMap::new();
    for line in String::from_utf8(out).unwrap().lines() {
        *counts.entry(line.to_owned()).or_default() += 1;
    }
    counts
}

/// Times in seconds since 1970 that senders have been seen to claim.
fn wild(n: i64) -> i64 {
    let seconds =
        [0, 4_102_444_800, -86_400, 1_700_000_000, 1_700_000_000 + n * 997, 9_000_000_000][(n % 6) as usize];
    seconds * SECOND + n
}

#[test]
fn every_row_is_there_once_and_in_the_writers_order() {
    let inputs: Vec<Vec<Value>> = (0..9)
        .map(|file| (0..40 + file).map(|n| span(file * 1_000 + n, "t", wild(file * 31 + n))).collect())
        .collect();
    let files: Vec<Bytes> = inputs.iter().map(|rows| file(Table::Spans, rows.clone())).collect();
    let all = batch(Table::Spans, inputs.into_iter().flatten().collect());
    let (merged, left_out) = merged(Table::Spans, files, &[]);
    let read = read(&merged);
    assert_eq!((rows(&read), left_out), (rows(&all), 0));
    let starts = read.column_by_name("start_time_unix_nano").unwrap().as_primitive::<Int64Type>();
    let traces = read.column_by_name("trace_id").unwrap().as_string::<i32>();
    let key = |row: usize| (starts.value(row).div_euclid(600 * SECOND), traces.value(row), starts.value(row));
    assert!((1..read.num_rows()).all(|row| key(row - 1) <= key(row)));
}

#[test]
fn a_merged_file_is_made_as_any_other() {
    let files =
        (0..4).map(|f| file(Table::Spans, (0..60).map(|n| span(f * 60 + n, "t", n)).collect())).collect();
    let (merged, _) = merged(Table::Spans, files, &[]);
    let reader = SerializedFileReader::new(merged).unwrap();
    let groups = reader.metadata().row_groups();
    assert_eq!(groups.iter().map(|g| g.num_rows()).collect::<Vec<_>>(), [50, 50, 50, 50, 40]);
    let column = |name: &str| {
        let at = Table::Spans.columns().iter().position(|c| c.name == name).unwrap();
        groups[0]
            .columns()
            .iter()
            .find(|c| c.column_path().parts()[0] == name)
            .unwrap_or(groups[0].column(at))
    };
    assert!(column("trace_id").bloom_filter_offset().is_some());
    assert!(column("start_time_unix_nano").statistics().is_some());
    assert!(column("answer").statistics().is_none());
}

#[test]
fn row_groups_are_capped_by_bytes() {
    let long = "x".repeat(10_000);
    let with_answer = |n| {
        let mut row = span(n, "t", n);
        row["answer"] = json!(format!("{long}{n}"));
        row
    };
    let files = (0..2).map(|f| file(Table::Spans, (0..40).map(|n| with_answer(f * 40 + n)).collect()));
    let inputs = files.collect();
    let config = Config { row_group_size: ByteSize::new(100_000), ..config() };
    let work = Merge { table: Table::Spans, inputs, without: BTreeSet::new() };
    let done = merge(work, &config, &CancellationToken::new()).unwrap();
    let reader = SerializedFileReader::new(Bytes::from(done.written.bytes)).unwrap();
    let rows: Vec<i64> = reader.metadata().row_groups().iter().map(|g| g.num_rows()).collect();
    assert!(rows.len() >= 8 && rows.iter().all(|n| *n <= 10), "{rows:?}");
    assert_eq!(rows.iter().sum::<i64>(), 80);
}

#[test]
fn a_tenant_is_left_out_and_counted() {
    let tenant = |n: i64| if n % 3 == 0 { "a" } else { "b" };
    let files = (0..3).map(|f| file(Table::Spans, (0..30).map(|n| span(f * 30 + n, tenant(n), n)).collect()));
    let (merged, left_out) = merged(Table::Spans, files.collect(), &["a"]);
    let read = read(&merged);
    let tenants = read.column_by_name("tenant").unwrap().as_string::<i32>();
    assert!(tenants.iter().all(|t| t == Some("b")));
    assert_eq!((read.num_rows(), left_out), (60, 30));
}

/// A column that came later is NULL in rows of older files, and one of another type is cast.
#[test]
fn files_of_an_older_version_are_merged() {
    let new = batch(Table::Spans, vec![span(1, "t", 1)]);
    let old = new.project(&(0..new.num_columns() - 1).collect::<Vec<_>>()).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), old.schema(), None).unwrap();
    writer.write(&old).unwrap();
    let (merged, _) = merged(
        Table::Spans,
        vec![writer.into_inner().unwrap().into(), file(Table::Spans, vec![span(2, "t", 2)])],
        &[],
    );
    let read = read(&merged);
    assert_eq!((read.num_rows(), read.schema()), (2, Table::Spans.schema()));
}

/// While servers of two releases share a bucket, the older one must not merge away what the newer one wrote.
#[test]
fn a_file_with_columns_of_a_newer_release_is_not_merged() {
    use arrow::datatypes::{DataType, Field, Schema};
    let rows = batch(Table::Spans, vec![span(1, "t", 1)]);
    let mut fields = rows.schema().fields().to_vec();
    fields.push(Field::new("verdict_of_2030", DataType::Utf8, true).into());
    let mut columns = rows.columns().to_vec();
    columns.push(arrow::array::new_null_array(&DataType::Utf8, 1));
    let newer = RecordBatch::try_new(Schema::new(fields).into(), columns).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), newer.schema(), None).unwrap();
    writer.write(&newer).unwrap();
    let inputs = vec![writer.into_inner().unwrap().into(), file(Table::Spans, vec![span(2, "t", 2)])];
    let work = Merge { table: Table::Spans, inputs, without: BTreeSet::new() };
    let error = merge(work, &config(), &CancellationToken::new()).err().unwrap();
    assert!(error.to_string().contains("verdict_of_2030"), "{error}");
}

#[test]
fn other_tables_are_merged_in_order_of_their_time() {
    let row = |n: i64| json!({"trace_id": format!("{n:032x}"), "decided_at": super::text(n % 7 * SECOND)});
    let files = (0..3).map(|f| file(Table::Decisions, (0..20).map(|n| row(f * 20 + n)).collect())).collect();
    let read = read(&merged(Table::Decisions, files, &[]).0);
    let times = read.column_by_name("decided_at").unwrap();
    let times = times.as_primitive::<arrow::datatypes::TimestampMicrosecondType>();
    assert!(read.num_rows() == 60 && times.values().windows(2).all(|two| two[0] <= two[1]));
}

/// Two servers that do not know of each other: a span that came to both, and one that came to one of them twice.
#[test]
fn spans_that_are_there_again_are_left_out() {
    let answer = |id, start, answer: &str| {
        let mut row = span(id, "t", start);
        row["answer"] = json!(answer);
        row
    };
    let mut both: Vec<Value> = (0..40).map(|n| span(n, "t", n)).collect();
    both.push(answer(7, 7, "again"));
    let other = (30..70).map(|n| span(n, "t", n)).chain([span(7, "other", 7), answer(100, 3, "x")]).collect();
    // Of one span with two starts the row that comes last in the file stays.
    let third = vec![answer(100, 5, "the later")];
    let files = vec![file(Table::Spans, both), file(Table::Spans, other), file(Table::Spans, third)];
    let work = Merge { table: Table::Spans, inputs: files, without: BTreeSet::new() };
    let done = merge(work, &config(), &CancellationToken::new()).unwrap();
    assert_eq!((done.repeated, done.left_out, done.written.rows), (12, 0, 72));
    let read = read(&done.written.bytes.into());
    let text = |name: &str| read.column_by_name(name).unwrap().as_string::<i32>().clone();
    let (ids, tenants, answers) = (text("span_id"), text("tenant"), text("answer"));
    let mut keys: Vec<_> = (0..72).map(|row| (ids.value(row), tenants.value(row))).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 72);
    let kept: Vec<&str> = answers.iter().flatten().collect();
    assert!(kept.contains(&"the later") && !kept.contains(&"x"), "{kept:?}");
}

#[test]
fn of_scores_with_one_id_the_one_that_was_evaluated_last_stays() {
    let score = |id: &str, tenant: &str, second: i64| {
        json!({"score_id": id, "tenant": tenant, "evaluated_at": super::text(second * SECOND),
            "rationale": format!("{second}")})
    };
    let one = (0..30).map(|n| score(&format!("s{n}"), "t", n)).collect();
    let other =
        (10..20).map(|n| score(&format!("s{n}"), "t", 100 - n)).chain([score("s1", "u", 5)]).collect();
    let files = vec![file(Table::Scores, other), file(Table::Scores, one)];
    let work = Merge { table: Table::Scores, inputs: files, without: BTreeSet::new() };
    let done = merge(work, &config(), &CancellationToken::new()).unwrap();
    assert_eq!((done.repeated, done.written.rows), (10, 31));
    let read = read(&done.written.bytes.into());
    let text = |name: &str| read.column_by_name(name).unwrap().as_string::<i32>().clone();
    let (ids, when) = (text("score_id"), text("rationale"));
    let kept: BTreeMap<&str, &str> = (0..31)
        .filter(|row| text("tenant").value(*row) == "t")
        .map(|row| (ids.value(row), when.value(row)))
        .collect();
    assert_eq!((kept["s10"], kept["s19"], kept["s9"], kept.len()), ("90", "81", "9", 30));
}

/// Decisions and log records have no identity: equal rows are rows.
#[test]
fn rows_without_a_key_all_stay() {
    let row = json!({"trace_id": "t", "rule": "r", "tenant": "t"});
    let files = (0..3).map(|_| file(Table::Decisions, vec![row.clone(), row.clone()])).collect();
    assert_eq!(read(&merged(Table::Decisions, files, &[]).0).num_rows(), 6);
}

#[test]
fn a_merge_ends_when_the_server_stops() {
    let stop = CancellationToken::new();
    stop.cancel();
    let inputs = vec![file(Table::Spans, (0..40).map(|n| span(n, "t", n)).collect())];
    let work = Merge { table: Table::Spans, inputs, without: BTreeSet::new() };
    assert!(matches!(merge(work, &config(), &stop), Err(LakeError::Stopped)));
}
