//! F15 and F17: spans of shapes that nobody planned for, and how soon a span can be seen.

use super::alone;
use crate::support::{config, count, query, request, settled, span, start, text};
use groundline::app::App;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;
use std::time::{Duration, Instant};

async fn post(app: &App, request: &ExportTraceServiceRequest) -> Duration {
    let began = Instant::now();
    let url = format!("http://{}/v1/traces", app.addresses.otlp_http);
    let post = reqwest::Client::new().post(url).header("content-type", "application/x-protobuf");
    assert_eq!(post.body(request.encode_to_vec()).send().await.unwrap().status(), 200);
    began.elapsed()
}

async fn columns(app: &App) -> i64 {
    let sql = "SELECT count(*) AS n FROM information_schema.columns WHERE table_name = 'spans'";
    count(app.addresses.http, sql).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f15_new_keys_huge_keys_and_a_huge_trace() {
    let _alone = alone().await;
    /// Spans of the huge trace, more than sample.max_trace_spans; GROUNDLINE_TRACE_SPANS makes it more.
    const SPANS: u64 = 12_000;
    let spans: u64 = std::env::var("GROUNDLINE_TRACE_SPANS").map_or(SPANS, |n| n.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let mut quick = config(folder.path());
    quick.lake.flush_interval = Duration::from_millis(300);
    let app = start(quick).await;
    let before = columns(&app).await;
    // Ten thousand keys that nobody has seen.
    let mut slowest = Duration::ZERO;
    for part in 0..20u64 {
        let one = |i| span(part, i, vec![text(&format!("key.{part}.{i}"), "v")]);
        slowest = slowest.max(post(&app, &request("keys", (0..500).map(one).collect())).await);
    }
    // Keys of a megabyte.
    let huge = format!("k{}", "e".repeat(1 << 20));
    slowest = slowest.max(post(&app, &request("huge", vec![span(1_000, 1, vec![text(&huge, "v")])])).await);
    // One trace, and it goes on while the first spans are judged.
    for part in 0..spans.div_ceil(2_000) {
        let one = |i| span(2_000, part * 2_000 + i, vec![text("gen_ai.operation.name", "chat")]);
        slowest = slowest.max(post(&app, &request("trace", (0..2_000).map(one).collect())).await);
    }
    println!("slowest answer {slowest:?}");
    assert!(slowest < Duration::from_secs(5), "{slowest:?}");
    settled(&app).await;
    let http = app.addresses.http;
    assert_eq!(columns(&app).await, before, "columns grow with the keys");
    let stored = query(http, "SELECT service_name, count(*) AS n FROM spans GROUP BY 1 ORDER BY 1").await;
    let stored: Vec<_> = stored.iter().map(|row| row["n"].as_u64().unwrap()).collect();
    assert_eq!(stored, [1, 10_000, spans.div_ceil(2_000) * 2_000]);
    let keys = "SELECT count(DISTINCT attributes) AS n FROM spans WHERE service_name = 'keys'";
    assert_eq!(count(http, keys).await, 10_000);
    let length = "SELECT max(length(attributes)) AS n FROM spans WHERE service_name = 'huge'";
    assert!(count(http, length).await > 1 << 20, "the key was cut");
    let trace = "SELECT count(*) AS n FROM decisions WHERE decision = 'queued' AND trace_id LIKE '%7d0'";
    assert!(count(http, trace).await > 0, "the huge trace was never judged");
    // And nothing stalls behind them.
    assert!(post(&app, &request("after", vec![span(3_000, 1, vec![])])).await < Duration::from_secs(2));
    app.stop().await.unwrap();
}

/// A canary writes and reads without pause: every span is there, and soon.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f17_a_canary_sees_every_span_within_two_seconds() {
    let _alone = alone().await;
    let folder = tempfile::tempdir().unwrap();
    let mut quick = config(folder.path());
    // Files are written all the time, so that some reads meet one.
    quick.lake.flush_interval = Duration::from_millis(150);
    let app = start(quick).await;
    let seconds = std::env::var("GROUNDLINE_CANARY_SECONDS").map_or(3, |n| n.parse().unwrap());
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut visible = Vec::new();
    // A slow machine gets the time it needs for enough of them.
    while Instant::now() < until || visible.len() <= 10 {
        let number = visible.len() as u64;
        post(&app, &request("canary", vec![span(number, 1, vec![])])).await;
        let acknowledged = Instant::now();
        let sql =
            format!("SELECT count(*) AS n FROM spans WHERE trace_id = '{}{number:016x}'", "aa".repeat(8));
        while count(app.addresses.http, &sql).await == 0 {
            assert!(acknowledged.elapsed() < Duration::from_secs(10), "span {number} is missing");
        }
        visible.push(acknowledged.elapsed());
    }
    assert_eq!(count(app.addresses.http, "SELECT count(*) AS n FROM spans").await, visible.len() as i64);
    visible.sort();
    let p99 = visible[(visible.len() - 1) * 99 / 100];
    println!("{} canaries, median {:?}, p99 {p99:?}", visible.len(), visible[visible.len() / 2]);
    assert!(p99 < Duration::from_secs(2), "{} canaries, p99 {p99:?}", visible.len());
    app.stop().await.unwrap();
}
