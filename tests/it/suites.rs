//! `groundline test` as a build runs it: the binary, its exit codes, its reports.

#[path = "suites/again.rs"]
mod again;
#[path = "suites/codes.rs"]
mod codes;
#[path = "suites/example.rs"]
mod example;
#[path = "suites/exchange.rs"]
mod exchange;
#[path = "suites/hostile.rs"]
mod hostile;
#[path = "suites/judged.rs"]
mod judged;
#[path = "suites/targets.rs"]
mod targets;

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// What a run ended with.
struct Ended {
    code: i32,
    out: String,
    err: String,
    folder: TempDir,
}

impl Ended {
    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name))
            .unwrap_or_else(|e| panic!("{name}: {e}: {}", self.err))
    }

    /// The JSON report; it is there whatever the exit code is.
    fn report(&self) -> Value {
        serde_json::from_str(&self.file("report.json")).unwrap()
    }

    /// A check of a run: status and feedback.
    fn check(&self, run: usize, check: usize) -> (String, String) {
        let report = self.report();
        let check = &report["runs"][run]["checks"][check];
        let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
        (text("status"), text("feedback"))
    }
}

/// Runs a suite in a folder of its own that has `files`, with all reports.
fn tested(suite: &str, files: &[(&str, &str)], more: &[&str]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("suite.toml"), suite).unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    run(folder, more)
}

fn run(folder: TempDir, more: &[&str]) -> Ended {
    let reports = ["--json", "report.json", "--junit", "junit.xml", "--markdown", "report.md"];
    let (code, out, err) = command(folder.path(), &[&["test", "suite.toml"][..], &reports, more].concat());
    Ended { code, out, err, folder }
}

/// Exit code, standard output and standard error of the program.
fn command(folder: &Path, words: &[&str]) -> (i32, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_groundline")).args(words).current_dir(folder).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// As [`tested`], beside servers of this process.
async fn tested_beside(
    suite: String,
    files: Vec<(&'static str, String)>,
    more: &'static [&'static str],
) -> Ended {
    let run = move || {
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        tested(&suite, &files, more)
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}

/// Ten tests with answers, the first `passing` of which say what they should.
fn ten(passing: usize) -> String {
    let case = |at: usize| {
        let answer = if at < passing { "yes" } else { "no" };
        format!(
            "{{\"id\": \"t{at}\", \"input\": \"q{at}\", \"expected\": \"yes\", \"output\": \"{answer}\"}}\n"
        )
    };
    (0..10).map(case).collect()
}
