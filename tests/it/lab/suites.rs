//! Suites whose tests are items of a stored dataset.

use super::verbs::{example, verb, well};
use super::{done, send};
use crate::support::{self, config, count, query, span, start};
use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use groundline::app::App;
use opentelemetry_proto::tonic::trace::v1::{Span, Status};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suite_asks_a_stored_dataset_in_the_version_that_it_names() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let app = start(config(&data)).await;
    let url = format!("http://{}", app.addresses.http);
    let place = ["--url", url.as_str()];
    well(&["dataset", "import", "geography", &example()], &place).await;
    well(&["dataset", "delete", "geography", "g6"], &place).await;

    let suite = |dataset: &str| {
        let path = folder.path().join("suite.toml");
        let text = format!(
            "[suite]\nname = \"s\"\ndataset = \"{dataset}\"\n[target]\nkind = \"command\"\nform = \"any\"\n\
             command = [\"sh\", \"-c\", \"while read line; do echo Canberra; done\"]\n\
             [[check]]\noperator = \"includes_exactly\"\ncriteria = \"{{{{expected}}}}\"\n"
        );
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let report = folder.path().join("report.json").display().to_string();
    let counts = || {
        let text = std::fs::read_to_string(&report).unwrap();
        let tests = serde_json::from_str::<serde_json::Value>(&text).unwrap()["summary"]["tests"].take();
        (tests["pass"].as_u64().unwrap(), tests["fail"].as_u64().unwrap())
    };
    well(&["test", &suite("geography@1"), "--json", &report], &place).await;
    assert_eq!(counts(), (1, 5));
    well(&["test", &suite("geography@latest"), "--json", &report], &place).await;
    assert_eq!(counts(), (1, 4));
    let filtered =
        ["test", &suite("geography@1"), "--json", &report, "--filter", "question LIKE '%Australia%'"];
    let (code, out, err) = verb(&filtered, &place).await;
    assert!(code == 0 && counts() == (1, 0), "{out}{err}");
    assert!(err.contains("1 tests run, --filter leaves out 5"), "{err}");
    // Each is kept with what its checks said, the part with its condition; --no-store keeps nothing.
    well(&["test", &suite("geography@1"), "--no-store"], &place).await;
    let http = app.addresses.http;
    let runs =
        query(http, "SELECT suite_version, filter, status FROM experiments_latest ORDER BY suite_version")
            .await;
    let told: Vec<_> = runs
        .iter()
        .map(|run| (run["suite_version"].as_i64(), run["filter"].as_str(), run["status"].as_str()))
        .collect();
    let condition = Some("question LIKE '%Australia%'");
    assert_eq!(
        told,
        [
            (Some(1), None, Some("success")),
            (Some(2), None, Some("success")),
            (Some(3), condition, Some("success"))
        ]
    );
    assert_eq!(count(http, "SELECT count(*) FROM check_results").await, 6 + 5 + 1);
    let checked = well(&["suite", "check", &suite("geography@1")], &place).await;
    assert_eq!(checked, "s: 6 tests, 6 checks, 0 gates\n");
    app.stop().await.unwrap();

    // The same on the folder of the stopped server; and what is not there is told before anybody is asked.
    let data = data.display().to_string();
    let place = ["--data-dir", data.as_str()];
    well(&["test", &suite("geography@2"), "--json", &report], &place).await;
    assert_eq!(counts(), (1, 4));
    let (code, _, err) = verb(&["test", &suite("geography@9")], &place).await;
    assert!(code == 2 && err.contains("geography@9"), "{err}");
    let (code, _, err) = verb(&["test", &suite("geography@1")], &[]).await;
    assert!(code == 2 && err.contains("--url or --data-dir"), "{err}");
}

/// A run that is kept is an experiment like any other, and the baseline of the next one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_kept_as_an_experiment_and_is_the_baseline_of_the_next() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["cases.csv", "app.sh"] {
        let from = crate::readme::pages::root().join("examples/lab").join(name);
        std::fs::copy(from, folder.path().join(name)).unwrap();
    }
    let app = start(config(&folder.path().join("data"))).await;
    let http = app.addresses.http;
    let url = format!("http://{http}");
    let place = ["--url", url.as_str()];
    let suite = |command: &str, gate: &str| {
        let path = folder.path().join("suite.toml");
        let text = format!(
            "[suite]\nname = \"times\"\ndataset = \"cases.csv\"\nevaluators = [\"looping\"]\n[target]\nkind = \"command\"\n\
             command = [\"sh\", {command}]\n[[check]]\noperator = \"equals_exactly\"\ncriteria = \"{{{{expected}}}}\"\n\
             [[gate]]\nmetric = \"tests_passed\"\n{gate}\n"
        );
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    well(&["test", &suite("\"app.sh\"", "min = 0.8"), "--store", "--repetitions", "2"], &place).await;
    let kept = query(
        http,
        "SELECT name, status, suite_version, dataset_version, repetitions FROM experiments_latest",
    )
    .await;
    let wanted = serde_json::json!([{"name": "times", "status": "success", "suite_version": kept[0]["dataset_version"],
        "dataset_version": kept[0]["dataset_version"], "repetitions": 2}]);
    assert_eq!(serde_json::json!(kept), wanted);
    let checks = "SELECT count(*) FROM scores WHERE source = 'experiment' AND passed AND metric = 'check/1/equals_exactly'";
    assert_eq!(count(http, checks).await, 48);
    assert_eq!(
        count(
            http,
            "SELECT count(*) FROM runs_latest WHERE trace_id IS NOT NULL AND is_experiment(trace_id)"
        )
        .await,
        48
    );

    // The same tests are the same version of their dataset, and another gate is another version of the suite; the next
    // version of the application is held against the run that is kept.
    let shorter = suite("\"app.sh\", \"short\"", "max_drop = 0.1");
    let (code, out, err) = verb(&["test", &shorter, "--store", "--baseline", "times"], &place).await;
    assert!(code == 1 && out.contains("tests_passed max_drop 0.1"), "{out}{err}");
    assert_eq!(count(http, "SELECT count(DISTINCT suite_version) FROM experiments_latest").await, 2);
    assert_eq!(count(http, "SELECT count(DISTINCT dataset_version) FROM experiments_latest").await, 1);
    let results =
        "SELECT count(*) FROM check_results WHERE auto_eval = 'pass' AND operator = 'equals_exactly'";
    assert!(count(http, results).await >= 48);
    let compared = well(&["experiment", "compare", "times", "--items", "1"], &place).await;
    let line = compared.lines().find(|line| line.starts_with("tests_passed")).unwrap_or(&compared);
    assert!(line.contains("worse"), "{compared}");
    let same = suite("\"app.sh\"", "max_drop = 0.9");
    let (code, _, err) = verb(&["test", &same, "--baseline", "nobody"], &place).await;
    assert!(code == 2 && err.contains("nobody"), "{err}");
    let (code, _, err) = verb(&["test", &suite("\"app.sh\"", "min = 0.8"), "--store"], &[]).await;
    assert!(code == 2 && err.contains("--url or --data-dir"), "{err}");
    traced(&app, folder.path()).await;
    app.stop().await.unwrap();
}

/// An application whose spans are stored before it answers; to the test "quiet" it sends none.
async fn answer(
    State((otlp, http)): State<(SocketAddr, SocketAddr)>,
    Json(asked): Json<Value>,
) -> Json<Value> {
    if asked["item_id"] != "quiet" {
        let given: Vec<&str> = asked["traceparent"].as_str().unwrap().split('-').collect();
        let one = |number: u64, name: &str, millis: u64, code: i32| {
            let plain = span(0, number, Vec::new());
            Span {
                trace_id: hex::decode(given[1]).unwrap(),
                parent_span_id: hex::decode(given[2]).unwrap(),
                name: name.to_owned(),
                start_time_unix_nano: plain.end_time_unix_nano - millis * 1_000_000,
                status: Some(Status { code, ..Status::default() }),
                ..plain
            }
        };
        assert!(support::send(otlp, vec![one(1, "llm.chat", 3, 0), one(2, "db.query", 40, 2)]).await);
        let there = format!("SELECT count(*) FROM spans WHERE trace_id = '{}'", given[1]);
        while count(http, &there).await < 2 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    Json(json!({ "output": "ok" }))
}

const TRACED: &str = "[[test]]\nid = \"a\"\ninput = \"q\"\ncheck = [\n\
    { operator = \"trace-span-count\", criteria = \"LLM.*\", min = 1, max = 1 },\n\
    { operator = \"not-trace-span-count\", criteria = { pattern = \"*\", max = 1 } },\n\
    { operator = \"trace-span-duration\", criteria = { pattern = \"llm*\", max = 10 } },\n\
    { operator = \"trace-span-duration\", criteria = { max = 39.5, percentile = 100 } },\n\
    { operator = \"trace-error-spans\", criteria = { max_percentage = 50 } },\n\
    { operator = \"trace-error-spans\" },\n\
    { operator = \"trace-error-spans\", criteria = { pattern = \"pay*\" } },\n]\n\
    [[test]]\nid = \"quiet\"\ninput = \"q\"\ncheck = [{ operator = \"trace-span-count\", criteria = \"*\", max = 9 }]\n";

/// Checks read the spans that a run's application sent under the trace that it was given, and are errors without any.
async fn traced(app: &App, folder: &Path) {
    let http = app.addresses.http;
    let routes = Router::new().route("/answer", post(answer)).with_state((app.addresses.otlp_http, http));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    let path = |name: &str| folder.join(name).display().to_string();
    let target = format!("[target]\nkind = \"http\"\nurl = \"http://{at}/answer\"\ntimeout = \"2m\"\n");
    std::fs::write(path("traced.toml"), format!("[suite]\nname = \"traced\"\n{target}{TRACED}")).unwrap();
    std::fs::write(path("wait.toml"), "[lab]\nspan_wait = \"0s\"\n").unwrap();
    let (suite, report, settings) = (path("traced.toml"), path("traced.json"), path("wait.toml"));
    let asked = ["test", &suite, "--json", &report, "--config", &settings];
    let ended =
        || serde_json::from_str::<Value>(&std::fs::read_to_string(&report).unwrap()).unwrap()["runs"].take();
    let told = |run: &Value| -> Vec<String> {
        run["checks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["status"].as_str().unwrap().to_owned())
            .collect()
    };

    let url = format!("http://{http}");
    let (code, out, err) = verb(&asked, &["--url", url.as_str()]).await;
    assert_eq!(code, 3, "{out}{err}");
    let runs = ended();
    let wanted = ["pass", "pass", "pass", "fail", "pass", "fail", "skipped"];
    assert_eq!(told(&runs[0]), wanted, "{runs}");
    let slowest = "percentile 100 of 2 spans is 40 ms, at most 39.5 may be: db.query 40 ms, llm.chat 3 ms";
    assert_eq!(runs[0]["checks"][3]["feedback"], slowest);
    assert_eq!(runs[0]["checks"][5]["feedback"], "1 of 2 spans have an error (50.0 %): db.query");
    assert_eq!(told(&runs[1]), ["error"]);
    assert!(runs[1]["checks"][0]["feedback"].as_str().unwrap().contains("no span of the trace"), "{runs}");

    // The server reads the same spans of an answer that names their trace.
    let answers =
        json!({"name": "again", "answers": [{"test": "a", "output": "ok", "trace_id": runs[0]["trace_id"]}]});
    done(app, "POST", "suites/traced/run", &answers).await;
    let rows = query(
        http,
        "SELECT c.auto_eval FROM check_results c JOIN experiments_latest e USING (experiment_id) \
         WHERE e.name = 'again' ORDER BY c.ordinal",
    )
    .await;
    let rows: Vec<&str> = rows.iter().filter_map(|row| row["auto_eval"].as_str()).collect();
    assert_eq!(rows, wanted);
    let (status, wrong) = send(app, "GET", "spans?traces=abc", None, &Value::Null).await;
    assert!(status == 400 && wrong.to_string().contains("abc"), "{wrong}");

    // Without a server there are no spans to read, and nothing passes for it.
    let (code, _, err) = verb(&asked, &[]).await;
    let runs = ended();
    assert!(code == 3 && told(&runs[0]).iter().all(|status| status == "error"), "{runs}{err}");
}
