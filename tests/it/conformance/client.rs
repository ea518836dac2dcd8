//! Clients that show everything of an answer, and servers that several cases share.

use crate::support::{PATIENCE, config, request, span, start};
use axum::http::{HeaderMap, Request};
use base64::Engine as _;
use groundline::app::Addresses;
use groundline::units::ByteSize;
use http_body_util::{BodyExt, Full};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::{Value as Json, json};
use std::io::Write;
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant, SystemTime};
use tonic::transport::Channel;
use tower::{Service, ServiceExt};

pub const PB: &str = "application/x-protobuf";
pub const JSON: &str = "application/json";
pub const TRACES: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
pub const LOGS: &str = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";
pub const METRICS: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";

/// The codes that OTLP calls retryable; RESOURCE_EXHAUSTED is one only with RetryInfo.
pub const RETRYABLE: [i32; 6] = [1, 4, 10, 11, 14, 15];

/// The limit of the server that [`small`] gives.
pub const SMALL_LIMIT: usize = 2 << 20;

/// A server with the default limits, shared by the cases of this process.
pub fn shared() -> Addresses {
    static SERVER: OnceLock<Addresses> = OnceLock::new();
    *SERVER.get_or_init(|| in_background("default", 64 << 20))
}

/// A server that takes at most [`SMALL_LIMIT`] bytes a request.
pub fn small() -> Addresses {
    static SERVER: OnceLock<Addresses> = OnceLock::new();
    *SERVER.get_or_init(|| in_background("small", SMALL_LIMIT))
}

/// A server in a runtime of its own: a test's runtime ends with the test. Its folder outlives the process, so old ones
/// are removed here.
fn in_background(name: &'static str, limit: usize) -> Addresses {
    let all = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance");
    let old = SystemTime::now() - Duration::from_secs(3_600);
    for entry in std::fs::read_dir(&all).into_iter().flatten().flatten() {
        if entry.metadata().and_then(|m| m.modified()).is_ok_and(|at| at < old) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    let folder = all.join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.unwrap().block_on(async move {
            let mut config = config(&folder);
            config.ingest.max_request_size = ByteSize::new(limit as u64);
            let app = start(config).await;
            tell.send(app.addresses).unwrap();
            std::future::pending::<()>().await;
            drop(app);
        });
    });
    told.recv().expect("the server started")
}

/// An answer over HTTP.
pub struct Answer {
    pub status: u16,
    pub kind: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|v| v.to_str().unwrap())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// What a success says: rejected spans and the message, nothing if `partial_success` is unset.
    pub fn partial(&self) -> Option<(i64, String)> {
        assert_eq!(self.status, 200, "{}", self.text());
        if self.kind == PB {
            return partial(&self.body);
        }
        let body: Json = serde_json::from_slice(&self.body).unwrap();
        let partial = body.get("partialSuccess")?;
        let rejected = partial.get("rejectedSpans").map_or(0, |n| n.as_str().unwrap().parse().unwrap());
        Some((rejected, partial["errorMessage"].as_str().unwrap_or_default().to_owned()))
    }

    /// The body as google.rpc.Status: code and message.
    pub fn rpc_status(&self) -> (i32, String) {
        if self.kind == PB {
            let status = RpcStatus::decode(self.body.as_slice()).unwrap();
            return (status.code, status.message);
        }
        assert_eq!(self.kind, JSON);
        let body: Json = serde_json::from_slice(&self.body).unwrap();
        (i32::try_from(body["code"].as_i64().unwrap()).unwrap(), body["message"].as_str().unwrap().to_owned())
    }
}

fn partial(body: &[u8]) -> Option<(i64, String)> {
    let ExportTracePartialSuccess { rejected_spans, error_message } =
        ExportTraceServiceResponse::decode(body).unwrap().partial_success?;
    Some((rejected_spans, error_message))
}

pub async fn post_to(
    app: Addresses,
    path: &str,
    kind: &str,
    headers: &[(&str, &str)],
    body: Vec<u8>,
) -> Answer {
    let url = format!("http://{}{path}", app.otlp_http);
    let mut request = reqwest::Client::new().post(url).header("content-type", kind).body(body);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    answer(request.send().await.unwrap()).await
}

pub async fn answer(response: reqwest::Response) -> Answer {
    let headers = response.headers().clone();
    Answer {
        status: response.status().as_u16(),
        kind: headers["content-type"].to_str().unwrap().to_owned(),
        body: response.bytes().await.unwrap().to_vec(),
        headers,
    }
}

pub async fn post(app: Addresses, kind: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Answer {
    post_to(app, "/v1/traces", kind, headers, body).await
}

#[derive(Clone, PartialEq, Message)]
pub struct RpcStatus {
    #[prost(int32, tag = "1")]
    pub code: i32,
    #[prost(string, tag = "2")]
    pub message: String,
    #[prost(message, repeated, tag = "3")]
    pub details: Vec<Any>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Any {
    #[prost(string, tag = "1")]
    pub type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    pub value: Vec<u8>,
}

/// An answer over gRPC.
pub struct GrpcAnswer {
    pub code: i32,
    pub message: String,
    pub details: Vec<Any>,
    pub headers: HeaderMap,
    /// The message in the answer, with its prefix.
    pub framed: Vec<u8>,
}

impl GrpcAnswer {
    pub fn partial(&self) -> Option<(i64, String)> {
        assert_eq!(self.code, 0, "{}", self.message);
        partial(&self.framed[5..])
    }

    pub fn has_detail(&self, name: &str) -> bool {
        self.details.iter().any(|d| d.type_url == format!("type.googleapis.com/google.rpc.{name}"))
    }
}

/// A message with its prefix.
pub fn framed(flag: u8, message: &[u8]) -> Vec<u8> {
    let mut out = vec![flag];
    out.extend_from_slice(&u32::try_from(message.len()).unwrap().to_be_bytes());
    out.extend_from_slice(message);
    out
}

/// Any HTTP/2 request, without encryption and without an upgrade.
pub async fn h2(
    to: std::net::SocketAddr,
    path: &str,
    headers: &[(&str, &str)],
    body: Vec<u8>,
) -> (u16, HeaderMap, Vec<u8>, HeaderMap) {
    let mut channel = Channel::from_shared(format!("http://{to}")).unwrap().connect().await.unwrap();
    let mut request = Request::post(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(tonic::body::Body::new(Full::new(body.into()))).unwrap();
    let response = channel.ready().await.unwrap().call(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap();
    let trailers = body.trailers().cloned().unwrap_or_default();
    (parts.status.as_u16(), parts.headers, body.to_bytes().to_vec(), trailers)
}

/// A gRPC call whose body is exactly `body`.
pub async fn call_to(app: Addresses, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> GrpcAnswer {
    let mut all = vec![("content-type", "application/grpc"), ("te", "trailers")];
    all.extend_from_slice(headers);
    let (status, headers, framed, trailers) = h2(app.grpc, path, &all, body).await;
    assert_eq!(status, 200);
    let find = |name: &str| headers.get(name).or(trailers.get(name)).map(|v| v.to_str().unwrap().to_owned());
    let details = find("grpc-status-details-bin").map_or(Vec::new(), |text| {
        let bytes =
            base64::engine::general_purpose::STANDARD_NO_PAD.decode(text.trim_end_matches('=')).unwrap();
        RpcStatus::decode(bytes.as_slice()).unwrap().details
    });
    GrpcAnswer {
        code: find("grpc-status").expect("a grpc-status").parse().unwrap(),
        message: find("grpc-message").unwrap_or_default(),
        details,
        headers,
        framed,
    }
}

pub async fn call(app: Addresses, headers: &[(&str, &str)], body: Vec<u8>) -> GrpcAnswer {
    call_to(app, TRACES, headers, body).await
}

/// Sends the bytes of a trace request over gRPC and HTTP/protobuf: code or status, and what `partial_success` says.
pub async fn both(app: Addresses, message: &[u8]) -> [Option<(i64, String)>; 2] {
    let grpc = call(app, &[], framed(0, message)).await.partial();
    [grpc, post(app, PB, &[], message.to_vec()).await.partial()]
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(bytes), &mut out).unwrap();
    out
}

pub fn pb(service: &str, spans: Vec<Span>) -> Vec<u8> {
    request(service, spans).encode_to_vec()
}

/// A trace request with one span whose fields are those of `extra` over sound ones.
pub fn json_request(service: &str, trace: u64, extra: &Json) -> Json {
    let sound = span(trace, 1, vec![]);
    let mut one = json!({"traceId": hex::encode(&sound.trace_id), "spanId": hex::encode(&sound.span_id),
        "name": sound.name, "kind": 1, "startTimeUnixNano": sound.start_time_unix_nano.to_string(),
        "endTimeUnixNano": sound.end_time_unix_nano.to_string()});
    for (key, value) in extra.as_object().unwrap() {
        one[key] = value.clone();
    }
    json!({"resourceSpans": [{"resource": {"attributes": [
        {"key": "service.name", "value": {"stringValue": service}}]}, "scopeSpans": [{"spans": [one]}]}]})
}

pub fn json_body(service: &str, trace: u64, extra: &Json) -> Vec<u8> {
    json_request(service, trace, extra).to_string().into_bytes()
}

/// Waits until the service has `n` spans.
pub async fn stored(app: Addresses, service: &str, n: i64) {
    let sql = format!("SELECT count(*) AS n FROM spans WHERE service_name = '{service}'");
    let started = Instant::now();
    loop {
        let now = crate::support::count(app.http, &sql).await;
        if now == n {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "{service}: {now} spans, expected {n}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
