//! Bad input at the endpoints: each gets a clear error that names the thing, and nothing else is lost.

use crate::support::{PATIENCE, config, count, query, request, settled, span, start, text, until};
use groundline::app::App;
use groundline::units::ByteSize;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_client::TraceServiceClient;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue, any_value::Value};
use prost::Message;
use std::io::Write;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn post(app: &App, kind: &str, encoding: Option<&str>, body: Vec<u8>) -> (u16, String, Vec<u8>) {
    let url = format!("http://{}/v1/traces", app.addresses.otlp_http);
    let mut request = reqwest::Client::new().post(url).header("content-type", kind).body(body);
    if let Some(encoding) = encoding {
        request = request.header("content-encoding", encoding);
    }
    let response = request.send().await.unwrap();
    let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
    (response.status().as_u16(), kind, response.bytes().await.unwrap().to_vec())
}

fn said(body: &[u8]) -> String {
    String::from_utf8_lossy(body).into_owned()
}

const PB: &str = "application/x-protobuf";
const JSON: &str = "application/json";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_otlp_is_400_in_the_senders_encoding() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    for (kind, body) in [
        (PB, b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff".to_vec()),
        (JSON, b"{\"resourceSpans\": [".to_vec()),
        (JSON, br#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"kind":"SPAN_KIND_SERVER"}]}]}]}"#.to_vec()),
        (JSON, b"[1]".to_vec()),
    ] {
        let (status, answered, body) = post(&app, kind, None, body).await;
        assert_eq!((status, answered.as_str()), (400, kind), "{}", said(&body));
        assert!(!body.is_empty());
    }
    for (encoding, expected) in [("gzip", 400), ("zstd", 400), ("br", 415)] {
        let (status, _, body) = post(&app, PB, Some(encoding), b"not compressed".to_vec()).await;
        assert_eq!(status, expected, "{encoding}: {}", said(&body));
    }
    let (status, ..) = post(&app, "text/plain", None, Vec::new()).await;
    assert_eq!(status, 415);
    let (status, ..) = post(&app, "application/json; charset=utf-8", None, b"{}".to_vec()).await;
    assert_eq!(status, 200);
    let got = reqwest::get(format!("http://{}/v1/traces", app.addresses.otlp_http)).await.unwrap();
    assert_eq!(got.status(), 405);
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_bad_span_costs_one_span() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let mut spans = vec![span(1, 1, vec![]), span(1, 2, vec![]), span(1, 3, vec![]), span(1, 4, vec![])];
    spans[0].trace_id = vec![1; 5];
    spans[1].span_id = vec![0; 8];
    spans[2].end_time_unix_nano = u64::MAX;
    let (status, _, body) = post(&app, PB, None, request("partly", spans).encode_to_vec()).await;
    assert_eq!(status, 200);
    let partial = ExportTraceServiceResponse::decode(body.as_slice()).unwrap().partial_success.unwrap();
    assert_eq!(partial.rejected_spans, 3, "{}", partial.error_message);
    assert!(partial.error_message.contains("5 bytes"), "{}", partial.error_message);

    let mut client = TraceServiceClient::connect(format!("http://{}", app.addresses.grpc)).await.unwrap();
    let mut spans = vec![span(2, 1, vec![]), span(2, 2, vec![])];
    spans[0].span_id = vec![7; 9];
    let answer = client.export(request("partly", spans)).await.unwrap().into_inner();
    assert_eq!(answer.partial_success.unwrap().rejected_spans, 1);
    let empty = client.export(request("partly", vec![])).await.unwrap().into_inner();
    assert_eq!(empty.partial_success, None);
    settled(&app).await;
    assert_eq!(count(app.addresses.http, "SELECT count(*) AS n FROM spans").await, 2);
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn odd_but_legal_spans_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let mut backwards = span(1, 1, vec![]);
    backwards.end_time_unix_nano = backwards.start_time_unix_nano - 5;
    let mut ancient = span(1, 2, vec![]);
    (ancient.start_time_unix_nano, ancient.end_time_unix_nano) = (1, 2);
    let mut future = span(1, 3, vec![]);
    (future.start_time_unix_nano, future.end_time_unix_nano) =
        (4_102_444_800_000_000_000, 4_102_444_800_000_000_001);
    let huge = span(1, 4, vec![text("huge", &"x".repeat(10 << 20))]);
    let mut nested = AnyValue { value: Some(Value::IntValue(1)) };
    for _ in 0..20 {
        nested = AnyValue { value: Some(Value::ArrayValue(ArrayValue { values: vec![nested] })) };
    }
    let deep = span(1, 5, vec![KeyValue { key: "deep".into(), value: Some(nested), ..KeyValue::default() }]);
    let body = request("odd", vec![backwards, ancient, future, huge, deep]).encode_to_vec();
    let (status, _, answer) = post(&app, PB, None, body).await;
    let partial = ExportTraceServiceResponse::decode(answer.as_slice()).unwrap().partial_success;
    assert_eq!((status, partial.as_ref().map_or(0, |p| p.rejected_spans)), (200, 0), "{partial:?}");
    settled(&app).await;
    let http = app.addresses.http;
    assert_eq!(count(http, "SELECT count(*) AS n FROM spans").await, 5);
    assert_eq!(count(http, "SELECT max(length(attributes)) AS n FROM spans").await, (10 << 20) + 11);
    assert_eq!(count(http, "SELECT min(duration_ns) AS n FROM spans").await, -5);
    let times = query(http, "SELECT min(start_time) AS first, max(start_time) AS last FROM spans").await;
    assert!(times[0]["first"].as_str().unwrap().starts_with("1970-01-01T00:00:00.000000001"), "{times:?}");
    assert!(times[0]["last"].as_str().unwrap().starts_with("2100-01-01"), "{times:?}");
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn compression_and_limits() {
    let folder = tempfile::tempdir().unwrap();
    let mut limited = config(folder.path());
    limited.ingest.max_request_size = ByteSize::mib(1);
    let app = start(limited).await;
    let body = request("packed", vec![span(1, 1, vec![text("k", &"y".repeat(100_000))])]).encode_to_vec();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&body).unwrap();
    let (status, ..) = post(&app, PB, Some("gzip"), gzip.finish().unwrap()).await;
    assert_eq!(status, 200);
    let body = request("packed", vec![span(1, 2, vec![])]).encode_to_vec();
    let (status, ..) = post(&app, PB, Some("zstd"), zstd::encode_all(body.as_slice(), 3).unwrap()).await;
    assert_eq!(status, 200);
    // Over the limit as it is, and over it only after decompression.
    let large = request("large", vec![span(2, 1, vec![text("k", &"z".repeat(2 << 20))])]);
    let (status, _, answer) = post(&app, PB, None, large.encode_to_vec()).await;
    assert_eq!(status, 413, "{}", said(&answer));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&large.encode_to_vec()).unwrap();
    let (status, ..) = post(&app, PB, Some("gzip"), gzip.finish().unwrap()).await;
    assert_eq!(status, 413);
    let mut client = TraceServiceClient::connect(format!("http://{}", app.addresses.grpc)).await.unwrap();
    let refused = client.export(large).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::ResourceExhausted, "{refused}");
    settled(&app).await;
    assert_eq!(count(app.addresses.http, "SELECT count(*) AS n FROM spans").await, 2);
    app.stop().await.unwrap();
}

/// The journal's disk limit stands for a full disk: "later", with a hint, and reads go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_journal_says_later_and_reads_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut small = config(folder.path());
    small.journal.segment_size = ByteSize::mib(1);
    small.journal.max_frame_size = ByteSize::kib(512);
    small.journal.max_disk_size = ByteSize::mib(2);
    // Nothing is given back while the test runs: traces stay open.
    (small.sample.idle, small.sample.rootless_idle, small.sample.max_age) =
        (Duration::from_mins(10), Duration::from_mins(10), Duration::from_mins(10));
    let app = start(small).await;
    let mut refused = None;
    for i in 0..60 {
        let body = request("full", vec![span(i, 1, vec![text("k", &"w".repeat(100_000))])]).encode_to_vec();
        let url = format!("http://{}/v1/traces", app.addresses.otlp_http);
        let answer =
            reqwest::Client::new().post(url).header("content-type", PB).body(body).send().await.unwrap();
        if answer.status() != 200 {
            refused = Some((i, answer.status().as_u16(), answer.headers().get("retry-after").cloned()));
            break;
        }
    }
    let (accepted, status, hint) = refused.expect("the journal never filled up");
    assert_eq!(status, 503);
    assert!(hint.is_some(), "no Retry-After");
    let all = async || count(app.addresses.http, "SELECT count(*) AS n FROM spans").await;
    until("what was accepted", async || all().await >= i64::try_from(accepted).unwrap()).await;
    assert_eq!(all().await, i64::try_from(accepted).unwrap());
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn annotations_are_rows_once_and_wrong_ones_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let url = format!("http://{}/v1/annotations", app.addresses.http);
    let client = reqwest::Client::new();
    let good = serde_json::json!({"annotation_id": "a1", "trace_id": "0af7651916cd43dd8448eb211c80319c",
        "name": "correctness", "label": "wrong", "value": 0.0, "annotator": "eva"});
    for _ in 0..2 {
        assert_eq!(client.post(&url).json(&good).send().await.unwrap().status(), 200);
    }
    for (bad, part) in [
        (serde_json::json!({"trace_id": "xyz", "name": "n", "label": "l"}), "hexadecimal"),
        (serde_json::json!({"trace_id": "0af7651916cd43dd8448eb211c80319c", "name": "n"}), "label"),
        (serde_json::json!({"name": "n"}), "trace_id"),
    ] {
        let answer = client.post(&url).json(&bad).send().await.unwrap();
        assert_eq!(answer.status(), 400);
        assert!(answer.text().await.unwrap().contains(part), "{bad}");
    }
    settled(&app).await;
    assert_eq!(count(app.addresses.http, "SELECT count(*) AS n FROM annotations").await, 1);
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_are_accepted_dropped_and_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let url = format!("http://{}/any/prefix/v1/metrics", app.addresses.otlp_http);
    let answer =
        reqwest::Client::new().post(url).header("content-type", JSON).body("{}").send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert!(answer.text().await.unwrap().contains("dropped"));
    app.stop().await.unwrap();
}

/// Connections that were ended because nothing of an answer was taken, by all servers of this process.
async fn ended_unread(app: &App) -> u64 {
    let text = reqwest::get(format!("http://{}/metrics", app.addresses.http)).await.unwrap().text().await;
    let text = text.unwrap();
    let is_it = |line: &&str| {
        line.starts_with("groundline_connections_reaped_total{")
            && line.contains("door=\"OTLP/HTTP\"")
            && line.contains("reason=\"write\"")
    };
    text.lines().find(is_it).unwrap().rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_http_2_that_takes_nothing_of_an_answer_is_sent_away() {
    let folder = tempfile::tempdir().unwrap();
    let mut quick = config(folder.path());
    quick.server.body_grace = Duration::from_secs(1);
    let app = start(quick).await;
    let before = ended_unread(&app).await;
    let mut stream = TcpStream::connect(app.addresses.otlp_http).await.unwrap();
    let mut sent = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    // SETTINGS: no room for bodies. HEADERS, all of the request: GET / over http.
    sent.extend([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0]);
    sent.extend([0, 0, 3, 1, 5, 0, 0, 0, 1, 0x82, 0x86, 0x84]);
    stream.write_all(&sent).await.unwrap();
    // It reads all that comes, which is no answer, until the server has enough.
    let ended = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut Vec::new())).await;
    let _ = ended.expect("the connection ends");
    assert!(ended_unread(&app).await > before);
    app.stop().await.unwrap();
}
