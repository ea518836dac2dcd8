//! LLM judges from the endpoints to the scores, over a scripted server that answers well, badly, late and not at all.

#[path = "judges/compacted.rs"]
mod compacted;
#[path = "judges/each.rs"]
mod each;
#[path = "judges/fair.rs"]
mod fair;
#[path = "judges/formulas.rs"]
mod formulas;
#[path = "judges/leaving.rs"]
mod leaving;
#[path = "judges/offline.rs"]
mod offline;
#[path = "judges/real.rs"]
mod real;
#[path = "judges/resumed.rs"]
mod resumed;
#[path = "judges/sealed.rs"]
mod sealed;
#[path = "judges/server.rs"]
pub mod server;
#[path = "judges/sessions.rs"]
mod sessions;
#[path = "judges/throughput.rs"]
mod throughput;

use crate::support::{Process, Reserved, config, query, send, settled, span, start, text, until};
use axum::http::StatusCode;
use groundline::app::App;
use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::{Value, json};
use server::{Act, INPUT_TOKENS, OUTPUT_TOKENS, QUESTION, Server};
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A rule with these evaluators, and one judge. Unless `more` says otherwise it is asked nothing but that: on a slow machine a test
/// may last until the first canaries.
fn configured(evaluators: &str, judge: SocketAddr, more: &str) -> String {
    let canaries = if more.contains("canary_interval") { "" } else { "canary_interval = \"0s\"\n" };
    format!(
        "[[sample.rules]]\nname = \"judged\"\nfilter = \"operation = 'llm'\"\nrate = 1.0\nevaluators = [{evaluators}]\n\
         [queue.slow]\nretry_backoff = \"100ms\"\n\
         [[judges]]\nname = \"main\"\nbase_url = \"http://{judge}/v1\"\nmodel = \"judge-model\"\n{canaries}{more}\n"
    )
}

fn read(text: &str) -> groundline::config::Config {
    groundline::config::Config::from_text("test", text, std::iter::empty()).unwrap()
}

async fn served(dir: &Path, text: &str) -> App {
    let (mut made, usual) = (read(text), config(dir));
    (made.server, made.sample.idle, made.sample.rootless_idle) =
        (usual.server, usual.sample.idle, usual.sample.rootless_idle);
    (made.ingest.grpc_listen, made.ingest.http_listen) = (usual.ingest.grpc_listen, usual.ingest.http_listen);
    start(made).await
}

fn call(n: u64) -> Span {
    let message = |role: &str, text: &str| {
        json!([{"role": role, "parts": [{"type": "text", "content": text}]}]).to_string()
    };
    let attributes = vec![
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.request.model", "answering-model"),
        text("gen_ai.input.messages", &message("user", QUESTION)),
        text("gen_ai.output.messages", &message("assistant", "Bram Stoker wrote Dracula.")),
    ];
    span(n, 1, attributes)
}

async fn ask(otlp: SocketAddr, calls: std::ops::Range<u64>) -> bool {
    send(otlp, calls.map(call).collect()).await
}

const SCORES: &str = "SELECT trace_id, evaluator, evaluator_version, metric, value, label, passed, status, error, rationale, source, attempt, \
                      judge_model, input_tokens, output_tokens, cost_usd FROM scores";

/// One rule with `safety`, `calls` of it, and what was stored.
async fn judged(server: &Server, calls: u64, more: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let app = served(folder.path(), &configured("\"safety\"", server.listen().await, more)).await;
    assert!(ask(app.addresses.otlp_http, 0..calls).await);
    settled(&app).await;
    let rows = query(app.addresses.http, SCORES).await;
    app.stop().await.unwrap();
    rows
}

fn sum(rows: &[Value], column: &str) -> i64 {
    rows.iter().filter_map(|row| row[column].as_i64()).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spans_become_scores_and_cost_is_counted_once() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::default());
    let key = folder.path().join("key");
    std::fs::write(&key, "sk-secret\n").unwrap();
    let more = format!(
        "api_key_file = {key:?}\nheaders = {{ x-team = \"search\" }}\nprice_input_usd = 1.0\nprice_output_usd = 10.0\n\
         [[eval.custom]]\nname = \"tone\"\nkind = \"answer\"\nprompt = \"Is {{{{answer}}}} polite?\"\n"
    );
    let evaluators = "\"pii_leakage\", \"safety\", \"relevance_to_query\", \"custom_answer/tone\"";
    let text = configured(evaluators, server.listen().await, &more);
    let app = served(folder.path(), &text).await;
    assert!(ask(app.addresses.otlp_http, 0..6).await);
    settled(&app).await;
    let http = app.addresses.http;
    let rows = query(http, &format!("{SCORES} WHERE evaluator <> 'pii_leakage'")).await;
    assert_eq!((rows.len(), server.requests()), (18, 18), "{rows:?}");
    for row in &rows {
        assert_eq!(
            (&row["status"], &row["source"], &row["passed"]),
            (&json!("ok"), &json!("rule"), &json!(true))
        );
        assert_eq!((&row["judge_model"], &row["label"]), (&json!("judge-model-0"), &json!("yes")));
        assert_eq!(row["input_tokens"], INPUT_TOKENS);
        // 100 × 1 + 20 × 10 dollars a million.
        assert!((row["cost_usd"].as_f64().unwrap() - 0.0003).abs() < 1e-12, "{row}");
    }
    let local = query(http, &format!("{SCORES} WHERE evaluator = 'pii_leakage'")).await;
    assert_eq!(
        local.iter().map(|row| row["trace_id"].to_string()).collect::<std::collections::BTreeSet<_>>().len(),
        6
    );
    assert!(local.iter().all(|row| row["judge_model"].is_null() && row["cost_usd"].is_null()));
    let (headers, body) = server.got.lock()[0].clone();
    assert!(headers["authorization"] == "Bearer sk-secret" && headers["x-team"] == "search", "{headers:?}");
    assert_eq!((&body["model"], &body["temperature"]), (&json!("judge-model"), &json!(0)));
    assert_eq!(body["response_format"]["json_schema"]["strict"], true);
    let metrics = reqwest::get(format!("http://{http}/metrics")).await.unwrap().text().await.unwrap();
    assert!(
        metrics.contains("groundline_judge_requests_total{judge=\"main\",outcome=\"answered\"}"),
        "{metrics}"
    );
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_judge_that_faults_is_asked_again_until_it_answers() {
    let wrong = Act::Says("{\"rationale\":\"x\",\"problems\":[\"bad\"],\"rating\":\"yes\"}");
    let acts =
        [Act::Status(500), Act::Busy(1), Act::Half, Act::Garbage, Act::Slowly(Duration::from_millis(300))];
    let server = Server::with(acts);
    let started = Instant::now();
    let rows = judged(&server, 1, "").await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((&rows[0]["status"], server.requests()), (&json!("ok"), 5));
    assert!(started.elapsed() > Duration::from_secs(1), "Retry-After is kept");
    assert_eq!(sum(&rows, "input_tokens"), INPUT_TOKENS, "answers that never came cost nothing");
    let server = Server::with([wrong.clone(), Act::Well]);
    let rows = judged(&server, 1, "").await;
    assert_eq!((rows.len(), &rows[0]["status"]), (1, &json!("ok")));
    assert_eq!(sum(&rows, "output_tokens"), 2 * OUTPUT_TOKENS, "both replies were paid for");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_verdict_is_an_error_and_never_a_pass() {
    for reply in [
        "yes",
        "{\"rationale\":\"x\",\"problems\":[\"bad\"],\"rating\":\"yes\"}",
        "{\"rating\":\"yes\"} {\"rating\":\"no\"}",
        "{\"rationale\":\"x\",\"problems\":[],\"rating\":true}",
        "",
    ] {
        let server = Server::with([Act::Says(reply), Act::Says(reply)]);
        let rows = judged(&server, 1, "").await;
        assert_eq!((rows.len(), server.requests()), (1, 2), "{reply}");
        assert_eq!(
            (&rows[0]["status"], &rows[0]["passed"], &rows[0]["value"]),
            (&json!("error"), &Value::Null, &Value::Null)
        );
        assert_eq!(sum(&rows, "input_tokens"), 2 * INPUT_TOKENS);
        assert!(rows[0]["error"].as_str().unwrap().contains("no verdict"), "{rows:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_hangs_is_given_up_and_made_again() {
    let server = Server::with([Act::Hang, Act::Hang]);
    // Longer than an answer takes on a busy machine.
    let rows = judged(&server, 2, "timeout = \"4s\"").await;
    assert_eq!((rows.len(), server.requests()), (2, 4), "{rows:?}");
    assert!(rows.iter().all(|row| row["status"] == "ok"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_asked_for_the_best_format_that_it_knows() {
    const SCHEMA: &str = "json_schema";
    const OBJECT: &str = "json_object";
    let (refused, faulted) = (StatusCode::BAD_REQUEST, StatusCode::INTERNAL_SERVER_ERROR);
    for (refuses, refusal, formats) in [
        (&[] as &'static [&'static str], refused, [SCHEMA, SCHEMA, SCHEMA, SCHEMA].as_slice()),
        (&[SCHEMA], refused, &[SCHEMA, OBJECT, OBJECT, OBJECT, OBJECT]),
        // Servers in Python say it as a fault of their own.
        (&[SCHEMA], faulted, &[SCHEMA, OBJECT, OBJECT, OBJECT, OBJECT]),
        (&[SCHEMA, OBJECT], refused, &[SCHEMA, OBJECT, "", "", "", ""]),
    ] {
        let server = Server { refuses, refusal, ..Server::default() };
        let rows = judged(&server, 4, "max_concurrent = 1").await;
        assert!(rows.len() == 4 && rows.iter().all(|row| row["status"] == "ok"), "{rows:?}");
        // What is refused is tried once.
        let got = server.got.lock();
        let asked: Vec<&str> = got
            .iter()
            .map(|(_, body)| body["response_format"]["type"].as_str().unwrap_or_default())
            .collect();
        assert_eq!(asked, formats);
        let with = got.iter().find(|(_, body)| body["response_format"]["type"] == OBJECT);
        assert!(with.is_none_or(|(_, body)| body["response_format"]["schema"]["required"][0] == "rationale"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_is_refused_is_an_error_that_says_so() {
    let server = Server::with([Act::Status(413)]);
    let rows = judged(&server, 1, "").await;
    assert_eq!((rows.len(), &rows[0]["status"], server.requests()), (1, &json!("error"), 1));
    assert!(rows[0]["error"].as_str().unwrap().contains("judge main: HTTP 413"), "{rows:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spent_budget_is_an_error_that_names_its_key() {
    let server = Server::default();
    // An answer costs 100 dollars: after two the third may not begin.
    let money = "max_concurrent = 1\nmax_output_tokens = 20\nprice_input_usd = 0.0\nprice_output_usd = 5e6\nmax_usd_per_day = 250.0";
    let (folder, text) =
        (tempfile::tempdir().unwrap(), configured("\"safety\"", server.listen().await, money));
    let today = || chrono::Utc::now().date_naive();
    let day = today();
    // A restart gives no new budget, and a new day does.
    for (calls, failed) in [(0..5, 3), (5..7, 5)] {
        let app = served(folder.path(), &text).await;
        assert!(ask(app.addresses.otlp_http, calls).await);
        settled(&app).await;
        let rows = query(app.addresses.http, SCORES).await;
        let errors: Vec<&str> = rows.iter().filter_map(|row| row["error"].as_str()).collect();
        if today() != day {
            return;
        }
        assert_eq!((rows.len(), errors.len(), server.requests()), (failed + 2, failed, 2), "{rows:?}");
        assert!(errors.iter().all(|error| error.contains("judges.max_usd_per_day = 250")), "{errors:?}");
        let cost: f64 = rows.iter().filter_map(|row| row["cost_usd"].as_f64()).sum();
        assert!((cost - 200.0).abs() < 1e-9);
        app.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_judge_stands_in() {
    let (server, closed) = (Server::default(), Reserved::new());
    let more = format!(
        "fallback = \"spare\"\n[[judges]]\nname = \"spare\"\nbase_url = \"http://{}/v1\"\nmodel = \"spare-model\"\ncanary_interval = \"0s\"",
        server.listen().await
    );
    let folder = tempfile::tempdir().unwrap();
    let app = served(folder.path(), &configured("\"safety\"", closed.address, &more)).await;
    assert!(ask(app.addresses.otlp_http, 0..8).await);
    settled(&app).await;
    let rows = query(app.addresses.http, SCORES).await;
    assert!(rows.len() == 8 && rows.iter().all(|row| row["status"] == "ok"), "{rows:?}");
    assert_eq!(server.requests(), 8);
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_judge_that_is_away_holds_up_nothing_local_and_judges_all_when_it_is_back() {
    let (folder, server, reserved) = (tempfile::tempdir().unwrap(), Server::default(), Reserved::new());
    let address = reserved.address;
    let app = served(folder.path(), &configured("\"pii_leakage\", \"safety\"", address, "")).await;
    let http = app.addresses.http;
    assert!(ask(app.addresses.otlp_http, 0..40).await);
    let local = "SELECT count(DISTINCT trace_id) AS n FROM scores WHERE evaluator = 'pii_leakage'";
    until("local scores", async || query(http, local).await[0]["n"] == 40).await;
    // More come while it is away.
    assert!(ask(app.addresses.otlp_http, 40..60).await);
    until("local scores", async || query(http, local).await[0]["n"] == 60).await;
    // The items of the local scores leave the queue a moment after these are seen.
    let waiting = "SELECT lane, state, attempt FROM queue";
    until("what waits for the judge alone", async || {
        query(http, waiting).await.iter().all(|row| row["lane"] == "slow")
    })
    .await;
    let waiting = query(http, waiting).await;
    assert_eq!(waiting.len(), 60);
    assert!(waiting.iter().all(|row| row["lane"] == "slow" && row["state"] != "failed"), "{waiting:?}");
    assert_eq!(query(http, &format!("{SCORES} WHERE evaluator = 'safety'")).await, Vec::<Value>::new());
    server.listen_at(address).await;
    settled(&app).await;
    let rows = query(http, &format!("{SCORES} WHERE evaluator = 'safety'")).await;
    let traces: std::collections::BTreeSet<String> =
        rows.iter().map(|row| row["trace_id"].to_string()).collect();
    assert_eq!((rows.len(), traces.len(), server.requests()), (60, 60, 60));
    assert!(rows.iter().all(|row| row["status"] == "ok"), "{rows:?}");
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_made_at_once_and_no_more_than_allowed() {
    let server = Server { takes: Duration::from_millis(200), gathers: 7, ..Server::default() };
    let rows = judged(&server, 60, "max_concurrent = 12").await;
    assert!(rows.len() == 60 && rows.iter().all(|row| row["status"] == "ok"), "{rows:?}");
    let (_, most) = *server.at_once.lock();
    assert!((7..=12).contains(&most), "{most}");
    assert_eq!(server.requests(), 60, "none waited in vain for others");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_nine_while_judging_doubles_no_score() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server { takes: Duration::from_millis(150), ..Server::default() };
    let text = configured("\"safety\", \"relevance_to_query\"", server.listen().await, "max_concurrent = 4");
    for cycle in 0..3u64 {
        let mut running = Process::start_with(folder.path(), &text);
        let before = server.requests();
        assert!(ask(running.otlp_http, cycle * 12..(cycle + 1) * 12).await);
        until("requests", async || server.requests() > before + 6).await;
        running.kill();
    }
    let mut running = Process::start_with(folder.path(), &text);
    let counted = "SELECT count(*) AS rows, count(DISTINCT trace_id || evaluator) AS scores FROM scores WHERE status = 'ok'";
    until("all scores", async || query(running.http, counted).await[0]["scores"] == 72).await;
    // What would come twice waits in the queue: when it is empty, all has come.
    let waiting = "SELECT count(*) AS n FROM queue";
    until("the end", async || query(running.http, waiting).await[0]["n"] == 0).await;
    let found = query(running.http, counted).await;
    assert_eq!((&found[0]["rows"], &found[0]["scores"]), (&json!(72), &json!(72)));
    running.kill();
}

static FILES: AtomicU64 = AtomicU64::new(0);

fn groundline(args: &[&str], config: &str, input: &str, folder: &Path) -> Output {
    let file = folder.join(format!("{}.toml", FILES.fetch_add(1, Ordering::Relaxed)));
    std::fs::write(&file, config).unwrap();
    let mut args: Vec<&str> = args.to_vec();
    args.push(file.to_str().unwrap());
    let mut child = Command::new(env!("CARGO_BIN_EXE_groundline"))
        .args(args)
        .env("JUDGE_KEY_OF_A_TEST", "sk-secret")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_missing_is_skipped_and_what_is_too_long_is_told() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::default());
    let text = configured("\"safety\"", server.listen().await, "max_input_chars = 1000");
    let long = "Stoker wrote it. ".repeat(200);
    let lines = format!(
        "{}\n{}\n",
        json!({"id": 1, "question": "Who?"}),
        json!({"id": 2, "question": "Who?", "answer": long})
    );
    let path = folder.path().to_owned();
    let scored = tokio::task::spawn_blocking(move || {
        groundline(&["score", "--evaluator", "safety", "--config"], &text, &lines, &path)
    });
    let rows: Vec<Value> = String::from_utf8_lossy(&scored.await.unwrap().stdout)
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!((&rows[0]["status"], &rows[0]["error"]), (&json!("skipped"), &json!("answer")));
    let rationale = rows[1]["rationale"].as_str().unwrap();
    assert!(
        rationale.starts_with("Judged on a window (judges.max_input_chars = 1000): ANSWER with 996 of 3400"),
        "{rationale}"
    );
    assert_eq!(server.requests(), 1);
}

#[test]
fn faults_are_told_and_secrets_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str], text: &str| groundline(args, text, "", folder.path());
    let rule = "[[sample.rules]]\nname = \"r\"\nfilter = \"operation = 'llm'\"\nrate = 1.0\nevaluators = [\"faithfulness\"]\n";
    let told = String::from_utf8(run(&["config", "check"], rule).stderr).unwrap();
    assert!(told.contains("\"faithfulness\" asks an LLM judge: configure [[judges]]"), "{told}");
    let unknown = run(&["score", "--evaluator", "faithfulness", "--config"], "");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("configure [[judges]]"));
    let judge = "[[judges]]\nname = \"main\"\nbase_url = \"http://h/v1\"\nmodel = \"m\"\n";
    let with = |more: &str| format!("{rule}{judge}{more}");
    assert!(run(&["config", "check"], &with("")).status.success());
    for (more, part) in [
        ("timeout = \"2m\"\n", "score.slow_timeout"),
        ("fallback = \"x\"\n", "fallback \"x\""),
        ("max_usd_per_day = 1.0\n", "price_input_usd"),
        ("wrong = 1\n", "wrong"),
        ("tenants = []\n", "tenants is empty"),
        ("redact = [\"emial\"]\n", "redact: \"emial\" is no kind"),
        ("max_tokens_per_minute = 10\n", "max_tokens_per_minute"),
        ("[score.judge_cache]\nsize = 10\n", "score.judge_cache.size"),
        ("[eval]\nanswer_correctness_weight = 2.0\n", "eval.answer_correctness_weight"),
        ("[[eval.custom]]\nkind = \"answer\"\nprompt = \"{{answer}}\"\n", "one of them at least"),
        ("[score]\nslow_timeout = \"5m\"\n", "queue.slow.lease"),
        ("[[eval.custom]]\nname = \"a b\"\nkind = \"answer\"\nprompt = \"{{answr}}\"\n", "{{answer}}"),
    ] {
        let checked = run(&["config", "check"], &with(more));
        let told = String::from_utf8(checked.stderr).unwrap();
        assert!(checked.status.code() == Some(2) && told.contains(part), "{more}: {told}");
    }
    let dumped = run(&["config", "dump", "--config"], &with("headers = { api-key = \"sk-secret\" }\n"));
    let dumped = String::from_utf8(dumped.stdout).unwrap();
    assert!(dumped.contains("<hidden>") && !dumped.contains("sk-secret"), "{dumped}");
}
