//! What several tests need: a server in this process or as a process of its own, and requests.

use groundline::app::{App, AppError};
use groundline::config::Config;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;
use serde_json::Value as Json;
use socket2::{Domain, Socket, Type};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The default configuration on free ports, quick to decide.
pub fn config(data_dir: &Path) -> Config {
    let free = SocketAddr::from(([127, 0, 0, 1], 0));
    let mut config = Config::default();
    config.server.data_dir = data_dir.to_path_buf();
    (config.server.http_listen, config.server.pg_listen) = (free, free);
    (config.ingest.grpc_listen, config.ingest.http_listen) = (free, free);
    (config.sample.idle, config.sample.rootless_idle) =
        (Duration::from_millis(300), Duration::from_millis(600));
    config
}

/// How long an event may take: what comes never is told late, and what comes late on a busy machine is no fault.
pub const PATIENCE: Duration = Duration::from_secs(300);

pub async fn start(config: Config) -> App {
    // The second test that installs it finds it installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let started = Instant::now();
    loop {
        match Box::pin(App::start(config.clone())).await {
            Ok(app) => return app,
            // A child that another test starts just now may hold a copy of a port that was closed, for a moment.
            Err(AppError::Bind { .. }) if started.elapsed() < PATIENCE => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(error) => panic!("the server does not start: {error}"),
        }
    }
}

/// An address that is given to nobody who asks for a free one, and where nobody listens yet. Whoever is told it may listen there,
/// also several times one after the other.
pub struct Reserved {
    pub address: SocketAddr,
    _held: Socket,
}

impl Reserved {
    pub fn new() -> Self {
        let held = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        // A socket that is bound and does not listen keeps the port, and lets those bind it who name it.
        held.set_reuse_address(true).unwrap();
        held.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        let address = held.local_addr().unwrap().as_socket().unwrap();
        Self { address, _held: held }
    }
}

/// Waits until everything that was acknowledged is visible, decided and scored.
pub async fn settled(app: &App) {
    let started = Instant::now();
    while app.unfinished() != (0, 0, 0) {
        assert!(started.elapsed() < PATIENCE, "not settled: {:?}", app.unfinished());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until `holds`; the test fails where that takes too long.
pub async fn until(what: &str, holds: impl AsyncFnMut() -> bool) {
    until_within(PATIENCE, what, holds).await;
}

/// As [`until`], for as long as `limit`.
pub async fn until_within(limit: Duration, what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !holds().await {
        assert!(started.elapsed() < limit, "{what} does not come");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Sends spans of the service "shop" over OTLP/HTTP; whether they were acknowledged.
pub async fn send(otlp: SocketAddr, spans: Vec<Span>) -> bool {
    let sent = reqwest::Client::new()
        .post(format!("http://{otlp}/v1/traces"))
        .header("content-type", "application/x-protobuf")
        .body(request("shop", spans).encode_to_vec())
        .send()
        .await;
    sent.is_ok_and(|answer| answer.status() == 200)
}

/// Asks the server over HTTP and gives the rows.
pub async fn query(http: SocketAddr, sql: &str) -> Vec<Json> {
    let (status, body) = query_raw(http, sql).await;
    assert_eq!(status, 200, "{sql}: {body}");
    body.as_array().unwrap_or_else(|| panic!("{sql}: not rows: {body}")).clone()
}

pub async fn query_raw(http: SocketAddr, sql: &str) -> (u16, Json) {
    let response = reqwest::Client::new()
        .post(format!("http://{http}/v1/sql"))
        .json(&serde_json::json!({ "sql": sql }))
        .send()
        .await
        .unwrap();
    let status = response.status().as_u16();
    (status, response.json().await.unwrap())
}

pub async fn count(http: SocketAddr, sql: &str) -> i64 {
    let rows = query(http, sql).await;
    rows[0].as_object().unwrap().values().next().unwrap().as_i64().unwrap()
}

pub fn text(key: &str, value: &str) -> KeyValue {
    let value = AnyValue { value: Some(any_value::Value::StringValue(value.to_owned())) };
    KeyValue { key: key.to_owned(), value: Some(value), ..KeyValue::default() }
}

/// A span with a trace id made of `trace` and a span id made of `span`.
pub fn span(trace: u64, span: u64, attributes: Vec<KeyValue>) -> Span {
    let mut trace_id = vec![0xaa; 8];
    trace_id.extend_from_slice(&trace.to_be_bytes());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = u64::try_from(now.as_nanos()).unwrap();
    Span {
        trace_id,
        span_id: (span + 1).to_be_bytes().to_vec(),
        name: format!("span {trace}/{span}"),
        kind: 1,
        start_time_unix_nano: now - 1_000_000,
        end_time_unix_nano: now,
        attributes,
        ..Span::default()
    }
}

pub fn request(service: &str, spans: Vec<Span>) -> ExportTraceServiceRequest {
    let resource = Resource { attributes: vec![text("service.name", service)], ..Resource::default() };
    let scope_spans = vec![ScopeSpans { spans, ..ScopeSpans::default() }];
    ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans {
            resource: Some(resource),
            scope_spans,
            ..ResourceSpans::default()
        }],
    }
}

/// A server as a process of its own, so that it can be killed.
pub struct Process {
    pub child: Child,
    pub otlp_http: SocketAddr,
    pub http: SocketAddr,
}

impl Process {
    /// Starts the binary on free ports and reads them from its log.
    pub fn start(data_dir: &Path) -> Self {
        Self::start_with(data_dir, "[lake]\nflush_interval = \"400ms\"\n")
    }

    /// Like [`Process::start`], with the text of a configuration file.
    pub fn start_with(data_dir: &Path, config: &str) -> Self {
        Self::start_with_args(data_dir, config, &[])
    }

    /// Like [`Process::start_with`], with more arguments of `serve`.
    pub fn start_with_args(data_dir: &Path, config: &str, args: &[&OsStr]) -> Self {
        Self::start_program(None, data_dir, config, args)
    }

    /// Like [`Process::start_with_args`], another program than the one that was built.
    pub fn start_program(program: Option<&Path>, data_dir: &Path, config: &str, args: &[&OsStr]) -> Self {
        let file = data_dir.join("groundline.toml");
        std::fs::write(&file, config).unwrap();
        let program = program.unwrap_or(Path::new(env!("CARGO_BIN_EXE_groundline")));
        let mut child = Command::new(program)
            .arg("serve")
            .arg("--config")
            .arg(file)
            .arg("--data-dir")
            .arg(data_dir)
            .args(args)
            .env("GROUNDLINE_SERVER__HTTP_LISTEN", "127.0.0.1:0")
            .env("GROUNDLINE_SERVER__PG_LISTEN", "127.0.0.1:0")
            .env("GROUNDLINE_INGEST__HTTP_LISTEN", "127.0.0.1:0")
            .env("GROUNDLINE_INGEST__GRPC_LISTEN", "127.0.0.1:0")
            .env("GROUNDLINE_SAMPLE__IDLE", "300ms")
            .env("NO_COLOR", "1")
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let (mut seen, mut line) = (String::new(), String::new());
        let ready = loop {
            line.clear();
            assert!(log.read_line(&mut line).unwrap() > 0, "the server ended before it was ready:\n{seen}");
            seen.push_str(&line);
            if line.contains("otlp_http=") {
                break line.clone();
            }
        };
        // The pipe must be read on, or a full one would stop the server.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        let address = |key: &str| {
            let at = ready.find(&format!(" {key}=")).unwrap() + key.len() + 2;
            ready[at..].split_whitespace().next().unwrap().parse().unwrap()
        };
        Self { child, otlp_http: address("otlp_http"), http: address("http") }
    }

    /// SIGKILL: nothing is flushed, nothing is closed.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The names of the Parquet files in a folder.
pub fn parquet(folder: &Path) -> Vec<String> {
    let names =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".parquet")).collect()
}

/// A configuration under which files are written, merged and deleted as soon as possible.
pub fn busy(mut config: Config) -> Config {
    let often = Duration::from_millis(100);
    (config.lake.flush_interval, config.lake.maintenance_interval) = (often, often);
    (config.lake.compact_min_files, config.lake.vacuum_after) = (2, Duration::ZERO);
    config
}
