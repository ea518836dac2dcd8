//! Data directories of every on-disk format that there ever was: opened, read, and written on.
//!
//! `tests/fixtures/disk/v<format>` holds one of each, made by the release that introduced the format. A new format needs a
//! new one: `WRITE_DISK_FIXTURE=1 cargo test --test it disk` writes it. One that is there is never changed.

use crate::support::{config, count, query, request, settled, span, start};
use arrow::array::{ArrayRef, RecordBatch, new_null_array};
use arrow::array::{BooleanArray, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, Field};
use groundline::app::App;
use groundline::journal::{Config as JournalConfig, Journal};
use groundline::queue::{Item, Outcome, QueueEvent};
use groundline::schema::columns::Table;
use groundline::schema::frame::{self, Part};
use prost::Message;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows of each table that the second part of a fixture holds in frames that no reader has passed.
const FRAME_ROWS: i64 = 2;
/// The items that wait in a fixture, by the trace that they are about.
const WAITING: [&str; 2] = ["000000000000000000000000000000a1", "000000000000000000000000000000a2"];

async fn send(app: &App, spans: Vec<opentelemetry_proto::tonic::trace::v1::Span>) {
    let response = reqwest::Client::new()
        .post(format!("http://{}/v1/traces", app.addresses.otlp_http))
        .header("content-type", "application/x-protobuf")
        .body(request("shop", spans).encode_to_vec())
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 200);
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/disk")
}

/// A value for a field that must have one.
fn value(field: &Field, n: i64) -> ArrayRef {
    let name = field.name().as_str();
    match field.data_type() {
        DataType::Utf8 => Arc::new(StringArray::from(vec![match name {
            "trace_id" => format!("{n:032x}"),
            "span_id" => format!("{n:016x}"),
            "resource_attributes" | "attributes" | "events" | "links" => "{}".to_owned(),
            _ => format!("{name} {n}"),
        }])),
        DataType::Int64 => Arc::new(Int64Array::from(vec![1_700_000_000_000_000_000 + n])),
        DataType::Float64 => Arc::new(Float64Array::from(vec![0.5])),
        DataType::Boolean => Arc::new(BooleanArray::from(vec![true])),
        DataType::Timestamp(..) => {
            Arc::new(TimestampMicrosecondArray::from(vec![1_700_000_000_000_000 + n]).with_timezone("UTC"))
        }
        other => new_null_array(other, 1),
    }
}

fn one_row(table: Table, n: i64) -> RecordBatch {
    let schema = table.schema();
    let column = |field: &Arc<Field>| match field.is_nullable() && field.name() != "trace_id" {
        true => new_null_array(field.data_type(), 1),
        false => value(field, n),
    };
    let columns = schema.fields().iter().map(column).collect();
    RecordBatch::try_new(schema, columns).unwrap()
}

fn waiting(trace: &str) -> Item {
    let item = serde_json::json!({
        "id": format!("item-{trace}"), "trace_id": trace, "span_id": "00000000000000b1", "rule": "r",
        "rule_version": "v", "inclusion_probability": 0.5, "stratum": null, "reason": "rate 0.5",
        "evaluators": ["looping"], "span_time": 1_700_000_000_000_000_000_i64,
        "queued_at": i64::MAX / 2, "service_name": "shop", "request_model": "m", "tenant": "default",
        "input": {"question": "What is it?", "answer": "It is a lamp. It is bright.", "contexts": []},
    });
    serde_json::from_value(item).unwrap()
}

/// Makes a data directory with rows in files and rows in frames, items that wait, one that was tried, one that ended.
async fn write_fixture(dir: &Path) {
    let app = start(config(dir)).await;
    let spans = (0..5).map(|n| span(n, 0, vec![])).collect();
    send(&app, spans).await;
    settled(&app).await;
    app.stop().await.unwrap();

    let journal =
        Journal::open(&dir.join("journal"), JournalConfig::default(), groundline::schema::FORMAT).unwrap();
    let queued = |trace: &str| QueueEvent::Queued(Box::new(waiting(trace)));
    let ended = "000000000000000000000000000000a3";
    let retry = QueueEvent::Retry {
        id: format!("item-{}", WAITING[1]),
        attempt: 1,
        not_before: 7,
        error: "the evaluator was away".to_owned(),
        score_version: 1,
    };
    let done = QueueEvent::Done {
        id: format!("item-{ended}"),
        outcome: Outcome::Scored,
        error: None,
        score_version: 1,
    };
    let frames = [vec![queued(WAITING[0]), queued(WAITING[1]), queued(ended)], vec![retry], vec![done]];
    for table in Table::ALL {
        for n in 1..=FRAME_ROWS {
            let (kind, bytes) = frame::encode(&[Part::Rows(table, one_row(table, n))]).unwrap();
            journal.append(kind.0, bytes).await.unwrap();
        }
    }
    for events in frames {
        let events = Part::Queue(QueueEvent::encode(&events).unwrap());
        let rows = Part::Rows(Table::Decisions, one_row(Table::Decisions, 9));
        let (kind, bytes) = frame::encode(&[rows, events]).unwrap();
        journal.append(kind.0, bytes).await.unwrap();
    }
    journal.close();
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
        _ => 1,
    }
}

/// Every row of the fixture is there, once, and the items that waited are evaluated.
async fn holds_all(app: &App, sent: i64, format: u32) {
    let http = app.addresses.http;
    assert_eq!(count(http, "SELECT count(*) FROM spans").await, 5 + FRAME_ROWS + sent);
    for table in Table::ALL.into_iter().filter(|t| *t != Table::Spans) {
        if since(table) == 6 {
            let rows = count(http, &format!("SELECT count(*) FROM {}", table.name())).await;
            assert_eq!(rows, if format < 6 { 0 } else { FRAME_ROWS }, "{}", table.name());
            continue;
        }
        let sql = format!(
            "SELECT count(*) FROM {} WHERE trace_id IS NULL OR trace_id < '{:032x}'",
            table.name(),
            9
        );
        let sql = if table == Table::Alerts { "SELECT count(*) FROM alerts".to_owned() } else { sql };
        let rows = if since(table) <= format { FRAME_ROWS } else { 0 };
        assert_eq!(count(http, &sql).await, rows, "{}", table.name());
    }
    let rows =
        query(http, "SELECT trace_id, count(*) AS n FROM scores WHERE evaluator = 'looping' GROUP BY 1")
            .await;
    let traces: Vec<&str> = rows.iter().filter_map(|row| row["trace_id"].as_str()).collect();
    assert_eq!(traces.len(), 2, "{rows:?}");
    assert!(WAITING.iter().all(|trace| traces.contains(trace)), "{rows:?}");
    assert!(rows.iter().all(|row| row["n"] == 3), "three metrics of each, once: {rows:?}");
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
            let app = start(config(dir.path())).await;
            if sent == 1 {
                send(&app, vec![span(99, 0, vec![])]).await;
            }
            settled(&app).await;
            holds_all(&app, sent, format).await;
            app.stop().await.unwrap();
        }
        seen += 1;
    }
    assert!(seen > 0, "there are no fixtures");
}

/// The verb asks the server over HTTP, and the server answers when it is durable.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_that_failed_are_listed_put_back_and_dropped() {
    let dir = tempfile::tempdir().unwrap();
    write_fixture(dir.path()).await;
    let gone = |id: &str| QueueEvent::Done {
        id: format!("item-{id}"),
        outcome: Outcome::Failed,
        error: Some("the evaluator was away".to_owned()),
        score_version: 1,
    };
    let format = groundline::schema::FORMAT;
    let journal = Journal::open(&dir.path().join("journal"), JournalConfig::default(), format).unwrap();
    let part = Part::Queue(QueueEvent::encode(&WAITING.map(gone)).unwrap());
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
    Journal::open(&journal, JournalConfig::default(), groundline::schema::FORMAT + 1).unwrap().close();
    let segment = journal.join("00000000000000000001.seg");
    let before = std::fs::read(&segment).unwrap();
    let error = App::start(config(dir.path())).await.err().unwrap().to_string();
    assert!(error.contains("use a newer release"), "{error}");
    assert_eq!(std::fs::read(&segment).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fixture_of_this_format_is_there() {
    let fixture = fixtures().join(format!("v{}", groundline::schema::FORMAT));
    if std::env::var_os("WRITE_DISK_FIXTURE").is_some() && !fixture.exists() {
        let dir = tempfile::tempdir().unwrap();
        write_fixture(dir.path()).await;
        copy(dir.path(), &fixture);
    }
    assert!(fixture.join("journal/LOCK").exists(), "write it with WRITE_DISK_FIXTURE=1");
}
