//! Plug-ins from the endpoints to the scores: processes and servers that answer well, badly, late and not at all.

#[path = "plugins/grpc.rs"]
mod grpc;
#[path = "plugins/languages.rs"]
mod languages;
#[path = "plugins/leaving.rs"]
mod leaving;
#[path = "plugins/packages.rs"]
mod packages;
#[path = "plugins/server.rs"]
pub mod server;

use crate::support::{Reserved, config, query, send, settled, span, start, text, until};
use groundline::app::App;
use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::{Value, json};
use server::{Act, Server};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A plug-in called `probe` with these keys, and a rule for it and a local evaluator.
fn configured(more: &str) -> String {
    format!(
        "[[sample.rules]]\nname = \"r\"\nfilter = \"operation = 'llm'\"\nrate = 1.0\nevaluators = [\"pii_leakage\", \"plugin/probe\"]\n\
         [queue.slow]\nretry_backoff = \"100ms\"\nmax_attempts = 2\n\
         [[plugins]]\nname = \"probe\"\n{more}\n"
    )
}

async fn served(dir: &Path, text: &str) -> App {
    let read = groundline::config::Config::from_text("test", text, std::iter::empty());
    let (mut made, usual) = (read.unwrap(), config(dir));
    (made.server, made.sample.idle, made.sample.rootless_idle) =
        (usual.server, usual.sample.idle, usual.sample.rootless_idle);
    (made.ingest.grpc_listen, made.ingest.http_listen) = (usual.ingest.grpc_listen, usual.ingest.http_listen);
    start(made).await
}

fn call(n: u64, answer: &str) -> Span {
    let message = |role: &str, text: &str| {
        json!([{"role": role, "parts": [{"type": "text", "content": text}]}]).to_string()
    };
    let attributes = vec![
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.input.messages", &message("user", "How large?")),
        text("gen_ai.output.messages", &message("assistant", answer)),
    ];
    span(n, 1, attributes)
}

async fn ask(app: &App, first: u64, answers: &[&str]) {
    let spans = (first..).zip(answers).map(|(n, answer)| call(n, answer)).collect();
    assert!(send(app.addresses.otlp_http, spans).await);
}

const SCORES: &str = "SELECT s.answer AS asked, e.* FROM scores e JOIN spans s ON s.trace_id = e.trace_id WHERE e.evaluator = ";

/// The one row of each answer; the test fails where one has more.
async fn rows(app: &App, evaluator: &str) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for row in query(app.addresses.http, &format!("{SCORES} '{evaluator}'")).await {
        let twice = found.insert(row["asked"].as_str().unwrap().to_owned(), row);
        assert!(evaluator != "plugin/probe" || twice.is_none(), "{twice:?}");
    }
    found
}

fn python() -> Option<PathBuf> {
    program("python3")
}

/// Where a program is; none if it is not there and this is not CI.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.exists());
    if found.is_none() {
        assert!(std::env::var("CI").is_err(), "{name} is not there: run tests/setup");
        eprintln!("{name} is not there; run tests/setup for this test");
    }
    found
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The keys of a scripted process that writes what it is asked to `told`.
fn scripted(python: &Path, told: &Path, more: &str) -> String {
    let script = file("tests/plugins/scripted.py");
    configured(&format!("command = [{python:?}, {script:?}, {told:?}]\ntimeout = \"2s\"\n{more}"))
}

fn error(row: &Value) -> &str {
    assert_eq!(
        (&row["status"], &row["value"], &row["passed"]),
        (&json!("error"), &Value::Null, &Value::Null)
    );
    row["error"].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_fails_costs_its_own_items_and_no_others() {
    let Some(python) = python() else { return };
    let (folder, told) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
    let app = served(folder.path(), &scripted(&python, told.path(), "")).await;
    let bad = [
        ("hang", "no answer in 2s (plugins.timeout)"),
        ("crash", "exit status: 3) before it answered; its last words: about to crash"),
        ("other", "1 line(s) were no answers, the last: an answer to \"nobody\""),
        ("silent", "no answer in 2s"),
        ("nan", "the answer is no JSON"),
        ("text", "the answer is not as asked"),
        ("long", "a line of more than 1048576 bytes"),
        ("endless", "more than 1000 lines that are no answers, the last: spam"),
    ];
    let good = ["garbage", "stderr", "twice", "a", "b", "c", "d", "e"];
    let mixed: Vec<&str> = bad.iter().zip(good).flat_map(|((bad, _), good)| [*bad, good]).collect();
    ask(&app, 0, &mixed).await;
    // Nobody waits for the plug-in.
    until("local scores", async || rows(&app, "pii_leakage").await.len() == mixed.len()).await;
    settled(&app).await;
    let found = rows(&app, "plugin/probe").await;
    assert_eq!(found.len(), mixed.len(), "{found:#?}");
    for (word, part) in bad {
        assert!(error(&found[word]).contains(part), "{word}: {}", found[word]);
        assert_eq!(found[word]["metric"], "size");
    }
    for word in good {
        let row = &found[word];
        assert_eq!(
            (&row["status"], &row["value"], &row["passed"], &row["source"], &row["evaluator_version"]),
            (&json!("ok"), &json!(1.0), &json!(true), &json!("rule"), &json!("1"))
        );
    }
    // What is wrong for sure is not asked again, and what may not be is, unless another item took the process away first.
    let asked = std::fs::read_to_string(told.path()).unwrap();
    let times = |word: &str| asked.lines().filter(|line| line.split(' ').nth(1) == Some(word)).count();
    assert!(times("crash") >= 2 && times("hang") >= 2, "{asked}");
    let metrics =
        reqwest::get(format!("http://{}/metrics", app.addresses.http)).await.unwrap().text().await.unwrap();
    for name in [
        "groundline_plugin_strays_total{plugin=\"probe\"}",
        "groundline_plugin_deaths_total{plugin=\"probe\"}",
    ] {
        assert!(metrics.contains(name), "{name} is missing in {metrics}");
    }
    app.stop().await.unwrap();
}

/// Whether a process runs.
fn runs(process: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The state stands behind the name, which is in brackets.
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_sees_what_it_is_given_and_ends_with_the_server() {
    let Some(python) = python() else { return };
    let (folder, told) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
    let text = scripted(&python, told.path(), "environment = [\"PATH\", \"HOME\"]\nconcurrency = 2");
    let app = served(folder.path(), &text).await;
    ask(&app, 0, &["environment", "inputs", "parent"]).await;
    settled(&app).await;
    let found = rows(&app, "plugin/probe").await;
    let seen = found["environment"]["rationale"].as_str().unwrap();
    assert!(seen.contains("PATH") && !seen.contains("CARGO"), "{seen}");
    assert_eq!(found["inputs"]["rationale"], "answer id");
    let processes = found["parent"]["label"].as_str().unwrap().to_owned();
    assert!(processes.split(' ').all(runs), "{processes}");
    app.stop().await.unwrap();
    until("the end of all", async || !processes.split(' ').any(runs)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_of_another_protocol_or_none_at_all_is_away() {
    let Some(python) = python() else { return };
    let (folder, told) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
    let script = file("tests/plugins/scripted.py");
    let wrong = format!("command = [{python:?}, {script:?}, {:?}, \"wrong\"]", told.path());
    for (more, part) in [
        (wrong.as_str(), "version 2 of the protocol"),
        ("command = [\"/no/such/program\"]", "does not start"),
        ("command = [\"false\"]", "before it answered"),
    ] {
        let app = served(&folder.path().join(part), &configured(more)).await;
        ask(&app, 0, &["a"]).await;
        let waiting = "SELECT state, attempt, error FROM queue WHERE lane = 'slow' AND error IS NOT NULL";
        // It is tried from time to time, and waits again.
        let mut row = Value::Null;
        until("an item that waits", async || {
            row = query(app.addresses.http, waiting).await.pop().unwrap_or_default();
            row["state"] == "waiting"
        })
        .await;
        assert_eq!(row["attempt"], 0);
        assert!(row["error"].as_str().unwrap().contains(part), "{row}");
        until("a local score", async || rows(&app, "pii_leakage").await.len() == 1).await;
        assert!(rows(&app, "plugin/probe").await.is_empty());
        app.stop().await.unwrap();
    }
}

/// `answers` over a scripted server, and what was stored.
async fn judged(server: &Server, answers: &[&str], more: &str) -> BTreeMap<String, Value> {
    tried(server, answers, more, 2).await
}

/// The same with so many attempts.
async fn tried(server: &Server, answers: &[&str], more: &str, attempts: u32) -> BTreeMap<String, Value> {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("url = \"http://{}/base\"\ntimeout = \"3s\"\n{more}", server.listen().await);
    let text = configured(&url).replace("max_attempts = 2", &format!("max_attempts = {attempts}"));
    let app = served(folder.path(), &text).await;
    ask(&app, 0, answers).await;
    settled(&app).await;
    let found = rows(&app, "plugin/probe").await;
    app.stop().await.unwrap();
    found
}

const ANSWERS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_faults_is_asked_again_until_it_answers() {
    let acts = [
        Act::Status(500, None),
        Act::Status(429, Some(1)),
        Act::Garbage,
        Act::Hang,
        Act::Short,
        Act::Strays,
        Act::Status(401, None),
        Act::Renamed("2"),
    ];
    let server = Server::with(acts);
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), "sk-secret\n").unwrap();
    let more = format!("secret_file = {:?}\nbatch = 3", secret.path());
    let found = tried(&server, &ANSWERS, &more, 9).await;
    assert_eq!(found.len(), ANSWERS.len(), "{found:#?}");
    for row in found.values() {
        assert_eq!((&row["status"], &row["value"]), (&json!("ok"), &json!(1.0)), "{row}");
    }
    let got = server.got.lock();
    assert!(got.iter().all(|(headers, _)| headers["authorization"] == "Bearer sk-secret"));
    assert!(
        got.iter().all(|(_, body)| body["items"].as_array().unwrap().len() <= 3 && body["protocol"] == 1)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_breaks_its_batch_fails_alone() {
    let server = Server::with([]);
    let found = judged(&server, &["a", "b", "poison", "c", "d"], "").await;
    assert!(error(&found["poison"]).contains("plug-in probe: HTTP 500: it broke"), "{found:#?}");
    assert!(ANSWERS[..4].iter().all(|good| found[*good]["status"] == "ok"), "{found:#?}");
    assert_eq!((found.len(), found["poison"]["attempt"].as_i64()), (5, Some(2)));
    // Two attempts, each with a second try.
    assert_eq!(server.asked("poison"), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_takes_the_plug_in_away_is_found() {
    let server = Server { falls: Duration::from_secs(2), ..Server::with([]) };
    let found = judged(&server, &["a", "b", "poison", "c", "d"], "").await;
    let why = error(&found["poison"]);
    assert!(why.contains("HTTP 500: it broke") || why.contains("HTTP 503: it starts"), "{why}");
    assert!(ANSWERS[..4].iter().all(|good| found[*good]["status"] == "ok"), "{found:#?}");
    assert_eq!((found.len(), found["poison"]["attempt"].as_i64()), (5, Some(2)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_for_sure_is_an_error_at_once() {
    let found = judged(&Server::with([Act::Text]), &["a"], "").await;
    assert!(error(&found["a"]).contains("not as asked"), "{found:#?}");
    // As a batch of one, and alone.
    let server = Server::with([Act::Status(422, None), Act::Status(422, None)]);
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), "sk-secret").unwrap();
    let found = judged(&server, &["a"], &format!("secret_file = {:?}", secret.path())).await;
    assert_eq!(error(&found["a"]), "plug-in probe: HTTP 422: no, Bearer <hidden>");
    assert_eq!((server.asked("a"), &found["a"]["attempt"]), (2, &json!(1)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_away_holds_up_nobody_and_loses_nothing() {
    let (folder, server, reserved) = (tempfile::tempdir().unwrap(), Server::with([]), Reserved::new());
    let address = reserved.address;
    let app = served(folder.path(), &configured(&format!("url = \"http://{address}/base\""))).await;
    let answers: Vec<String> = (0..200).map(|n| format!("answer {n}")).collect();
    let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
    ask(&app, 0, &answers).await;
    until("local scores", async || rows(&app, "pii_leakage").await.len() == answers.len()).await;
    assert!(rows(&app, "plugin/probe").await.is_empty());
    server.listen_at(address).await;
    settled(&app).await;
    let found = rows(&app, "plugin/probe").await;
    assert_eq!(found.len(), answers.len());
    assert!(found.values().all(|row| row["status"] == "ok"), "{found:#?}");
    let latest = "SELECT count(*) AS n FROM scores_latest WHERE evaluator = 'plugin/probe'";
    assert_eq!(query(app.addresses.http, latest).await[0]["n"], answers.len());
    assert!(answers.iter().all(|answer| server.asked(answer) == 1));
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backlog_is_served_batch_by_batch_and_nothing_bounces() {
    const ITEMS: usize = 300;
    let (folder, reserved) = (tempfile::tempdir().unwrap(), Reserved::new());
    let address = reserved.address;
    // Longer than it takes to hand on the next items on a busy machine.
    let server = Server { takes: Duration::from_millis(60), ..Server::with([]) };
    let app =
        served(folder.path(), &configured(&format!("url = \"http://{address}/base\"\nbatch = 4"))).await;
    let answers: Vec<String> = (0..ITEMS).map(|n| format!("answer {n}")).collect();
    let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
    ask(&app, 0, &answers).await;
    let waiting = "SELECT count(*) AS n FROM queue WHERE lane = 'slow'";
    until("a backlog", async || query(app.addresses.http, waiting).await[0]["n"] == ITEMS).await;
    server.listen_at(address).await;
    let why = "SELECT DISTINCT error FROM queue WHERE error LIKE '%busy%' OR error LIKE '%as many%'";
    until("all scores", async || {
        assert_eq!(query(app.addresses.http, why).await, Vec::<Value>::new());
        query(app.addresses.http, waiting).await[0]["n"] == 0
    })
    .await;
    settled(&app).await;
    assert_eq!(rows(&app, "plugin/probe").await.len(), ITEMS);
    // A plug-in that idles while items wait gets them one by one.
    let batches = server.got.lock().len();
    assert!((ITEMS / 4..ITEMS / 4 + 25).contains(&batches), "{batches} batches of up to four");
    app.stop().await.unwrap();
}
