//! The command line as a user meets it: configuration, offline scoring, queries.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::ffi::OsStrExt;
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
    let alert = |metric: &str, more: &str| {
        format!(
            "[[alerts]]\nname = \"a\"\nmetric = \"{metric}\"\nmethod = \"burn_rate\"\nobjective = 0.9\n{more}"
        )
    };
    let large =
        "slices = [\"tenant\"]\nmax_slices = 10000\nreceivers = [\"r\", \"s\", \"t\", \"u\", \"v\"]\n";
    let receivers: String = ["r", "s", "t", "u", "v"]
        .map(|name| {
            format!("[[receivers]]\nname = \"{name}\"\nkind = \"webhook\"\nurl = \"http://127.0.0.1:9\"\n")
        })
        .concat();
    for (text, part) in [
        (alert("halucination", ""), "the nearest are \"hallucination\""),
        (alert("hallucination", large) + &receivers, "max_frame_size is 192MiB"),
    ] {
        std::fs::write(&file, text).unwrap();
        let checked = run(&["config", "check", file.to_str().unwrap()], "");
        assert_eq!(checked.status.code(), Some(2), "{part}");
        let told = err(&checked);
        assert!(told.contains(part) && told.starts_with(file.to_str().unwrap()), "{part}: {told}");
    }
    std::fs::write(&file, alert("hallucination", "")).unwrap();
    assert!(run(&["config", "check", file.to_str().unwrap()], "").status.success());
    let rule = |name: &str| {
        format!(
            "[[sample.rules]]\nname = \"{name}\"\nfilter = \"true\"\nrate = 1.0\nevaluators = [\"hallucination\"]\n"
        )
    };
    std::fs::write(&file, rule("one") + &rule("two") + &alert("hallucination", "")).unwrap();
    let checked = run(&["config", "check", file.to_str().unwrap()], "");
    assert!(checked.status.success() && out(&checked).contains("bad.toml: ok"), "{}", err(&checked));
    assert!(
        err(&checked).contains("bad.toml: warning: alerts \"a\": the rules \"one\", \"two\""),
        "{}",
        err(&checked)
    );
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
fn a_reader_that_hung_up_is_no_failure_and_a_full_disk_is_one() {
    let verbs: [&[&str]; 4] = [
        &["score", "--evaluator", "pii_leakage"],
        &["score", "--evaluator", "pii_leakage", "--dry-run"],
        &["config", "dump"],
        &["suite", "schema"],
    ];
    let ended = |args: &[&str], stdout: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groundline"));
        let mut child =
            command.args(args).stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::piped()).spawn().unwrap();
        // Most of them read nothing.
        let _ = child.stdin.take().unwrap().write_all(b"{\"answer\":\"Yes.\"}\n");
        child.wait_with_output().unwrap()
    };
    for args in verbs {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let unread = ended(args, writer.into());
        assert_eq!((unread.status.code(), err(&unread).as_str()), (Some(0), ""), "{args:?}");
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let unwritten = ended(args, full.into());
        assert!(!unwritten.status.success(), "{args:?}");
        let told = err(&unwritten);
        assert!(told.contains("No space left") && !told.contains("panicked"), "{args:?}: {told}");
    }
}

/// As behind `2>&1 | head`, or where the disk of a log is full.
#[test]
fn a_standard_error_that_takes_nothing_changes_no_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.toml");
    std::fs::write(&file, "wrong = 1\n").unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for stderr in [Stdio::from(writer), Stdio::from(full)] {
        let mut check = Command::new(env!("CARGO_BIN_EXE_groundline"));
        let checked = check.args(["config", "check"]).arg(&file).stderr(stderr).output().unwrap();
        assert_eq!(checked.status.code(), Some(2));
    }
}

#[test]
fn a_server_goes_on_whose_log_takes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_groundline"));
    command.arg("serve").arg("--data-dir").arg(folder.path()).stdout(Stdio::piped()).stderr(full);
    for key in ["SERVER__HTTP_LISTEN", "SERVER__PG_LISTEN", "INGEST__HTTP_LISTEN", "INGEST__GRPC_LISTEN"] {
        command.env(format!("GROUNDLINE_{key}"), "127.0.0.1:0");
    }
    let mut server = command.spawn().unwrap();
    let (mut greeting, mut told) = (String::new(), String::new());
    let mut out = BufReader::new(server.stdout.take().unwrap());
    out.read_line(&mut greeting).unwrap();
    let at = greeting.trim().strip_prefix("Console: http://").unwrap_or_else(|| panic!("{greeting:?}"));
    let mut stream = TcpStream::connect(at).unwrap();
    let asked = format!("GET /health/live HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\n\r\n");
    stream.write_all(asked.as_bytes()).unwrap();
    stream.read_to_string(&mut told).unwrap();
    assert!(told.starts_with("HTTP/1.1 200"), "{told}");
    assert!(Command::new("kill").arg(server.id().to_string()).status().unwrap().success());
    assert_eq!(server.wait().unwrap().code(), Some(0));
}

#[test]
fn a_mark_that_editors_begin_a_file_with_is_no_fault_of_its_first_line() {
    let scored =
        run(&["score", "--evaluator", "pii_leakage"], "\u{feff}{\"id\":\"a\",\"answer\":\"Yes.\"}\n");
    assert_eq!(scored.status.code(), Some(0), "{}", err(&scored));
    assert!(out(&scored).contains("\"id\":\"a\""), "{}", out(&scored));
}

#[test]
fn variables_may_hold_any_bytes_or_nothing() {
    let with = |key: &str, value: &[u8], args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groundline"));
        command.args(args).env(key, OsStr::from_bytes(value)).output().unwrap()
    };
    let other = with("A_PATH_OF_OTHERS", b"caf\xe9", &["config", "dump"]);
    assert_eq!(other.status.code(), Some(0), "{}", err(&other));
    let ours = with("GROUNDLINE_SERVER__LOG", b"\xff", &["config", "dump"]);
    assert_eq!((ours.status.code(), err(&ours).as_str()), (Some(2), "GROUNDLINE_SERVER__LOG is not UTF-8\n"));
    // As a file of containers sets it where nobody has given it a value.
    let none = with("GROUNDLINE_CA_FILE", b"", &["sql", "--url", "http://127.0.0.1:1", "SELECT 1"]);
    assert!(none.status.code() == Some(1) && err(&none).contains("refused"), "{}", err(&none));
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
    // The cause as well: the outermost error says only that the request failed.
    let told = err(&asked);
    assert!(told.contains("refused") && told.contains("is the server running"), "{told}");
    let schemeless = run(&["sql", "--url", "127.0.0.1:1", "SELECT 1"], "");
    assert!(err(&schemeless).contains("an address begins with http://"), "{}", err(&schemeless));
    let missing = run(&["sql", "--data-dir", "/no/such/place", "SELECT 1"], "");
    assert!(err(&missing).contains("/no/such/place"), "{}", err(&missing));
}

/// Twenty answers that a person passed and twenty that the person failed; the last of each are hard to tell apart.
fn labelled() -> String {
    let words = ["red", "blue", "green", "round", "tall", "old", "new", "warm", "cold", "wide"];
    let mut lines = String::new();
    for n in 0..40 {
        let (passed, right) = (n % 2 == 0, if n % 2 == 0 { 10 - n / 8 } else { n / 8 });
        let said: Vec<&str> =
            words.iter().enumerate().map(|(at, word)| if at < right { *word } else { "other" }).collect();
        let line =
            serde_json::json!({"answer": said.join(" "), "expected": words.join(" "), "passed": passed});
        lines += &format!("{line}\n");
    }
    lines
}

#[test]
fn labels_of_a_user_choose_a_threshold_and_write_it() {
    let folder = tempfile::tempdir().unwrap();
    let (labels, config) = (folder.path().join("ours.jsonl"), folder.path().join("groundline.toml"));
    std::fs::write(&labels, labelled()).unwrap();
    std::fs::write(&config, "# ours\n[eval]\ndisabled = [\"toxicity\"]\n").unwrap();
    let [labels, config] = [&labels, &config].map(|path| path.to_str().unwrap());
    let bench = |more: &[&str]| {
        run(
            &[&["evalbench", "--labels", labels, "--evaluator", "rouge", "--config", config], more].concat(),
            "",
        )
    };
    let told = bench(&[]);
    assert!(told.status.success(), "{}", err(&told));
    let text = out(&told);
    for part in
        ["rouge_l of rouge", "20 faulty and 20 sound answers, 0 without a score", "AUROC 1.000", "it fails"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let written = bench(&["--precision", "0.95", "--write"]);
    assert!(written.status.success(), "{}", err(&written));
    assert!(out(&written).contains("on those that chose not"), "{}", out(&written));
    let after = std::fs::read_to_string(config).unwrap();
    assert!(after.starts_with("# ours\n[eval]\ndisabled = [\"toxicity\"]\n"), "{after}");
    assert!(run(&["config", "check", config], "").status.success(), "{after}");
    // What was written is what the verb then measures with.
    let json: Vec<serde_json::Value> =
        out(&bench(&["--json"])).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rouge_l = json.iter().find(|row| row["metric"] == "rouge_l").unwrap();
    assert_eq!(rouge_l["now"]["precision"]["share"], 1.0, "{rouge_l}");
    assert_eq!(rouge_l["now"]["recall"]["share"], 1.0, "{rouge_l}");
    assert!(after.contains(&format!("rouge_l = {}", rouge_l["threshold"])), "{after}");
}

#[test]
fn labels_that_are_none_name_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let labels = folder.path().join("ours.jsonl");
    std::fs::write(&labels, "{\"answer\": \"a\", \"passed\": true}\n\n{\"answer\": \"b\"}\n").unwrap();
    let labels = labels.to_str().unwrap();
    let bench = |more: &[&str]| {
        let mut args = vec!["evalbench", "--labels", labels];
        args.extend(more);
        run(&args, "")
    };
    let wrong = bench(&["--evaluator", "looping"]);
    assert_eq!(wrong.status.code(), Some(3));
    let told = err(&wrong);
    assert!(told.contains("ours.jsonl") && told.contains("line 3") && told.contains("passed"), "{told}");
    let cases: [(&[&str], &str); 4] = [
        (&[], "--evaluator"),
        (&["--evaluator", "looping", "--precision", "1.5"], "--precision"),
        (&["--evaluator", "nonsense"], "nonsense"),
        (&["--evaluator", "looping", "--write"], "--config"),
    ];
    for (args, part) in cases {
        let refused = bench(args);
        assert_eq!(refused.status.code(), Some(2), "{args:?}");
        assert!(err(&refused).contains(part), "{args:?}: {}", err(&refused));
    }
}
