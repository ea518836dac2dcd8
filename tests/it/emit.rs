//! Evaluation results that leave: to a backend that is away at first, and to another Groundline.

use crate::support::{self, config, query, settled, span, start, text, until};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use flate2::read::GzDecoder;
use groundline::app::App;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use parking_lot::Mutex;
use prost::Message;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

#[derive(Clone, Default)]
struct Backend {
    got: Arc<Mutex<Vec<LogRecord>>>,
    faults: Arc<Mutex<Vec<StatusCode>>>,
    tokens: Arc<Mutex<Vec<String>>>,
}

impl Backend {
    async fn listen(self) -> String {
        async fn take(State(to): State<Backend>, headers: HeaderMap, body: Bytes) -> StatusCode {
            let token = headers.get("authorization").map(|t| t.to_str().unwrap().to_owned());
            to.tokens.lock().extend(token);
            if let Some(fault) = to.faults.lock().pop() {
                return fault;
            }
            assert_eq!(headers["content-encoding"], "gzip");
            let mut plain = Vec::new();
            GzDecoder::new(&body[..]).read_to_end(&mut plain).unwrap();
            let request = ExportLogsServiceRequest::decode(&plain[..]).unwrap();
            let records =
                request.resource_logs.into_iter().flat_map(|r| r.scope_logs).flat_map(|s| s.log_records);
            to.got.lock().extend(records);
            StatusCode::OK
        }
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Router::new().route("/v1/logs", post(take)).with_state(self);
        tokio::spawn(async move { axum::serve(listener, routes).await });
        format!("http://{address}")
    }
}

async fn server(dir: &Path, endpoint: &str, token_file: &Path) -> App {
    let mut made = config(dir);
    made.sample.rules[0].evaluators = vec!["pii_leakage".to_owned()];
    (made.emit.otlp_endpoint, made.emit.token_file) = (endpoint.to_owned(), token_file.to_owned());
    start(made).await
}

async fn send(app: &App, trace: u64) {
    let message = r#"[{"role":"assistant","parts":[{"type":"text","content":"The card 4111 1111 1111 1111 was charged."}]}]"#;
    let attributes = vec![text("gen_ai.operation.name", "chat"), text("gen_ai.output.messages", message)];
    assert!(support::send(app.addresses.otlp_http, vec![span(trace, 1, attributes)]).await);
}

fn value(record: &LogRecord, key: &str) -> Option<Value> {
    record.attributes.iter().find(|a| a.key == key)?.value.clone()?.value
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backend_that_was_away_gets_every_result_once_and_a_refusal_is_final() {
    let (folder, backend) = (tempfile::tempdir().unwrap(), Backend::default());
    // Taken from the end: away, a wrong token, then a request that it will never take.
    *backend.faults.lock() =
        vec![StatusCode::BAD_REQUEST, StatusCode::UNAUTHORIZED, StatusCode::SERVICE_UNAVAILABLE];
    let token = folder.path().join("token");
    std::fs::write(&token, "secret\n").unwrap();
    let endpoint = backend.clone().listen().await;
    let data = folder.path().join("data");
    let app = server(&data, &endpoint, &token).await;
    send(&app, 1).await;
    settled(&app).await;
    until("the result", async || backend.faults.lock().is_empty()).await;
    send(&app, 2).await;
    settled(&app).await;
    let main = |records: &[LogRecord]| {
        let name = Some(Value::StringValue("pii_leakage".to_owned()));
        records.iter().filter(|r| value(r, "gen_ai.evaluation.name") == name).cloned().collect::<Vec<_>>()
    };
    until("the result", async || !main(&backend.got.lock()).is_empty()).await;
    let found = main(&backend.got.lock());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].event_name, "gen_ai.evaluation.result");
    assert_eq!(found[0].trace_id.last(), Some(&2));
    assert_eq!(value(&found[0], "groundline.passed"), Some(Value::BoolValue(false)));
    assert!(value(&found[0], "gen_ai.evaluation.score.label").is_some());
    assert_eq!(value(&found[0], "groundline.inclusion_probability"), Some(Value::DoubleValue(1.0)));
    assert!(backend.tokens.lock().iter().all(|token| token == "Bearer secret"));
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_groundline_has_them_as_ingested_scores() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let to = start(config(other.path())).await;
    let endpoint = format!("http://{}", to.addresses.otlp_http);
    let from = server(folder.path(), &endpoint, Path::new("")).await;
    send(&from, 7).await;
    settled(&from).await;
    let ingested =
        "SELECT trace_id, value, rationale FROM scores WHERE source = 'ingested' AND metric = 'pii_leakage'";
    until("the result", async || !query(to.addresses.http, ingested).await.is_empty()).await;
    let sent = "SELECT trace_id, value, rationale FROM scores WHERE metric = 'pii_leakage'";
    assert_eq!(query(to.addresses.http, ingested).await, query(from.addresses.http, sent).await);
    from.stop().await.unwrap();
    to.stop().await.unwrap();
}
