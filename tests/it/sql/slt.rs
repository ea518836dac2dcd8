//! Runs `tests/slt/*.slt`: queries with their answers.
//!
//! A record is `query` or `error`, the statement, `----`, and the answer as CSV or a part of the error's text; records are
//! parted by an empty line, and lines that begin with `#` are comments.

use super::fixture;
use groundline::domain::id::{SpanId, TraceId};
use groundline::domain::time::UnixNanos;
use groundline::schema::batch::{QueueRow, queue_to_batch};
use groundline::sql::{Config, Format, Sql, encode};
use std::sync::Arc;

#[tokio::test]
async fn answers() {
    let sql = fixture::sql().await;
    let folder = format!("{}/tests/slt", fixture::root());
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("tests/slt")
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "slt"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "tests/slt has files");
    let mut faults = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        for (at, record) in text.split("\n\n").enumerate() {
            if let Err(fault) = check(&sql, record).await {
                faults.push(format!("{} record {}: {fault}", path.display(), at + 1));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[tokio::test]
async fn views_have_no_numbers_below_the_least_effective_sample_size() {
    let statement = "SELECT q.n, round(q.estimate, 6) AS estimate, q.mean IS NULL AS no_mean, e.sensitivity_n, \
        round(e.sensitivity, 6) AS sensitivity, e.specificity_n, e.specificity FROM quality_hourly q, evaluator_quality e";
    let least = |min_n_eff| Config { min_n_eff, ..Config::default() };
    for (config, row) in [
        (least(0.0), "3,0.428571,false,2,0.8,1,1.0"),
        (Config::default(), "3,0.428571,false,2,,1,"),
        (least(2.5), "3,,true,2,,1,"),
    ] {
        let sql = fixture::limited(config).await;
        let (schema, batches) = sql.collect(statement).await.expect("rows");
        let csv = encode(Format::Csv, &schema, &batches, usize::MAX).expect("CSV");
        assert_eq!(String::from_utf8_lossy(&csv).lines().nth(1), Some(row));
    }
}

/// A judge that is away is seen in the coverage, though the local evaluators of its items have answered.
#[tokio::test]
async fn an_item_with_a_lane_that_still_waits_is_not_judged() {
    let waits = QueueRow {
        item: "i".to_owned(),
        lane: "slow",
        trace_id: TraceId::from_hex("00000000000000000000000000000001").expect("an id"),
        span_id: SpanId::from_hex("00000000000000a1").expect("an id"),
        rule: "all".to_owned(),
        evaluators: "groundedness".to_owned(),
        state: "waiting",
        attempt: 0,
        queued_at: UnixNanos(0),
        not_before: None,
        error: Some("the judge is away".to_owned()),
        tenant: "shop".into(),
    };
    for (waiting, row) in [(vec![], "3,2,0.4"), (vec![waits], "3,1,0.2")] {
        let rows = queue_to_batch(&waiting).expect("rows");
        let sql = Sql::new(fixture::snapshots().await, Config::default()).expect("the engine");
        let sql = sql.with_queue(Arc::new(move |_: Option<&str>| Ok(rows.clone()))).expect("the queue");
        let statement = "SELECT queued, scored, coverage FROM evaluation_hourly WHERE tenant = 'shop'";
        let (schema, batches) = sql.collect(statement).await.expect("rows");
        let csv = encode(Format::Csv, &schema, &batches, usize::MAX).expect("CSV");
        assert_eq!(String::from_utf8_lossy(&csv).lines().nth(1), Some(row));
    }
}

async fn check(sql: &Sql, record: &str) -> Result<(), String> {
    let lines: Vec<&str> = record.lines().filter(|l| !l.starts_with('#')).collect();
    let Some((kind, rest)) = lines.iter().position(|l| !l.is_empty()).map(|i| (lines[i], &lines[i + 1..]))
    else {
        return Ok(());
    };
    let middle = rest.iter().position(|l| *l == "----").ok_or("a record needs ----")?;
    let statement = rest[..middle].join("\n");
    let expected = rest[middle + 1..].join("\n");
    match (kind, sql.collect(&statement).await) {
        ("query", Ok((schema, batches))) => {
            let got = encode(Format::Csv, &schema, &batches, usize::MAX).map_err(|e| e.to_string())?;
            let got = String::from_utf8_lossy(&got).trim_end().to_owned();
            if got == expected.trim_end() { Ok(()) } else { Err(format!("{statement}\ngot:\n{got}")) }
        }
        ("error", Err(error)) if error.to_string().contains(expected.trim()) => Ok(()),
        ("error", Ok(_)) => Err(format!("{statement}\nan error was expected")),
        ("query" | "error", Err(error)) => Err(format!("{statement}\nerror: {error}")),
        (other, _) => Err(format!("unknown kind of record {other:?}")),
    }
}
