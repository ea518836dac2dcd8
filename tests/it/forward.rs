//! Spans and log records that are passed on: to a backend that answers as it is told, and to another Groundline, over both
//! transports.

use crate::access::tokens;
use crate::net::Root;
use crate::support::{
    Process, Reserved, config, count, query, request, send, settled, span, start, text, until,
};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use flate2::read::GzDecoder;
use groundline::app::App;
use groundline::emit::{Compression, Protocol};
use groundline::net::Role;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use parking_lot::Mutex;
use prost::Message;
use std::collections::{HashSet, VecDeque};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How a backend answers.
#[derive(Clone, Copy)]
enum Answer {
    Status(u16),
    /// 429 with Retry-After, seconds.
    Busy(&'static str),
    /// So many spans were not taken.
    Partial(i64),
    /// Nothing, for longer than anybody waits.
    Hang,
}

/// An OTLP/HTTP receiver, and what it got.
#[derive(Clone, Default)]
struct Backend {
    /// One answer a request; afterwards all is taken.
    answers: Arc<Mutex<VecDeque<Answer>>>,
    /// A request with more spans is too large; 0 for none.
    most: Arc<Mutex<usize>>,
    /// Names of spans of the requests that were taken.
    got: Arc<Mutex<Vec<String>>>,
    /// When requests came, with their headers.
    asked: Arc<Mutex<Vec<(Instant, HeaderMap)>>>,
}

impl Backend {
    async fn listen(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Router::new().route("/v1/traces", post(take)).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        format!("http://{address}")
    }

    fn names(&self) -> Vec<String> {
        self.got.lock().clone()
    }
}

async fn take(State(to): State<Backend>, headers: HeaderMap, body: Bytes) -> Response {
    let is_gzip = headers.get("content-encoding").is_some_and(|kind| kind == "gzip");
    to.asked.lock().push((Instant::now(), headers));
    let mut plain = Vec::new();
    match is_gzip {
        true => drop(GzDecoder::new(&body[..]).read_to_end(&mut plain).unwrap()),
        false => plain.extend_from_slice(&body),
    }
    let request = ExportTraceServiceRequest::decode(&plain[..]).unwrap();
    let scopes = request.resource_spans.iter().flat_map(|group| &group.scope_spans);
    let names: Vec<String> = scopes.flat_map(|scope| &scope.spans).map(|span| span.name.clone()).collect();
    let most = *to.most.lock();
    if most > 0 && names.len() > most {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    }
    let answer = to.answers.lock().pop_front();
    let mut partial = None;
    match answer {
        Some(Answer::Status(status)) => return StatusCode::from_u16(status).unwrap().into_response(),
        Some(Answer::Busy(seconds)) => {
            return (StatusCode::TOO_MANY_REQUESTS, [("retry-after", seconds)]).into_response();
        }
        Some(Answer::Hang) => tokio::time::sleep(Duration::from_mins(10)).await,
        Some(Answer::Partial(rejected_spans)) => {
            partial = Some(ExportTracePartialSuccess { rejected_spans, error_message: "too old".to_owned() });
        }
        None => {}
    }
    to.got.lock().extend(names);
    ExportTraceServiceResponse { partial_success: partial }.encode_to_vec().into_response()
}

/// A server that samples nothing and passes its spans on.
async fn passing_on(dir: &Path, endpoint: &str, change: impl FnOnce(&mut groundline::emit::Config)) -> App {
    let mut made = config(dir);
    made.sample.rules.clear();
    made.forward.otlp_endpoint = endpoint.to_owned();
    change(&mut made.forward);
    start(made).await
}

const SPANS: &str = "SELECT count(DISTINCT trace_id) AS n FROM spans";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_of_a_backend_are_kept_to() {
    let (folder, backend) = (tempfile::tempdir().unwrap(), Backend::default());
    backend.answers.lock().extend([Answer::Busy("1"), Answer::Hang]);
    let endpoint = backend.listen().await;
    std::fs::write(folder.path().join("key"), "k1\n").unwrap();
    let key = folder.path().join("key");
    let app = passing_on(&folder.path().join("data"), &endpoint, |forward| {
        // Longer than an answer takes on a busy machine: what is given up comes twice.
        forward.timeout = Duration::from_secs(5);
        forward.headers.insert("x-team".to_owned(), "search".to_owned());
        forward.header_files.insert("api-key".to_owned(), key);
    })
    .await;
    let otlp = app.addresses.otlp_http;
    let came = async |names: &[&str]| {
        until("spans", async || {
            let got = backend.names();
            assert!(got.len() <= names.len(), "{got:?}");
            got == names
        })
        .await;
    };
    // "Later", then no answer at all: the same again, and not before the backend wants it.
    assert!(send(otlp, vec![span(1, 1, vec![])]).await);
    came(&["span 1/1"]).await;
    let (times, headers): (Vec<Instant>, Vec<HeaderMap>) = backend.asked.lock().drain(..).unzip();
    assert_eq!(times.len(), 3);
    assert!(times[1].duration_since(times[0]) >= Duration::from_secs(1), "{times:?}");
    for headers in headers {
        let told =
            ["x-team", "api-key", "content-encoding"].map(|name| headers[name].to_str().unwrap().to_owned());
        assert_eq!(told, ["search", "k1", "gzip"]);
    }
    // A refusal is final for what it is about, and for nothing else.
    backend.answers.lock().push_back(Answer::Status(400));
    assert!(send(otlp, vec![span(2, 1, vec![])]).await);
    until("the refusal", async || backend.answers.lock().is_empty()).await;
    assert!(send(otlp, vec![span(3, 1, vec![])]).await);
    came(&["span 1/1", "span 3/1"]).await;
    // A part that was not taken is not sent again either.
    backend.answers.lock().push_back(Answer::Partial(1));
    assert!(send(otlp, vec![span(4, 1, vec![]), span(4, 2, vec![])]).await);
    came(&["span 1/1", "span 3/1", "span 4/1", "span 4/2"]).await;
    // What is too large comes in pieces.
    *backend.most.lock() = 2;
    assert!(send(otlp, (0..5).map(|n| span(5, n, vec![])).collect()).await);
    let all = [
        "span 1/1", "span 3/1", "span 4/1", "span 4/2", "span 5/0", "span 5/1", "span 5/2", "span 5/3",
        "span 5/4",
    ];
    came(&all).await;
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_on_which_the_backend_fails_keeps_nothing_back_for_ever() {
    let (folder, backend) = (tempfile::tempdir().unwrap(), Backend::default());
    backend.answers.lock().extend([Answer::Status(500); 5]);
    let endpoint = backend.listen().await;
    let app = passing_on(folder.path(), &endpoint, |forward| forward.compression = Compression::None).await;
    assert!(send(app.addresses.otlp_http, vec![span(1, 1, vec![])]).await);
    until("the failures", async || backend.answers.lock().is_empty()).await;
    assert!(send(app.addresses.otlp_http, vec![span(2, 1, vec![])]).await);
    until("the next span", async || backend.names() == ["span 2/1"]).await;
    app.stop().await.unwrap();
}

/// The backend is a Groundline with TLS, certificates of clients and tokens; it is not there at first, and goes away once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backend_that_was_away_gets_every_span_over_both_transports() {
    for protocol in [Protocol::Grpc, Protocol::Http] {
        let (folder, root) = (tempfile::tempdir().unwrap(), Root::new());
        let at = |name: &str| folder.path().join(name);
        root.put(folder.path());
        std::fs::write(at("root.pem"), &root.pem).unwrap();
        std::fs::write(at("token"), "send-a\n").unwrap();
        std::fs::write(at("tokens.toml"), tokens(&[("send-a", Some("a"), &[Role::Ingest])])).unwrap();
        let mut to = config(&at("to"));
        to.sample.rules.clear();
        (to.server.tls.cert, to.server.tls.key) = (at("cert.pem"), at("key.pem"));
        (to.server.tls.client_ca, to.server.tokens_file) = (at("root.pem"), at("tokens.toml"));
        let reserved = Reserved::new();
        let port = reserved.address;
        match protocol {
            Protocol::Grpc => to.ingest.grpc_listen = port,
            Protocol::Http => to.ingest.http_listen = port,
        }
        let (mine, key) = root.sign();
        std::fs::write(at("mine.pem"), mine).unwrap();
        std::fs::write(at("mine.key"), key).unwrap();
        let from = passing_on(&at("from"), &format!("https://localhost:{}", port.port()), |forward| {
            forward.protocol = protocol;
            (forward.token_file, forward.ca_file) = (at("token"), at("root.pem"));
            (forward.cert_file, forward.key_file) = (at("mine.pem"), at("mine.key"));
        })
        .await;
        let mut sent = 0;
        for round in 0..2 {
            for n in 0..20 {
                assert!(send(from.addresses.otlp_http, vec![span(round * 20 + n, 1, vec![])]).await);
                sent += 1;
            }
            settled(&from).await;
            let backend = start(to.clone()).await;
            let stored = async || {
                let rows = backend.sql.collect(&format!("{SPANS} WHERE tenant = 'a'")).await.unwrap().1;
                arrow::array::AsArray::as_primitive::<arrow::datatypes::Int64Type>(rows[0].column(0)).value(0)
            };
            until("every span", async || stored().await == sent).await;
            backend.stop().await.unwrap();
        }
        from.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_redacted_before_it_is_stored_does_not_leave() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let to = start(config(other.path())).await;
    let mut made = config(folder.path());
    made.ingest.redact.kinds = vec!["pii".to_owned()];
    made.forward.otlp_endpoint = format!("http://{}", to.addresses.otlp_http);
    let from = start(made).await;
    let said = vec![text("note", "The card 4111 1111 1111 1111 was charged.")];
    assert!(send(from.addresses.otlp_http, vec![span(1, 1, said)]).await);
    until("the span", async || count(to.addresses.http, SPANS).await == 1).await;
    let found = query(to.addresses.http, "SELECT attributes FROM spans").await[0]["attributes"].to_string();
    assert!(found.contains("[CREDIT_CARD]") && !found.contains("4111"), "{found}");
    from.stop().await.unwrap();
    to.stop().await.unwrap();
}

/// Log records as they are stored, without what the receiver adds.
const RECORDS: &str = "SELECT time_unix_nano, trace_id, span_id, event_name, severity_number, severity_text, body, attributes, \
    resource_attributes, scope_name, flags, dropped_attributes_count FROM log_records ORDER BY time_unix_nano";

fn log_record(number: u64) -> serde_json::Value {
    let said = |text: &str| serde_json::json!({"stringValue": text});
    let mut record = serde_json::json!({
        "timeUnixNano": (number + 1).to_string(), "severityNumber": 9, "severityText": "INFO", "eventName": "payment",
        "body": {"kvlistValue": {"values": [{"key": "card", "value": said("4111 1111 1111 1111")}]}},
        "attributes": [{"key": "n", "value": {"intValue": number.to_string()}}], "flags": 1, "droppedAttributesCount": 2,
    });
    if number.is_multiple_of(2) {
        record["traceId"] = "07".repeat(16).into();
        record["spanId"] = "08".repeat(8).into();
    }
    let resource = serde_json::json!({"attributes": [{"key": "service.name", "value": said("shop")}]});
    let scope_logs = serde_json::json!([{"scope": {"name": "payments"}, "logRecords": [record]}]);
    serde_json::json!({"resourceLogs": [{"resource": resource, "scopeLogs": scope_logs}]})
}

/// What was taken while the backend was away leaves when it is there, redacted, and the spans stay where they are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn log_records_leave_as_they_came_over_both_transports() {
    for protocol in [Protocol::Grpc, Protocol::Http] {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let reserved = Reserved::new();
        let port = reserved.address;
        let mut made = config(folder.path());
        made.sample.rules.clear();
        made.ingest.redact.kinds = vec!["pii".to_owned()];
        made.forward_logs.otlp_endpoint = format!("http://{port}");
        made.forward_logs.protocol = protocol;
        let from = start(made).await;
        let otlp = from.addresses.otlp_http;
        for number in 0..5 {
            let sent =
                reqwest::Client::new().post(format!("http://{otlp}/v1/logs")).json(&log_record(number));
            assert_eq!(sent.send().await.unwrap().status(), 200);
        }
        assert!(send(otlp, vec![span(1, 1, vec![])]).await);
        settled(&from).await;
        let mut quiet = config(other.path());
        quiet.sample.rules.clear();
        match protocol {
            Protocol::Grpc => quiet.ingest.grpc_listen = port,
            Protocol::Http => quiet.ingest.http_listen = port,
        }
        let to = start(quiet).await;
        until("every record", async || query(to.addresses.http, RECORDS).await.len() == 5).await;
        let got = query(to.addresses.http, RECORDS).await;
        assert_eq!(got, query(from.addresses.http, RECORDS).await);
        let body = got[0]["body"].as_str().unwrap();
        assert!(body.contains("[CREDIT_CARD]") && !body.contains("4111"), "{body}");
        assert_eq!(count(to.addresses.http, SPANS).await, 0);
        from.stop().await.unwrap();
        to.stop().await.unwrap();
    }
}

/// A sample of `/metrics` of a server of its own; 0 where it is not there.
async fn metric(server: &Process, name: &str) -> f64 {
    let text = reqwest::get(format!("http://{}/metrics", server.http)).await.unwrap().text().await.unwrap();
    let line = text.lines().find(|line| line.starts_with(name));
    line.map_or(0.0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
}

const DROPPED: &str = "groundline_forwarded_total{outcome=\"dropped\"}";

/// A journal of 256 KiB, of which 64 KiB may wait. A frame with one span takes about 12 KiB.
const SMALL: &str = "
[lake]
flush_interval = \"200ms\"
[journal]
segment_size = \"32KiB\"
max_frame_size = \"24KiB\"
max_disk_size = \"256KiB\"
[ingest]
max_request_size = \"16KiB\"
[forward]
max_disk_size = \"64KiB\"
max_request_size = \"16KiB\"
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_backend_costs_disk_up_to_the_limit_and_no_sender() {
    let folder = tempfile::tempdir().unwrap();
    // It takes connections, and never answers.
    let hanging = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint =
        format!("otlp_endpoint = \"http://{}\"\ntimeout = \"1m\"\n", hanging.local_addr().unwrap());
    let mut server = Process::start_with(folder.path(), &format!("{SMALL}{endpoint}"));
    let noise = |n: u64| -> String {
        (0..160).map(|i| format!("{:016x}", (n * 1_000 + i).wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect()
    };
    let total = 40;
    for n in 0..total {
        // Who is faster than any loop is not what this is about.
        until("room", async || metric(&server, "groundline_journal_bytes").await < 160e3).await;
        assert!(
            send(server.otlp_http, vec![span(n, 1, vec![text("noise", &noise(n))])]).await,
            "{n} was refused"
        );
    }
    until("the first that is left out", async || metric(&server, DROPPED).await > 0.0).await;
    let dropped = metric(&server, DROPPED).await;
    assert!(dropped > 0.0 && dropped < total as f64, "{dropped} of {total}");
    assert!(metric(&server, "groundline_backend_held_bytes{section=\"forward\"}").await <= 128e3);
    server.kill();
    // Another backend gets what was kept.
    let backend = Backend::default();
    let endpoint = format!("otlp_endpoint = \"{}\"\n", backend.listen().await);
    let mut server = Process::start_with(folder.path(), &format!("{SMALL}{endpoint}"));
    let last = format!("span {}/1", total - 1);
    until("the last span", async || backend.names().contains(&last)).await;
    let got: HashSet<String> = backend.names().into_iter().collect();
    let kept: Vec<u64> = (0..total).filter(|n| got.contains(&format!("span {n}/1"))).collect();
    assert_eq!(kept, (total - kept.len() as u64..total).collect::<Vec<_>>(), "the oldest are left out");
    assert!(kept.len() as f64 <= total as f64 - dropped, "{} and {dropped}", kept.len());
    server.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_for_too_long_is_left_out_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let nobody = Reserved::new();
    let text = format!("[forward]\notlp_endpoint = \"http://{}\"\nmax_age = \"1s\"\n", nobody.address);
    let mut server = Process::start_with(folder.path(), &text);
    for n in 0..5 {
        assert!(send(server.otlp_http, vec![span(n, 1, vec![])]).await);
    }
    until("the end of patience", async || metric(&server, DROPPED).await == 5.0).await;
    until("the backend is known to be away", async || {
        metric(&server, "groundline_backend_away{section=\"forward\"}").await == 1.0
    })
    .await;
    server.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_nine_loses_no_span_on_its_way() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut quiet = config(other.path());
    quiet.sample.rules.clear();
    let to = start(quiet).await;
    let text = format!(
        "[forward]\notlp_endpoint = \"http://{}\"\nprotocol = \"grpc\"\n[lake]\nflush_interval = \"400ms\"\n",
        to.addresses.grpc
    );
    let cycles: u64 = std::env::var("GROUNDLINE_KILL_CYCLES").map_or(6, |n| n.parse().unwrap());
    let (mut next, mut taken) = (0, Vec::new());
    for cycle in 0..cycles {
        let mut server = Process::start_with(folder.path(), &text);
        let otlp = server.otlp_http;
        let (yes, enough) = (Arc::new(Mutex::new(Vec::new())), 5 + usize::try_from(cycle * 7 % 20).unwrap());
        let acknowledged = yes.clone();
        let sender = tokio::spawn(async move {
            for n in next..next + 200 {
                let sent = reqwest::Client::new()
                    .post(format!("http://{otlp}/v1/traces"))
                    .header("content-type", "application/x-protobuf")
                    .body(request("killed", vec![span(n, 1, vec![])]).encode_to_vec());
                match sent.send().await {
                    Ok(answer) if answer.status() == 200 => acknowledged.lock().push(n),
                    _ => break,
                }
            }
        });
        until("some spans", async || yes.lock().len() >= enough).await;
        server.kill();
        sender.await.unwrap();
        taken.extend(yes.lock().iter().copied());
        next += 200;
    }
    assert!(taken.len() > 20, "only {} spans were acknowledged: the test saw nothing", taken.len());
    let mut server = Process::start_with(folder.path(), &text);
    let id = |n: &u64| format!("{}{n:016x}", "aa".repeat(8));
    until("every span", async || {
        let rows = query(to.addresses.http, "SELECT DISTINCT trace_id FROM spans").await;
        let there: HashSet<&str> = rows.iter().map(|row| row["trace_id"].as_str().unwrap()).collect();
        taken.iter().all(|n| there.contains(id(n).as_str()))
    })
    .await;
    server.kill();
    to.stop().await.unwrap();
}
