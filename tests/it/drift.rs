//! An application that begins to make things up, from its own OTLP requests through the local model to the real
//! Alertmanager.

use crate::alerts::Alertmanager;
use crate::support::{Process, count, query, send, span, text, until};
use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::json;
use std::net::SocketAddr;

/// What was retrieved, what was asked, an answer that follows from it and one that does not. Texts that the evaluator
/// reads rightly: the alert is on trial here, and `evalbench` says how often the evaluator errs.
const CASES: [[&str; 4]; 6] = [
    [
        "Parcels are delivered on working days between 8 and 18 o'clock. A parcel that nobody accepts is kept at the nearest post office for ten days and then goes back to the sender.",
        "How long is my parcel kept?",
        "A parcel that nobody accepts is kept for ten days.",
        "A parcel that nobody accepts is thrown away after one night.",
    ],
    [
        "The pool opens at seven in the morning and closes at nine in the evening. On Mondays it stays closed for cleaning. Children under twelve need an adult with them.",
        "Is the pool open on Mondays?",
        "No, on Mondays the pool is closed for cleaning.",
        "Yes, on Mondays the pool is open until midnight and free of charge.",
    ],
    [
        "The Basic plan has five users and 10 GB of storage. The Team plan has fifty users and 200 GB of storage and costs 12 euros a user and month.",
        "How much storage has the Team plan?",
        "The Team plan has 200 GB of storage.",
        "The Team plan has unlimited storage and no monthly price.",
    ],
    [
        "Take one tablet with water in the morning. Do not take more than two tablets a day. Do not drive after taking it, because it makes people sleepy.",
        "How many tablets may I take a day?",
        "No more than two tablets a day.",
        "Up to eight tablets a day with milk.",
    ],
    [
        "The library lends books for four weeks. A loan can be renewed twice unless somebody else has reserved the book. Late books cost 20 cents a day.",
        "What does a late book cost?",
        "A late book costs 20 cents a day.",
        "A late book costs 5 euros a day and the card is blocked.",
    ],
    [
        "The coast line runs every hour from Norrhamn to Vik. The last train leaves Norrhamn at 22:40. Bicycles are carried in the last carriage only.",
        "When does the last train leave Norrhamn?",
        "The last train leaves Norrhamn at 22:40.",
        "The last train leaves Norrhamn at 19:15.",
    ],
];

const CONFIG: &str = "
[[sample.rules]]
name = \"answers\"
filter = \"operation = 'llm'\"
target = \"trace\"
rate = 1.0
evaluators = [\"hallucination\"]
[[alerts]]
name = \"made-up\"
metric = \"hallucination\"
slices = [\"request_model\"]
method = \"objective\"
objective = 0.93
alpha = 0.01
min_n = 50
receivers = [\"am\"]
[drift]
repeat_interval = \"1s\"
";

/// Answers of the model from the trace `from` on; of a hundred so many are made up, spread evenly.
fn answers(model: &str, from: u64, number: u64, made_up: u64) -> Vec<Span> {
    let one = |n: u64| {
        let is_made_up = (n + 1) * made_up / 100 > n * made_up / 100;
        let [passage, question, right, wrong] = CASES[usize::try_from(n).unwrap() % CASES.len()];
        answer(from + n, model, passage, question, if is_made_up { wrong } else { right })
    };
    (0..number).flat_map(one).collect()
}

/// A model call and the retrieval under it.
fn answer(trace: u64, model: &str, passage: &str, question: &str, answer: &str) -> Vec<Span> {
    let message = |role: &str, content: &str| {
        json!([{"role": role, "parts": [{"type": "text", "content": content}]}]).to_string()
    };
    let call = vec![
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.request.model", model),
        text("gen_ai.input.messages", &message("user", question)),
        text("gen_ai.output.messages", &message("assistant", answer)),
    ];
    let retrieval = vec![
        text("openinference.span.kind", "RETRIEVER"),
        text("input.value", question),
        text("retrieval.documents.0.document.content", passage),
    ];
    let call = span(trace, 0, call);
    let mut retrieval = span(trace, 1, retrieval);
    retrieval.parent_span_id.clone_from(&call.span_id);
    vec![retrieval, call]
}

/// Sends in requests of a hundred traces, and waits until all are judged.
async fn judged(otlp: SocketAddr, http: SocketAddr, spans: Vec<Span>, scores: i64) {
    for part in spans.chunks(200) {
        assert!(send(otlp, part.to_vec()).await);
    }
    let sql = "SELECT count(*) FROM scores WHERE metric = 'hallucination' AND passed IS NOT NULL";
    until("the scores", async || count(http, sql).await == scores).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_begins_to_make_things_up_is_told_once_and_its_end_too() {
    let folder = tempfile::tempdir().unwrap();
    let Some(manager) = Alertmanager::start(folder.path()).await else { return };
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let receiver =
        format!("[[receivers]]\nname = \"am\"\nkind = \"alertmanager\"\nurl = \"http://{}\"\n", manager.1);
    let mut server = Process::start_with(&data, &format!("{CONFIG}{receiver}"));
    let (otlp, http) = (server.otlp_http, server.http);
    let mut quiet = answers("steady", 0, 100, 5);
    quiet.extend(answers("changed", 100, 100, 5));
    judged(otlp, http, quiet, 200).await;
    let failing = "SELECT count(*) FROM scores WHERE passed = false";
    assert_eq!(count(http, failing).await, 10, "the evaluator says what is made up, and nothing else");
    assert_eq!(query(http, "SELECT state, slice FROM alerts").await, Vec::<serde_json::Value>::new());

    let mut worse = answers("steady", 200, 100, 5);
    worse.extend(answers("changed", 300, 300, 15));
    judged(otlp, http, worse, 600).await;
    until("the alert", async || manager.active().await.len() == 1).await;
    let found = manager.active().await;
    assert_eq!(found[0]["labels"]["slice"], "request_model=changed", "{found:?}");
    assert_eq!(found[0]["labels"]["alertname"], "made-up");

    judged(otlp, http, answers("changed", 600, 400, 3), 1000).await;
    until("the end", async || manager.active().await.is_empty()).await;
    let states = query(http, "SELECT state, slice FROM alerts ORDER BY evaluated_at").await;
    let told: Vec<&str> = states.iter().filter_map(|row| row["state"].as_str()).collect();
    assert_eq!(told, ["firing", "resolved"], "{states:?}");
    server.kill();
}
