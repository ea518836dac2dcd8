//! A hundred thousand items. Ignored in the ordinary run, because it takes a minute with optimisation and many without:
//! `GROUNDLINE_BINARY=target/release/groundline cargo test --test it -- --ignored --nocapture lab::large`
//! With `TIMES=told` the times are told and not held: on a machine that does other things they say nothing of the code.

use crate::support::{Process, query};
use serde_json::{Value as Json, json};
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const ITEMS: usize = 100_000;
const BATCH: usize = 1_000;
/// Of a query, the middle one of so many counts.
const TIMES: usize = 5;

/// The middle of the times that `work` takes.
async fn middle(work: impl AsyncFn()) -> Duration {
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let began = Instant::now();
        work().await;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    times[TIMES / 2]
}

async fn done(http: SocketAddr, method: &str, path: &str, body: &Json) -> Json {
    let url = format!("http://{http}/v1/lab/{path}");
    let sent = reqwest::Client::new().request(method.parse().unwrap(), url);
    let sent = if body.is_null() { sent } else { sent.json(body) };
    let answer = sent.send().await.unwrap();
    let (status, answer) = (answer.status(), answer.json().await.unwrap());
    assert!(status.is_success(), "{method} {path}: {answer}");
    answer
}

async fn experiment(http: SocketAddr, name: &str, items: &[String], share: usize) -> Duration {
    let body = json!({"name": name, "dataset": "d", "target": {"kind": "function"}});
    let id = done(http, "POST", "experiments", &body).await["experiment_id"].as_str().unwrap().to_owned();
    let began = Instant::now();
    for (at, batch) in items.chunks(BATCH).enumerate() {
        let answer = |(n, item): (usize, &String)| {
            let passed = (at * BATCH + n) % 100 < share;
            json!({"item_id": item, "output": format!("The answer number {n}."), "duration_ms": 12.5,
                "scores": [{"name": "right", "value": f64::from(u8::from(passed)), "passed": passed}]})
        };
        let answers: Vec<Json> = batch.iter().enumerate().map(answer).collect();
        let told = done(http, "POST", &format!("experiments/{id}/runs"), &json!(answers)).await;
        assert_eq!(told["stored"], batch.len());
    }
    began.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a minute with optimisation, many without; the head of the file has the command"]
async fn a_hundred_thousand_items_are_imported_read_and_compared_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let program = std::env::var_os("GROUNDLINE_BINARY").map(PathBuf::from);
    let running = Process::start_program(program.as_deref(), folder.path(), "", &[]);
    let http = running.http;
    let mut lines = String::new();
    for n in 0..ITEMS {
        let item = json!({"external_id": n.to_string(), "input": {"question": format!("What is the question number {n} about, and why?")},
            "expected": format!("It is about the number {n}."), "metadata": {"level": n % 5}, "tags": ["large"]});
        writeln!(lines, "{item}").unwrap();
    }
    let began = Instant::now();
    let url = format!("http://{http}/v1/lab/datasets/d/import?create=true");
    let sent = reqwest::Client::new().post(url).header("content-type", "application/x-ndjson").body(lines);
    let told: Json = sent.send().await.unwrap().json().await.unwrap();
    let import = began.elapsed();
    assert_eq!(told["put"], ITEMS, "{told}");
    let rows = query(http, "SELECT item_id FROM dataset_at('d', 1) ORDER BY ordinal").await;
    let items: Vec<String> = rows.iter().map(|row| row["item_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(items.len(), ITEMS);
    let counted = middle(async || {
        let rows = query(http, "SELECT count(*) AS n FROM dataset_at('d', 1)").await;
        assert_eq!(rows[0]["n"], ITEMS);
    })
    .await;
    let page = middle(async || {
        let page = done(http, "GET", "datasets/d@1/items?format=json&limit=100", &Json::Null).await;
        assert_eq!(page.as_array().unwrap().len(), 100);
    })
    .await;
    let runs = [experiment(http, "v1", &items, 80).await, experiment(http, "v2", &items, 78).await];
    let compared = middle(async || {
        let told = done(http, "GET", "compare?new=v2&baseline=v1", &Json::Null).await;
        let difference = told["comparison"]["metrics"][0]["difference"].as_f64().unwrap();
        assert!((difference + 0.02).abs() < 1e-9, "{difference}");
    })
    .await;
    println!(
        "{ITEMS} items: import {import:.1?}, dataset_at {counted:.0?}, a page of 100 {page:.0?}, runs of two experiments {runs:.1?}, \
         compare {compared:.2?}"
    );
    if std::env::var("TIMES").is_ok_and(|times| times == "told") {
        return;
    }
    assert!(import <= Duration::from_secs(20), "import {import:?}");
    assert!(counted <= Duration::from_millis(300), "dataset_at {counted:?}");
    assert!(compared <= Duration::from_secs(2), "compare {compared:?}");
}
