//! Receivers that refuse, hang, or are away for long.

use super::{Alertmanager, Receiver, WATCHED, calls};
use crate::support::{Process, Reserved, send, until};
use axum::http::StatusCode;
use serde_json::Value;
use std::net::SocketAddr;
use std::process::Command;
use tokio::net::TcpListener;

fn webhook(name: &str, at: SocketAddr) -> String {
    format!("[[receivers]]\nname = \"{name}\"\nkind = \"webhook\"\nurl = \"http://{at}/hook\"\n")
}

/// The value of a metric of the server, 0 where it is not there yet.
async fn metric(server: &Process, line: &str) -> f64 {
    let text = reqwest::get(format!("http://{}/metrics", server.http)).await.unwrap().text().await.unwrap();
    let found = text.lines().find_map(|one| one.strip_prefix(line));
    found.map_or(0.0, |value| value.trim().parse().unwrap())
}

/// What the server says of a receiver's messages about what fails: status, outcome, error, and whether there is a next attempt.
async fn told(server: &Process, receiver: &str) -> Vec<(String, String, String, bool)> {
    let answer = reqwest::get(format!("http://{}/v1/alerts", server.http)).await.unwrap();
    let answer: Value = answer.json().await.unwrap();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let one = |one: &Value| {
        assert!(one["alert"] == "leaks" && one["slice"] == "request_model=bad", "{one}");
        (word(&one["status"]), word(&one["outcome"]), word(&one["error"]), one["next_attempt_at"].is_string())
    };
    let all = answer["deliveries"].as_array().unwrap().iter();
    all.filter(|one| one["receiver"] == receiver).map(one).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_is_refused_is_counted_as_lost_and_remembered_and_the_next_one_is_sent() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::default());
    *receiver.faults.lock() = vec![StatusCode::BAD_REQUEST];
    let hook = receiver.clone().listen().await;
    let text = format!("{WATCHED}{}", webhook("them", hook));
    let mut server = Process::start_with(folder.path(), &text);
    assert!(send(server.otlp_http, calls(0, 200, 70)).await);
    let lost = "groundline_alert_messages_lost_total{reason=\"refused\"}";
    until("the refusal", async || metric(&server, lost).await == 1.0).await;
    let refused = |error: &str| ("firing".to_owned(), "refused".to_owned(), error.to_owned(), false);
    until("who was not told", async || told(&server, "them").await == [refused("400 Bad Request")]).await;
    assert_eq!(metric(&server, lost).await, 1.0);
    // It is known after a restart.
    let id = server.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(server.child.wait().unwrap().success());
    server = Process::start_with(folder.path(), &text);
    until("who was not told", async || told(&server, "them").await == [refused("400 Bad Request")]).await;
    assert!(send(server.otlp_http, calls(200, 600, 0)).await);
    until("the end", async || receiver.states() == ["resolved"]).await;
    assert_eq!(metric(&server, lost).await, 0.0, "nothing more is lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_hangs_holds_up_nobody_else() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::default());
    let hook = receiver.clone().listen().await;
    // It takes connections and never says a word.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let there = silent.local_addr().unwrap();
    let hangs = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((connection, _)) = silent.accept().await {
            held.push(connection);
        }
    });
    let watched = WATCHED.replace("receivers = [\"them\"]", "receivers = [\"hangs\", \"them\"]");
    let text = format!(
        "{watched}[drift]\nsend_timeout = \"300ms\"\n{}{}",
        webhook("hangs", there),
        webhook("them", hook)
    );
    let server = Process::start_with(folder.path(), &text);
    // Whose answer takes longer than that on a busy machine is told again.
    let heard = || {
        let mut states = receiver.states();
        states.dedup();
        states
    };
    assert!(send(server.otlp_http, calls(0, 200, 70)).await);
    until("the message", async || heard() == ["firing"]).await;
    let failed = "groundline_alert_messages_total{outcome=\"failed\"}";
    until("two attempts", async || metric(&server, failed).await >= 2.0).await;
    until("who was told and what waits", async || {
        let (them, waits) = (told(&server, "them").await, told(&server, "hangs").await);
        let is_told = them.iter().any(|(_, outcome, ..)| outcome == "delivered");
        is_told
            && waits.iter().any(|(_, outcome, why, is_next)| {
                outcome == "waiting" && why.contains("timed out") && *is_next
            })
    })
    .await;
    let mut show = Command::new(env!("CARGO_BIN_EXE_groundline"));
    let shown = show.args(["alerts", "show", "leaks", "--url", &format!("http://{}", server.http)]).output();
    let shown = String::from_utf8(shown.unwrap().stdout).unwrap();
    assert!(shown.contains("hangs waiting!") && shown.contains("timed out"), "{shown}");
    assert!(send(server.otlp_http, calls(200, 600, 0)).await);
    until("the end", async || heard() == ["firing", "resolved"]).await;
    assert_eq!(metric(&server, "groundline_alert_messages_lost_total").await, 0.0);
    hangs.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alertmanager_that_was_away_is_told_when_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let port = Reserved::new();
    let there = port.address;
    let text = format!(
        "{WATCHED}[[receivers]]\nname = \"them\"\nkind = \"alertmanager\"\nurl = \"http://{there}\"\n"
    );
    let mut server = Process::start_with(&data, &text);
    assert!(send(server.otlp_http, calls(0, 200, 70)).await);
    let failed = "groundline_alert_messages_total{outcome=\"failed\"}";
    until("three attempts", async || metric(&server, failed).await >= 3.0).await;
    // The message waits over a crash, too.
    server.kill();
    let server = Process::start_with(&data, &text);
    until("another attempt", async || metric(&server, failed).await >= 1.0).await;
    let Some(manager) = Alertmanager::start_at(folder.path(), there).await else { return };
    until("the alert", async || manager.active().await.len() == 1).await;
    assert_eq!(manager.active().await[0]["labels"]["slice"], "request_model=bad");
}
