//! Data directories of every on-disk format that there ever was: opened, read, and written on.
//!
//! `tests/fixtures/disk/v<format>` holds one of each, made by the release that introduced the format. A new format needs a
//! new one: `WRITE_DISK_FIXTURE=1 cargo test --test it disk::a_fixture` writes it. One that is there is never changed.

mod fixture;

use crate::support::{config, count, query, send, settled, span, start};
use fixture::{CALLS, FRAME_ROWS, PLAIN, WAITING};
use groundline::app::App;
use groundline::journal::{Config as JournalConfig, Journal};
use groundline::queue::{Outcome, QueueEvent};
use groundline::schema::FORMAT;
use groundline::schema::columns::Table;
use groundline::schema::frame::{self, FrameKind, Part};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The first format whose fixture has an item of every fate, and alerts.
const RICH: u32 = 7;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/disk")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// The format that brought a table.
fn since(table: Table) -> u32 {
    match table {
        Table::ReviewItems | Table::ReviewAnswers => 5,
        Table::Datasets | Table::DatasetItems | Table::Experiments | Table::Runs => 6,
        Table::Suites
        | Table::SuiteTests
        | Table::SuiteChecks
        | Table::CheckResults
        | Table::ReviewQueues => 8,
        _ => 1,
    }
}

/// Every row of the fixture is there, once, and the items that waited are evaluated.
async fn holds_all(app: &App, sent: i64, format: u32) {
    let http = app.addresses.http;
    let files = if format < RICH { PLAIN } else { PLAIN + CALLS };
    assert_eq!(count(http, "SELECT count(*) FROM spans").await, files + FRAME_ROWS + sent);
    for table in Table::ALL.into_iter().filter(|t| *t != Table::Spans) {
        if since(table) >= 6 {
            let rows = count(http, &format!("SELECT count(*) FROM {}", table.name())).await;
            assert_eq!(rows, if format < since(table) { 0 } else { FRAME_ROWS }, "{}", table.name());
            continue;
        }
        let sql = format!(
            "SELECT count(*) FROM {} WHERE trace_id IS NULL OR trace_id < '{:032x}'",
            table.name(),
            9
        );
        let alerts = "SELECT count(*) FROM alerts WHERE alert LIKE 'alert %'".to_owned();
        let sql = if table == Table::Alerts { alerts } else { sql };
        let rows = if since(table) <= format { FRAME_ROWS } else { 0 };
        assert_eq!(count(http, &sql).await, rows, "{}", table.name());
    }
    let mut wanted: Vec<(String, i64)> = WAITING.map(|trace| (trace.to_owned(), 1)).into();
    if format >= RICH {
        wanted.extend(fixture::later());
    }
    let sql = "SELECT trace_id, score_version, count(*) AS n FROM scores WHERE evaluator = 'looping' GROUP BY 1, 2 \
        ORDER BY 1";
    let rows = query(http, sql).await;
    let found = rows.iter().map(|r| (r["trace_id"].as_str().unwrap(), r["score_version"].as_i64().unwrap()));
    assert!(found.eq(wanted.iter().map(|(trace, version)| (trace.as_str(), *version))), "{rows:?}");
    assert!(rows.iter().all(|row| row["n"] == 3), "three metrics of each, once: {rows:?}");
    if format >= RICH {
        holds_more(app, wanted.len()).await;
    }
}

/// What ended is as it was, the alert fires on, and scores name the prompt.
async fn holds_more(app: &App, items: usize) {
    let http = app.addresses.http;
    let rows = query(http, "SELECT item, state, error FROM queue").await;
    let expired = format!("item-{}", fixture::trace(5));
    let wanted = json!([{"item": expired, "state": "expired", "error": "the evaluator was away"}]);
    assert_eq!(Value::Array(rows), wanted);
    let prompts = "SELECT evaluator, prompt_name, prompt_version, count(DISTINCT trace_id) AS n FROM scores_latest \
        WHERE evaluator IN ('looping', 'pii_leakage') GROUP BY 1, 2, 3 ORDER BY 1";
    let of = |evaluator: &str, n: i64| json!({"evaluator": evaluator, "prompt_name": "support", "prompt_version": "7", "n": n});
    let wanted = [of("looping", i64::try_from(items).unwrap()), of("pii_leakage", CALLS)];
    assert_eq!(query(http, prompts).await, wanted);
    let shown: Value = reqwest::get(format!("http://{http}/v1/alerts")).await.unwrap().json().await.unwrap();
    let leaks = shown["alerts"].as_array().unwrap().iter().find(|a| a["alert"] == "leaks").unwrap();
    assert_eq!((&leaks["state"], &leaks["slice"]), (&json!("firing"), &json!("prompt_version=7")), "{shown}");
    let firing =
        "SELECT count(*) FROM alerts WHERE alert = 'leaks' AND message NOT LIKE 'acknowledged by Ada%'";
    assert_eq!(count(http, firing).await, 1, "it is not told again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_format_is_read_and_written_on() {
    let mut seen = 0;
    for entry in std::fs::read_dir(fixtures()).unwrap() {
        let fixture = entry.unwrap().path();
        let format = fixture.file_name().unwrap().to_str().unwrap()[1..].parse().unwrap();
        let dir = tempfile::tempdir().unwrap();
        copy(&fixture, dir.path());
        for sent in [0, 1] {
            let app = start(match format < RICH {
                true => config(dir.path()),
                false => fixture::watched(dir.path()),
            })
            .await;
            if sent == 1 {
                assert!(send(app.addresses.otlp_http, vec![span(99, 0, vec![])]).await);
            }
            settled(&app).await;
            holds_all(&app, sent, format).await;
            app.stop().await.unwrap();
        }
        seen += 1;
    }
    assert!(seen > 0, "there are no fixtures");
}

/// The names of the variants of an event, as the shape of the format has them.
fn variants(part: &str, name: &str) -> BTreeSet<String> {
    let path = format!("{}/tests/fixtures/shapes/v{FORMAT}/{part}.json", env!("CARGO_MANIFEST_DIR"));
    let shape: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let found = [&shape["event"], &shape["events"]["$defs"][name]];
    let variants = found.iter().filter_map(|one| one["oneOf"].as_array()).flatten();
    let names: BTreeSet<String> =
        variants.map(|one| one["required"][0].as_str().unwrap().to_owned()).collect();
    assert!(names.len() > 1, "{part}: {shape}");
    names
}

/// The events of a journal's queue and of its alerts, as JSON.
fn events(dir: &Path) -> (Vec<Value>, Vec<Value>) {
    let journal = fixture::journal(dir);
    let (mut reader, mut queue, mut alerts) = (journal.reader(0).unwrap(), Vec::new(), Vec::new());
    while let Some(frame) = reader.next().unwrap() {
        // In the queue's own log events are no part of a frame.
        let is_log = dir.ends_with("queue");
        let wanted = FrameKind::queue().and(FrameKind::drift());
        let parts = match is_log {
            true => vec![Part::Queue(frame.payload.clone())],
            false => frame::decode(&frame.payload, wanted).unwrap(),
        };
        for part in parts {
            match part {
                Part::Queue(bytes) => {
                    let events: Vec<Value> = serde_json::from_slice(&bytes[1..]).unwrap();
                    queue.extend(events);
                }
                Part::Drift(bytes) => alerts.push(serde_json::from_slice(&bytes[1..]).unwrap()),
                Part::Rows(..) => {}
            }
        }
    }
    journal.close();
    (queue, alerts)
}

fn kinds(events: &[Value]) -> BTreeSet<String> {
    events.iter().flat_map(|event| event.as_object().unwrap().keys().cloned()).collect()
}

/// A change of what is written would pass unseen if the fixture had nothing of the kind.
fn has_every_kind_of_record(fixture: &Path) {
    let dir = tempfile::tempdir().unwrap();
    copy(fixture, dir.path());
    let (log, none) = events(&dir.path().join("queue"));
    assert_eq!(none, Vec::<Value>::new());
    let of_queue = variants("queue", "QueueEvent");
    assert_eq!(kinds(&log), of_queue, "the queue's log");
    let outcomes: BTreeSet<&str> = log.iter().filter_map(|event| event["done"]["outcome"].as_str()).collect();
    assert_eq!(outcomes, BTreeSet::from(["expired", "failed", "scored"]));
    let kept = |field: &str| log.iter().filter(|event| !event["kept"][field].is_null()).count();
    assert!(kept("ended") > 0 && kept("error") > 0, "{log:?}");
    let (queue, alerts) = events(&dir.path().join("journal"));
    let mut written = of_queue;
    written.remove("kept");
    assert_eq!(kinds(&queue), written, "the journal");
    assert_eq!(kinds(&alerts), variants("alerts", "Event"));
    let known = alerts.iter().filter_map(|event| event["state"]["acknowledged"][0]["by"].as_str());
    assert_eq!(known.collect::<BTreeSet<_>>(), BTreeSet::from(["Ada"]));
    for field in ["notices", "firing", "held"] {
        assert!(
            alerts.iter().any(|event| event["state"][field][0]["receiver"] == "them"),
            "{field}: {alerts:?}"
        );
    }
    assert!(alerts.iter().any(|event| event["state"]["silences"][0]["alert"] == "quiet"), "{alerts:?}");
    let mut faults = alerts.iter().map(|event| &event["state"]["deliveries"]["faults"]["them"]["why"]);
    assert!(faults.any(Value::is_string), "{alerts:?}");
    let watches: BTreeSet<String> = alerts
        .iter()
        .filter_map(|event| event["state"]["alerts"].as_object())
        .flat_map(|alerts| alerts.values())
        .flat_map(|alert| alert["slices"].as_object().unwrap().values())
        .flat_map(|slice| slice["watch"].as_object().unwrap().keys().cloned())
        .collect();
    assert!(watches.len() >= 4, "{watches:?}");
}

/// The verb asks the server over HTTP, and the server answers when it is durable.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_that_failed_are_listed_put_back_and_dropped() {
    let dir = tempfile::tempdir().unwrap();
    fixture::write_fixture(dir.path()).await;
    let journal = fixture::journal(&dir.path().join("journal"));
    let gone = WAITING.map(|trace| fixture::done(trace, Outcome::Failed));
    let part = Part::Queue(QueueEvent::encode(&gone).unwrap());
    let (kind, bytes) = frame::encode(&[part]).unwrap();
    journal.append(kind.0, bytes).await.unwrap();
    journal.close();
    drop(journal);

    let app = start(config(dir.path())).await;
    let http = app.addresses.http;
    let rows =
        query(http, "SELECT item, state, lane, error, evaluators, rule FROM queue ORDER BY item").await;
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(
        rows.iter().all(|r| r["state"] == "failed" && r["lane"] == "fast" && r["rule"] == "r"),
        "{rows:?}"
    );
    assert!(rows.iter().all(|r| r["error"] == "the evaluator was away" && r["evaluators"] == "looping"));
    let listed = verb(http, &["list", "--state", "failed"]).await;
    assert!(listed.contains(&format!("item-{}", WAITING[0])), "{listed}");
    assert_eq!(verb(http, &["drop", &format!("item-{}", WAITING[1])]).await.trim(), "1 item forgotten");
    assert_eq!(verb(http, &["retry", "--all"]).await.trim(), "1 item put back");
    settled(&app).await;
    let scores =
        "SELECT trace_id, score_version, count(*) AS n FROM scores WHERE evaluator = 'looping' GROUP BY 1, 2";
    let rows = query(http, scores).await;
    assert_eq!((rows.len(), &rows[0]["trace_id"]), (1, &WAITING[0].into()), "{rows:?}");
    assert_eq!((&rows[0]["score_version"], &rows[0]["n"]), (&2.into(), &3.into()));
    assert_eq!(count(http, "SELECT count(*) FROM queue").await, 0);
    let wrong = reqwest::Client::new().post(format!("http://{http}/v1/queue/retry"));
    let wrong = wrong.json(&serde_json::json!({"items": []})).send().await.unwrap();
    assert_eq!(wrong.status(), 400);
    app.stop().await.unwrap();
}

async fn verb(http: std::net::SocketAddr, arguments: &[&str]) -> String {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_groundline"));
    command.arg("queue").args(arguments).arg("--url").arg(format!("http://{http}"));
    let done = command.output().await.unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_of_a_newer_release_is_refused_and_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let journal = dir.path().join("journal");
    Journal::open(&journal, JournalConfig::default(), FORMAT + 1).unwrap().close();
    let segment = journal.join("00000000000000000001.seg");
    let before = std::fs::read(&segment).unwrap();
    let error = App::start(config(dir.path())).await.err().unwrap().to_string();
    assert!(error.contains("use a newer release"), "{error}");
    assert_eq!(std::fs::read(&segment).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fixture_of_this_format_is_there_and_has_every_kind_of_record() {
    let fixture = fixtures().join(format!("v{FORMAT}"));
    if std::env::var_os("WRITE_DISK_FIXTURE").is_some() && !fixture.exists() {
        let dir = tempfile::tempdir().unwrap();
        fixture::write_fixture(dir.path()).await;
        fixture::write_queue(dir.path()).await;
        copy(dir.path(), &fixture);
    }
    assert!(fixture.join("journal/LOCK").exists(), "write it with WRITE_DISK_FIXTURE=1");
    has_every_kind_of_record(&fixture);
}
