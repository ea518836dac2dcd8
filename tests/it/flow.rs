//! The whole way of a span: an SDK exports, SQL answers, evaluators score.

use crate::support::{config, count, parquet, query, request, settled, span, start, text, until};
use opentelemetry::trace::{Span as _, SpanKind, Tracer as _, TracerProvider as _};
use opentelemetry::{KeyValue, trace::Status};
use opentelemetry_otlp::WithExportConfig;
use opentelemetry_sdk::trace::SdkTracerProvider;
use prost::Message;

const MESSAGES_IN: &str =
    r#"[{"role":"user","parts":[{"type":"text","content":"How long may I return a blender?"}]}]"#;
const MESSAGES_OUT: &str = r#"[{"role":"assistant","parts":[{"type":"text","content":"My card is 4111 1111 1111 1111, you idiot."}],"finish_reason":"stop"}]"#;

/// The unmodified OpenTelemetry SDK for Rust exports over gRPC; its span is stored, decided and scored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_sdk_exports_and_its_answers_are_scored() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_tonic()
        .with_endpoint(format!("http://{}", app.addresses.grpc))
        .build()
        .unwrap();
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(opentelemetry_sdk::Resource::builder().with_service_name("kitchen").build())
        .build();
    let mut span = provider
        .tracer("test")
        .span_builder("chat gpt-x")
        .with_kind(SpanKind::Client)
        .with_attributes([
            KeyValue::new("gen_ai.operation.name", "chat"),
            KeyValue::new("gen_ai.provider.name", "openai"),
            KeyValue::new("gen_ai.request.model", "gpt-x"),
            KeyValue::new("gen_ai.usage.input_tokens", 12),
            KeyValue::new("gen_ai.usage.output_tokens", 9),
            KeyValue::new("gen_ai.input.messages", MESSAGES_IN),
            KeyValue::new("gen_ai.output.messages", MESSAGES_OUT),
        ])
        .start(&provider.tracer("test"));
    span.set_status(Status::Ok);
    span.end();
    drop(span);
    let flushed = tokio::task::spawn_blocking(move || provider.shutdown());
    flushed.await.unwrap().unwrap();

    let http = app.addresses.http;
    settled(&app).await;
    let spans = query(http, "SELECT service_name, operation, request_model, question, answer, input_tokens, status_code, dialect FROM spans").await;
    assert_eq!(spans.len(), 1);
    let row = &spans[0];
    assert_eq!((row["service_name"].as_str(), row["operation"].as_str()), (Some("kitchen"), Some("llm")));
    assert_eq!((row["request_model"].as_str(), row["input_tokens"].as_i64()), (Some("gpt-x"), Some(12)));
    assert_eq!(row["question"], "How long may I return a blender?");
    assert_eq!((row["status_code"].as_str(), row["dialect"].as_str()), (Some("ok"), Some("otel_genai")));

    let pii = query(
        http,
        "SELECT passed, label, rationale, inclusion_probability FROM scores WHERE metric = 'pii_leakage'",
    )
    .await;
    assert_eq!((pii.len(), pii[0]["passed"].as_bool()), (1, Some(false)));
    assert_eq!(pii[0]["inclusion_probability"], 1.0);
    assert!(
        !pii[0]["rationale"].as_str().unwrap().contains("4111 1111 1111 1111"),
        "the card is written out: {pii:?}"
    );
    let grounded =
        query(http, "SELECT status, value, error FROM scores WHERE evaluator = 'groundedness'").await;
    assert_eq!((grounded[0]["status"].as_str(), grounded[0]["value"].is_null()), (Some("skipped"), true));
    assert!(grounded[0]["error"].as_str().unwrap().contains("context"), "{grounded:?}");
    let decided = query(http, "SELECT decision FROM decisions ORDER BY decided_at, decision").await;
    let decided: Vec<&str> = decided.iter().filter_map(|d| d["decision"].as_str()).collect();
    assert_eq!(decided, ["queued", "scored"]);
    app.stop().await.unwrap();
}

/// An acknowledged span is visible at once, before any file is written, and after a restart from files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_visible_hot_flushed_and_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = config(folder.path());
    settings.lake.flush_interval = std::time::Duration::from_mins(30);
    let app = start(settings).await;
    let spans = (0..50).map(|i| span(i, 0, vec![text("k", "v")])).collect();
    post(&app, request("visible", spans).encode_to_vec()).await;
    let acknowledged = std::time::Instant::now();
    let sql = "SELECT count(*) AS n FROM spans WHERE service_name = 'visible'";
    while count(app.addresses.http, sql).await != 50 {
        assert!(acknowledged.elapsed().as_secs() < 2, "an acknowledged span was not visible within 2 s");
    }
    let files = || parquet(&folder.path().join("lake/spans")).len();
    assert_eq!(files(), 0);
    settled(&app).await;
    app.stop().await.unwrap();
    assert!(files() > 0);

    let app = start(config(folder.path())).await;
    assert_eq!(count(app.addresses.http, sql).await, 50);
    let one = "SELECT count(*) AS n FROM spans WHERE trace_id = 'aaaaaaaaaaaaaaaa0000000000000007'";
    assert_eq!(count(app.addresses.http, one).await, 1);
    // Sent again after the restart, they are still the same spans.
    let spans = (0..50).map(|i| span(i, 0, vec![text("k", "v")])).collect();
    post(&app, request("visible", spans).encode_to_vec()).await;
    settled(&app).await;
    assert_eq!(count(app.addresses.http, sql).await, 50);
    app.stop().await.unwrap();
}

/// Content that comes as log records, before or after its span, stands on the span.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn log_records_meet_their_spans() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/otlp/otel-openai-v2-legacy-events");
    for logs_first in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        // The trace stays open however long the second request takes, and the next server decides about it at once.
        let (mut patient, long) = (config(folder.path()), std::time::Duration::from_mins(10));
        (patient.sample.idle, patient.sample.rootless_idle) = (long, long);
        let app = start(patient).await;
        let endpoint = format!("http://{}", app.addresses.otlp_http);
        let mut names = ["chat.pb", "chat.logs.pb"];
        if logs_first {
            names.reverse();
        }
        for name in names {
            let file = fixtures.join(name);
            groundline::cli::send_file(&endpoint, groundline::cli::Protocol::Http, &file).await.unwrap();
        }
        until("both are read", async || app.unfinished().0 == 0).await;
        app.stop().await.unwrap();
        let app = start(config(folder.path())).await;
        settled(&app).await;
        let rows =
            query(app.addresses.http, "SELECT question, answer FROM spans WHERE operation = 'llm'").await;
        assert_eq!(rows.len(), 1);
        assert!(
            rows[0]["question"].is_string() && rows[0]["answer"].is_string(),
            "logs first {logs_first}: {rows:?}"
        );
        let scored = count(
            app.addresses.http,
            "SELECT count(*) AS n FROM scores WHERE metric = 'toxicity' AND status = 'ok'",
        )
        .await;
        assert_eq!(scored, 1, "logs first {logs_first}");
        app.stop().await.unwrap();
    }
}

/// Evaluations that other systems send are rows of `scores`, once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn evaluations_from_elsewhere_are_scores() {
    let fixtures =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/otlp/otel-genai-openai-span");
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let endpoint = format!("http://{}", app.addresses.otlp_http);
    for _ in 0..2 {
        let file = fixtures.join("evaluation_result.logs.pb");
        groundline::cli::send_file(&endpoint, groundline::cli::Protocol::Http, &file).await.unwrap();
    }
    settled(&app).await;
    let rows = query(
        app.addresses.http,
        "SELECT metric, count(*) AS n FROM scores WHERE source = 'ingested' GROUP BY metric",
    )
    .await;
    assert!(!rows.is_empty());
    assert!(rows.iter().all(|row| row["n"] == 1), "{rows:?}");
    app.stop().await.unwrap();
}

async fn post(app: &groundline::app::App, body: Vec<u8>) {
    let response = reqwest::Client::new()
        .post(format!("http://{}/v1/traces", app.addresses.otlp_http))
        .header("content-type", "application/x-protobuf")
        .body(body)
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 200);
}
