//! Checks that ask a judge, over the scripted one.

use super::{command, tested_beside};
use crate::judges::server::{ANALYSIS, Act, Server};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::Duration;

const SUITE: &str = "[suite]\nname = \"s\"\n[[test]]\ninput = \"Who wrote Dracula?\"\noutput = \"Bram Stoker.\"\ncheck = [\n\
    { operator = \"satisfies_statement\", criteria = \"names the author of {{input}}\" },\n\
    { operator = \"is_polite\", votes = 3 },\n\
    { operator = \"not-is_concise\" },\n\
    { operator = \"includes\", criteria = \"Stoker\", engine = \"judge\" },\n\
]\n";

const NO: &str = "{\"rationale\":\"It is not.\",\"problems\":[\"rude\"],\"rating\":\"no\"}";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_judge_is_asked_what_the_author_wrote_and_votes_are_counted() {
    let server = Server::default();
    let config = format!(
        "[[judges]]\nname = \"main\"\nbase_url = \"http://{}/v1\"\nmodel = \"m\"\n",
        server.listen().await
    );
    let files = vec![("groundline.toml", config)];
    let ended = tested_beside(SUITE.to_owned(), files.clone(), &["--config", "groundline.toml"]).await;
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    assert_eq!(server.requests(), 6);
    let statuses: Vec<String> = (0..4).map(|check| ended.check(0, check).0).collect();
    assert_eq!(statuses, ["pass", "pass", "fail", "pass"], "{}", ended.out);
    let asked = server.got.lock()[0].1["messages"].to_string();
    assert!(asked.contains("names the author of Who wrote Dracula?"), "{asked}");
    assert_eq!(ended.report()["runs"][0]["checks"][1]["confidence"], "high");
    // One of three votes is another one: it passes, and somebody should look.
    let acts = [Act::Well, Act::Says(NO), Act::Well, Act::Well];
    server.script.lock().extend(acts);
    let ended = tested_beside(SUITE.to_owned(), files, &["--config", "groundline.toml"]).await;
    let check = &ended.report()["runs"][0]["checks"][1];
    assert_eq!((&check["status"], &check["confidence"]), (&json!("pass"), &json!("low")), "{check}");
    assert!(check["feedback"].as_str().unwrap().contains("2 of 3 votes pass"), "{check}");
    assert_eq!(ended.report()["summary"]["needs_review"], 1.0);
}

/// With a cache a vote is not taken for another vote, and the same run again asks nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn votes_are_asked_one_by_one_and_again_for_nothing() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::default());
    let config = format!(
        "[server]\ndata_dir = {:?}\n[score.judge_cache]\nsize = \"8MiB\"\n[[judges]]\nname = \"main\"\nbase_url = \"http://{}/v1\"\nmodel = \"m\"\n",
        folder.path().join("data"),
        server.listen().await
    );
    for _ in 0..2 {
        let files = vec![("groundline.toml", config.clone())];
        let ended = tested_beside(SUITE.to_owned(), files, &["--config", "groundline.toml"]).await;
        assert_eq!((ended.code, server.requests()), (0, 6), "{}{}", ended.out, ended.err);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_judge_its_checks_are_errors_and_never_a_pass() {
    let ended = tested_beside(SUITE.to_owned(), Vec::new(), &[]).await;
    assert_eq!(ended.code, 3, "{}{}", ended.out, ended.err);
    for check in 0..4 {
        let (status, why) = ended.check(0, check);
        assert!(status == "error" && why.contains("needs a judge"), "{status}: {why}");
    }
}

const PARTS: &str = "[suite]\nname = \"p\"\n[[check]]\noperator = \"regex\"\ncriteria = '^14\\s+days$'\nextract = { prompt = \"the period\" }\n\
    [[test]]\nid = \"there\"\ninput = \"q\"\noutput = \"Within 14  days.\"\n\
    [[test]]\nid = \"none\"\ninput = \"q\"\noutput = \"Ask somebody else.\"\n\
    [[test]]\nid = \"made up\"\ninput = \"q\"\noutput = \"Within two weeks.\"\n";

/// A judge that finds the period where there is one, and makes one up where there is another.
fn period(asked: &Value) -> String {
    let text = |at: usize| asked["messages"][at]["content"].as_str().unwrap();
    if text(0).contains("\"analysis\"") {
        assert!(
            text(1).contains("operator: regex\n") && text(1).contains("feedback: nothing was"),
            "{}",
            text(1)
        );
        return json!({ "analysis": ANALYSIS }).to_string();
    }
    assert!(text(0).contains("the period") && !text(0).contains("Within"), "{}", text(0));
    let parts = if text(1).contains("somebody") { json!([]) } else { json!(["14 days"]) };
    json!({ "parts": parts }).to_string()
}

/// A check reads what a judge copied, as it stands in the answer, and nothing that the judge made up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_judge_extracts_what_a_check_reads() {
    let server = Server { answers: Some(period), ..Server::default() };
    let config = format!(
        "[[judges]]\nname = \"main\"\nbase_url = \"http://{}/v1\"\nmodel = \"m\"\n",
        server.listen().await
    );
    let files = vec![("groundline.toml", config)];
    let args = &["--config", "groundline.toml", "--analysis", "judge"];
    let ended = tested_beside(PARTS.to_owned(), files, args).await;
    assert_eq!(ended.code, 3, "{}{}", ended.out, ended.err);
    let check = |run: usize| ended.report()["runs"][run]["checks"][0].clone();
    assert_eq!((&check(0)["status"], &check(0)["extracted"]), (&json!("pass"), &json!("14  days")));
    assert_eq!(ended.check(1, 0), ("fail".to_owned(), "nothing was extracted from the answer".to_owned()));
    let (status, why) = ended.check(2, 0);
    assert!(status == "error" && why.contains("does not stand in the text: \"14 days\""), "{why}");
    assert!(check(2).get("extracted").is_none());
    // A reply that cannot be is asked for once more; and one question is about what failed, which an error is not.
    assert_eq!(server.requests(), 5);
    let analysis = format!("judge (judge-model-0, 1 of 1 failed checks): {ANALYSIS}");
    assert_eq!(ended.report()["analysis"], analysis);
    assert!(ended.out.contains(&analysis) && ended.file("report.md").contains(&analysis), "{}", ended.out);
    let export = ["suite", "export", "report.json", "--part", "results", "--output", "results.csv"];
    assert_eq!(command(ended.folder.path(), &export).0, 0);
    let results = ended.file("results.csv");
    assert!(results.contains(",14  days,") && results.contains(",Extractor,"), "{results}");
    assert!(results.contains(&analysis), "{results}");
}

/// Judging takes as long as a judge does, and who has waited enough ends it.
#[test]
fn an_interrupt_while_answers_are_judged_ends_it() {
    let (judge, folder) = (TcpListener::bind("127.0.0.1:0").unwrap(), tempfile::tempdir().unwrap());
    judge.set_nonblocking(true).unwrap();
    let config = format!(
        "[[judges]]\nname = \"main\"\nbase_url = \"http://{}/v1\"\nmodel = \"m\"\n",
        judge.local_addr().unwrap()
    );
    std::fs::write(folder.path().join("groundline.toml"), config).unwrap();
    std::fs::write(folder.path().join("suite.toml"), SUITE).unwrap();
    let mut running = Command::new(env!("CARGO_BIN_EXE_groundline"))
        .args(["test", "suite.toml", "--config", "groundline.toml"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // It is asked, and never answers.
    let _asked = loop {
        if let Ok(asked) = judge.accept() {
            break asked;
        }
        assert_eq!(running.try_wait().unwrap(), None, "it ended before it asked");
        std::thread::sleep(Duration::from_millis(10));
    };
    let sent = Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(running.wait().unwrap().code(), Some(130));
}
