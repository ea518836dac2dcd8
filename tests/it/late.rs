//! Spans that come after the decision: what they change is evaluated once more, what they do not change is not, crash or not.

use crate::support::{Process, config, count, query, send, settled, span, start, text, until};
use groundline::config::Config;
use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::{Value, json};
use std::time::Duration;

const RULE: &str = "
[[sample.rules]]
name = \"leaks\"
filter = \"operation IN ('llm', 'agent')\"
rate = 1.0
evaluators = [\"pii_leakage\"]
[[alerts]]
name = \"leaks\"
metric = \"pii_leakage\"
method = \"objective\"
objective = 0.9
min_n = 1
";

/// A model call with this answer; span 0 is the root, the others are its children.
fn call(trace: u64, number: u64, answer: &str) -> Span {
    let message = json!([{"role": "assistant", "parts": [{"type": "text", "content": answer}]}]);
    let attributes =
        vec![text("gen_ai.operation.name", "chat"), text("gen_ai.output.messages", &message.to_string())];
    let mut made = span(trace, number, attributes);
    if number > 0 {
        made.parent_span_id = 1_u64.to_be_bytes().to_vec();
    }
    made
}

const GOOD: &str = "All is well here.";
const LEAK: &str = "The card 4111 1111 1111 1111 was charged.";

fn quick(dir: &std::path::Path, rules: &str) -> Config {
    let mut made = Config::from_text("test", rules, std::iter::empty()).unwrap();
    let usual = config(dir);
    (made.server, made.ingest) = (usual.server, usual.ingest);
    (made.sample.idle, made.sample.rootless_idle) = (usual.sample.idle, usual.sample.rootless_idle);
    made.sample.late.debounce = Duration::from_millis(300);
    made.watch.lateness = Duration::ZERO;
    made
}

/// Version and verdict of all scores of a trace, the first version first. A leak has a row a kind beside that of the whole
/// answer, which is left out.
async fn versions(http: std::net::SocketAddr, trace: u64) -> Vec<(i64, bool)> {
    let sql = format!(
        "SELECT score_version, passed FROM scores WHERE trace_id = 'aaaaaaaaaaaaaaaa{trace:016x}' \
         AND metric = 'pii_leakage' ORDER BY score_version"
    );
    let rows = query(http, &sql).await;
    rows.iter()
        .map(|row| (row["score_version"].as_i64().unwrap(), row["passed"].as_bool().unwrap()))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_root_is_evaluated_once_more_with_the_probability_of_then() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(quick(folder.path(), RULE)).await;
    let (otlp, http) = (app.addresses.otlp_http, app.addresses.http);
    assert!(send(otlp, vec![call(1, 1, GOOD), call(2, 1, GOOD), call(3, 1, GOOD)]).await);
    until("three scores", async || count(http, "SELECT count(*) FROM scores").await == 3).await;
    // The root of the first says something else; the second says nothing new; the third is no model call.
    let plain = span(3, 7, Vec::new());
    assert!(send(otlp, vec![call(1, 0, LEAK), call(2, 2, GOOD), plain]).await);
    until("the second evaluation", async || versions(http, 1).await == [(1, true), (2, false)]).await;
    let done = "SELECT count(*) FROM scores_latest WHERE passed";
    until("the newest", async || count(http, done).await == 2).await;
    let decided = "SELECT decision, reason, inclusion_probability FROM decisions WHERE trace_id = \
                   'aaaaaaaaaaaaaaaa0000000000000001' ORDER BY decided_at";
    let rows = query(http, decided).await;
    let kinds: Vec<&str> = rows.iter().map(|row| row["decision"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["queued", "scored", "queued", "scored"], "{rows:?}");
    assert_eq!(rows[2]["reason"], "spans came late: evaluation 2");
    assert!(rows.iter().all(|row| row["inclusion_probability"] == 1.0), "{rows:?}");
    // Its bet was settled: alerts count the first evaluation alone.
    let alerts = async || -> Value {
        reqwest::get(format!("http://{http}/v1/alerts")).await.unwrap().json().await.unwrap()
    };
    until("the first evaluations", async || alerts().await["alerts"][0]["n"] == 3).await;
    // As often as the configuration says, and no more.
    assert!(send(otlp, vec![call(1, 2, GOOD), call(1, 3, GOOD)]).await);
    settled(&app).await;
    let metrics =
        async || reqwest::get(format!("http://{http}/metrics")).await.unwrap().text().await.unwrap();
    let looked = "groundline_late_traces_total{outcome=\"unchanged\"}";
    until("the looks", async || metrics().await.lines().any(|line| line.starts_with(looked))).await;
    assert_eq!(versions(http, 2).await, [(1, true)]);
    let seen = "SELECT final_until > (SELECT max(evaluated_at) FROM scores) AS is_final FROM watermarks \
                WHERE table_name = 'alerts'";
    until("the alerts", async || query(http, seen).await[0]["is_final"] == true).await;
    let counted = alerts().await;
    assert_eq!(counted["alerts"][0]["n"], 3, "{counted}");
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_not_selected_is_not_evaluated_however_late_it_comes() {
    let folder = tempfile::tempdir().unwrap();
    let none = RULE.replace("rate = 1.0", "rate = 1e-9");
    let app = start(quick(folder.path(), &none)).await;
    let (otlp, http) = (app.addresses.otlp_http, app.addresses.http);
    assert!(send(otlp, vec![call(1, 1, GOOD)]).await);
    let decided = "SELECT count(*) FROM decisions WHERE decision = 'not_sampled'";
    until("the decision", async || count(http, decided).await == 1).await;
    assert!(send(otlp, vec![call(1, 0, LEAK), call(2, 0, GOOD)]).await);
    until("the next decision", async || count(http, decided).await == 2).await;
    settled(&app).await;
    assert_eq!(count(http, "SELECT count(*) FROM decisions").await, 2);
    assert_eq!(count(http, "SELECT count(*) FROM scores").await, 0);
    app.stop().await.unwrap();
}

/// The spans wait in the journal until what follows from them is durable: a crash loses none, and repeats none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_nine_loses_no_late_span_and_evaluates_none_twice() {
    let folder = tempfile::tempdir().unwrap();
    let text = |debounce: &str| {
        format!(
            "[sample]\nrootless_idle = \"500ms\"\n{RULE}[sample.late]\ndebounce = \"{debounce}\"\nmax_per_minute = 1000\n"
        )
    };
    let mut server = Process::start_with(folder.path(), &text("5m"));
    let traces = 1..=5_u64;
    let early = traces.clone().map(|n| call(n, 1, GOOD)).collect();
    assert!(send(server.otlp_http, early).await);
    until("the scores", async || count(server.http, "SELECT count(*) FROM scores").await == 5).await;
    let late = traces.clone().map(|n| call(n, 0, LEAK)).collect();
    assert!(send(server.otlp_http, late).await);
    let there = "SELECT count(*) FROM spans";
    until("the late spans", async || count(server.http, there).await == 10).await;
    // They wait for five minutes when the server dies.
    for debounce in ["5m", "200ms", "200ms"] {
        server.kill();
        server = Process::start_with(folder.path(), &text(debounce));
    }
    let all = async || {
        let mut found = Vec::new();
        for trace in traces.clone() {
            found.push(versions(server.http, trace).await);
        }
        found
    };
    until("the second evaluations", async || all().await.iter().all(|one| one.len() >= 2)).await;
    server.kill();
    let server = Process::start_with(folder.path(), &text("200ms"));
    // What comes after them is looked at after them.
    assert!(send(server.otlp_http, vec![call(9, 1, GOOD)]).await);
    until("another score", async || versions(server.http, 9).await.len() == 1).await;
    assert!(send(server.otlp_http, vec![call(9, 0, LEAK)]).await);
    until("its second evaluation", async || versions(server.http, 9).await.len() == 2).await;
    for trace in traces.clone() {
        assert_eq!(versions(server.http, trace).await, [(1, true), (2, false)], "trace {trace}");
    }
}

/// A model call that took ten minutes is not late by that: the lag counts from when it ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lag_of_evaluation_counts_from_the_end_of_the_span() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(quick(folder.path(), RULE)).await;
    let http = app.addresses.http;
    let mut long = call(1, 0, GOOD);
    long.start_time_unix_nano -= 600_000_000_000;
    assert!(send(app.addresses.otlp_http, vec![long]).await);
    until("the score", async || count(http, "SELECT count(*) FROM scores").await == 1).await;
    let lag = "SELECT lag_p50_s, lag_p99_s FROM evaluation_hourly WHERE scored = 1";
    until("the lag", async || query(http, lag).await.len() == 1).await;
    let rows = query(http, lag).await;
    for column in ["lag_p50_s", "lag_p99_s"] {
        let seconds = rows[0][column].as_f64().unwrap();
        assert!((0.0..300.0).contains(&seconds), "{column}: {rows:?}");
    }
    app.stop().await.unwrap();
}
