//! F3 and F4: clients that send again, and what was acknowledged is there once and equal.

use super::oracle::{Oracle, Writing, is_retryable};
use super::server::{Settings, eventually};
use crate::support::{config, count, request, settled, span, start, text};
use groundline::app::App;
use groundline::units::ByteSize;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_client::TraceServiceClient;
use prost::Message;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// A small generator (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n
    }
}

/// Sends the request and goes away: before the body ends, or before the answer comes.
async fn cut(app: &App, body: &[u8], whole: bool) {
    let mut socket = TcpStream::connect(app.addresses.otlp_http).await.unwrap();
    let head = format!(
        "POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-protobuf\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let length = if whole { body.len() } else { body.len() / 2 };
    let _ = socket.write_all(&body[..length]).await;
}

/// One try over HTTP: rejected spans, or none if it should be sent again.
async fn over_http(app: &App, body: Vec<u8>) -> Option<i64> {
    let url = format!("http://{}/v1/traces", app.addresses.otlp_http);
    let post = reqwest::Client::new().post(url).header("content-type", "application/x-protobuf").body(body);
    let answer = post.send().await.ok()?;
    let status = answer.status().as_u16();
    if status != 200 {
        assert!(is_retryable(status), "{status}");
        assert!(answer.headers().contains_key("retry-after"));
        return None;
    }
    let response = ExportTraceServiceResponse::decode(answer.bytes().await.ok()?).unwrap();
    Some(response.partial_success.map_or(0, |partial| partial.rejected_spans))
}

/// One try over gRPC.
async fn over_grpc(app: &App, body: &[u8]) -> Option<i64> {
    let mut client = TraceServiceClient::connect(format!("http://{}", app.addresses.grpc)).await.ok()?;
    match client
        .export(groundline::ingest::decode::from_protobuf::<_>(body).map(tonic::Request::new).unwrap())
        .await
    {
        Ok(answer) => Some(answer.into_inner().partial_success.map_or(0, |partial| partial.rejected_spans)),
        Err(status) => {
            assert_eq!(status.code(), tonic::Code::Unavailable, "{status}");
            None
        }
    }
}

/// Sends `requests` requests; gives how many spans were sent and how many were refused for good.
async fn client(app: Arc<App>, number: u64, requests: u64) -> (u64, i64, u64) {
    let mut random = Random(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (mut sent, mut permanent, mut again) = (0, 0, 0);
    for at in 0..requests {
        let size = 1 + random.below(4);
        let mut spans: Vec<_> = (0..size)
            .map(|i| span(number * 1_000 + at, i, vec![text("k", &"v".repeat(random.below(9_000) as usize))]))
            .collect();
        if random.below(7) == 0 {
            spans[0].span_id = vec![1, 2, 3];
        }
        let body = request("f03", spans).encode_to_vec();
        sent += size;
        let started = Instant::now();
        loop {
            let answered = match random.below(5) {
                0 => {
                    cut(&app, &body, random.below(2) == 0).await;
                    None
                }
                1 | 2 => over_grpc(&app, &body).await,
                _ => over_http(&app, body.clone()).await,
            };
            if let Some(rejected) = answered {
                // Even an answer may be lost on the way: one in six is sent again.
                permanent += rejected;
                if random.below(6) == 0 {
                    again += 1;
                    over_http(&app, body.clone()).await;
                }
                break;
            }
            again += 1;
            assert!(started.elapsed() < Duration::from_secs(180), "the server never takes it");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    (sent, permanent, again)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f03_a_client_that_sends_again_is_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut tight = config(folder.path());
    // Room for one request or two of the four clients.
    (tight.ingest.max_request_size, tight.ingest.max_in_flight_size) = (ByteSize::kib(64), ByteSize::kib(64));
    tight.lake.flush_interval = Duration::from_millis(200);
    let app = Arc::new(start(tight).await);
    let clients = (1..=4).map(|number| tokio::spawn(client(Arc::clone(&app), number, 40)));
    let (mut sent, mut permanent, mut again) = (0, 0, 0);
    for done in futures::future::join_all(clients).await {
        let (s, p, a) = done.unwrap();
        (sent, permanent, again) = (sent + s, permanent + p, again + a);
    }
    assert!(permanent > 0 && again > 20, "permanent {permanent}, again {again}: the test saw nothing");
    settled(&app).await;
    let http = app.addresses.http;
    assert_eq!(count(http, "SELECT count(*) AS n FROM spans").await, sent as i64 - permanent);
    let twice =
        "SELECT count(*) AS n FROM (SELECT span_id, trace_id FROM spans GROUP BY 1, 2 HAVING count(*) > 1)";
    assert_eq!(count(http, twice).await, 0);
    println!("{sent} spans, {permanent} refused for good, {again} requests sent again");
    let Ok(app) = Arc::try_unwrap(app) else { panic!("a client is still there") };
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f04_what_was_acknowledged_is_there_once_and_equal() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::new(Path::new(env!("CARGO_BIN_EXE_groundline")), folder.path())
        .fixed_ports()
        .set("SAMPLE__IDLE", "300ms")
        .set("LAKE__FLUSH_INTERVAL", "150ms");
    let writing =
        Writing { batch: 3, payload: 2_000, scored: 40, pause: Duration::from_millis(5), insist: true };
    let oracle = Arc::new(Oracle::default());
    let mut server = settings.start();
    let url = format!("http://{}/v1/traces", server.otlp_http);
    let writers: Vec<_> = (0..3)
        .map(|_| {
            let (oracle, url) = (Arc::clone(&oracle), url.clone());
            tokio::spawn(async move { oracle.write(url, writing).await })
        })
        .collect();
    for (round, millis) in [400u64, 250, 550].into_iter().enumerate() {
        let before = oracle.acknowledged();
        eventually("spans are acknowledged", 120, async || oracle.acknowledged() > before + 30).await;
        tokio::time::sleep(Duration::from_millis(millis)).await;
        if round == 1 {
            assert!(server.stop(), "SIGTERM: {}", server.log());
        } else {
            server.kill();
        }
        server = settings.start();
    }
    let back = Instant::now();
    let before = oracle.acknowledged();
    eventually("a fresh span is accepted", 120, async || oracle.acknowledged() > before).await;
    println!("accepted {:?} after the last start", back.elapsed());
    oracle.stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    let verdict = oracle.check(&server, writing, |_| ()).await;
    assert!(verdict.is_clean() && verdict.acknowledged > 100, "{verdict:?}");
    assert!(verdict.stored >= verdict.acknowledged);
    println!(
        "{} acknowledged, {} stored, answers {:?}",
        verdict.acknowledged,
        verdict.stored,
        oracle.answers()
    );
}
