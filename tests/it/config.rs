//! The command line as a user meets it: configuration, offline scoring, queries.

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn run(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_groundline"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A verb that refuses its arguments reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn config_check_tells_all_faults_and_exits_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.toml");
    std::fs::write(&file, "[sql]\ntimeout = 0\n[lake]\nurl = \"ftp://x\"\nwrong = 1\n").unwrap();
    let checked = run(&["config", "check", file.to_str().unwrap()], "");
    assert_eq!(checked.status.code(), Some(2));
    for part in ["sql.timeout", "lake.url", "lake.wrong"] {
        assert!(err(&checked).contains(part), "{part}: {}", err(&checked));
    }
    std::fs::write(&file, "[server\n").unwrap();
    let checked = run(&["config", "check", file.to_str().unwrap()], "");
    assert_eq!(checked.status.code(), Some(2));
    assert!(err(&checked).contains("bad.toml"), "{}", err(&checked));
}

#[test]
fn config_dump_prints_the_example() {
    let dumped = run(&["config", "dump"], "");
    assert!(dumped.status.success());
    assert_eq!(out(&dumped), include_str!("../../groundline.example.toml"));
}

const LINES: &str = r#"{"id":"a","question":"How do I pay?","answer":"With card 4111 1111 1111 1111."}
not json
{"id":"b","answer":"You are a worthless idiot."}
"#;

#[test]
fn score_reads_lines_and_a_bad_line_is_one_error_row() {
    let scored = run(&["score", "--evaluator", "pii_leakage,toxicity"], LINES);
    assert_eq!(scored.status.code(), Some(3), "{}", err(&scored));
    let rows: Vec<serde_json::Value> =
        out(&scored).lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let find = |id: &str, metric: &str| {
        rows.iter()
            .find(|r| r["id"] == id && r["metric"] == metric)
            .unwrap_or_else(|| panic!("{id} {metric}"))
    };
    assert_eq!(find("a", "pii_leakage")["passed"], false);
    assert_eq!(find("b", "pii_leakage")["passed"], true);
    let toxicity = |id: &str| find(id, "toxicity")["value"].as_f64().unwrap();
    assert!(toxicity("b") > toxicity("a"));
    let bad: Vec<_> = rows.iter().filter(|r| r["status"] == "error").collect();
    assert_eq!((bad.len(), bad[0]["id"].as_i64()), (1, Some(2)));
    assert!(bad[0]["error"].as_str().unwrap().contains("line 2"));
    let keys: Vec<&String> = rows[0].as_object().unwrap().keys().collect();
    let contract = [
        "id",
        "evaluator",
        "evaluator_version",
        "metric",
        "value",
        "label",
        "passed",
        "threshold",
        "status",
        "rationale",
        "error",
        "latency_ms",
    ];
    assert_eq!(keys, contract);
}

#[test]
fn score_with_an_unknown_evaluator_names_those_that_exist() {
    let scored = run(&["score", "--evaluator", "nonsense"], LINES);
    assert_eq!(scored.status.code(), Some(2));
    assert!(err(&scored).contains("nonsense") && err(&scored).contains("groundedness"), "{}", err(&scored));
}

#[test]
fn sql_on_a_data_directory_and_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let none = run(&["sql", "--data-dir", folder.path().to_str().unwrap(), "SELECT 1"], "");
    assert_eq!(none.status.code(), Some(1));
    std::fs::create_dir(folder.path().join("journal")).unwrap();
    let asked = run(
        &[
            "sql",
            "--data-dir",
            folder.path().to_str().unwrap(),
            "--format",
            "csv",
            "SELECT count(*) AS n FROM spans",
        ],
        "",
    );
    assert_eq!((out(&asked).as_str(), asked.status.code()), ("n\n0\n", Some(0)), "{}", err(&asked));
    let asked = run(&["sql", "--url", "http://127.0.0.1:1", "SELECT 1"], "");
    assert_eq!(asked.status.code(), Some(1));
    assert!(err(&asked).contains("is the server running"), "{}", err(&asked));
    let missing = run(&["sql", "--data-dir", "/no/such/place", "SELECT 1"], "");
    assert!(err(&missing).contains("/no/such/place"), "{}", err(&missing));
}
