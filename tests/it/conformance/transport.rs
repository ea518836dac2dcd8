//! Ports, paths, connections, and what a client may send twice or not at all.

use super::client::*;
use crate::support::{request, span, until};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans};
use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t16_the_default_ports_and_every_signal() {
    let defaults = groundline::config::Config::default().ingest;
    assert_eq!((defaults.grpc_listen.port(), defaults.http_listen.port()), (4317, 4318));
    let app = shared();
    for path in [TRACES, LOGS, METRICS] {
        let answer = call_to(app, path, &[], framed(0, b"")).await;
        assert_eq!(answer.code, 0, "{path}: {}", answer.message);
    }
    for path in ["/v1/traces", "/v1/logs", "/v1/metrics"] {
        for (kind, body) in [(PB, ""), (JSON, "{}")] {
            assert_eq!(post_to(app, path, kind, &[], body.into()).await.status, 200, "{path}");
        }
    }
    // Metrics are dropped, and that is said as a warning that rejects nothing.
    let grpc = call_to(app, METRICS, &[], framed(0, b"")).await;
    let (rejected, message) = grpc.partial().expect("a warning");
    assert!(rejected == 0 && message.contains("dropped"), "{message}");
    let json = post_to(app, "/v1/metrics", JSON, &[], b"{}".to_vec()).await;
    let body: serde_json::Value = serde_json::from_slice(&json.body).unwrap();
    assert_eq!(body["partialSuccess"].get("rejectedDataPoints"), None);
    assert!(body["partialSuccess"]["errorMessage"].as_str().unwrap().contains("dropped"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t23_answers_are_gzip_when_the_client_asks() {
    let app = shared();
    let asks = [("accept-encoding", "br;q=1.0, gzip;q=0.8")];
    let success = post(app, JSON, &asks, b"{}".to_vec()).await;
    assert_eq!((success.status, success.header("content-encoding")), (200, Some("gzip")));
    assert_eq!(gunzip(&success.body), b"{}");
    for kind in [PB, JSON] {
        let mut refused = post(app, kind, &asks, b"\x0a\xff".to_vec()).await;
        assert_eq!((refused.status, refused.header("content-encoding")), (400, Some("gzip")));
        assert_eq!(refused.header("content-length").unwrap(), refused.body.len().to_string());
        refused.body = gunzip(&refused.body);
        assert!(refused.rpc_status().1.contains("not"), "{}", refused.text());
    }
    for silent in [vec![], vec![("accept-encoding", "gzip;q=0")], vec![("accept-encoding", "identity")]] {
        let plain = post(app, JSON, &silent, b"{}".to_vec()).await;
        assert_eq!((plain.header("content-encoding"), plain.text().as_str()), (None, "{}"));
    }
    // The same on gRPC.
    let packed = call_to(app, METRICS, &[("grpc-accept-encoding", "identity,gzip")], framed(0, b"")).await;
    assert_eq!((packed.headers["grpc-encoding"].to_str().unwrap(), packed.framed[0]), ("gzip", 1));
    assert!(String::from_utf8_lossy(&gunzip(&packed.framed[5..])).contains("dropped"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t24_protobuf_and_json_share_a_port_and_a_connection() {
    let app = shared();
    let client = reqwest::Client::new();
    let url = format!("http://{}/v1/traces", app.otlp_http);
    for i in 0..4 {
        let (kind, body) = match i % 2 {
            0 => (PB, pb("t24", vec![span(240 + i, 1, vec![])])),
            _ => (JSON, json_body("t24", 240 + i, &json!({}))),
        };
        let got = client.post(&url).header("content-type", kind).body(body).send().await.unwrap();
        assert_eq!(answer(got).await.kind, kind);
    }
    stored(app, "t24", 4).await;
}

/// Reads one HTTP/1.1 answer whose body has a Content-Length: status line and body.
async fn read_answer(stream: &mut TcpStream) -> (String, String) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let length = head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).await.unwrap();
    (head.lines().next().unwrap().to_owned(), String::from_utf8(body).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t30_http_1_with_keep_alive_and_http_2() {
    let app = shared();
    let mut stream = TcpStream::connect(app.otlp_http).await.unwrap();
    // An error, a chunked body and two requests at once leave the connection usable.
    for (body, expected) in [("{}", "200"), ("{", "400"), ("{}", "200")] {
        let request = format!(
            "POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: {JSON}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        assert!(read_answer(&mut stream).await.0.contains(expected));
    }
    let head = format!("POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: {JSON}\r\n");
    let chunked = format!("{head}transfer-encoding: chunked\r\n\r\n1\r\n{{\r\n1\r\n}}\r\n0\r\n\r\n");
    let plain = format!("{head}content-length: 2\r\n\r\n{{}}");
    stream.write_all(format!("{chunked}{plain}").as_bytes()).await.unwrap();
    for _ in 0..2 {
        let (line, body) = read_answer(&mut stream).await;
        assert_eq!((line.as_str(), body.as_str()), ("http/1.1 200 ok", "{}"));
    }
    for i in 0..2 {
        let body = json_body("t30", 300 + i, &json!({}));
        let (status, headers, body, _) =
            h2(app.otlp_http, "/v1/traces", &[("content-type", JSON)], body).await;
        assert_eq!(
            (status, headers["content-type"].to_str().unwrap(), body.as_slice()),
            (200, JSON, &b"{}"[..])
        );
    }
    stored(app, "t30", 2).await;
}

fn put(field: u32, message: &[u8], out: &mut Vec<u8>) {
    encode_key(field, WireType::LengthDelimited, out);
    encode_varint(message.len() as u64, out);
    out.extend_from_slice(message);
}

/// `message` and fields that no version knows, of several wire types.
fn with_unknown(mut message: Vec<u8>) -> Vec<u8> {
    put(2_000, b"new", &mut message);
    encode_key(2_001, WireType::Varint, &mut message);
    encode_varint(300, &mut message);
    encode_key(2_002, WireType::SixtyFourBit, &mut message);
    message.extend_from_slice(&[1; 8]);
    message
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t31_unknown_protobuf_fields_are_accepted() {
    let app = shared();
    let body = |trace| {
        let one = with_unknown(span(trace, 1, vec![]).encode_to_vec());
        let mut scope = Vec::new();
        put(2, &one, &mut scope);
        let resource = request("t31", vec![]).resource_spans.remove(0).resource.unwrap();
        let mut group = Vec::new();
        put(1, &with_unknown(resource.encode_to_vec()), &mut group);
        put(2, &with_unknown(scope), &mut group);
        let mut all = Vec::new();
        put(1, &with_unknown(group), &mut all);
        with_unknown(all)
    };
    assert_eq!(call(app, &[], framed(0, &body(310))).await.partial(), None);
    assert_eq!(post(app, PB, &[], body(311)).await.partial(), None);
    stored(app, "t31", 2).await;
}

async fn duplicates(app: groundline::app::Addresses) -> f64 {
    let text = reqwest::get(format!("http://{}/metrics", app.http)).await.unwrap().text().await.unwrap();
    let ours = text.lines().filter(|l| l.starts_with("groundline_duplicate_rows_total{table=\"spans\"}"));
    ours.filter_map(|l| l.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t32_a_span_that_comes_again_is_stored_once_and_counted() {
    let app = shared();
    let before = duplicates(app).await;
    let again = pb("t32", (0..3).map(|i| span(320, i, vec![])).collect());
    for _ in 0..2 {
        assert_eq!(both(app, &again).await, [None, None], "a duplicate is no error");
    }
    // Twice in one request, and once more in JSON.
    let one = span(321, 0, vec![]);
    assert_eq!(both(app, &pb("t32", vec![one.clone(), one])).await, [None, None]);
    assert_eq!(post(app, JSON, &[], json_body("t32", 320, &json!({}))).await.partial(), None);
    assert_eq!(post(app, JSON, &[], json_body("t32", 320, &json!({}))).await.partial(), None);
    stored(app, "t32", 3 + 1).await;
    // 3 spans three times too often, one span three times, and two in JSON (its span id is one of the three).
    until("14 duplicates", async || duplicates(app).await - before >= 14.0).await;
    stored(app, "t32", 4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t33_envelopes_without_spans_are_ignored() {
    let app = shared();
    let mut hollow = request("t33", vec![]);
    hollow.resource_spans.push(ResourceSpans::default());
    hollow
        .resource_spans
        .push(ResourceSpans { scope_spans: vec![ScopeSpans::default(); 3], ..Default::default() });
    assert_eq!(both(app, &hollow.encode_to_vec()).await, [None, None]);
    hollow.resource_spans.extend(request("t33", vec![span(330, 1, vec![])]).resource_spans);
    assert_eq!(both(app, &hollow.encode_to_vec()).await, [None, None]);
    let body = r#"{"resourceSpans":[{},{"scopeSpans":[]},{"scopeSpans":[{},{"spans":[]},{"spans":null}]}]}"#;
    assert_eq!(post(app, JSON, &[], body.into()).await.partial(), None);
    stored(app, "t33", 1).await;
}
