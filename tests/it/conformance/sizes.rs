//! Compression, limits, and the length of answers.

use super::client::*;
use crate::support::{config, span, start, text};
use groundline::units::ByteSize;
use serde_json::json;
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t01_no_compression_gzip_and_zstd() {
    let app = shared();
    let body = |i: u64| pb("t01", vec![span(1_000 + i, 1, vec![text("k", &"v".repeat(2_000))])]);
    let json = |i: u64| json_body("t01", 1_000 + i, &json!({}));
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 3).unwrap();
    assert_eq!(call(app, &[], framed(0, &body(1))).await.partial(), None);
    assert_eq!(call(app, &[("grpc-encoding", "gzip")], framed(1, &gzip(&body(2)))).await.partial(), None);
    assert_eq!(call(app, &[("grpc-encoding", "zstd")], framed(1, &zstd(&body(3)))).await.partial(), None);
    // With an encoding declared, a single message may still be plain.
    assert_eq!(call(app, &[("grpc-encoding", "gzip")], framed(0, &body(4))).await.partial(), None);
    for (kind, plain) in [(PB, [body(5), body(6), body(7)]), (JSON, [json(8), json(9), json(10)])] {
        assert_eq!(post(app, kind, &[], plain[0].clone()).await.partial(), None);
        assert_eq!(post(app, kind, &[("content-encoding", "gzip")], gzip(&plain[1])).await.partial(), None);
        assert_eq!(post(app, kind, &[("content-encoding", "zstd")], zstd(&plain[2])).await.partial(), None);
    }
    stored(app, "t01", 10).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t02_grpc_over_the_limit_is_resource_exhausted_without_retry_info() {
    let app = small();
    let refused = call(app, &[], framed(0, &vec![0; SMALL_LIMIT + 1])).await;
    assert_eq!((refused.code, refused.details.len()), (8, 0), "{}", refused.message);
    assert!(refused.message.contains("max_request_size"), "{}", refused.message);
    let compressed = call(app, &[("grpc-encoding", "gzip")], framed(1, &vec![7; SMALL_LIMIT + 1])).await;
    assert_eq!((compressed.code, compressed.details.len()), (8, 0), "{}", compressed.message);
    let fits = call(app, &[], framed(0, &unknown_field(SMALL_LIMIT))).await;
    assert_eq!(fits.partial(), None);
}

/// A gibibyte in a mebibyte: many members that are each small.
fn bomb() -> Vec<u8> {
    let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut member, &vec![0; 4 << 20]).unwrap();
    member.finish().unwrap().repeat(256)
}

fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t03_a_grpc_bomb_is_resource_exhausted_and_takes_no_memory() {
    let (app, bomb) = (small(), bomb());
    assert!(bomb.len() < SMALL_LIMIT, "{}", bomb.len());
    let (before, started) = (resident(), Instant::now());
    let refused = call(app, &[("grpc-encoding", "gzip")], framed(1, &bomb)).await;
    assert_eq!((refused.code, refused.details.len()), (8, 0), "{}", refused.message);
    let zstd = zstd::encode_all(vec![0u8; 64 << 20].as_slice(), 1).unwrap();
    let refused = call(app, &[("grpc-encoding", "zstd")], framed(1, &zstd)).await;
    assert_eq!((refused.code, refused.details.len()), (8, 0), "{}", refused.message);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    // Other tests of this process take memory at the same time: the margin is theirs.
    assert!(resident().saturating_sub(before) < 800 << 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t04_http_over_the_limit_is_413_raw_and_unpacked() {
    let (app, bomb) = (small(), bomb());
    for kind in [PB, JSON] {
        let raw = post(app, kind, &[], vec![b' '; SMALL_LIMIT + 1]).await;
        assert_eq!((raw.status, raw.kind.as_str(), raw.rpc_status().0), (413, kind, 8));
        let packed = post(app, kind, &[("content-encoding", "gzip")], bomb.clone()).await;
        assert_eq!((packed.status, packed.kind.as_str(), packed.rpc_status().0), (413, kind, 8));
    }
}

/// A request of exactly `bytes` bytes whose content is one field that nobody knows.
fn unknown_field(bytes: usize) -> Vec<u8> {
    let key = prost::encoding::key_len(1_000);
    let inside = (0..=bytes)
        .rev()
        .find(|n| key + prost::encoding::encoded_len_varint(*n as u64) + n <= bytes)
        .unwrap();
    let mut out = Vec::with_capacity(bytes);
    prost::encoding::encode_key(1_000, prost::encoding::WireType::LengthDelimited, &mut out);
    prost::encoding::encode_varint(inside as u64, &mut out);
    out.resize(out.len() + inside, 0);
    out
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t05_by_default_60_mebibytes_are_accepted_and_65_are_not() {
    assert_eq!(groundline::config::Config::default().ingest.max_request_size, ByteSize::mib(64));
    let app = shared();
    let spans = (0..10).map(|i| span(50, i, vec![text("big", &"x".repeat(6 << 20))])).collect();
    assert_eq!(call(app, &[], framed(0, &pb("t05", spans))).await.partial(), None);
    assert_eq!(post(app, PB, &[], unknown_field(60 << 20)).await.partial(), None);
    assert_eq!(call(app, &[], framed(0, &unknown_field(65 << 20))).await.code, 8);
    assert_eq!(post(app, PB, &[], unknown_field(65 << 20)).await.status, 413);
    let mut json = json_body("t05", 51, &json!({}));
    json.resize(60 << 20, b' ');
    assert_eq!(post(app, JSON, &[], json.clone()).await.partial(), None);
    json.resize(65 << 20, b' ');
    assert_eq!(post(app, JSON, &[], json).await.status, 413);
    stored(app, "t05", 11).await;
}

/// A request of which `bad` spans are refused for different reasons.
fn partly_bad(service: &str) -> Vec<u8> {
    let spans = (0..8u64).map(|i| {
        let mut one = span(60, i, vec![]);
        one.span_id = vec![1; usize::try_from(i).unwrap() + 1];
        one
    });
    pb(service, spans.collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t06_a_message_that_is_too_long_is_shortened_and_the_count_is_not() {
    assert_eq!(groundline::config::Config::default().ingest.max_response_size, ByteSize::mib(4));
    let folder = tempfile::tempdir().unwrap();
    let mut limited = config(folder.path());
    limited.ingest.max_response_size = ByteSize::new(80);
    let app = start(limited).await;
    let body = partly_bad("t06");
    let grpc = call(app.addresses, &[], framed(0, &body)).await;
    assert!(grpc.framed.len() <= 5 + 80);
    let http = post(app.addresses, PB, &[], body).await;
    assert!(http.body.len() <= 80);
    for partial in [grpc.partial(), http.partial()] {
        let (rejected, message) = partial.expect("there is something to say");
        assert_eq!(rejected, 7);
        assert!(message.len() > 20 && message.ends_with("[cut]"), "{message}");
    }
    let json = post(app.addresses, JSON, &[], json_body("t06", 61, &json!({"spanId": "00"}))).await;
    assert!(json.body.len() <= 80);
    assert_eq!(json.partial().unwrap().0, 1);
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t07_a_response_that_stays_too_large_is_resource_exhausted_or_500() {
    let folder = tempfile::tempdir().unwrap();
    let mut limited = config(folder.path());
    limited.ingest.max_response_size = ByteSize::new(3);
    let app = start(limited).await;
    let grpc = call(app.addresses, &[], framed(0, &partly_bad("t07"))).await;
    assert_eq!((grpc.code, grpc.details.len()), (8, 0), "{}", grpc.message);
    let http = post(app.addresses, PB, &[], partly_bad("t07")).await;
    assert_eq!((http.status, http.kind.as_str()), (500, PB));
    let json = post(app.addresses, JSON, &[], json_body("t07", 71, &json!({"spanId": "00"}))).await;
    assert_eq!((json.status, json.kind.as_str()), (500, JSON));
    app.stop().await.unwrap();
}
