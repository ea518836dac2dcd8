//! `groundline score` with a judge: what it would cost, and a run that is stopped and goes on.

use super::configured;
use super::server::{Act, INPUT_TOKENS, Server};
use crate::support::until;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// So many lines are scored before any is written.
const CHUNK: usize = 512;
const LINES: usize = CHUNK + 8;

fn lines() -> String {
    (0..LINES).map(|n| format!("{}\n", json!({"id": n, "question": "Who?", "answer": "Stoker."}))).collect()
}

fn score(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groundline"));
    command
        .args(["score", "--evaluator", "safety,looping", "--config", "c.toml", "--input", "in.jsonl"])
        .args(more);
    command.current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

async fn done(mut command: Command) -> (Option<i32>, String, String) {
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

const PRICED: &str = "price_input_usd = 1.0\nprice_output_usd = 2.0\nmax_output_tokens = 100\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dry_run_asks_nobody_and_tells_the_most_that_it_may_cost() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::default());
    let config = configured("\"safety\"", server.listen().await, PRICED);
    std::fs::write(folder.path().join("c.toml"), config).unwrap();
    let mut text = lines();
    text += "{\"id\": \"no answer\", \"question\": \"Who?\"}\nnot json\n";
    std::fs::write(folder.path().join("in.jsonl"), text).unwrap();
    let (code, told, error) = done(score(folder.path(), &["--output", "out.jsonl", "--dry-run"])).await;
    assert_eq!(code, Some(3), "{error}");
    assert!(told.contains(&format!("{} lines, 1 of them do not parse", LINES + 2)), "{told}");
    let line = told.lines().find(|line| line.starts_with("safety: ")).unwrap();
    assert!(line.starts_with(&format!("safety: {LINES} requests, ")), "{line}");
    let usd: f64 = line.split("at most ").last().unwrap().split(' ').next().unwrap().parse().unwrap();
    let written = LINES as f64 * 100.0 * 2.0 / 1e6;
    assert!(usd > written && usd < written + 2.0, "{line}");
    assert_eq!(server.requests(), 0);
    assert!(!folder.path().join("out.jsonl").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_was_killed_goes_on_without_asking_twice() {
    let folder = tempfile::tempdir().unwrap();
    let script = (0..CHUNK).map(|_| Act::Well).chain((CHUNK..LINES).map(|_| Act::Hang));
    let server = Server::with(script);
    let config = configured("\"safety\"", server.listen().await, PRICED);
    std::fs::write(folder.path().join("c.toml"), config).unwrap();
    std::fs::write(folder.path().join("in.jsonl"), lines()).unwrap();
    let mut child = score(folder.path(), &["--output", "out.jsonl"]).spawn().unwrap();
    // The first chunk is written, and everything of the second one was asked.
    let mark = folder.path().join("out.jsonl.progress");
    until("the mark", async || mark.exists() && server.requests() == LINES).await;
    child.kill().unwrap();
    child.wait().unwrap();
    server.script.lock().clear();
    let (code, _, error) = done(score(folder.path(), &["--output", "out.jsonl"])).await;
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("--resume"), "{error}");
    let (code, _, error) = done(score(folder.path(), &["--output", "out.jsonl", "--resume"])).await;
    assert_eq!(code, Some(0), "{error}");
    assert_eq!(server.requests(), LINES + 8, "only those without an answer are asked again");
    assert!(!mark.exists());
    let rows = std::fs::read_to_string(folder.path().join("out.jsonl")).unwrap();
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let safety: Vec<i64> =
        rows.iter().filter(|r| r["evaluator"] == "safety").map(|r| r["id"].as_i64().unwrap()).collect();
    assert_eq!((safety.len(), safety.iter().collect::<BTreeSet<_>>().len()), (LINES, LINES));
    assert!(rows.iter().filter(|r| r["evaluator"] == "safety").all(|r| r["input_tokens"] == INPUT_TOKENS));
    // The summary is of what this run scored.
    let told = error.lines().find(|line| line.starts_with("safety ")).unwrap();
    assert_eq!(told.split_whitespace().nth(1), Some("8"), "{error}");
    assert!(error.contains("safety: 8 judged by request, 800 tokens read"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_many_lines_are_in_work_as_the_judge_takes() {
    const MOST: usize = 100;
    // None is answered before most are begun, however long that takes.
    let server = Server { takes: Duration::from_millis(500), gathers: MOST * 2 / 3, ..Server::default() };
    let folder = tempfile::tempdir().unwrap();
    let config = configured("\"safety\"", server.listen().await, &format!("max_concurrent = {MOST}\n"));
    std::fs::write(folder.path().join("c.toml"), config).unwrap();
    let some: String = lines().lines().take(3 * MOST / 2).map(|line| format!("{line}\n")).collect();
    std::fs::write(folder.path().join("in.jsonl"), some).unwrap();
    let (code, _, error) = done(score(folder.path(), &["--output", "out.jsonl"])).await;
    assert_eq!((code, server.requests()), (Some(0), 3 * MOST / 2), "{error}");
    let (_, most) = *server.at_once.lock();
    assert!((MOST * 2 / 3..=MOST).contains(&most), "{most}");
}
