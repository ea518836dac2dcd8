//! Makes a data directory that has a record of every kind.

use crate::support::{config, query, send, settled, span, start, text, until};
use arrow::array::{ArrayRef, RecordBatch, new_null_array};
use arrow::array::{BooleanArray, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, Field};
use groundline::app::App;
use groundline::config::Config;
use groundline::journal::{Config as JournalConfig, Journal};
use groundline::queue::{Config as QueueConfig, Follower, Item, Outcome, Queue, QueueEvent};
use groundline::schema::FORMAT;
use groundline::schema::columns::Table;
use groundline::schema::frame::{self, Part};
use groundline::units::ByteSize;
use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Rows of each table that the second part of a fixture holds in frames that no reader has passed.
pub const FRAME_ROWS: i64 = 2;
/// Spans without anything in them that were sent.
pub const PLAIN: i64 = 5;
/// Model calls that leak, of one version of a prompt.
pub const CALLS: i64 = 40;
/// The items that wait in a fixture, by the trace that they are about.
pub const WAITING: [&str; 2] = ["000000000000000000000000000000a1", "000000000000000000000000000000a2"];

/// Alerts of every method, and somebody who is told and never answers.
const WATCHED: &str = r#"
[[sample.rules]]
name = "leaks"
filter = "operation = 'llm'"
rate = 1.0
evaluators = ["pii_leakage"]
[[alerts]]
name = "leaks"
metric = "pii_leakage"
slices = ["prompt_version"]
method = "objective"
objective = 0.9
min_n = 20
receivers = ["them"]
[[alerts]]
name = "quiet"
metric = "pii_leakage"
method = "objective"
objective = 0.9
min_n = 20
receivers = ["them"]
[[alerts]]
name = "learns"
metric = "pii_leakage"
method = "change"
[[alerts]]
name = "window"
metric = "pii_leakage"
method = "threshold"
objective = 0.9
[[alerts]]
name = "burns"
metric = "pii_leakage"
method = "burn_rate"
objective = 0.99
[[receivers]]
name = "them"
kind = "webhook"
url = "http://127.0.0.1:9/hook"
"#;

/// The settings of a server that watches.
pub fn watched(dir: &Path) -> Config {
    let mut made = Config::from_text("fixture", WATCHED, std::iter::empty()).unwrap();
    let usual = config(dir);
    (made.server, made.ingest) = (usual.server, usual.ingest);
    (made.sample.idle, made.sample.rootless_idle) = (usual.sample.idle, usual.sample.rootless_idle);
    made
}

/// The id of the trace that the item is about.
pub fn trace(n: u8) -> String {
    format!("{:032x}", 0xa0 + u128::from(n))
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
    let item = json!({
        "id": format!("item-{trace}"), "trace_id": trace, "span_id": "00000000000000b1", "rule": "r",
        "rule_version": "v", "inclusion_probability": 0.5, "stratum": null, "reason": "rate 0.5",
        "evaluators": ["looping"], "span_time": 1_700_000_000_000_000_000_i64,
        "queued_at": i64::MAX / 2, "service_name": "shop", "request_model": "m", "tenant": "default",
        "prompt": {"name": "support", "version": "7"},
        "input": {"question": "What is it?", "answer": "It is a lamp. It is bright.", "contexts": []},
    });
    serde_json::from_value(item).unwrap()
}

pub fn queued(trace: &str) -> QueueEvent {
    QueueEvent::Queued(Box::new(waiting(trace)))
}

pub fn done(trace: &str, outcome: Outcome) -> QueueEvent {
    let error = (outcome != Outcome::Scored).then(|| "the evaluator was away".to_owned());
    QueueEvent::Done { id: format!("item-{trace}"), outcome, error, score_version: 1 }
}

fn retry(trace: &str) -> QueueEvent {
    QueueEvent::Retry {
        id: format!("item-{trace}"),
        attempt: 1,
        not_before: 7,
        error: "the evaluator was away".to_owned(),
        score_version: 1,
    }
}

/// Opens the journal in `dir`.
pub fn journal(dir: &Path) -> Journal {
    Journal::open(dir, JournalConfig::default(), FORMAT).unwrap()
}

/// A model call that leaks a card number.
fn call(n: u64) -> Span {
    let answer = "The card 4111 1111 1111 1111 was charged.";
    let message = json!([{"role": "assistant", "parts": [{"type": "text", "content": answer}]}]);
    let attributes = vec![
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.request.model", "m"),
        text("langfuse.prompt.name", "support"),
        text("langfuse.prompt.version", "7"),
        text("gen_ai.output.messages", &message.to_string()),
    ];
    span(n, 1, attributes)
}

async fn post(app: &App, path: &str, body: serde_json::Value) {
    let url = format!("http://{}/v1/alerts/{path}", app.addresses.http);
    let answer = reqwest::Client::new().post(url).json(&body).send().await.unwrap();
    assert!(answer.status().is_success(), "{path}: {}", answer.text().await.unwrap());
}

/// Rows in files, and alerts of which one fires and is acknowledged, and one fires in silence.
async fn write_files(dir: &Path) {
    let app = start(watched(dir)).await;
    let otlp = app.addresses.otlp_http;
    assert!(send(otlp, (0..PLAIN).map(|n| span(n.unsigned_abs(), 0, vec![])).collect()).await);
    post(&app, "silences", json!({"alert": "quiet", "for": "30d", "by": "Ada"})).await;
    assert!(send(otlp, (100..100 + CALLS).map(|n| call(n.unsigned_abs())).collect()).await);
    settled(&app).await;
    let fires = "SELECT alert FROM alerts WHERE alert IN ('leaks', 'quiet') AND state = 'firing'";
    until("the alerts", async || query(app.addresses.http, fires).await.len() == 2).await;
    post(&app, "acknowledge", json!({"alert": "leaks", "for": "30d", "by": "Ada", "note": "rolled back"}))
        .await;
    post(&app, "rebase", json!({"alert": "learns"})).await;
    settled(&app).await;
    app.stop().await.unwrap();
}

async fn append(journal: &Journal, events: &[QueueEvent]) {
    let events = Part::Queue(QueueEvent::encode(events).unwrap());
    let rows = Part::Rows(Table::Decisions, one_row(Table::Decisions, 9));
    let (kind, bytes) = frame::encode(&[rows, events]).unwrap();
    journal.append(kind.0, bytes).await.unwrap();
}

/// Makes a data directory with rows in files and rows in frames, items that wait, one that was tried, one that ended.
pub async fn write_fixture(dir: &Path) {
    write_files(dir).await;
    let journal = journal(&dir.join("journal"));
    for table in Table::ALL {
        for n in 1..=FRAME_ROWS {
            let (kind, bytes) = frame::encode(&[Part::Rows(table, one_row(table, n))]).unwrap();
            journal.append(kind.0, bytes).await.unwrap();
        }
    }
    let ended = trace(3);
    append(&journal, &[queued(WAITING[0]), queued(WAITING[1]), queued(&ended)]).await;
    append(&journal, &[retry(WAITING[1])]).await;
    append(&journal, &[done(&ended, Outcome::Scored)]).await;
    journal.close();
}

/// Adds items of every fate to the fixture, in the queue's own log as in the journal. Those of [`later`] wait then.
pub async fn write_queue(dir: &Path) {
    let journal = journal(&dir.join("journal"));
    let long = "It is a lamp. ".repeat(500);
    let mut gone = waiting(&trace(11));
    gone.input.answer = Some(long);
    let events: Vec<QueueEvent> = [4, 5, 6, 7].map(|n| queued(&trace(n))).into();
    append(&journal, &events).await;
    append(&journal, &[QueueEvent::Queued(Box::new(gone)), done(&trace(11), Outcome::Scored)]).await;
    append(&journal, &[done(&trace(5), Outcome::Expired)]).await;
    follow(&journal, dir, ByteSize::ZERO).await;
    let failed = [4, 6].map(|n| done(&trace(n), Outcome::Failed));
    append(&journal, &[queued(&trace(8)), retry(&trace(8))]).await;
    append(&journal, &failed).await;
    follow(&journal, dir, ByteSize::gib(1)).await;
    let id = |n| format!("item-{}", trace(n));
    let back = QueueEvent::PutBack { id: id(4), queued_at: i64::MAX / 2, score_version: 2 };
    append(&journal, &[back, QueueEvent::Dropped { id: id(6) }]).await;
    follow(&journal, dir, ByteSize::gib(1)).await;
    append(&journal, &[queued(&trace(9)), queued(&trace(10))]).await;
    append(&journal, &[done(&trace(10), Outcome::Scored)]).await;
    journal.close();
}

/// What waits beside [`WAITING`] in a fixture with [`write_queue`]: the traces, and the versions of their scores.
pub fn later() -> Vec<(String, i64)> {
    vec![(trace(4), 2), (trace(7), 1), (trace(8), 1), (trace(9), 1)]
}

/// The queue's log takes what the journal has, and is compacted if it has grown by `compact_after`.
async fn follow(journal: &Journal, dir: &Path, compact_after: ByteSize) {
    let queue = Arc::new(Queue::new(QueueConfig { compact_after, ..QueueConfig::default() }));
    let log = dir.join("queue");
    let follower = Follower::open(journal.clone(), &log, queue, &JournalConfig::default()).unwrap();
    let stop = CancellationToken::new();
    stop.cancel();
    follower.run(stop).await.unwrap();
}
