//! What is done with one input: the same in the short form (`cargo test --test it fuzz`), the long form
//! (`cargo run --release --example fuzz`) and under libFuzzer (`cargo fuzz run TARGET`).
//!
//! A body returns for every input, or panics: that is a finding.

use arrow::array::RecordBatch;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use bytes::Bytes;
use groundline::config::Config;
use groundline::domain::span::Span;
use groundline::domain::time::{SystemClock, UnixNanos};
use groundline::domain::value::Attrs;
use groundline::ingest::decode::{self, Traces};
use groundline::ingest::dialect::span_evaluations;
use groundline::ingest::encode::traces_to_json;
use groundline::ingest::{self, Receiver, http_router};
use groundline::journal::{self, Journal};
use groundline::net::Access;
use groundline::schema::batch::{self, SpanReader};
use groundline::schema::columns::Table;
use groundline::schema::frame::{self, FrameKind, Part};
use groundline::units::ByteSize;
use http_body_util::BodyExt;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::span::Event;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span as ProtoSpan};
use prost::Message;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use tower::ServiceExt;

/// A target: its name and its body.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("traces_protobuf", traces_protobuf),
    ("logs_protobuf", logs_protobuf),
    ("traces_json", traces_json),
    ("logs_json", logs_json),
    ("dialect", dialect),
    ("frame", frame_bytes),
    ("journal", journal_segment),
    ("config", config),
    ("sql", sql),
    ("door", door),
];

/// Runs the body of the target `name`.
pub fn run(name: &str, input: &[u8]) {
    let (_, body) = TARGETS.iter().find(|(known, _)| *known == name).expect("a target");
    body(input);
}

/// A folder in memory where there is one: many inputs are written to files, and none needs to last.
pub fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder")
}

fn traces_protobuf(input: &[u8]) {
    let straight = Traces::from_protobuf(input);
    if let Ok(request) = decode::from_protobuf::<ExportTraceServiceRequest>(input) {
        let general = Traces::from_request(request.clone()).expect("small requests");
        let straight = straight.expect("what protobuf takes");
        assert_eq!((straight.accepted, straight.rejected), (general.accepted, general.rejected));
        assert_eq!(straight.reasons, general.reasons);
        for (straight, general) in straight.chunks.into_iter().zip(general.chunks) {
            let [straight, general] =
                [straight, general].map(|chunk| chunk.rows.finish("t", UnixNanos(1)).expect("columns"));
            assert_eq!(straight, general);
        }
        traces(request, input.len());
    } else {
        assert!(straight.is_err(), "the direct way takes what protobuf refuses");
    }
}

fn traces_json(input: &[u8]) {
    if let Ok(request) = decode::traces_from_json(input) {
        traces(request, input.len());
    }
}

/// All that the door does with a request short of the disk, and the way back to OTLP/JSON.
fn traces(request: ExportTraceServiceRequest, bytes: usize) {
    let text = traces_to_json(&request);
    let decoded = decode::spans(request);
    assert!(decoded.items.len() as u64 + decoded.rejected <= bytes as u64, "more spans than bytes");
    let again = decode::spans(decode::traces_from_json(text.as_bytes()).expect("our own JSON"));
    assert_eq!((decoded.items.len(), decoded.rejected), (again.items.len(), again.rejected));
    for (span, again) in decoded.items.iter().zip(&again.items) {
        check(span);
        // As text: a NaN is not equal to itself.
        assert_eq!(format!("{span:?}"), format!("{again:?}"));
    }
    rows(&decoded.items);
}

fn check(span: &Span) {
    let text = span.attributes.to_json();
    let back = Attrs::from_json(&text).expect("our own attributes");
    assert_eq!(format!("{back:?}"), format!("{:?}", span.attributes));
    span_evaluations(span);
}

/// Spans as the journal's bytes and back.
fn rows(spans: &[Span]) {
    let rows = batch::spans_to_batch(spans, "t", UnixNanos(1)).expect("columns");
    let (kind, bytes) = frame::encode(&[Part::Rows(Table::Spans, rows.clone())]).expect("a frame");
    let parts = frame::decode(&bytes, kind).expect("our own frame");
    assert!(matches!(&parts[0], Part::Rows(_, back) if back.num_rows() == rows.num_rows()));
    assert_eq!(read_back(&rows), spans.len());
}

/// How many rows sampling can read.
fn read_back(rows: &RecordBatch) -> usize {
    let Some(mut reader) = SpanReader::new(rows) else { return 0 };
    let heads = (0..rows.num_rows()).filter_map(|row| {
        reader.llm(row);
        reader.head(row)
    });
    heads.count()
}

fn logs_protobuf(input: &[u8]) {
    if let Ok(request) = decode::from_protobuf::<ExportLogsServiceRequest>(input) {
        logs(request, input.len());
    }
}

fn logs_json(input: &[u8]) {
    if let Ok(request) = decode::logs_from_json(input) {
        logs(request, input.len());
    }
}

fn logs(request: ExportLogsServiceRequest, bytes: usize) {
    let decoded = decode::logs(request, UnixNanos(1));
    assert!(decoded.items.len() as u64 + decoded.rejected <= bytes as u64, "more records than bytes");
    let rows = batch::logs_to_batch(&decoded.items, "t", UnixNanos(1)).expect("columns");
    batch::read_log_content(&rows);
}

/// Lines of `key TAB value`, those after an empty line as attributes of an event: a span as libraries write them.
fn dialect(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let (own, event) = text.split_once("\n\n").unwrap_or((&text, ""));
    let pairs = |lines: &str| -> Vec<KeyValue> { lines.lines().take(500).map(pair).collect() };
    let span = ProtoSpan {
        trace_id: vec![1; 16],
        span_id: vec![2; 8],
        attributes: pairs(own),
        events: vec![Event {
            name: "gen_ai.content.prompt".to_owned(),
            attributes: pairs(event),
            ..Event::default()
        }],
        ..ProtoSpan::default()
    };
    let scope_spans = vec![ScopeSpans { spans: vec![span], ..ScopeSpans::default() }];
    let resource_spans = vec![ResourceSpans { scope_spans, ..ResourceSpans::default() }];
    let decoded = decode::spans(ExportTraceServiceRequest { resource_spans });
    assert_eq!(decoded.items.len(), 1);
    check(&decoded.items[0]);
    rows(&decoded.items);
}

fn pair(line: &str) -> KeyValue {
    let (key, value) = line.split_once('\t').unwrap_or((line, ""));
    let value = match value.parse::<i64>() {
        Ok(number) => any_value::Value::IntValue(number),
        Err(_) => any_value::Value::StringValue(value.to_owned()),
    };
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

fn frame_bytes(input: &[u8]) {
    let all = Table::ALL.iter().fold(FrameKind::queue(), |all, table| all.and(FrameKind::of(*table)));
    for part in frame::decode(&Bytes::copy_from_slice(input), all).unwrap_or_default() {
        if let Part::Rows(Table::Spans, rows) = part {
            read_back(&rows);
        }
    }
}

static RUNTIME: LazyLock<tokio::runtime::Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads")
});

/// The limits of the journals here.
pub fn journal_config() -> journal::Config {
    journal::Config {
        segment_size: ByteSize::kib(64),
        max_frame_size: ByteSize::kib(32),
        ..journal::Config::default()
    }
}

/// The bytes are the journal's only segment: it opens, gives what is good, and takes more.
fn journal_segment(input: &[u8]) {
    let folder = scratch();
    std::fs::write(folder.path().join("00000000000000000001.seg"), input).expect("written");
    let Ok(journal) = Journal::open(folder.path(), journal_config(), groundline::schema::FORMAT) else {
        return;
    };
    let mut reader = journal.reader(0).expect("a reader");
    let mut last = 0;
    while let Some(frame) = reader.next().expect("a frame") {
        assert!(frame.seq > last, "frame {} after {last}", frame.seq);
        last = frame.seq;
        frame_bytes(&frame.payload);
    }
    let seq = RUNTIME.block_on(journal.append(1, Bytes::from_static(b"more"))).expect("appended");
    assert!(seq > last);
    let found = std::iter::from_fn(|| reader.next().expect("a frame")).find(|frame| frame.seq == seq);
    assert_eq!(found.expect("the new frame").payload.as_ref(), b"more");
}

fn config(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    match Config::from_text("fuzz.toml", &text, std::iter::empty()) {
        // What is accepted prints as something that is accepted.
        Ok(config) => {
            let dump = config.dump();
            assert!(Config::from_text("dump", &dump, std::iter::empty()).is_ok(), "{dump}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn sql(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    if let Ok(statement) = groundline::sql::parse_for_fuzzing(&text) {
        let word = statement.to_string().to_uppercase();
        for writes in ["INSERT ", "DELETE ", "UPDATE ", "DROP ", "COPY ", "CREATE ", "TRUNCATE ", "ALTER "] {
            assert!(!word.starts_with(writes), "{word}");
        }
    }
}

/// A door on a journal in memory; it lasts as long as the process.
static DOOR: LazyLock<Receiver> = LazyLock::new(|| {
    let folder = scratch().keep();
    // Enough for a long run; a full journal answers 503, which is an answer as good as any here.
    let config = journal::Config { max_disk_size: ByteSize::gib(1), ..journal::Config::default() };
    let journal = Journal::open(&folder, config, groundline::schema::FORMAT).expect("a journal");
    let config = ingest::Config { max_request_size: ByteSize::kib(256), ..ingest::Config::default() };
    REMOVE.set(folder).expect("once");
    Receiver::new(journal, Arc::new(SystemClock), config)
});

static REMOVE: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();

/// Removes what [`scratch`] gave to the door. Called at the end of a run.
pub fn clean() {
    if let Some(folder) = REMOVE.get() {
        let _ = std::fs::remove_dir_all(folder);
    }
}

#[derive(Clone, PartialEq, Message)]
struct RpcStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

/// A whole request over HTTP; the first byte picks its headers. Every answer is a response or a Status.
fn door(input: &[u8]) {
    let (choice, body) = input.split_first().map_or((0, input), |(choice, body)| (*choice, body));
    let kind = if choice & 1 == 0 { "application/x-protobuf" } else { "application/json" };
    let coding = ["identity", "gzip", "zstd", "br"][usize::from(choice >> 1 & 3)];
    let path = ["/v1/traces", "/v1/logs", "/v1/metrics", "/v1/traces"][usize::from(choice >> 3 & 3)];
    let request = Request::post(path).header("content-type", kind).header("content-encoding", coding);
    let request = request.body(Body::from(body.to_vec())).expect("a request");
    let (status, kind_back, body) = RUNTIME.block_on(async {
        let response =
            http_router(DOOR.clone(), Access::open("default")).oneshot(request).await.expect("an answer");
        let kind = response.headers().get("content-type").map(|k| k.to_str().unwrap_or_default().to_owned());
        let status = response.status();
        (status, kind, response.into_body().collect().await.expect("a body").to_bytes())
    });
    assert_eq!(kind_back.as_deref(), Some(kind), "{status}");
    let expected = [200, 400, 413, 415, 503].iter().any(|known| *known == status.as_u16());
    assert!(expected, "{status}");
    match (status, kind) {
        (StatusCode::OK, "application/json") => {
            drop(serde_json::from_slice::<serde_json::Value>(&body).expect("JSON"))
        }
        (StatusCode::OK, _) => drop(ExportTraceServiceResponse::decode(body).expect("a response")),
        (_, "application/json") => {
            let said: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
            assert!(
                said["code"].as_i64().is_some_and(|code| code > 0) && said["message"].is_string(),
                "{said}"
            );
        }
        _ => {
            let said = RpcStatus::decode(body).expect("a Status");
            assert!(said.code > 0 && !said.message.is_empty(), "{said:?}");
        }
    }
}

/// The inputs to begin with: captures of real libraries, and what else a target is about. `root` is the repository.
pub fn corpus(name: &str, root: &Path) -> Vec<Vec<u8>> {
    let captures = |ends: &dyn Fn(&str) -> bool| captures(root, ends);
    let is_log = |name: &str| name.contains(".logs.");
    match name {
        "traces_protobuf" => captures(&|n| n.ends_with(".pb") && !is_log(n) && !n.contains(".metrics.")),
        "logs_protobuf" => captures(&|n| n.ends_with(".logs.pb")),
        "traces_json" => {
            traces_as_json(captures(&|n| n.ends_with(".pb") && !is_log(n) && !n.contains(".metrics.")))
        }
        "logs_json" => vec![LOG_JSON.as_bytes().to_vec()],
        "dialect" => captures(&|n| n.ends_with(".pb") && !is_log(n) && !n.contains(".metrics."))
            .iter()
            .map(|b| lines(b))
            .collect(),
        "frame" => captures(&|n| n.ends_with("rag_grounded.pb")).iter().map(|b| framed(b)).collect(),
        "journal" => vec![segment(root)],
        "config" => {
            vec![
                groundline::config::EXAMPLE.as_bytes().to_vec(),
                b"[ingest]\nretry_after = \"1s\"\n".to_vec(),
            ]
        }
        "sql" => queries(root),
        _ => {
            let mut all = captures(&|n| n.ends_with("chat.pb"));
            all.extend(captures(&|n| n.ends_with("chat.json")));
            all.iter_mut().for_each(|body| body.insert(0, u8::from(body.starts_with(b"{"))));
            all
        }
    }
}

const LOG_JSON: &str = r#"{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"s"}}]},
"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","severityNumber":9,"eventName":"gen_ai.user.message",
"body":{"kvlistValue":{"values":[{"key":"content","value":{"stringValue":"hi"}}]}},
"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"0102030405060708"}]}]}]}"#;

fn captures(root: &Path, ends: &dyn Fn(&str) -> bool) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    let folders = std::fs::read_dir(root.join("tests/fixtures/otlp")).expect("the captures").flatten();
    for folder in folders.filter(|folder| folder.path().is_dir()) {
        paths.extend(std::fs::read_dir(folder.path()).expect("a folder").flatten().map(|file| file.path()));
    }
    paths.retain(|path| path.file_name().and_then(|n| n.to_str()).is_some_and(ends));
    // In an order that does not depend on the file system: a seed must mean the same everywhere.
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a capture")).collect()
}

fn traces_as_json(bodies: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let text = |body: &Vec<u8>| Some(traces_to_json(&decode::from_protobuf(body).ok()?).into_bytes());
    bodies.iter().filter_map(text).collect()
}

/// The attributes of the first span of a capture, as lines.
fn lines(body: &[u8]) -> Vec<u8> {
    let decoded = decode::spans(decode::from_protobuf(body).expect("a capture"));
    let line = |(key, value): &(String, groundline::domain::value::Value)| {
        let value = value.as_str().map_or_else(|| value.to_plain_json().to_string(), str::to_owned);
        format!("{key}\t{}\n", value.replace('\n', " "))
    };
    let longest = decoded.items.iter().max_by_key(|span| span.attributes.0.len()).expect("a span");
    let mut text: String = longest.attributes.0.iter().map(line).collect();
    text.push('\n');
    longest.events.iter().flat_map(|e| &e.attributes.0).for_each(|pair| text.push_str(&line(pair)));
    text.into_bytes()
}

fn framed(body: &[u8]) -> Vec<u8> {
    let decoded = decode::spans(decode::from_protobuf(body).expect("a capture"));
    let rows = batch::spans_to_batch(&decoded.items, "t", UnixNanos(1)).expect("columns");
    let parts = [Part::Rows(Table::Spans, rows), Part::Queue(Bytes::from_static(b"queue"))];
    frame::encode(&parts).expect("a frame").1.to_vec()
}

/// A segment with a few frames.
fn segment(root: &Path) -> Vec<u8> {
    let folder = scratch();
    let journal =
        Journal::open(folder.path(), journal_config(), groundline::schema::FORMAT).expect("a journal");
    let frames = captures(root, &|name| name.ends_with("toxic.pb"));
    for (kind, body) in (0u32..).zip(frames.iter().filter(|body| body.len() < 3_000).take(12)) {
        RUNTIME.block_on(journal.append(kind, Bytes::from(body.clone()))).expect("appended");
    }
    drop(journal);
    std::fs::read(folder.path().join("00000000000000000001.seg")).expect("a segment")
}

fn queries(root: &Path) -> Vec<Vec<u8>> {
    let readme = std::fs::read_to_string(root.join("README.md")).expect("the README");
    let blocks = readme.split("```sql\n").skip(1).filter_map(|block| block.split("```").next());
    let mut queries: Vec<Vec<u8>> = blocks.map(|text| text.as_bytes().to_vec()).collect();
    queries.extend(
        [
            "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t",
            "COPY (SELECT 1) TO '/tmp/out.csv'",
            "EXPLAIN ANALYZE INSERT INTO spans SELECT * FROM spans",
            "SELECT a[1:2], b->>'c', CASE WHEN x THEN 1 END FROM t AS u(x) JOIN v USING (k) WHERE e'\\n' LIKE $1",
        ]
        .map(|text| text.as_bytes().to_vec()),
    );
    queries
}
