//! The packages for Python and for TypeScript, with the real interpreters, in both of their forms.

use super::{file, program};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// A server that is killed with this value.
pub struct Server {
    child: Child,
    pub url: String,
}

impl Server {
    /// Starts an evaluator with `--http` or `--grpc`, and reads its address from what it says.
    pub fn start(mut command: Command, way: &str) -> Self {
        let mut child = command.args([way, "127.0.0.1:0"]).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
        Self { child, url }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn groundline(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_groundline"))
        .args(args)
        .env("PYTHONPATH", file("plugins/python"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Scores three lines by the plug-in `tone`, and checks what comes of them.
pub fn scores(plugin: &str) {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("groundline.toml");
    std::fs::write(&config, format!("[[plugins]]\nname = \"tone\"\n{plugin}\n")).unwrap();
    let lines = [
        json!({"id": "good", "answer": "It is in the warehouse."}),
        json!({"id": "bad", "answer": "It will arrive by Monday, stupid."}),
        json!({"id": "none", "question": "Where is it?"}),
    ];
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let done =
        groundline(&["score", "--evaluator", "plugin/tone", "--config", config.to_str().unwrap()], &input);
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{plugin}: {said}");
    let rows: Vec<Value> =
        String::from_utf8_lossy(&done.stdout).lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let told = |row: &Value| {
        let text = |name: &str| row[name].as_str().unwrap_or("-").to_owned();
        format!("{} {} {} {} {}", text("id"), text("metric"), text("status"), row["value"], row["passed"])
    };
    assert_eq!(
        rows.iter().map(told).collect::<Vec<_>>(),
        [
            "good politeness ok 1.0 true",
            "good promise ok 0.0 true",
            "bad politeness ok 0.5 true",
            "bad promise ok 1.0 false",
            "none politeness skipped null null",
            "none promise skipped null null",
        ],
        "{plugin}: {said}"
    );
    assert!(
        rows.iter().all(|row| row["evaluator"] == "plugin/tone" && row["evaluator_version"] == "1"),
        "{rows:?}"
    );
    assert_eq!((&rows[2]["rationale"], &rows[4]["error"]), (&json!("rude: stupid"), &json!("answer")));
}

fn both_forms(program: &Path, example: &Path) {
    let environment = "environment = [\"PATH\", \"HOME\", \"PYTHONPATH\"]";
    scores(&format!("command = [{program:?}, {example:?}]\n{environment}\nconcurrency = 2"));
    let mut command = Command::new(program);
    command.arg(example).env("PYTHONPATH", file("plugins/python"));
    let server = Server::start(command, "--http");
    scores(&format!("url = {:?}\nconcurrency = 2", server.url));
}

#[test]
fn an_evaluator_in_python_scores_as_a_process_and_over_http() {
    let Some(python) = program("python3") else { return };
    both_forms(&python, &file("plugins/python/examples/tone.py"));
}

#[test]
fn an_evaluator_in_typescript_scores_as_a_process_and_over_http() {
    let Some(node) = program("node") else { return };
    both_forms(&node, &file("plugins/typescript/examples/tone.js"));
}

#[test]
fn the_packages_pass_their_own_tests() {
    let passes = |mut command: Command, folder: &str| {
        let done = command.current_dir(file(folder)).output().unwrap();
        assert!(
            done.status.success(),
            "{}{}",
            String::from_utf8_lossy(&done.stdout),
            String::from_utf8_lossy(&done.stderr)
        );
    };
    if let Some(python) = program("python3") {
        let mut command = Command::new(python);
        command.args(["-B", "-m", "unittest", "discover", "-s", "tests"]);
        passes(command, "plugins/python");
    }
    if let Some(node) = program("node") {
        let mut command = Command::new(node);
        command.args(["--test", "test/"]);
        passes(command, "plugins/typescript");
    }
}

#[test]
fn faults_are_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("groundline.toml");
    let check = |text: &str| {
        std::fs::write(&config, text).unwrap();
        let done = groundline(&["config", "check", config.to_str().unwrap()], "");
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    let rule = "[[sample.rules]]\nname = \"r\"\nfilter = \"operation = 'llm'\"\nrate = 1.0\nevaluators = [\"plugin/a\"]\n";
    let (code, told) = check(rule);
    assert!(code == Some(2) && told.contains("configure [[plugins]], see docs/plugins.md"), "{told}");
    let plugin = format!("{rule}[[plugins]]\nname = \"a\"\n");
    assert_eq!(check(&format!("{plugin}command = [\"x\"]\n")).0, Some(0));
    assert_eq!(check(&format!("{plugin}url = \"grpc://h:1\"\n")).0, Some(0));
    for (more, part) in [
        ("", "set command or url"),
        ("command = [\"x\"]\nurl = \"http://h\"\n", "set command or url"),
        ("command = [\"x\"]\ntimeout = \"2m\"\n", "score.slow_timeout"),
        ("command = [\"x\"]\nbatch = 0\n", "batch is 0"),
        ("url = \"ftp://h\"\n", "is no address"),
        ("command = [\"x\"]\nwrong = 1\n", "wrong"),
        ("command = \"x\"\n", "expected a sequence"),
        ("command = [\"x\"]\n[[plugins]]\nname = \"a\"\nurl = \"http://h\"\n", "the name is taken"),
        ("command = [\"x\"]\n[eval]\ndisabled = [\"plugin/a\"]\n", "is not there or is disabled"),
    ] {
        let (code, told) = check(&format!("{plugin}{more}"));
        assert!(code == Some(2) && told.contains(part), "{more}: {told}");
    }
}
