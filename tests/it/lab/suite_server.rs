//! Suites that a server keeps: in over HTTP, run against a target and on answers, out again, edited, purged, and nobody else's.

use super::verbs::{verb, well};
use super::{done, send};
use crate::access::{tokens, with_tokens};
use crate::judges::server::{ANALYSIS, Server};
use crate::support::{config, count, query, start};
use axum::routing::post;
use axum::{Json, Router};
use groundline::app::App;
use groundline::lab::target::{Kind, TargetSpec};
use groundline::net::Role;
use groundline::score::JudgeConfig;
use serde_json::{Value, json};
use std::time::Duration;

const THEIRS: &str = "Suite Id,Title,Description,Suite Version,Number Of Tests,Number Of Checks\n\
    19025787-7245-45aa-8d27-c6047bc804c0,Geography,,3,2,3\n\n\
    Test Id,Test Input,Right Answer,Tags,Files,Context Keys,Context Values,Operator,Criteria,Weight,Category,Extraction Prompt,Conditional Operator,Conditional Criteria,Example Type,Example Value\n\
    a,Where is the Bay Area?,California,Bay,,,,includes_exactly,California,2,Correctness,,,,positive,In California\n\
    ,,,Easy,,,,excludes_exactly,Nevada,1,,,includes_exactly,coast,,\n\
    b,Is it far?,,,,,,their_own,x,1,,,,,,\n";

/// An application that knows where the Bay Area is.
async fn answer(Json(sent): Json<Value>) -> Json<Value> {
    let is_bay = sent["input"].as_str().is_some_and(|asked| asked.contains("Bay"));
    Json(json!({ "output": if is_bay { "In California." } else { "No." }, "in_tokens": 5, "duration": 0.25 }))
}

async fn stub() -> TargetSpec {
    let app = Router::new().route("/answer", post(answer));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    TargetSpec { kind: Kind::Http, url: format!("http://{at}/answer"), ..TargetSpec::default() }
}

async fn import(app: &App, params: &str, token: Option<&str>, text: &str) -> (u16, Value) {
    let url = format!("http://{}/v1/lab/suites/import?{params}", app.addresses.http);
    let mut sent = reqwest::Client::new().post(url).header("content-type", "text/csv").body(text.to_owned());
    if let Some(token) = token {
        sent = sent.bearer_auth(token);
    }
    let answer = sent.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

async fn file(app: &App, path: &str) -> String {
    done(app, "GET", path, &Value::Null).await.as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suite_is_kept_run_edited_and_exported_by_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = config(&folder.path().join("data"));
    settings.lab.targets = [("stub".to_owned(), stub().await)].into();
    let app = start(settings.clone()).await;
    let http = app.addresses.http;
    let (status, first) = import(&app, "file=theirs.csv", None, THEIRS).await;
    assert_eq!(status, 200, "{first}");
    let told = ["revision", "version", "draft", "tests", "checks", "changed"].map(|key| first[key].clone());
    assert_eq!(json!(told), json!([1, 3, false, 2, 3, true]));
    let (_, again) = import(&app, "", None, THEIRS).await;
    assert_eq!((&again["changed"], &again["revision"]), (&json!(false), &json!(1)));
    assert_eq!(file(&app, "suites/Geography?format=csv").await, THEIRS);
    let checks =
        query(http, "SELECT operator, condition_criteria, weight FROM suite_checks ORDER BY 1").await;
    assert_eq!((checks.len(), &checks[0]["condition_criteria"]), (3, &json!("coast")));

    // Its target is asked by the server, and every check of every answer is a row.
    let named = json!({"target": {"kind": "named", "name": "stub"}});
    let ran = done(&app, "POST", "suites/Geography/run", &named).await;
    let told = ["suite_version", "stored", "missing", "status"].map(|key| ran[key].clone());
    assert_eq!(json!(told), json!([3, 2, 0, "success"]), "{ran}");
    let rows = query(
        http,
        "SELECT check_id, operator, auto_eval, weight, coalesce(CAST(condition_met AS TEXT), '-') AS met FROM check_results \
         ORDER BY operator",
    )
    .await;
    let wanted = json!([
        {"check_id": "2", "operator": "excludes_exactly", "auto_eval": "pass", "weight": 1.0, "met": "false"},
        {"check_id": "1", "operator": "includes_exactly", "auto_eval": "pass", "weight": 2.0, "met": "-"},
        {"check_id": "1", "operator": "their_own", "auto_eval": "error", "weight": 1.0, "met": "-"},
    ]);
    assert_eq!(json!(rows), wanted);
    let kept = query(http, "SELECT suite_id, suite_version, filter, status FROM experiments_latest").await;
    assert_eq!((&kept[0]["suite_id"], &kept[0]["filter"]), (&first["suite_id"], &Value::Null));

    // The run as other systems read it.
    let id = ran["experiment_id"].as_str().unwrap().to_owned();
    let results = file(&app, &format!("experiments/{id}/export?part=results")).await;
    let blocks: Vec<&str> = results.split("\n\n").collect();
    let head = format!("{id},19025787-7245-45aa-8d27-c6047bc804c0,Geography,error,");
    assert!(blocks[0].lines().nth(1).unwrap().starts_with(&head), "{results}");
    assert!(
        blocks[1].contains("In California.,,5,,0.25") && blocks[1].contains(",coast,includes_exactly,"),
        "{results}"
    );
    let pairs = file(&app, &format!("experiments/{id}/export?part=qa")).await;
    assert_eq!(
        pairs,
        "Question,Answer,In Tokens,Out Tokens,Duration\nWhere is the Bay Area?,In California.,5,0,0.25\nIs it far?,No.,5,0,0.25\n"
    );
    let report = done(&app, "GET", &format!("experiments/{id}/export?format=json"), &Value::Null).await;
    assert_eq!((&report["exit_code"], &report["runs"][0]["score"]), (&json!(3), &json!(1.0)), "{report}");
    let refused = send(&app, "POST", &format!("experiments/{id}/run"), None, &json!({})).await;
    assert!(refused.0 == 400 && refused.1.to_string().contains("run of a suite"), "{refused:?}");
    edited(&app, &first).await;

    // A suite is no production.
    for view in ["scores_latest", "quality_hourly", "quality_by_model", "evaluator_quality", "alerts"] {
        assert_eq!(count(http, &format!("SELECT count(*) FROM {view}")).await, 0, "{view}");
    }
    let before = count(http, "SELECT count(*) FROM check_results").await;
    app.stop().await.unwrap();
    let app = start(settings).await;
    assert_eq!(count(app.addresses.http, "SELECT count(*) FROM check_results").await, before);
    assert_eq!(file(&app, "suites/Geography@3?format=csv").await, THEIRS);
    purged(&app).await;
    app.stop().await.unwrap();
}

/// Two people edit one revision: one of them does, and the run after that is of the next version.
async fn edited(app: &App, first: &Value) {
    let http = app.addresses.http;
    let (status, two) = import(app, "if_revision=1", None, &THEIRS.replace("Nevada", "Oregon")).await;
    assert_eq!(status, 200, "{two}");
    let told = ["suite_id", "revision", "version", "draft"].map(|key| two[key].clone());
    assert_eq!(json!(told), json!([first["suite_id"], 2, 3, true]));
    let (status, late) = import(app, "if_revision=1", None, &THEIRS.replace("Nevada", "Utah")).await;
    assert_eq!((status, &late["version"]), (409, &json!(2)), "{late}");
    let answers = json!({
        "name": "given", "filter": "array_has(tags, 'Easy')",
        "answers": [{"question": " Where is the Bay Area? ", "answer": "In California, on the coast."}],
    });
    let ran = done(app, "POST", "suites/Geography/run", &answers).await;
    let told = ["suite_version", "tests", "stored", "missing"].map(|key| ran[key].clone());
    assert_eq!(json!(told), json!([4, 1, 1, 0]), "{ran}");
    let kept = query(http, "SELECT suite_version, filter FROM experiments_latest WHERE name = 'given'").await;
    assert_eq!(json!(kept), json!([{"suite_version": 4, "filter": "array_has(tags, 'Easy')"}]));
    let met = "SELECT count(*) FROM check_results WHERE criteria = 'Oregon' AND condition_met AND passed";
    assert_eq!(count(http, met).await, 1);
    // A person who sees it otherwise edits the verdict; what was judged stays beside it.
    let run = query(http, "SELECT run_id FROM check_results WHERE criteria = 'Oregon'").await;
    let run = run[0]["run_id"].clone();
    let edit = json!({"run_id": run, "check_id": "2", "auto_eval": "fail", "feedback": "it means Oregon"});
    let said = done(app, "POST", "experiments/given/checks", &edit).await;
    assert_eq!((&said["revision"], &said["auto_eval"]), (&json!(2), &json!("pass")), "{said}");
    assert_eq!(count(http, "SELECT count(*) FROM check_results WHERE criteria = 'Oregon'").await, 2);
    let results = file(app, "experiments/given/export").await;
    assert!(results.contains("excludes_exactly,Oregon,pass,fail,it means Oregon,"), "{results}");
    let asked = "experiments/given/export?format=markdown&analysis=judge";
    let told = done(app, "POST", asked, &json!({})).await;
    let why = "counted: excludes\\_exactly 1";
    assert!(told.as_str().unwrap().contains(why), "{told}");
    assert!(told.as_str().unwrap().contains("no analysis by a judge: it needs a judge"), "{told}");
    let wrong = json!({"run_id": run, "check_id": "2", "auto_eval": "perhaps"});
    assert_eq!(send(app, "POST", "experiments/given/checks", None, &wrong).await.0, 400);
    let versions = done(app, "GET", "suites/Geography/versions", &Value::Null).await;
    let versions = versions["versions"].as_array().unwrap().clone();
    let told: Vec<Value> =
        versions.iter().map(|one| json!([one["version"], one["draft"], one["change"]])).collect();
    assert_eq!(json!(told), json!([[4, false, "run"], [3, true, "edit"], [3, false, "import"]]));
    assert_eq!(file(app, "suites/Geography@3?format=csv").await, THEIRS);
    for (path, why) in [
        ("suites/Geography@9", "the newest is 4"),
        ("suites/Nobody", "no suite \\\"Nobody\\\""),
        ("experiments/given/export?part=review", "queue"),
        ("experiments/given/export?names=theirs", "vals, mlflow or h2o"),
    ] {
        let (status, told) = send(app, "GET", path, None, &Value::Null).await;
        assert!(status >= 400 && told.to_string().contains(why), "{path}: {told}");
    }
    for (body, why) in [
        (json!({}), "say who is asked"),
        (json!({"target": {"kind": "named", "name": "nobody"}}), "no target"),
        (json!({"answers": [{"test": "z", "output": "x"}]}), "no test of the suite"),
        (json!({"answers": [{"test": "a", "output": "x"}], "filter": "colour = 1"}), "colour"),
    ] {
        let (status, told) = send(app, "POST", "suites/Geography/run", None, &body).await;
        assert!(status == 400 && told.to_string().contains(why), "{body}: {told}");
    }
    // No file of the server is read for a suite.
    let names = "[suite]\nname = \"x\"\ndataset = \"/etc/passwd\"\n[[check]]\noperator = \"is-json\"\n";
    let (status, told) = import(app, "format=toml", None, names).await;
    assert!(status == 400 && told.to_string().contains("only the suite was sent"), "{told}");
    commands(app).await;
}

/// The same by the command line.
async fn commands(app: &App) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let url = format!("http://{}", app.addresses.http);
    let place = ["--url", url.as_str()];
    std::fs::write(path("capitals.csv"), THEIRS.replace("Geography", "Capitals")).unwrap();
    let kept = well(&["suite", "import", &path("capitals.csv"), "--message", "first"], &place).await;
    assert_eq!(kept, "Capitals@3: revision 1, 2 tests, 3 checks, kept\n");
    let list = well(&["suite", "list"], &place).await;
    let names: Vec<&str> = list.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["Capitals", "Geography"], "{list}");
    let shown = well(&["suite", "show", "Capitals"], &place).await;
    assert!(shown.starts_with("Capitals@3: 2 tests") && shown.contains("import"), "{shown}");
    let csv = well(&["suite", "export", "Capitals", "--format", "csv"], &place).await;
    assert_eq!(csv, THEIRS.replace("Geography", "Capitals"));
    std::fs::write(
        path("qa.csv"),
        "Question,Answer\nWhere is the Bay Area?,In California.\nIs it far?,No.\n",
    )
    .unwrap();
    let (qa, json) = (path("qa.csv"), path("r.json"));
    let (code, out, err) =
        verb(&["suite", "run", "Capitals", "--answers", &qa, "--json", &json], &place).await;
    assert!(code == 3 && out.contains("no operator \"their_own\" here"), "{code} {out}{err}");
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(report["suite"], "Capitals");
    let asked = ["suite", "run", "Geography", "--target", "stub", "--name", "by hand"];
    let (code, out, err) = verb(&asked, &place).await;
    assert!(code == 3 && out.contains("Geography against stub: 2 runs"), "{code} {out}{err}");
    let results = path("results.csv");
    let args = ["experiment", "export", "by hand", "--part", "results", "--output", &results];
    well(&args, &place).await;
    let results = std::fs::read_to_string(&results).unwrap();
    assert!(results.contains("In California."));
    assert_eq!(well(&["suite", "export", "by hand", "--part", "results"], &place).await, results);
    let pairs = well(&["suite", "export", "by hand", "--part", "qa", "--format", "json"], &place).await;
    assert!(pairs.contains("\"output\": \"In California.\""), "{pairs}");
    retried(app, &place).await;
}

/// What has no answer is asked again, each run once: page by page over HTTP, and all of it by the command line.
async fn retried(app: &App, place: &[&str]) {
    let away = [json!({"test": "a", "error": "away"}), json!({"test": "b", "error": "away"})];
    let given = json!({"target": {"kind": "named", "name": "stub"}, "answers": away});
    let ran = done(app, "POST", "suites/Capitals/run", &given).await;
    assert_eq!((&ran["stored"], &ran["missing"]), (&json!(2), &json!(0)), "{ran}");
    let id = ran["experiment_id"].as_str().unwrap().to_owned();
    let (mut place_of_next, mut stored) = (Some(0), Vec::new());
    while let Some(from) = place_of_next {
        let path = format!("suites/Capitals/run?experiment={id}&retry=errors&limit=1&from={from}");
        let told = done(app, "POST", &path, &json!({})).await;
        stored.push(told["stored"].clone());
        place_of_next = told["next"].as_u64();
    }
    assert_eq!(json!(stored), json!([1, 1]), "the last look says that nothing is left");
    let ran = done(app, "POST", "suites/Capitals/run", &given).await;
    let other = ran["experiment_id"].as_str().unwrap().to_owned();
    let args = ["suite", "run", "Capitals", "--resume", &other, "--retry", "errors"];
    let (code, out, err) = verb(&args, place).await;
    assert!(code == 3 && out.contains("Capitals against stub: 2 runs"), "{code} {out}{err}");
    for id in [id, other] {
        let answered = format!(
            "SELECT count(*) FROM runs_latest WHERE experiment_id = '{id}' AND error IS NULL AND attempt = 2"
        );
        assert_eq!(count(app.addresses.http, &answered).await, 2);
    }
}

/// What a person asks to be forgotten is in no suite, run or result; and what is left is not taken for the suite.
async fn purged(app: &App) {
    let told = done(app, "POST", "datasets/suite%2FGeography/purge", &json!({"items": ["a"]})).await;
    assert!(told["suite_rows"].as_u64() >= Some(4) && told["check_results"].as_u64() >= Some(3), "{told}");
    let left = "SELECT (SELECT count(*) FROM suite_tests t JOIN suites s USING (suite_id, revision) WHERE test_id = 'a' AND s.name = 'Geography') \
        + (SELECT count(*) FROM check_results c JOIN experiments_latest e USING (experiment_id) WHERE c.operator = 'includes_exactly' AND e.name <> 'Capitals')";
    assert_eq!(count(app.addresses.http, left).await, 0);
    let named = json!({"target": {"kind": "named", "name": "stub"}});
    for (method, path, body) in [
        ("GET", "suites/Geography@3?format=csv", Value::Null),
        ("POST", "suites/Geography/run", named),
        ("GET", "experiments/given/export", Value::Null),
    ] {
        let (status, told) = send(app, method, path, None, &body).await;
        assert!(status == 400 && told.to_string().contains("1 of its 2 tests were purged"), "{path}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suite_belongs_to_a_tenant() {
    let folder = tempfile::tempdir().unwrap();
    let who = tokens(&[
        ("lab-a", Some("a"), &[Role::Lab, Role::Query]),
        ("lab-b", Some("b"), &[Role::Lab, Role::Query]),
        ("read-a", Some("a"), &[Role::Query]),
    ]);
    let app = with_tokens(folder.path(), &who).await;
    assert_eq!(import(&app, "", Some("read-a"), THEIRS).await.0, 403);
    let (status, told) = import(&app, "", Some("lab-a"), THEIRS).await;
    assert_eq!(status, 200, "{told}");
    let answers = json!({"answers": [{"test": "a", "output": "In California."}]});
    let (status, ran) = send(&app, "POST", "suites/Geography/run", Some("lab-a"), &answers).await;
    assert_eq!((status, &ran["missing"]), (200, &json!(1)), "{ran}");
    let id = ran["experiment_id"].as_str().unwrap().to_owned();
    for (token, method, path, sent, status) in [
        ("lab-b", "GET", "suites/Geography".to_owned(), Value::Null, 404),
        ("lab-b", "GET", "suites/Geography/versions".to_owned(), Value::Null, 404),
        ("lab-b", "POST", "suites/Geography/run".to_owned(), answers.clone(), 404),
        ("lab-b", "POST", format!("suites/Geography/run?experiment={id}"), json!({}), 404),
        ("lab-b", "GET", format!("experiments/{id}/export"), Value::Null, 404),
        ("read-a", "GET", format!("experiments/{id}/export"), Value::Null, 200),
        ("read-a", "POST", "suites/Geography/run".to_owned(), answers.clone(), 403),
    ] {
        let (got, answer) = send(&app, method, &path, Some(token), &sent).await;
        assert_eq!(got, status, "{token} {method} {path}: {answer}");
    }
    let (_, listed) = send(&app, "GET", "suites", Some("lab-b"), &Value::Null).await;
    assert_eq!(listed["suites"], json!([]));
    // The same name is another tenant's own suite.
    let (status, own) = import(&app, "", Some("lab-b"), THEIRS).await;
    assert_eq!((status, &own["revision"]), (200, &json!(1)));
    assert_ne!(own["suite_id"], told["suite_id"]);
    app.stop().await.unwrap();
}

const JUDGED: &str = "[suite]\nname = \"judged\"\nrepetitions = 2\ndeadline = 1800\n[[check]]\noperator = \"is_polite\"\nvotes = 3\n\
    [[test]]\nid = \"a\"\ninput = \"Where is the Bay Area?\"\ncheck = [\
    { operator = \"equals_exactly\", criteria = \"In California.\", extract = { prompt = \"the state\" } }, \
    { operator = \"contains\", criteria = \"Nevada\" }]\n";

/// Its judge is asked for each vote and each repetition, may see the texts of this tenant, and what it extracts is stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_judge_of_a_server_is_asked_what_a_suite_asks() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::default());
    let mut settings = config(&folder.path().join("data"));
    let judge = format!("http://{}/v1", server.listen().await);
    let tenants = Some(vec![settings.ingest.default_tenant.clone()]);
    let canary_interval = Duration::ZERO;
    settings.judges = vec![JudgeConfig { tenants, canary_interval, ..JudgeConfig::new("main", &judge, "m") }];
    settings.lab.targets = [("stub".to_owned(), stub().await)].into();
    let app = start(settings).await;
    let (status, told) = import(&app, "format=toml", None, JUDGED).await;
    assert_eq!(status, 200, "{told}");
    let named = json!({"target": {"kind": "named", "name": "stub"}});
    let ran = done(&app, "POST", "suites/judged/run", &named).await;
    assert_eq!((&ran["stored"], &ran["missing"]), (&json!(2), &json!(0)), "{ran}");
    assert_eq!(ran["deadline"], "30m", "whoever comes again and again stops then");
    // Three votes and one part for each of two repetitions.
    assert_eq!(server.requests(), 8);
    let rows = query(
        app.addresses.http,
        "SELECT operator, auto_eval, engine, coalesce(confidence, '-') AS sure, coalesce(extracted, '-') AS part, count(*) AS n \
         FROM check_results GROUP BY 1, 2, 3, 4, 5 ORDER BY 1",
    )
    .await;
    let wanted = json!([
        {"operator": "contains", "auto_eval": "fail", "engine": "exact", "sure": "-", "part": "-", "n": 2},
        {"operator": "equals_exactly", "auto_eval": "pass", "engine": "exact", "sure": "-", "part": "In California.", "n": 2},
        {"operator": "is_polite", "auto_eval": "pass", "engine": "judge", "sure": "high", "part": "-", "n": 2},
    ]);
    assert_eq!(json!(rows), wanted);
    let id = ran["experiment_id"].as_str().unwrap().to_owned();
    let results = file(&app, &format!("experiments/{id}/export")).await;
    assert!(results.contains(",In California.,") && results.contains("counted: contains 2"), "{results}");
    analysed(&app, &id).await;
    assert_eq!(server.requests(), 9, "all files of a run have one analysis");
    app.stop().await.unwrap();
}

/// Who may spend something has the judge write what the failed checks have in common.
async fn analysed(app: &App, id: &str) {
    let path = |format: &str| format!("experiments/{id}/export?part=results&format={format}&analysis=judge");
    let (status, told) = send(app, "GET", &path("csv"), None, &Value::Null).await;
    assert!(status == 400 && told.to_string().contains("with the role lab"), "{told}");
    let answers = format!("experiments/{id}/export?part=qa&analysis=judge");
    let (status, told) = send(app, "POST", &answers, None, &json!({})).await;
    assert!(status == 400 && told.to_string().contains("other files have no analysis"), "{told}");
    let analysis = format!("judge (judge-model-0, 2 of 2 failed checks): {ANALYSIS}");
    for format in ["csv", "markdown", "text"] {
        let told = done(app, "POST", &path(format), &json!({})).await;
        assert!(told.as_str().unwrap().contains(&analysis), "{format}: {told}");
    }
    let told = done(app, "POST", &path("json"), &json!({})).await;
    assert_eq!(told["analysis"], analysis);
    let (folder, url) = (tempfile::tempdir().unwrap(), format!("http://{}", app.addresses.http));
    let csv = folder.path().join("r.csv").display().to_string();
    let words = ["experiment", "export", id, "--part", "results", "--analysis", "judge", "--output", &csv];
    well(&words, &["--url", &url]).await;
    assert!(std::fs::read_to_string(&csv).unwrap().contains(&analysis));
}
