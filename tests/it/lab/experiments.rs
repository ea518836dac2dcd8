//! Experiments over HTTP: keyed runs, scores that production does not see, and the comparison of two.

use super::{done, send};
use crate::access::{tokens, with_tokens};
use crate::support::{config, count, query, settled, span, start, text, until};
use groundline::app::App;
use groundline::net::Role;
use serde_json::{Value as Json, json};

/// A dataset `d` of so many items; their ids, in order.
async fn dataset(app: &App, items: usize) -> Vec<String> {
    done(app, "POST", "datasets", &json!({"name": "d"})).await;
    let put: Vec<Json> = (0..items)
        .map(|n| json!({"external_id": n.to_string(), "input": format!("Question {n}?"), "expected": format!("answer number {n}")}))
        .collect();
    done(app, "POST", "datasets/d/items", &json!({ "put": put })).await;
    let rows = query(app.addresses.http, "SELECT item_id FROM dataset_at('d') ORDER BY ordinal").await;
    rows.iter().map(|row| row["item_id"].as_str().unwrap().to_owned()).collect()
}

async fn experiment(app: &App, name: &str, repetitions: u32) -> String {
    let body = json!({"name": name, "dataset": "d", "target": {"kind": "function", "commit": name},
        "evaluators": ["rouge"], "repetitions": repetitions});
    let made = done(app, "POST", "experiments", &body).await;
    made["experiment_id"].as_str().unwrap().to_owned()
}

fn right(item: &str, n: usize, repetition: u32) -> Json {
    json!({"item_id": item, "repetition": repetition, "output": format!("answer number {n}"), "duration_ms": 12.5,
        "input_tokens": 3, "scores": [{"name": "mine", "value": 1.0, "passed": true}]})
}

/// Spans that nobody sent.
const MADE: &str = "SELECT count(*) FROM spans WHERE scope_name = 'groundline.lab'";

/// Nobody sent a span: each of two runs gets one.
async fn each_run_has_a_span(http: std::net::SocketAddr) {
    until("spans of two runs", async || count(http, MADE).await == 2).await;
    let spans = query(
        http,
        "SELECT s.operation, s.question, s.answer, s.input_tokens, s.duration_ns, s.status_code FROM spans s \
         JOIN runs r USING (trace_id, span_id) ORDER BY s.status_code DESC",
    )
    .await;
    assert_eq!(
        json!(spans),
        json!([{"operation": "llm", "question": "Question 0?", "answer": "answer number 0", "input_tokens": 3,
            "duration_ns": 12_500_000, "status_code": "ok"},
            {"operation": "llm", "question": "Question 1?", "answer": null, "input_tokens": null, "duration_ns": 0,
            "status_code": "error"}])
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_stored_once_and_what_is_missing_can_be_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = config(folder.path());
    settings.lab.span_after = std::time::Duration::ZERO;
    let app = start(settings.clone()).await;
    let items = dataset(&app, 3).await;
    let id = experiment(&app, "v1", 2).await;
    let path = format!("experiments/{id}/runs");
    let todo = done(&app, "GET", &format!("experiments/{id}/todo"), &Json::Null).await;
    assert_eq!(todo.as_array().unwrap().len(), 6);
    assert_eq!((&todo[0]["item_id"], &todo[0]["input"]), (&json!(items[0]), &json!("Question 0?")));
    assert_eq!(todo[0]["traceparent"].as_str().unwrap().len(), 55);

    let some = json!([right(&items[0], 0, 1), {"item_id": items[1], "error": "the target was away"},
        {"item_id": "nobody", "output": "x"}, {"item_id": items[2]}, {"item_id": items[2], "repetition": 3, "output": "x"},
        {"item_id": items[2], "run_id": todo[0]["run_id"], "output": "x"}]);
    let answer = done(&app, "POST", &path, &some).await;
    assert_eq!(
        (&answer["stored"], &answer["missing"], &answer["status"]),
        (&json!(2), &json!(4), &json!("running"))
    );
    let refused: Vec<u64> =
        answer["refused"].as_array().unwrap().iter().map(|r| r["item"].as_u64().unwrap()).collect();
    assert_eq!(refused, [3, 4, 5, 6]);
    let again = done(&app, "POST", &path, &json!([right(&items[0], 0, 1), right(&items[0], 0, 1)])).await;
    assert_eq!((&again["stored"], &again["duplicate"]), (&json!(0), &json!(2)));

    each_run_has_a_span(app.addresses.http).await;

    // It goes on after a restart, and what failed is asked again as another attempt.
    app.stop().await.unwrap();
    let app = start(settings).await;
    let todo = done(&app, "GET", &format!("experiments/{id}/todo"), &Json::Null).await;
    assert_eq!(todo.as_array().unwrap().len(), 4);
    let rest: Vec<Json> = todo
        .as_array()
        .unwrap()
        .iter()
        .map(|run| json!({"item_id": run["item_id"], "repetition": run["repetition"], "output": "answer"}))
        .collect();
    let ended = done(&app, "POST", &path, &json!(rest)).await;
    assert_eq!((&ended["missing"], &ended["status"]), (&json!(0), &json!("success")));
    let todo = done(&app, "GET", &format!("experiments/{id}/todo?retry=errors"), &Json::Null).await;
    assert_eq!((todo.as_array().unwrap().len(), &todo[0]["attempt"]), (1, &json!(2)));
    let retried = json!([{"item_id": items[1], "attempt": 2, "output": "answer number 1"}]);
    assert_eq!(done(&app, "POST", &path, &retried).await["stored"], 1);
    let summary = done(&app, "GET", &format!("experiments/{id}/summary"), &Json::Null).await;
    assert_eq!((&summary["summary"]["done"], &summary["summary"]["errors"]), (&json!(6), &json!(0)));
    let metrics = summary["summary"]["metrics"].as_array().unwrap();
    assert!(
        metrics.iter().any(|metric| metric["metric"] == "mine" && metric["evaluator"] == "client/mine"),
        "{summary}"
    );
    let rows = "SELECT count(*) FROM runs_latest WHERE status = 'error'";
    assert_eq!(count(app.addresses.http, rows).await, 0);
    assert_eq!(count(app.addresses.http, "SELECT count(*) FROM runs").await, 7);
    // Those of before the restart are not made again.
    let last = "SELECT count(*) FROM spans JOIN runs USING (trace_id) WHERE attempt = 2";
    until("the span of the last attempt", async || count(app.addresses.http, last).await == 1).await;
    until("a span of each run", async || count(app.addresses.http, MADE).await >= 7).await;
    assert_eq!(count(app.addresses.http, MADE).await, 7);
    let cancelled = done(&app, "PATCH", &format!("experiments/{id}"), &json!({"status": "cancelled"})).await;
    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(send(&app, "POST", &path, None, &json!([])).await.0, 400);
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn regressions_come_first_and_a_baseline_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let items = dataset(&app, 12).await;
    for name in ["v1", "v2"] {
        let id = experiment(&app, name, 1).await;
        let answers: Vec<Json> = items
            .iter()
            .enumerate()
            .map(|(n, item)| {
                let is_wrong = if name == "v1" { n == 5 } else { n == 2 || n == 3 };
                let mut answer = right(item, n, 1);
                answer["scores"][0]["passed"] = json!(!is_wrong);
                if is_wrong {
                    answer["output"] = json!("something else");
                }
                answer
            })
            .collect();
        let stored = done(&app, "POST", &format!("experiments/{id}/runs"), &json!(answers)).await;
        assert_eq!((&stored["stored"], &stored["status"]), (&json!(12), &json!("success")));
    }
    let told = done(&app, "GET", "compare?new=v2", &Json::Null).await;
    assert_eq!((&told["baseline"]["name"], &told["comparison"]["paired"]), (&json!("v1"), &json!(12)));
    let moved = told["comparison"]["items"].as_array().unwrap();
    let kinds: Vec<&str> = moved.iter().map(|item| item["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["regression", "regression", "improvement"], "{told}");
    let mine =
        told["comparison"]["metrics"].as_array().unwrap().iter().find(|m| m["metric"] == "mine").unwrap();
    assert!((mine["difference"].as_f64().unwrap() + 1.0 / 12.0).abs() < 1e-9, "{mine}");
    assert_eq!((&mine["measure"], &mine["verdict"]), (&json!("pass_rate"), &json!("no difference shown")));
    let csv =
        done(&app, "GET", "export?experiments=v1,v2&part=llm-eval-results&format=csv", &Json::Null).await;
    let csv = csv.as_str().unwrap();
    assert!(csv.starts_with("key,input,corpus,context,") && csv.lines().count() == 25, "{csv}");
    assert!(csv.lines().nth(1).unwrap().contains(",answer number 0,"), "{csv}");
    let board = done(&app, "GET", "export?experiments=v1,v2&part=llm-bool-leaderboard", &Json::Null).await;
    let metric =
        board["metrics"].as_array().unwrap().iter().find(|metric| metric["metric"] == "mine").unwrap();
    assert_eq!(metric["models"][1]["shares"]["failures"]["estimate"], json!(2.0 / 12.0), "{metric}");
    let wrong = send(&app, "GET", "export?experiments=v1&part=insights&format=html", None, &Json::Null).await;
    assert!(wrong.0 == 400 && wrong.1["error"].as_str().unwrap().contains("insights is json"), "{wrong:?}");
    let zip = folder.path().join("all.zip").display().to_string();
    let url = format!("http://{}", app.addresses.http);
    let args = ["experiment", "export", "v1", "v2", "--part", "work-dir-archive", "--output", &zip];
    super::verbs::well(&args, &["--url", &url]).await;
    let bytes = std::fs::read(&zip).unwrap();
    let has = |name: &str| bytes.windows(name.len()).any(|part| part == name.as_bytes());
    for name in [
        "llm-eval-results/llm-eval-results.csv",
        "llm-heatmap-leaderboard/explanation.json",
        "llm-bool-leaderboard/leaderboard.html",
        "llm-classification-leaderboard/leaderboard.md",
        "problems_and_actions.json",
        "insights.json",
    ] {
        assert!(has(name), "{name}");
    }
    let other = send(&app, "GET", "compare?new=v2&baseline=nothing", None, &Json::Null).await;
    assert_eq!(other.0, 404, "{other:?}");
    app.stop().await.unwrap();
}

/// A nightly suite must not move what is watched: quality views, gauges and alerts speak of production alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_production_number_counts_an_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(folder.path());
    config.watch.quality_interval = std::time::Duration::from_millis(100);
    config.lab.span_after = std::time::Duration::ZERO;
    let told = "[[sample.rules]]\nname = \"all\"\nfilter = \"operation = 'llm'\"\nrate = 1.0\nevaluators = [\"looping\"]\n\
        [[alerts]]\nname = \"answers\"\nmetric = \"rouge_l\"\nmethod = \"objective\"\nobjective = 0.9\n";
    let told = groundline::config::Config::from_text("f", told, std::iter::empty()).unwrap();
    (config.alerts, config.sample.rules) = (told.alerts, told.sample.rules);
    let app = start(config).await;
    let items = dataset(&app, 20).await;
    let id = experiment(&app, "nightly", 1).await;
    // What the target did is sent under the ids that it was given, but for one run.
    let todo = done(&app, "GET", &format!("experiments/{id}/todo"), &Json::Null).await;
    let parents = todo.as_array().unwrap().iter().map(|run| run["traceparent"].as_str().unwrap());
    let spans: Vec<_> =
        parents.skip(1).map(|parent| answered(Some(parent), "Wrong. Wrong. Wrong. Wrong.")).collect();
    assert!(crate::support::send(app.addresses.otlp_http, spans).await);
    settled(&app).await;
    let bad: Vec<Json> = items.iter().map(|item| json!({"item_id": item, "output": "wrong"})).collect();
    done(&app, "POST", &format!("experiments/{id}/runs"), &json!(bad)).await;
    settled(&app).await;
    let http = app.addresses.http;
    let scored = "SELECT count(*) FROM scores WHERE source = 'experiment' AND experiment_id IS NOT NULL AND run_id IS NOT NULL";
    assert!(count(http, scored).await >= 20);
    for view in ["scores_latest", "quality_hourly", "quality_by_model", "evaluator_quality", "alerts"] {
        assert_eq!(count(http, &format!("SELECT count(*) FROM {view}")).await, 0, "{view}");
    }
    let metrics = reqwest::get(format!("http://{http}/metrics")).await.unwrap().text().await.unwrap();
    let of =
        |name: &str| metrics.lines().filter(|line| line.contains(name) && !line.starts_with('#')).count();
    assert_eq!(of("rouge"), 0, "{metrics}");
    // Gauges of other evaluators are those of the tests beside this one, too: all are filled from `scores_latest`.
    // They are there, with their runs, and can be told apart; sampling says why it left them out.
    let kept = "SELECT count(*) FROM traces t JOIN runs_latest r USING (trace_id) WHERE t.is_experiment";
    until("the spans of all runs", async || count(http, kept).await == 20).await;
    let left_out =
        "SELECT count(*) FROM decisions WHERE decision = 'filtered' AND reason LIKE '%experiment%'";
    until("why each was left out", async || count(http, left_out).await == 20).await;
    assert_eq!(count(http, MADE).await, 1);
    assert_eq!(count(http, "SELECT count(*) FROM scores WHERE source <> 'experiment'").await, 0);
    assert_eq!(count(http, "SELECT coalesce(sum(eligible), 0) FROM evaluation_hourly").await, 0);
    // Production beside it is judged as ever, and alone.
    assert!(crate::support::send(app.addresses.otlp_http, vec![answered(None, "One. Two. Three.")]).await);
    settled(&app).await;
    let judged = "SELECT count(DISTINCT trace_id) FROM scores_latest WHERE NOT is_experiment(trace_id)";
    until("what production said is judged", async || count(http, judged).await == 1).await;
    assert_eq!(count(http, "SELECT sum(eligible) FROM evaluation_hourly").await, 1);
    app.stop().await.unwrap();
}

/// A model call with an answer, in the trace and under the span of a `traceparent` if there is one.
fn answered(parent: Option<&str>, said: &str) -> opentelemetry_proto::tonic::trace::v1::Span {
    let said =
        format!("[{{\"role\":\"assistant\",\"parts\":[{{\"type\":\"text\",\"content\":\"{said}\"}}]}}]");
    let attributes = vec![text("gen_ai.operation.name", "chat"), text("gen_ai.output.messages", &said)];
    let mut call = span(1, 1, attributes);
    if let Some(parent) = parent {
        call.trace_id = hex::decode(&parent[3..35]).unwrap();
        call.parent_span_id = hex::decode(&parent[36..52]).unwrap();
    }
    call
}

/// What production answered is judged from the spans that are there; nothing is asked and nothing is copied.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stored_traces_are_answers() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let message = |role: &str, said: &str| {
        format!("[{{\"role\":\"{role}\",\"parts\":[{{\"type\":\"text\",\"content\":\"{said}\"}}]}}]")
    };
    let call = |n: u64| {
        span(
            n,
            0,
            vec![
                text("gen_ai.operation.name", "chat"),
                text("gen_ai.input.messages", &message("user", "Where?")),
                text("gen_ai.output.messages", &message("assistant", &format!("Place {n}."))),
            ],
        )
    };
    assert!(crate::support::send(app.addresses.otlp_http, (1..=3).map(call).collect()).await);
    settled(&app).await;
    let sql = "SELECT question AS input, trace_id, span_id FROM spans";
    done(&app, "POST", "datasets/d/import?create=true&keep_duplicates=true", &json!({ "sql": sql })).await;
    done(&app, "POST", "datasets/d/items", &json!({"put": [{"input": "of no trace"}]})).await;
    let body =
        json!({"name": "production", "dataset": "d", "target": {"kind": "trace"}, "evaluators": ["looping"]});
    let id = done(&app, "POST", "experiments", &body).await["experiment_id"].as_str().unwrap().to_owned();
    let told = done(&app, "POST", &format!("experiments/{id}/run"), &json!({})).await;
    assert_eq!((&told["stored"], &told["missing"]), (&json!(4), &json!(0)));
    let rows = query(
        app.addresses.http,
        "SELECT r.output, r.error FROM runs r JOIN spans s USING (trace_id, span_id) ORDER BY 1",
    )
    .await;
    assert_eq!(
        rows.iter().map(|row| row["output"].as_str().unwrap()).collect::<Vec<_>>(),
        ["\"Place 1.\"", "\"Place 2.\"", "\"Place 3.\""]
    );
    let failed = query(app.addresses.http, "SELECT error FROM runs WHERE status = 'error'").await;
    assert!(
        failed.len() == 1 && failed[0]["error"].as_str().unwrap().contains("names no trace"),
        "{failed:?}"
    );
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_experiment_belongs_to_a_tenant() {
    let folder = tempfile::tempdir().unwrap();
    let who = tokens(&[
        ("lab-a", Some("a"), &[Role::Lab, Role::Query]),
        ("lab-b", Some("b"), &[Role::Lab, Role::Query]),
        ("read-a", Some("a"), &[Role::Query]),
    ]);
    let app = with_tokens(folder.path(), &who).await;
    let body = json!({"name": "v1", "dataset": "d", "target": {"kind": "function"}, "evaluators": ["rouge"]});
    assert_eq!(send(&app, "POST", "datasets", Some("lab-a"), &json!({"name": "d"})).await.0, 200);
    let empty = send(&app, "POST", "experiments", Some("lab-a"), &body).await;
    assert!(empty.0 == 400 && empty.1["error"].as_str().unwrap().contains("no items"), "{empty:?}");
    send(&app, "POST", "datasets/d/items", Some("lab-a"), &json!({"put": [{"input": "q"}]})).await;
    let lacking = send(&app, "POST", "experiments", Some("lab-a"), &body).await;
    assert!(
        lacking.0 == 400 && lacking.1["error"].as_str().unwrap().contains("rouge: needs expected"),
        "{lacking:?}"
    );
    send(&app, "POST", "datasets/d/items", Some("lab-a"), &json!({"put": [{"input": "r", "expected": "s"}]}))
        .await;
    let id = send(&app, "POST", "experiments", Some("lab-a"), &body).await.1["experiment_id"]
        .as_str()
        .unwrap()
        .to_owned();
    for (token, method, path, sent, status) in [
        ("lab-b", "POST", "experiments".to_owned(), body.clone(), 404),
        ("lab-b", "GET", format!("experiments/{id}"), Json::Null, 404),
        ("lab-b", "POST", format!("experiments/{id}/runs"), json!([]), 404),
        ("read-a", "GET", format!("experiments/{id}/summary"), Json::Null, 200),
        ("read-a", "POST", format!("experiments/{id}/runs"), json!([]), 403),
    ] {
        let (got, answer) = send(&app, method, &path, Some(token), &sent).await;
        assert_eq!(got, status, "{token} {method} {path}: {answer}");
    }
    let wrong = json!({"name": "", "dataset": "d", "target": {"kind": "oracle"}, "evaluators": ["nothing"]});
    let (status, told) = send(&app, "POST", "experiments", Some("lab-a"), &wrong).await;
    assert_eq!((status, told["faults"].as_array().unwrap().len()), (400, 3), "{told}");
    app.stop().await.unwrap();
}
