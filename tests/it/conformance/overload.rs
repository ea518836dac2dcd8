//! Faults that pass: the client is told to come back, and when.

use super::client::*;
use crate::support::{config, span, start, text, until};
use groundline::app::App;
use groundline::units::ByteSize;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A server with room for 64 KiB at once, and a client that holds all of it by sending slowly.
async fn occupied(folder: &std::path::Path) -> (App, TcpStream) {
    let mut tight = config(folder);
    (tight.ingest.max_request_size, tight.ingest.max_in_flight_size) = (ByteSize::kib(64), ByteSize::kib(64));
    // The hint is then the same whatever has drained meanwhile.
    (tight.ingest.retry_after, tight.ingest.retry_after_max) =
        (Duration::from_millis(1_500), Duration::from_millis(1_500));
    let app = start(tight).await;
    let mut slow = TcpStream::connect(app.addresses.otlp_http).await.unwrap();
    let head = format!(
        "POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: {JSON}\r\ncontent-length: 60000\r\n\r\n{{}}"
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    slow.write_all(&[b' '; 55_000]).await.unwrap();
    let body = pb("probe", vec![span(1, 1, vec![])]);
    until("the slow client holds all", async || {
        post(app.addresses, PB, &[], body.clone()).await.status != 200
    })
    .await;
    (app, slow)
}

/// The slow client ends, and there is room again.
async fn released(app: &App, mut slow: TcpStream) {
    slow.write_all(&[b' '; 4_998]).await.unwrap();
    let mut answer = [0; 12];
    slow.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    assert_eq!(both(app.addresses, &pb("after", vec![span(2, 1, vec![])])).await, [None, None]);
}

/// A journal that is full stands for storage that does not answer.
async fn full(folder: &std::path::Path) -> App {
    let mut tight = config(folder);
    (tight.journal.segment_size, tight.journal.max_frame_size) = (ByteSize::mib(1), ByteSize::kib(512));
    tight.journal.max_disk_size = ByteSize::mib(2);
    (tight.sample.idle, tight.sample.rootless_idle, tight.sample.max_age) =
        (Duration::from_mins(10), Duration::from_mins(10), Duration::from_mins(10));
    let app = start(tight).await;
    for i in 0..60 {
        let body = pb("full", vec![span(i, 1, vec![text("k", &"w".repeat(100_000))])]);
        if call(app.addresses, &[], framed(0, &body)).await.code != 0 {
            return app;
        }
    }
    panic!("the journal does not fill up");
}

fn large() -> Vec<u8> {
    pb("full", vec![span(999, 1, vec![text("k", &"w".repeat(100_000))])])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t12_a_transient_failure_on_grpc_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let app = full(folder.path()).await;
    let refused = call(app.addresses, &[], framed(0, &large())).await;
    assert_eq!(refused.code, 14, "{}", refused.message);
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t14_overload_on_grpc_is_unavailable_with_retry_info() {
    let folder = tempfile::tempdir().unwrap();
    let (app, slow) = occupied(folder.path()).await;
    let refused = call(app.addresses, &[], framed(0, &pb("t14", vec![span(1, 1, vec![])]))).await;
    assert_eq!(refused.code, 14, "{}", refused.message);
    let detail = refused.details.iter().find(|d| d.type_url.ends_with("RetryInfo")).expect("RetryInfo");
    // retry_delay {seconds: 1, nanos: 500000000}
    assert_eq!(detail.value, [10, 8, 8, 1, 16, 128, 202, 181, 238, 1]);
    // The same in base64, where Python's exporter looks for it.
    assert_eq!(refused.headers["google.rpc.retryinfo-bin"], "CggIARCAyrXuAQ");
    released(&app, slow).await;
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t20_overload_on_http_is_503_with_retry_after() {
    let folder = tempfile::tempdir().unwrap();
    let (app, slow) = occupied(folder.path()).await;
    for (kind, body) in [(PB, pb("t20", vec![span(1, 1, vec![])])), (JSON, b"{}".to_vec())] {
        let refused = post(app.addresses, kind, &[], body).await;
        assert_eq!((refused.status, refused.kind.as_str(), refused.rpc_status().0), (503, kind, 14));
        assert_eq!(refused.header("retry-after"), Some("2"), "rounded up from 1.5 s");
    }
    released(&app, slow).await;
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t21_only_what_passes_is_retryable() {
    let folder = tempfile::tempdir().unwrap();
    let app = full(folder.path()).await;
    // Full storage passes, a poison batch does not, not even when both come together.
    assert_eq!(post(app.addresses, PB, &[], large()).await.status, 503);
    assert_eq!(post(app.addresses, PB, &[], b"\x0a\xff".to_vec()).await.status, 400);
    assert_eq!(post(app.addresses, JSON, &[], b"{".to_vec()).await.status, 400);
    let mut poison = span(1, 1, vec![]);
    poison.trace_id = vec![0; 16];
    assert_eq!(both(app.addresses, &pb("t21", vec![poison])).await.map(|p| p.unwrap().0), [1, 1]);
    app.stop().await.unwrap();
}
