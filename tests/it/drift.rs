//! The whole way of a drift: an application whose share of hallucinated answers moves from 5 to 15 % and back, sent as real
//! OTLP and judged by the real evaluator, told to the real Alertmanager.

use crate::alerts::Alertmanager;
use crate::support::{Process, query, until};
use groundline::ingest::decode::from_protobuf;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::AnyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use prost::Message;
use serde_json::json;
use std::net::SocketAddr;
use std::path::Path;

/// With at most 7 % failures it ever fires with probability 1 %, whichever slice.
const WATCHED: &str = "
[[sample.rules]]
name = \"answers\"
filter = \"operation = 'llm'\"
rate = 1.0
evaluators = [\"hallucination\"]
[[alerts]]
name = \"hallucination-drift\"
metric = \"hallucination\"
slices = [\"request_model\"]
method = \"objective\"
objective = 0.93
alpha = 0.01
min_n = 50
receivers = [\"am\"]
[drift]
repeat_interval = \"1s\"
[watch]
lateness = \"0s\"
";

/// Answers of a chunk. Three of four are the model's that will drift.
const CHUNK: u32 = 40;
/// A week of good answers, as far as their times say.
const WEEK: u32 = 160;
/// More bad answers than the alert can need.
const MOST: u32 = 1_200;

/// An application that answers from a document: two captured requests of a real library, whose answers follow from the document
/// and contradict it.
struct Application {
    otlp: SocketAddr,
    right: ExportTraceServiceRequest,
    wrong: ExportTraceServiceRequest,
    /// Answers so far, and those of each model in the present phase.
    sent: u32,
    of_phase: [u32; 2],
}

impl Application {
    fn new(otlp: SocketAddr) -> Self {
        let capture = |name: &str| {
            let folder =
                Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/otlp/otel-openai-v2-latest-span");
            from_protobuf(&std::fs::read(folder.join(name)).unwrap()).unwrap()
        };
        let (right, wrong) = (capture("rag_grounded.pb"), capture("rag_contradiction.pb"));
        Self { otlp, right, wrong, sent: 0, of_phase: [0; 2] }
    }

    /// Sends answers; so many in a hundred of the model `drifts` are hallucinated, and 5 of the model `stays`. `ages` are how
    /// long ago the first and the last were given, hours.
    async fn answer(&mut self, count: u32, percent: u32, ages: (u32, u32)) {
        let mut all = ExportTraceServiceRequest::default();
        for n in 0..count {
            let (at, model, percent) = if n % 4 == 0 { (0, "stays", 5) } else { (1, "drifts", percent) };
            // Spread evenly: what chance does to alerts is the simulation's subject.
            let k = self.of_phase[at];
            let is_wrong = (k + 1) * percent / 100 > k * percent / 100;
            self.of_phase[at] += 1;
            self.sent += 1;
            let source = if is_wrong { &self.wrong } else { &self.right };
            let hours =
                f64::from(ages.0) + (f64::from(ages.1) - f64::from(ages.0)) * f64::from(n) / f64::from(count);
            all.resource_spans.extend(again(source, model, self.sent, hours).resource_spans);
        }
        let url = format!("http://{}/v1/traces", self.otlp);
        let sent = reqwest::Client::new().post(url).header("content-type", "application/x-protobuf");
        assert_eq!(sent.body(all.encode_to_vec()).send().await.unwrap().status(), 200);
    }
}

/// The request as another trace, by another model, so many hours ago.
fn again(
    request: &ExportTraceServiceRequest,
    model: &str,
    number: u32,
    hours: f64,
) -> ExportTraceServiceRequest {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let end = u64::try_from(now.as_nanos()).unwrap() - (hours * 3.6e12) as u64;
    let mut request = request.clone();
    for span in request.resource_spans.iter_mut().flat_map(|r| &mut r.scope_spans).flat_map(|s| &mut s.spans)
    {
        span.trace_id.truncate(12);
        span.trace_id.extend_from_slice(&number.to_be_bytes());
        (span.start_time_unix_nano, span.end_time_unix_nano) = (end - 1_000_000_000, end);
        for attribute in span.attributes.iter_mut().filter(|a| a.key == "gen_ai.request.model") {
            attribute.value = Some(AnyValue { value: Some(Value::StringValue(model.to_owned())) });
        }
    }
    request
}

/// Waits until all answers are judged, and the alerts have seen it; gives the rows of `alerts`.
async fn judged(server: &Process, sent: u32) -> Vec<serde_json::Value> {
    let scores = "SELECT count(*) AS n FROM scores WHERE metric = 'hallucination' AND status = 'ok'";
    until("all scores", async || query(server.http, scores).await[0]["n"] == sent).await;
    let seen = "SELECT final_until > (SELECT max(evaluated_at) FROM scores) AS is_final FROM watermarks \
                WHERE table_name = 'alerts'";
    until("the alerts", async || query(server.http, seen).await[0]["is_final"] == true).await;
    let rows = "SELECT state, slice, estimate, lower, threshold, n FROM alerts ORDER BY evaluated_at";
    query(server.http, rows).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hallucinations_from_5_to_15_percent_fire_once_and_end() {
    let folder = tempfile::tempdir().unwrap();
    let Some(manager) = Alertmanager::start(folder.path()).await else { return };
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let receiver = format!(
        "[[receivers]]\nname = \"am\"\nkind = \"alertmanager\"\nurl = \"http://{}\"\n",
        manager.address()
    );
    let text = format!("{WATCHED}{receiver}");
    let mut server = Process::start_with(&data, &text);
    let mut app = Application::new(server.otlp_http);
    // Nothing has changed: silence, all week long.
    app.answer(WEEK, 5, (7 * 24, 1)).await;
    assert_eq!(judged(&server, app.sent).await, Vec::<serde_json::Value>::new());
    assert!(manager.active().await.is_empty());
    let shares = "SELECT request_model AS model, count(*) AS n, count(*) FILTER (WHERE NOT passed) AS failed \
                  FROM scores WHERE metric = 'hallucination' GROUP BY 1 ORDER BY 1";
    assert_eq!(
        query(server.http, shares).await,
        [json!({"model": "drifts", "n": 120, "failed": 6}), json!({"model": "stays", "n": 40, "failed": 2}),]
    );
    // One of the models gets worse.
    app.of_phase = [0; 2];
    let mut rows = Vec::new();
    while rows.is_empty() {
        assert!(app.sent < MOST, "no alert after {} answers", app.sent);
        app.answer(CHUNK, 15, (0, 0)).await;
        rows = judged(&server, app.sent).await;
    }
    println!("fired {} answers after the change", app.sent - WEEK);
    assert_eq!(
        (rows.len(), &rows[0]["state"], &rows[0]["slice"]),
        (1, &json!("firing"), &json!("request_model=drifts"))
    );
    assert!(rows[0]["lower"].as_f64().unwrap() > 0.07, "{rows:?}");
    until("the alert", async || manager.active().await.len() == 1).await;
    let found = manager.active().await;
    assert_eq!(found[0]["labels"]["alertname"], "hallucination-drift");
    assert_eq!(found[0]["labels"]["slice"], "request_model=drifts");
    // A kill neither loses nor repeats it, and neither do more of the same.
    server.kill();
    let mut server = Process::start_with(&data, &text);
    app.otlp = server.otlp_http;
    app.answer(CHUNK, 15, (0, 0)).await;
    assert_eq!(judged(&server, app.sent).await, rows);
    assert_eq!(manager.active().await.len(), 1);
    // The share returns, and with it the silence.
    app.of_phase = [0; 2];
    let bad = app.sent;
    while rows.len() == 1 {
        assert!(app.sent < bad + MOST, "it does not end");
        app.answer(CHUNK, 5, (0, 0)).await;
        rows = judged(&server, app.sent).await;
    }
    println!("resolved {} answers after the share returned", app.sent - bad);
    assert_eq!(
        (rows.len(), &rows[1]["state"], &rows[1]["slice"]),
        (2, &json!("resolved"), &json!("request_model=drifts"))
    );
    until("the end", async || manager.active().await.is_empty()).await;
    server.kill();
}
