//! What a query does not read.

use super::fixture;
use arrow::array::AsArray;
use groundline::schema::columns::Table;
use groundline::sql::{Config, Sql};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

async fn plan(sql: &Sql, explain: &str, statement: &str) -> String {
    let (_, batches) = sql.collect(&format!("{explain} {statement}")).await.expect(statement);
    let texts =
        batches.iter().flat_map(|b| b.column(1).as_string::<i32>().iter().flatten().map(str::to_owned));
    texts.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn files_outside_the_time_range_are_not_in_the_plan() {
    let sql = fixture::sql().await;
    for (filter, old, new) in [
        ("start_time >= '2026-01-01T01:30:00Z'", false, true),
        ("start_time < '2026-01-01T01:30:00Z'", true, false),
        ("start_time BETWEEN '2026-01-01T00:00:00Z' AND '2026-01-01T01:10:00Z'", true, false),
        ("'2026-01-01T01:30:00Z' < start_time AND name = 'agent'", false, true),
        ("start_time = '2026-01-01T02:00:00Z'", false, true),
        ("start_time::date = '2026-01-01'", true, true),
        ("start_time > now()", false, false),
        ("start_time > now() - interval '1 hour' OR name = 'x'", true, true),
    ] {
        let plan = plan(&sql, "EXPLAIN", &format!("SELECT name FROM spans WHERE {filter}")).await;
        assert_eq!(plan.contains("spans/old.parquet"), old, "{filter}\n{plan}");
        assert_eq!(plan.contains("spans/new.parquet"), new, "{filter}\n{plan}");
    }
    let scores = "SELECT score_id FROM scores WHERE evaluated_at > '2026-01-01T02:30:00Z'";
    assert!(!plan(&sql, "EXPLAIN", scores).await.contains("old.parquet"));
}

#[tokio::test]
async fn files_without_the_trace_are_not_in_the_plan() {
    let sql = fixture::sql().await;
    let (a, b) = ("a0000000000000000000000000000001", "b0000000000000000000000000000002");
    for (filter, old, new) in [
        (format!("trace_id = '{a}'"), true, false),
        (format!("'{b}' = trace_id AND name = 'agent'"), false, true),
        (format!("trace_id IN ('{a}', '{b}')"), true, true),
        ("trace_id = 'c0000000000000000000000000000003'".to_owned(), false, false),
        (format!("trace_id = '{a}' OR name = 'agent'"), true, true),
        (format!("trace_id <> '{a}'"), true, true),
    ] {
        // Twice: the second time the filters come from memory.
        for _ in 0..2 {
            let plan = plan(&sql, "EXPLAIN", &format!("SELECT name FROM spans WHERE {filter}")).await;
            assert_eq!(plan.contains("spans/old.parquet"), old, "{filter}\n{plan}");
            assert_eq!(plan.contains("spans/new.parquet"), new, "{filter}\n{plan}");
        }
    }
    // One of its spans is in a file, the other is not flushed yet.
    let (_, found) =
        sql.collect(&format!("SELECT name FROM spans WHERE trace_id = '{b}'")).await.expect("rows");
    assert_eq!(found.iter().map(|b| b.num_rows()).sum::<usize>(), 2);
}

#[tokio::test]
async fn filters_reach_the_files() {
    let sql = fixture::sql().await;
    let trace = "SELECT name FROM spans WHERE trace_id = 'a0000000000000000000000000000001'";
    let text = plan(&sql, "EXPLAIN", trace).await;
    assert!(text.contains("pruning_predicate=trace_id_null_count"), "{text}");
    assert!(text.contains("required_guarantees=[trace_id in (a0000000000000000000000000000001)]"), "{text}");
    let time =
        plan(&sql, "EXPLAIN", "SELECT name FROM spans WHERE start_time < '2026-01-01T01:00:01Z'").await;
    assert!(time.contains("start_time_unix_nano_min"), "nanoseconds prune row groups: {time}");
    let one = "SELECT * FROM traces WHERE trace_id = 'a0000000000000000000000000000001'";
    let grouped = plan(&sql, "EXPLAIN", one).await;
    let sources: Vec<&str> = grouped.lines().filter(|line| line.contains("file_type=parquet")).collect();
    assert!(!sources.is_empty(), "{grouped}");
    assert!(
        sources.iter().all(|line| line.contains("= a0000000000000000000000000000001")),
        "the filter goes through the view: {grouped}"
    );
}

#[tokio::test]
async fn a_trace_is_found_by_bloom_filter_and_statistics() {
    let rows: Vec<Map<String, Value>> = (0..1000u64)
        .map(|i| {
            // Spread over the whole range, so that statistics alone exclude nothing.
            let id =
                format!("{:032x}", u128::from(i).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835));
            let row = json!({"_in": "many", "trace_id": id, "span_id": format!("{i:016x}"), "name": "n",
                "start_time_unix_nano": 1_767_229_200_000_000_000u64 + i});
            row.as_object().cloned().expect("an object")
        })
        .collect();
    let wanted = rows[777]["trace_id"].as_str().expect("an id").to_owned();
    let spans = fixture::snapshot(Table::Spans, rows).await;
    let others = fixture::snapshots().await;
    let snapshots = Arc::new(move |t| if t == Table::Spans { spans.clone() } else { others(t) });
    let sql = Sql::new(snapshots, Config { target_partitions: 1, ..Config::default() }).expect("the engine");
    let statement = format!("SELECT span_id FROM spans WHERE trace_id = '{wanted}'");
    let (_, found) = sql.collect(&statement).await.expect("rows");
    assert_eq!(found.iter().map(|b| b.num_rows()).sum::<usize>(), 1);
    let text = plan(&sql, "EXPLAIN ANALYZE", &statement).await;
    let pruned = text.split("row_groups_pruned_bloom_filter=").nth(1).unwrap_or_default();
    assert!(pruned.starts_with("10 total → 1 matched") || pruned.starts_with('9'), "{text}");
}

#[tokio::test]
async fn one_query_sees_one_snapshot() {
    let inner = fixture::snapshots().await;
    let taken = Arc::new(AtomicUsize::new(0));
    let counter = taken.clone();
    let snapshots = Arc::new(move |t| {
        counter.fetch_add(1, Ordering::SeqCst);
        inner(t)
    });
    let sql = Sql::new(snapshots, Config::default()).expect("the engine");
    assert_eq!(taken.load(Ordering::SeqCst), 0, "opening reads nothing");
    let joined = "SELECT count(*) FROM spans a JOIN spans b USING (trace_id) JOIN traces USING (trace_id)";
    sql.collect(joined).await.expect("rows");
    assert_eq!(taken.load(Ordering::SeqCst), 1);
    sql.collect(joined).await.expect("rows");
    assert_eq!(taken.load(Ordering::SeqCst), 2, "the next query takes a new one");
}
