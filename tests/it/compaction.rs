//! Queries while files are written, merged, dropped and deleted under them.

use crate::support::{
    PATIENCE, busy, config, count, parquet, query_raw, request, settled, span, start, text,
};
use futures::StreamExt;
use groundline::app::App;
use groundline::lake::RetentionRule;
use prost::Message;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Spans of one trace a request.
const SPANS: u64 = 5;

async fn send(app: &App, traces: std::ops::Range<u64>) {
    let client = reqwest::Client::new();
    let url = format!("http://{}/v1/traces", app.addresses.otlp_http);
    for trace in traces {
        let spans = (0..SPANS).map(|n| span(trace, n, vec![text("a", "b")])).collect();
        let body = request("busy", spans).encode_to_vec();
        let post = client.post(&url).header("content-type", "application/x-protobuf").body(body);
        assert_eq!(post.send().await.unwrap().status(), 200);
    }
}

/// Asks without pause until told to stop; every answer is right. Gives how many there were.
async fn ask(http: SocketAddr, stop: Arc<AtomicBool>) -> usize {
    let sql = "SELECT count(*) AS n, count(DISTINCT trace_id || span_id) AS d, sum(length(attributes)) AS b FROM spans";
    let (mut answers, mut last) = (0, 0);
    while !stop.load(Ordering::Relaxed) {
        let (status, body) = query_raw(http, sql).await;
        assert_eq!(status, 200, "{body}");
        let (n, distinct) = (body[0]["n"].as_i64().unwrap(), body[0]["d"].as_i64().unwrap());
        assert_eq!(n, distinct, "rows are there twice");
        assert!(n >= last, "{last} rows, then {n}");
        let (status, body) = query_raw(http, "SELECT count(*) AS n, max(reason) AS r FROM decisions").await;
        assert_eq!(status, 200, "{body}");
        (answers, last) = (answers + 1, n);
    }
    answers
}

/// Waits until `happened`.
async fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let started = Instant::now();
    while !happened() {
        assert!(started.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn names(folder: &Path, start: &str) -> Vec<String> {
    parquet(folder).into_iter().filter(|name| name.starts_with(start)).collect()
}

/// Whether every file of a table stands in its log. Until it does, queries read its rows from memory and hold no file.
fn is_committed(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder.join("_delta_log")).unwrap();
    let log: String =
        entries.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap_or_default()).collect();
    parquet(folder).iter().all(|name| log.contains(name.as_str()))
}

/// Files come and go under the queries: none fails, none sees a row twice or misses one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queries_never_meet_a_missing_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = busy(config(folder.path()));
    let rule = RetentionRule {
        table: "decisions".to_owned(),
        max_age: Some(Duration::from_secs(1)),
        ..RetentionRule::default()
    };
    config.lake.retention.rules.push(rule);
    let app = start(config).await;
    let (http, lake) = (app.addresses.http, folder.path().join("lake"));
    let stop = Arc::new(AtomicBool::new(false));
    let asking: Vec<_> = (0..2).map(|_| tokio::spawn(ask(http, stop.clone()))).collect();
    let (mut sent, mut seen, mut merges) = (0, Vec::new(), 0);
    while merges < 4 {
        send(&app, sent..sent + 5).await;
        sent += 5;
        let known = seen.clone();
        wait_for("a file was written", || parquet(&lake.join("spans")).iter().any(|n| !known.contains(n)))
            .await;
        for name in parquet(&lake.join("spans")) {
            if !seen.contains(&name) {
                merges += usize::from(name.starts_with("merged-"));
                seen.push(name);
            }
        }
    }
    settled(&app).await;
    wait_for("merged", || !names(&lake.join("spans"), "merged-").is_empty()).await;
    wait_for("the old files are deleted", || parquet(&lake.join("spans")).len() <= 2).await;
    wait_for("decisions are past their retention", || parquet(&lake.join("decisions")).is_empty()).await;
    stop.store(true, Ordering::Relaxed);
    for asking in asking {
        assert!(asking.await.unwrap() > 0, "nothing was asked");
    }
    let rows = i64::try_from(sent * SPANS).unwrap();
    assert_eq!(count(http, "SELECT count(*) AS n FROM spans").await, rows);
    app.stop().await.unwrap();
}

/// A query that has begun reads the files that it began with, however long its reader takes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_keeps_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = busy(config(folder.path()));
    // Nothing is merged before the query has begun.
    (config.lake.compact_min_files, config.lake.maintenance_interval) = (8, Duration::from_millis(500));
    // It reads until files were merged, which takes its time on a busy machine.
    config.sql.timeout = PATIENCE;
    let app = start(config).await;
    let spans = folder.path().join("lake/spans");
    let mut sent = 0;
    // One request may become two files: half of what a merge takes leaves room for that.
    while parquet(&spans).len() < 4 {
        let files = parquet(&spans);
        send(&app, sent..sent + 1).await;
        sent += 1;
        wait_for("a file was written", || parquet(&spans) != files).await;
    }
    wait_for("the files are committed", || is_committed(&spans)).await;
    let expected = count(app.addresses.http, "SELECT count(*) AS n FROM spans").await;
    let mut rows = app.sql.query("SELECT * FROM spans").await.unwrap();
    let mut read = rows.next().await.unwrap().unwrap().num_rows();
    let held = parquet(&spans);
    while names(&spans, "merged-").is_empty() {
        send(&app, sent..sent + 1).await;
        sent += 1;
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    // Some rounds of vacuum later the files of the query are still there.
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert!(held.iter().all(|name| parquet(&spans).contains(name)), "a file of the query is gone");
    while let Some(batch) = rows.next().await {
        read += batch.unwrap().num_rows();
    }
    assert_eq!(i64::try_from(read).unwrap(), expected);
    drop(rows);
    wait_for("the files of the query are deleted", || parquet(&spans).iter().all(|n| !held.contains(n)))
        .await;
    app.stop().await.unwrap();
}
