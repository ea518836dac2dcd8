//! Up to when numbers are final: what is told is kept.

use crate::support::{config, query, send, settled, span, start, text, until};
use groundline::app::App;
use serde_json::Value as Json;
use std::time::{Duration, Instant};

/// A model call.
fn call(n: u64) -> opentelemetry_proto::tonic::trace::v1::Span {
    let message = r#"[{"role":"assistant","parts":[{"type":"text","content":"All is well here."}]}]"#;
    span(n, 1, vec![text("gen_ai.operation.name", "chat"), text("gen_ai.output.messages", message)])
}

async fn server(dir: &std::path::Path, idle: Duration, lateness: Duration) -> App {
    let mut made = config(dir);
    made.sample.rules[0].evaluators = vec!["pii_leakage".to_owned()];
    (made.sample.idle, made.sample.rootless_idle, made.watch.lateness) = (idle, idle, lateness);
    start(made).await
}

/// The watermark of a table, microseconds, and what it waits for; 0 before the first look.
async fn mark(app: &App, table: &str) -> (i64, String) {
    let sql = format!(
        "SELECT CAST(final_until AS BIGINT) AS t, waits_for FROM watermarks WHERE table_name = '{table}'"
    );
    let rows = query(app.addresses.http, &sql).await;
    (rows[0]["t"].as_i64().unwrap_or_default(), rows[0]["waits_for"].as_str().unwrap_or_default().to_owned())
}

/// When the first span began, microseconds.
async fn began(app: &App) -> i64 {
    let sql = "SELECT CAST(min(start_time) AS BIGINT) / 1000 AS t FROM spans";
    query(app.addresses.http, sql).await[0]["t"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_open_trace_keeps_scores_from_being_final_and_not_spans() {
    let folder = tempfile::tempdir().unwrap();
    // The trace is not decided about while the server runs, and its span is not late.
    let app = server(folder.path(), Duration::from_mins(10), Duration::from_secs(5)).await;
    assert!(send(app.addresses.otlp_http, vec![call(1)]).await);
    until("the watermark of spans", async || {
        let (spans, waits) = mark(&app, "spans").await;
        spans > began(&app).await && waits == "senders"
    })
    .await;
    for table in ["decisions", "scores", "alerts"] {
        until("the open trace", async || mark(&app, table).await.1 == "open traces").await;
        assert!(mark(&app, table).await.0 <= began(&app).await, "{table}");
    }
    app.stop().await.unwrap();
    // The next one decides about it at once.
    let app = server(folder.path(), Duration::from_millis(300), Duration::ZERO).await;
    until("the watermark of scores", async || mark(&app, "scores").await.0 > began(&app).await).await;
    assert_eq!(query(app.addresses.http, "SELECT count(*) AS n FROM scores").await[0]["n"], 1);
    until("the watermark of alerts", async || mark(&app, "alerts").await.0 > began(&app).await).await;
    let status: Json =
        reqwest::get(format!("http://{}/v1/status", app.addresses.http)).await.unwrap().json().await.unwrap();
    let told = status["watermarks"].as_array().unwrap();
    assert_eq!(told.len(), 5, "{told:?}");
    assert!(
        told.iter().all(|mark| mark["final_until"].is_string() && mark["lag_seconds"].is_number()),
        "{told:?}"
    );
    app.stop().await.unwrap();
}

/// While traces come all the time: every span before the watermark that came in time has its scores.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn before_the_watermark_nothing_is_missing() {
    const LATENESS: Duration = Duration::from_secs(2);
    let folder = tempfile::tempdir().unwrap();
    let app = server(folder.path(), Duration::from_millis(300), LATENESS).await;
    let (http, otlp) = (app.addresses.http, app.addresses.otlp_http);
    let (mut late, mut looked, mut last) = (Vec::new(), 0, 0);
    for n in 0..4_000 {
        // So many, and as many more as it takes to see it move.
        if n >= 40 && looked > 1 {
            break;
        }
        let began = Instant::now();
        let span = call(n);
        assert!(send(otlp, vec![span]).await);
        if began.elapsed() + Duration::from_millis(100) > LATENESS {
            late.push(format!("'{}{n:016x}'", "aa".repeat(8)));
        }
        let until = mark(&app, "scores").await.0;
        if until == 0 {
            continue;
        }
        assert!(until >= last, "it went back from {last} to {until}");
        let excused = if late.is_empty() { "''".to_owned() } else { late.join(", ") };
        let missing = format!(
            "SELECT count(*) AS n FROM spans WHERE CAST(start_time AS BIGINT) / 1000 < {until} \
             AND trace_id NOT IN ({excused}) AND trace_id NOT IN (SELECT trace_id FROM scores)"
        );
        assert_eq!(query(http, &missing).await[0]["n"], 0, "before {until}");
        looked += usize::from(until > last);
        last = until;
    }
    assert!(looked > 1, "the watermark did not move: the test saw nothing");
    settled(&app).await;
    // A result says how final it is: as final as the least final table that it reads.
    let asked = async |sql: &str| -> Json {
        let client = reqwest::Client::new().post(format!("http://{http}/v1/sql"));
        let sent =
            client.header("accept", "application/json; shape=columns").json(&serde_json::json!({"sql": sql}));
        sent.send().await.unwrap().json().await.unwrap()
    };
    let scores = asked("SELECT count(*) FROM quality_hourly").await;
    let told = chrono::DateTime::parse_from_rfc3339(scores["final_until"].as_str().unwrap()).unwrap();
    assert!(told.timestamp_micros() >= last, "{scores}");
    assert_eq!(asked("SELECT count(*) FROM annotations").await["final_until"], Json::Null);
    app.stop().await.unwrap();
}
