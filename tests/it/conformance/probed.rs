//! What receivers of this kind got wrong when they were probed.

use super::client::*;
use crate::support::span;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p01_parameters_of_the_content_type_are_allowed() {
    let app = shared();
    for kind in ["application/json; charset=utf-8", "application/json;charset=UTF-8", "Application/JSON"] {
        let answer = post(app, kind, &[], json_body("p01", 2_000, &json!({}))).await;
        assert_eq!((answer.status, answer.kind.as_str()), (200, JSON), "{kind}");
    }
    let kind = "application/x-protobuf; messageType=\"x\"";
    assert_eq!(post(app, kind, &[], Vec::new()).await.partial(), None);
    for kind in ["text/plain", "application/jsonx", "application/x-www-form-urlencoded"] {
        assert_eq!(post(app, kind, &[], b"{}".to_vec()).await.status, 415, "{kind}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p02_an_unknown_compression_is_415() {
    let app = shared();
    for encoding in ["br", "deflate", "snappy", "lz4", "gzip, gzip", "x"] {
        let answer = post(app, PB, &[("content-encoding", encoding)], Vec::new()).await;
        assert_eq!(answer.status, 415, "{encoding}");
        assert!(answer.rpc_status().1.contains("gzip, zstd"), "{encoding}");
    }
    let twice = [("content-encoding", "gzip"), ("content-encoding", "gzip")];
    assert_eq!(post(app, PB, &twice, gzip(&gzip(b""))).await.status, 415);
    for encoding in ["GZIP", "identity", ""] {
        let body = if encoding == "GZIP" { gzip(b"") } else { Vec::new() };
        assert_eq!(post(app, PB, &[("content-encoding", encoding)], body).await.status, 200, "{encoding}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p03_bad_compressed_bytes_are_400() {
    let app = shared();
    let good = pb("p03", vec![span(1, 1, vec![])]);
    let mut flipped = gzip(&good);
    let last = flipped.len() - 6;
    flipped[last] ^= 0xff;
    let packed = zstd::encode_all(good.as_slice(), 3).unwrap();
    for (what, encoding, body) in [
        ("noise", "gzip", b"not gzip".to_vec()),
        ("cut", "gzip", gzip(&good)[..30].to_vec()),
        ("checksum", "gzip", flipped),
        ("rest", "gzip", [gzip(&good), b"rest".to_vec()].concat()),
        ("noise", "zstd", b"not zstd".to_vec()),
        ("cut", "zstd", packed[..packed.len() - 4].to_vec()),
    ] {
        for kind in [PB, JSON] {
            let answer = post(app, kind, &[("content-encoding", encoding)], body.clone()).await;
            assert_eq!((answer.status, answer.kind.as_str()), (400, kind), "{encoding} {what}");
        }
        let answer = call(app, &[("grpc-encoding", encoding)], framed(1, &body)).await;
        assert_eq!(answer.code, 3, "{encoding} {what}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p04_wrong_ids_are_counted_and_cost_only_their_span() {
    let app = shared();
    let (good, mut a, mut b, mut c) =
        (span(2_004, 1, vec![]), span(2_004, 2, vec![]), span(2_004, 3, vec![]), span(2_004, 4, vec![]));
    (a.trace_id, b.trace_id, c.span_id) = (vec![1; 5], vec![0; 16], Vec::new());
    for answer in both(app, &pb("p04", vec![a, good, b, c])).await {
        let (rejected, message) = answer.expect("partial_success");
        assert_eq!(rejected, 3, "{message}");
        assert!(message.contains("5 bytes") && message.contains("spans[3]"), "{message}");
    }
    for bad in ["0101010101", "00000000000000000000000000000000", "not hexadecimal", ""] {
        let answer = post(app, JSON, &[], json_body("p04", 2_005, &json!({ "traceId": bad }))).await;
        assert_eq!(answer.partial().expect("partial_success").0, 1, "{bad}");
    }
    stored(app, "p04", 1).await;
}

/// What a client reads that sends everything before it reads anything.
async fn send_then_read(app: groundline::app::Addresses, head: &str, body_bytes: usize) -> String {
    let mut stream = TcpStream::connect(app.otlp_http).await.unwrap();
    stream.write_all(format!("POST /v1/traces HTTP/1.1\r\nhost: x\r\n{head}\r\n").as_bytes()).await.unwrap();
    let piece = vec![b' '; 64 << 10];
    let mut left = body_bytes;
    while left > 0 {
        let now = left.min(piece.len());
        stream.write_all(&piece[..now]).await.expect("the server takes the whole body");
        left -= now;
    }
    let mut answer = Vec::new();
    let mut some = [0; 4096];
    while !answer.ends_with(b"}") {
        let read = stream.read(&mut some).await.expect("the answer can be read");
        assert_ne!(read, 0, "closed after {:?}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&some[..read]);
    }
    String::from_utf8(answer).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p05_whoever_sends_too_much_gets_to_read_why() {
    let app = small();
    let size = 12 * SMALL_LIMIT;
    let with_length = format!("content-type: {JSON}\r\ncontent-length: {size}\r\n");
    assert!(send_then_read(app, &with_length, size).await.starts_with("HTTP/1.1 413"));
    for (head, status) in [("content-type: text/plain", 415), ("content-encoding: br", 415)] {
        let kind = if head.starts_with("content-type") { "" } else { "content-type: application/json\r\n" };
        let head = format!("{kind}{head}\r\ncontent-length: {size}\r\n");
        assert!(send_then_read(app, &head, size).await.starts_with(&format!("HTTP/1.1 {status}")));
    }
    // Who asks first is told before a byte is sent.
    let asks = format!("{with_length}expect: 100-continue\r\n");
    assert!(send_then_read(app, &asks, 0).await.starts_with("HTTP/1.1 413"));
    // Without a length, in chunks.
    let chunked = reqwest::Body::wrap_stream(futures::stream::iter(
        (0..100).map(|_| Ok::<_, std::io::Error>(vec![b' '; 64 << 10])),
    ));
    let url = format!("http://{}/v1/traces", app.otlp_http);
    let got =
        reqwest::Client::new().post(url).header("content-type", JSON).body(chunked).send().await.unwrap();
    assert_eq!(got.status(), 413);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p06_header_values_need_not_be_utf_8() {
    let app = shared();
    for (header, expected) in [
        (&b"x-any: \xff\xfe"[..], "200"),
        (b"user-agent: caf\xe9", "200"),
        (b"content-encoding: \xff", "415"),
        (b"accept-encoding: \xff", "200"),
    ] {
        let mut stream = TcpStream::connect(app.otlp_http).await.unwrap();
        let head =
            format!("POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: {JSON}\r\ncontent-length: 2\r\n");
        let request = [head.as_bytes(), header, b"\r\nconnection: close\r\n\r\n{}"].concat();
        stream.write_all(&request).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {expected}")), "{answer}");
    }
    let mut stream = TcpStream::connect(app.otlp_http).await.unwrap();
    let request = b"POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: \xff\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";
    stream.write_all(request).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 415") && answer.contains("\"code\":3"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p07_get_is_405_and_says_what_is_allowed() {
    let app = shared();
    for path in ["/v1/traces", "/v1/logs", "/v1/metrics"] {
        let got = answer(reqwest::get(format!("http://{}{path}", app.otlp_http)).await.unwrap()).await;
        assert_eq!((got.status, got.header("allow"), got.kind.as_str()), (405, Some("POST"), JSON));
        assert_eq!(got.rpc_status().0, 12);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p08_what_is_wrong_is_told_in_few_bytes() {
    let app = shared();
    let long = format!("/{}/v1/nothing", "x".repeat(8_000));
    let answer = post_to(app, &long, JSON, &[], Vec::new()).await;
    assert_eq!(answer.status, 404);
    assert!(answer.body.len() < 2_000, "{}", answer.body.len());
    let refused = call(app, &[("grpc-encoding", &"y".repeat(7_000))], framed(1, b"")).await;
    assert_eq!(refused.code, 12);
    assert_eq!(refused.headers["grpc-accept-encoding"], "identity,gzip,zstd");
    assert!(refused.message.len() < 2_000, "{}", refused.message.len());
}

/// How many requests were refused for `reason`, by all servers of this process.
async fn refused(app: groundline::app::Addresses, reason: &str) -> f64 {
    let text = reqwest::get(format!("http://{}/metrics", app.http)).await.unwrap().text().await.unwrap();
    let label = format!("reason=\"{reason}\"");
    let mut lines = text.lines().filter(|line| line.starts_with("groundline_requests_refused_total{"));
    let line = lines.find(|line| line.contains(&label));
    line.map_or(0.0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p09_what_is_refused_for_good_is_counted() {
    let app = small();
    let large = vec![b' '; SMALL_LIMIT + 1];
    for (reason, encoding, body, status, code) in [
        ("too_large", "identity", large, 413, 8),
        ("encoding", "br", b"{}".to_vec(), 415, 12),
        ("invalid", "identity", b"\x0a\xff".to_vec(), 400, 3),
    ] {
        let before = refused(app, reason).await;
        let answer = post(app, JSON, &[("content-encoding", encoding)], body.clone()).await;
        assert_eq!(answer.status, status, "{reason}");
        let between = refused(app, reason).await;
        assert!(between > before, "{reason}: {before}, {between}");
        let answer = call(app, &[("grpc-encoding", encoding)], framed(0, &body)).await;
        assert_eq!(answer.code, code, "{reason}");
        let after = refused(app, reason).await;
        assert!(after > between, "{reason}: {between}, {after}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p10_what_is_not_grpc_is_415_on_its_port() {
    let app = shared();
    let body = || framed(0, &pb("p10", vec![span(2_010, 1, vec![])]));
    for (kind, expected) in [
        ("application/grpc", 200),
        ("application/grpc+proto", 200),
        ("application/grpc;charset=utf-8", 200),
        ("application/grpc-web", 415),
        ("application/grpc-web+proto", 415),
        (PB, 415),
        ("", 415),
    ] {
        let (status, ..) = h2(app.grpc, TRACES, &[("content-type", kind)], body()).await;
        assert_eq!(status, expected, "{kind}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p11_a_text_that_is_not_utf_8_is_stored_with_a_warning() {
    let app = shared();
    let mut body = pb("p11!text", vec![span(2_011, 1, vec![])]);
    let at = body.windows(8).position(|part| part == b"p11!text").unwrap();
    body[at + 3] = 0xff;
    for answer in both(app, &body).await {
        let (rejected, message) = answer.expect("a warning");
        assert!(rejected == 0 && message.contains("UTF-8"), "{rejected}, {message}");
    }
    stored(app, "p11?text", 1).await;
}
