//! Experiments from the command line: every kind of target, and what goes wrong with them.

use super::verbs::{example, verb, well};
use crate::support::{config, count, start};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use groundline::lab::target::{Kind, TargetSpec};
use serde_json::{Value, json};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::Command;

/// What the right answer to an item of the example is.
fn right(question: &str) -> &'static str {
    match question {
        q if q.contains("Australia") => "Canberra",
        q if q.contains("Vienna") => "the Danube",
        q if q.contains("Victoria") => "Lake Victoria",
        q if q.contains("second") => "Porto",
        q if q.contains("Switzerland") => "Romansh",
        _ => "about 4,806 metres",
    }
}

/// A target that is away for the first two calls, and answers another item's id for one question.
async fn target(
    State(calls): State<Arc<AtomicUsize>>,
    headers: HeaderMap,
    Json(sent): Json<Value>,
) -> (StatusCode, Json<Value>) {
    let question = sent["input"]["question"].as_str().unwrap();
    if calls.fetch_add(1, Ordering::Relaxed) < 2 {
        return (StatusCode::SERVICE_UNAVAILABLE, Json(json!({"error": "starting"})));
    }
    assert_eq!(headers["traceparent"], sent["traceparent"].as_str().unwrap());
    let mut answer = json!({"output": right(question), "in_tokens": 5, "out_tokens": 2, "cost_usd": 0.001});
    if question.contains("Mont Blanc") {
        answer["item_id"] = json!("another");
    }
    (StatusCode::OK, Json(answer))
}

/// A model that repeats what it is asked.
async fn model(Json(sent): Json<Value>) -> Json<Value> {
    let said = right(sent["messages"][0]["content"].as_str().unwrap());
    Json(
        json!({"choices": [{"message": {"role": "assistant", "content": said}}], "usage": {"prompt_tokens": 9}}),
    )
}

async fn targets() -> String {
    let app = Router::new()
        .route("/answer", post(target))
        .with_state(Arc::new(AtomicUsize::new(0)))
        .route("/v1/chat/completions", post(model));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    format!("http://{at}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_kind_of_target_answers() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(&folder.path().join("data"))).await;
    let url = format!("http://{}", app.addresses.http);
    let place = ["--url", url.as_str()];
    well(&["dataset", "import", "geography", &example()], &place).await;
    let common = ["--dataset", "geography", "--evaluator", "rouge"];
    let at = targets().await;

    // An address: two calls are tried again, and one answers another item.
    let address = format!("{at}/answer");
    let args = [&["experiment", "run", "http", "--http", address.as_str()][..], &common[..]].concat();
    let (code, out, err) = verb(&args, &place).await;
    assert!(code == 3 && err.contains("answered with item_id \"another\""), "{out}{err}");
    assert!(out.contains("http: success, 6 of 6 runs over 6 items, 1 without an answer"), "{out}{err}");
    let wrong = "SELECT count(*) FROM runs_latest WHERE error LIKE '%answered with item_id \"another\"%'";
    assert_eq!(count(app.addresses.http, wrong).await, 1);

    // A program that dies after three answers is started again for what it owed.
    let script = folder.path().join("app.sh");
    std::fs::write(
        &script,
        "for i in 1 2 3; do read line || exit; echo '{\"output\": \"Canberra\"}'; done\n",
    )
    .unwrap();
    let command = format!("sh {}", script.display());
    let args = [&["experiment", "run", "program", "--command", command.as_str()][..], &common[..]].concat();
    let out = well(&args, &place).await;
    assert!(out.contains("6 of 6 runs over 6 items, 0 without an answer"), "{out}");

    // The commit of the application, where there is one, is kept with it.
    let git = std::process::Command::new("git").args(["rev-parse", "--verify", "HEAD"]).output();
    let commit =
        git.ok().filter(|git| git.status.success()).and_then(|git| String::from_utf8(git.stdout).ok());
    let out = well(&["experiment", "show", "program"], &place).await;
    let told = commit.as_ref().map(|commit| format!("\ntarget: command, commit {}", &commit[..12]));
    assert_eq!(out.contains("\ntarget: "), told.is_some(), "{out}");
    assert!(out.contains(&told.unwrap_or_default()), "{out}");

    // A model with a prompt of its own.
    let prompt = folder.path().join("prompt.txt");
    std::fs::write(&prompt, "Answer briefly: {{input.question}}").unwrap();
    let (prompt, base) = (prompt.display().to_string(), format!("{at}/v1"));
    let args = [
        &[
            "experiment",
            "run",
            "model",
            "--openai",
            base.as_str(),
            "--model",
            "m",
            "--prompt",
            prompt.as_str(),
            "--baseline",
        ][..],
        &common[..],
    ]
    .concat();
    let out = well(&args, &place).await;
    assert!(out.contains("model: success, 6 of 6 runs over 6 items, 0 without an answer"), "{out}");

    // Answers that were made elsewhere, of which one is missing.
    let file = folder.path().join("answers.csv");
    std::fs::write(
        &file,
        "external_id,answer\ng1,Sydney\ng2,the Danube\ng3,Lake Victoria\ng4,Porto\ng5,Italian\n",
    )
    .unwrap();
    let file = file.display().to_string();
    let args = [&["experiment", "run", "existing", "--existing", file.as_str()][..], &common[..]].concat();
    let (code, out, _) = verb(&args, &place).await;
    assert!(code == 3 && out.contains("1 without an answer"), "{out}");

    // The baseline is found by its mark; what got worse is told first.
    let told = well(&["experiment", "compare", "existing"], &place).await;
    assert!(told.starts_with("existing against model: 6 items in both"), "{told}");
    let regression = told.find("regression: ").unwrap_or_else(|| panic!("{told}"));
    assert!(told.find("error: ").is_some_and(|at| at > regression), "{told}");
    let listed = well(&["experiment", "list"], &place).await;
    assert_eq!(listed.lines().count(), 5, "{listed}");
    app.stop().await.unwrap();
}

/// The first waits until what was answered is judged and stored, and that takes as long as a judge does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_interrupt_ends_a_run_whose_judge_answers_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let [data, config] = ["data", "c.toml"].map(|name| folder.path().join(name).display().to_string());
    well(&["dataset", "import", "geography", &example()], &["--data-dir", data.as_str()]).await;
    let judge = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = judge.local_addr().unwrap();
    let text = format!("[[judges]]\nname = \"main\"\nbase_url = \"http://{at}/v1\"\nmodel = \"m\"\n");
    std::fs::write(&config, text).unwrap();
    let answers = "while read line; do echo '{\"output\": \"Canberra\"}'; done";
    let mut running = Command::new(env!("CARGO_BIN_EXE_groundline"))
        .args(["experiment", "run", "slow", "--dataset", "geography", "--evaluator", "correctness"])
        .args(["--command", answers, "--data-dir", &data, "--config", &config])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut log = BufReader::new(running.stderr.take().unwrap()).lines();
    // As long as the connection is open an answer may come.
    let _asked = tokio::select! {
        asked = judge.accept() => asked.unwrap(),
        ended = running.wait() => panic!("it ended before it asked: {ended:?}"),
    };
    let pid = running.id().unwrap().to_string();
    let interrupt =
        async || assert!(Command::new("kill").args(["-INT", &pid]).status().await.unwrap().success());
    interrupt().await;
    while !log.next_line().await.unwrap().expect("it says that it stops").contains("stopping") {}
    interrupt().await;
    assert_eq!(running.wait().await.unwrap().code(), Some(130));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_server_and_with_a_limit_of_cost() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let place = ["--data-dir", data.as_str()];
    well(&["dataset", "import", "geography", &example()], &place).await;
    let costly = "while read line; do echo '{\"output\": \"Canberra\", \"cost_usd\": 1.0}'; done";
    let args = [
        "experiment",
        "run",
        "costly",
        "--dataset",
        "geography",
        "--evaluator",
        "rouge",
        "--command",
        costly,
        "--concurrency",
        "1",
        "--max-cost",
        "2",
    ];
    let (code, out, err) = verb(&args, &place).await;
    assert_eq!(code, 3, "{out}{err}");
    assert!(out.contains("costly: paused") && err.contains("--max-cost is reached"), "{out}{err}");
    // One whose last answer reaches the limit has ended.
    let mut whole = args;
    (whole[2], whole[12]) = ("whole", "6");
    let (code, out, err) = verb(&whole, &place).await;
    assert!(code == 0 && out.contains("whole: success, 6 of 6 runs"), "{code}: {out}{err}");
    assert!(err.contains("--max-cost is reached: 6 runs stored, 0 missing\n"), "{err}");
    // What nobody has asked when the time is over is left, and asked by the next one.
    let silent = "exec cat > /dev/null";
    let args =
        ["experiment", "run", "late", "--dataset", "geography", "--command", silent, "--deadline", "200ms"];
    let (code, out, err) = verb(&args, &place).await;
    assert!(code == 1 && out.contains("late: paused, 0 of 6 runs"), "{code}: {out}{err}");
    assert!(err.contains("--deadline has passed: 0 runs stored, 6 missing"), "{err}");
    let answers = "while read line; do echo '{\"output\": \"Canberra\"}'; done";
    let out =
        well(&["experiment", "resume", "late", "--command", answers, "--deadline", "10m"], &place).await;
    assert!(out.contains("late: success, 6 of 6 runs"), "{out}");
    let (code, _, err) = verb(&["experiment", "run", "x", "--dataset", "geography"], &place).await;
    assert!(code == 1 && err.contains("say who answers"), "{err}");
    let unknown = ["experiment", "run", "x", "--dataset", "geography", "--trace", "--evaluator", "nothing"];
    let (code, _, err) = verb(&unknown, &place).await;
    assert!(code == 1 && err.contains("evaluators: no evaluator \"nothing\""), "{err}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_program_owes_when_it_dies_for_good_is_an_error_and_is_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(&folder.path().join("data"))).await;
    let url = format!("http://{}", app.addresses.http);
    let place = ["--url", url.as_str()];
    well(&["dataset", "import", "geography", &example()], &place).await;
    let (script, mended) = (folder.path().join("app.sh"), folder.path().join("mended"));
    let text = format!(
        "while read line; do case \"$line\" in *'Mont Blanc'*) [ -e '{}' ] || exit 1;; esac; \
         echo '{{\"output\": \"Canberra\"}}'; done\n",
        mended.display()
    );
    std::fs::write(&script, text).unwrap();
    let command = format!("sh {}", script.display());
    let run = ["experiment", "run", "program", "--command", command.as_str(), "--dataset", "geography"];
    let (code, out, err) = verb(&[&run[..], &["--evaluator", "rouge"]].concat(), &place).await;
    assert_eq!(code, 3, "{out}{err}");
    assert!(out.contains("6 of 6 runs over 6 items, 1 without an answer"), "{out}");
    std::fs::write(&mended, "").unwrap();
    let again = ["experiment", "resume", "program", "--retry", "errors", "--command", command.as_str()];
    let out = well(&again, &place).await;
    assert!(out.contains("6 of 6 runs over 6 items, 0 without an answer"), "{out}");
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_server_asks_the_targets_of_its_configuration_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let at = targets().await;
    let mut config = config(&folder.path().join("data"));
    let spec = TargetSpec {
        kind: Kind::Openai,
        base_url: format!("{at}/v1"),
        model: "m".to_owned(),
        headers: [("x-key".to_owned(), "secret".to_owned())].into(),
        ..TargetSpec::default()
    };
    config.lab.targets.insert("support".to_owned(), spec);
    let app = start(config).await;
    let url = format!("http://{}", app.addresses.http);
    let place = ["--url", url.as_str()];
    well(&["dataset", "import", "geography", &example()], &place).await;
    let common = ["--dataset", "geography", "--evaluator", "rouge", "--repetitions", "2"];
    let args = [&["experiment", "run", "v1", "--server-target", "support"][..], &common[..]].concat();
    let out = well(&args, &place).await;
    assert!(out.contains("v1: success, 12 of 12 runs over 6 items, 0 without an answer"), "{out}");
    let kept = super::done(&app, "GET", "experiments/v1", &Value::Null).await;
    assert_eq!((&kept["target"]["kind"], &kept["target"]["name"]), (&json!("openai"), &json!("support")));
    let listed = super::done(&app, "GET", "targets", &Value::Null).await;
    assert_eq!(listed["targets"][0]["model"], "m");
    assert!(!listed.to_string().contains("secret"), "{listed}");

    // What it does not know it does not ask: neither by name nor by address.
    let args = [&["experiment", "run", "v2", "--server-target", "other"][..], &common[..]].concat();
    let (code, _, err) = verb(&args, &place).await;
    assert!(code == 1 && err.contains("no target \"other\"") && err.contains("support"), "{err}");
    let new = json!({"name": "v3", "dataset": "geography", "target": {"kind": "http", "url": format!("{at}/answer")}});
    let made = super::done(&app, "POST", "experiments", &new).await;
    let path = format!("experiments/{}/run", made["experiment_id"].as_str().unwrap());
    let (status, told) = super::send(&app, "POST", &path, None, &json!({})).await;
    assert!(status == 400 && told["error"].as_str().unwrap().contains("[lab.targets]"), "{told}");
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn other_letters_flip_verdicts_and_experiments_stand_beside_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(&folder.path().join("data"))).await;
    let url = format!("http://{}", app.addresses.http);
    let place = ["--url", url.as_str()];
    well(&["dataset", "import", "geography", &example()], &place).await;
    let made = well(&["perturb", "geography", "--with", "case@extreme", "--seed", "1"], &place).await;
    assert!(made.starts_with("geography-perturbed: version 1, 18 items"), "{made}");
    let again = well(&["perturb", "geography", "--with", "case@extreme", "--seed", "1"], &place).await;
    assert!(again.contains("0 put, 0 deleted, 18 unchanged"), "{again}");
    // Over HTTP the same items are made.
    let body = json!({"dataset": "geography", "with": ["case@extreme"], "seed": 1});
    let told = super::done(&app, "POST", "perturb", &body).await;
    assert_eq!(
        (&told["version"], &told["put"], &told["unchanged"]),
        (&json!(1), &json!(0), &json!(18)),
        "{told}"
    );
    let wrong =
        super::send(&app, "POST", "perturb", None, &json!({"dataset": "geography", "with": ["magic"]})).await;
    assert!(wrong.0 == 400 && wrong.1["error"].as_str().unwrap().contains("magic"), "{wrong:?}");
    let (code, _, err) = verb(&["perturb", "geography", "--with", "synonym"], &place).await;
    assert!(code == 1 && err.contains("a judge writes synonym") && err.contains("[[judges]]"), "{err}");

    // It knows a question by its letters.
    let base = format!("{}/v1", targets().await);
    let common =
        ["--dataset", "geography-perturbed", "--evaluator", "rouge", "--openai", &base, "--model", "m"];
    well(&[&["experiment", "run", "v1"][..], &common[..]].concat(), &place).await;
    let flips = well(&["experiment", "flips", "v1"], &place).await;
    assert!(flips.contains("case@extreme") && flips.contains(" passed, case@extreme fails: "), "{flips}");
    assert!(flips.contains("\n    before: \"") && flips.contains("\n    after: \""), "{flips}");
    let found = well(&["experiment", "findings", "v1"], &place).await;
    assert!(found.contains("flip (") && found.contains("the hardest item is "), "{found}");

    let never = "while read line; do echo nothing; done";
    let args = [
        "experiment",
        "run",
        "v0",
        "--dataset",
        "geography-perturbed",
        "--evaluator",
        "rouge",
        "--command",
        never,
    ];
    well(&args, &place).await;
    let found = well(&["experiment", "findings", "v0"], &place).await;
    assert!(found.contains("problem (high, certain): ") && found.contains("\n    why: "), "{found}");
    let in_sql = "SELECT count(*) FROM findings('v0') WHERE kind = 'problem' AND severity = 'high' AND array_length(item_ids) > 0";
    assert!(count(app.addresses.http, in_sql).await >= 1);
    let board = well(&["experiment", "leaderboard", "v1", "v0"], &place).await;
    assert!(board.contains("v1") && board.contains("#1 ") && board.contains("#2 "), "{board}");
    let (code, _, err) = verb(&["experiment", "leaderboard", "nobody"], &place).await;
    assert!(code == 1 && err.contains("nobody"), "{err}");
    app.stop().await.unwrap();
}
