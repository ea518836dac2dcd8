//! The server is killed in the middle of its work; what it said yes to is there, once.

use crate::support::{PATIENCE, Process, count, parquet, query, query_raw, request, span, text};
use prost::Message;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How often the server is killed; GROUNDLINE_KILL_CYCLES makes it more.
const CYCLES: u64 = 20;
/// How many spans at least are acknowledged before each kill.
const ACKNOWLEDGED: usize = 5;

/// Flushes, merges, lets rows go and deletes so often that a kill meets all of it. Log records are kept for a second.
const BUSY: &str = "
[lake]
flush_interval = \"100ms\"
maintenance_interval = \"100ms\"
compact_min_files = 2
vacuum_after = \"1s\"
[sql]
timeout = \"900ms\"
[[lake.retention.rules]]
table = \"log_records\"
max_age = \"1s\"
";

/// A bucket that does not answer is waited for. Who stops the server meanwhile does not wait with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_waits_for_its_bucket_ends_as_soon_as_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let bucket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let config = format!(
        "[lake]\nurl = \"s3://lake/tables\"\n[lake.s3]\nendpoint = \"http://{}\"\nallow_http = true\n\
         region = \"us-east-1\"\naccess_key_id = \"a\"\n",
        bucket.local_addr().unwrap()
    );
    let file = folder.path().join("groundline.toml");
    std::fs::write(&file, config).unwrap();
    let mut server = tokio::process::Command::new(env!("CARGO_BIN_EXE_groundline"))
        .args(["serve", "--config"])
        .arg(&file)
        .arg("--data-dir")
        .arg(folder.path())
        .env("AWS_SECRET_ACCESS_KEY", "b")
        .env("GROUNDLINE_SERVER__HTTP_LISTEN", "127.0.0.1:0")
        .env("GROUNDLINE_SERVER__PG_LISTEN", "127.0.0.1:0")
        .env("GROUNDLINE_INGEST__HTTP_LISTEN", "127.0.0.1:0")
        .env("GROUNDLINE_INGEST__GRPC_LISTEN", "127.0.0.1:0")
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let _asked = tokio::time::timeout(PATIENCE, bucket.accept()).await.unwrap().unwrap();
    let id = server.id().unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let ended = tokio::time::timeout(PATIENCE, server.wait()).await.unwrap().unwrap();
    assert!(ended.success(), "{ended}");
}

/// `kill -9` in a loop while requests are sent: every acknowledged span is there afterwards, none twice, and every
/// sampled trace is scored exactly once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_nine_loses_and_doubles_nothing() {
    killed_again_and_again("[lake]\nflush_interval = \"400ms\"\n").await;
}

/// The same while files are flushed, merged, dropped and deleted all the time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_nine_during_compaction_loses_and_doubles_nothing() {
    let folder = killed_again_and_again(BUSY).await;
    // With time to do it all, few files are left, and none of log records.
    let server = Process::start_with(folder.path(), BUSY);
    let started = Instant::now();
    loop {
        let (status, body) = query_raw(server.http, "SELECT count(*) AS n FROM log_records").await;
        let files = parquet(&folder.path().join("lake/spans")).len();
        if status == 200 && body[0]["n"] == 0 && files < 10 {
            break;
        }
        assert!(started.elapsed() < PATIENCE, "{body}, {files} files of spans");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn killed_again_and_again(config: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (mut acknowledged, mut next) = (HashSet::new(), 0u64);
    let cycles = std::env::var("GROUNDLINE_KILL_CYCLES").map_or(CYCLES, |n| n.parse().unwrap());
    for cycle in 0..cycles {
        let mut server = Process::start_with(folder.path(), config);
        let url = format!("http://{}/v1", server.otlp_http);
        // The moment of the kill wanders through the flush interval. On a busy machine it waits for what it can lose.
        let until = Instant::now() + Duration::from_millis(150 + cycle * 37 % 600);
        let heard = Arc::new(AtomicUsize::new(0));
        let limit = until + Duration::from_secs(120);
        let sender = tokio::spawn(send_until_dead(url, next, limit, heard.clone()));
        tokio::time::sleep_until(until.into()).await;
        while heard.load(Ordering::Relaxed) < ACKNOWLEDGED && Instant::now() < limit {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        server.kill();
        let (sent_to, yes) = sender.await.unwrap();
        acknowledged.extend(yes);
        next = sent_to;
    }
    assert!(
        acknowledged.len() >= ACKNOWLEDGED * usize::try_from(cycles).unwrap(),
        "only {} spans were acknowledged: the test saw nothing",
        acknowledged.len()
    );
    let server = Process::start(folder.path());
    wait_for_scores(server.http).await;
    let rows = query(server.http, "SELECT trace_id, span_id, count(*) AS n FROM spans GROUP BY 1, 2").await;
    let twice: Vec<_> = rows.iter().filter(|row| row["n"] != 1).collect();
    assert!(twice.is_empty(), "stored more than once: {twice:?}");
    let stored: HashSet<u64> = rows.iter().map(|row| number(row["trace_id"].as_str().unwrap())).collect();
    let lost: Vec<_> = acknowledged.iter().filter(|id| !stored.contains(id)).collect();
    assert!(
        lost.is_empty(),
        "{} of {} acknowledged spans are lost: {lost:?}",
        lost.len(),
        acknowledged.len()
    );
    let doubled =
        "SELECT count(*) AS n FROM (SELECT score_id FROM scores GROUP BY score_id HAVING count(*) > 1)";
    assert_eq!(count(server.http, doubled).await, 0, "an evaluation was stored twice");
    let unscored = "SELECT count(DISTINCT trace_id) AS n FROM spans WHERE trace_id NOT IN \
                    (SELECT trace_id FROM scores WHERE metric = 'pii_leakage')";
    assert_eq!(count(server.http, unscored).await, 0, "a sampled trace was never scored");
    let doubled =
        "SELECT count(*) AS n FROM (SELECT body FROM log_records GROUP BY body HAVING count(*) > 1)";
    assert_eq!(count(server.http, doubled).await, 0, "a log record was stored twice");
    folder
}

/// Sends one span a request until the server is gone; gives the next number and those that were acknowledged.
async fn send_until_dead(url: String, from: u64, limit: Instant, heard: Arc<AtomicUsize>) -> (u64, Vec<u64>) {
    let client = reqwest::Client::new();
    let (mut at, mut yes) = (from, Vec::new());
    while Instant::now() < limit {
        let attributes = vec![
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.request.model", "m"),
            text(
                "gen_ai.output.messages",
                r#"[{"role":"assistant","parts":[{"type":"text","content":"Four days."}]}]"#,
            ),
        ];
        let body = request("killed", vec![span(at, 0, attributes)]).encode_to_vec();
        let traces = format!("{url}/traces");
        let sent =
            client.post(&traces).header("content-type", "application/x-protobuf").body(body).send().await;
        let number = at;
        let _ = client.post(format!("{url}/logs")).json(&log_record(number)).send().await;
        at += 1;
        match sent {
            Ok(answer) if answer.status() == 200 => {
                yes.push(number);
                heard.fetch_add(1, Ordering::Relaxed);
            }
            Ok(answer) => panic!("a good request was answered {}", answer.status()),
            Err(_) => break,
        }
    }
    (at, yes)
}

fn log_record(number: u64) -> serde_json::Value {
    let record = serde_json::json!({"timeUnixNano": "1", "body": {"stringValue": format!("log {number}")}});
    serde_json::json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]})
}

async fn wait_for_scores(http: std::net::SocketAddr) {
    let started = Instant::now();
    let open = "SELECT count(*) AS n FROM (SELECT trace_id FROM spans EXCEPT \
                SELECT trace_id FROM decisions WHERE decision IN ('scored', 'failed', 'expired'))";
    loop {
        let (status, body) = query_raw(http, open).await;
        if status == 200 && body[0]["n"] == 0 {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "traces are not scored: {body}");
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}

fn number(trace_id: &str) -> u64 {
    u64::from_str_radix(&trace_id[16..], 16).unwrap()
}

/// A second process on the same directory is told so and exits with 2.
#[test]
fn a_locked_data_directory_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let _server = Process::start(folder.path());
    let second = std::process::Command::new(env!("CARGO_BIN_EXE_groundline"))
        .args(["serve", "--data-dir"])
        .arg(folder.path())
        .env("GROUNDLINE_SERVER__HTTP_LISTEN", "127.0.0.1:0")
        .env("GROUNDLINE_SERVER__PG_LISTEN", "127.0.0.1:0")
        .env("GROUNDLINE_INGEST__HTTP_LISTEN", "127.0.0.1:0")
        .env("GROUNDLINE_INGEST__GRPC_LISTEN", "127.0.0.1:0")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&second.stderr);
    assert_eq!(second.status.code(), Some(2), "{said}");
    assert!(said.contains(folder.path().to_str().unwrap()), "{said}");
}

/// A port that is in use is named with its key, and the exit code is 2.
#[test]
fn a_port_in_use_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_groundline"))
        .args(["serve", "--data-dir"])
        .arg(folder.path())
        .env("GROUNDLINE_INGEST__HTTP_LISTEN", &address)
        .env("GROUNDLINE_INGEST__GRPC_LISTEN", "127.0.0.1:0")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("ingest.http_listen") && said.contains(&address), "{said}");
}
