//! Decisions that cannot be written down: they are made again after a restart, and what can be said is said.

use super::super::rule_config::Target;
use super::super::tests::{NOW, model_call, retrieval_and_calls, rules, span};
use super::*;
use crate::domain::span::Span;
use crate::domain::time::SystemClock;
use crate::schema::batch::spans_to_batch;
use arrow::array::AsArray;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

fn broken() -> FrameError {
    FrameError::Damaged("a row that cannot be written")
}

/// A loop over the journal in `dir` that writes as `encode` says, and its queue.
fn sampler_in(dir: &Path, encode: Encode) -> (Journal, Arc<Queue>, Sampler) {
    sampler_for(dir, encode, Target::Trace)
}

fn sampler_for(dir: &Path, encode: Encode, target: Target) -> (Journal, Arc<Queue>, Sampler) {
    let journal = Journal::open(dir, crate::journal::Config::default(), crate::schema::FORMAT).unwrap();
    let queue = Arc::new(Queue::new(crate::queue::Config::default()));
    let config = Config { idle: Duration::ZERO, ..Config::default() };
    let rules = Arc::new(rules("operation = 'llm'", target, 1.0));
    let (clock, known) = (Arc::new(SystemClock), std::iter::empty());
    let sampler = Sampler::new(journal.clone(), rules, queue.clone(), clock, config, known).unwrap();
    (journal, queue, Sampler { encode, ..sampler })
}

/// Runs the loop until it has decided about its one trace, and stops it.
async fn decided(sampler: Sampler, journal: &Journal) {
    let (progress, stop) = (sampler.progress(), CancellationToken::new());
    let durable = journal.durable();
    let running = tokio::spawn(sampler.run(stop.clone()));
    let started = Instant::now();
    while progress.now().0 < durable || progress.now().1 > 0 {
        assert!(started.elapsed() < Duration::from_secs(60), "it does not end: {:?}", progress.now());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    stop.cancel();
    running.await.unwrap().unwrap();
}

fn decisions(journal: &Journal) -> Vec<String> {
    let (mut reader, mut kinds) = (journal.reader(0).unwrap(), Vec::new());
    while let Some(frame) = reader.next().unwrap() {
        for part in parts(&frame, FrameKind::of(Table::Decisions)) {
            let Part::Rows(_, rows) = part else { continue };
            let column = rows.column_by_name("decision").unwrap().as_string::<i32>();
            kinds.extend(column.iter().flatten().map(str::to_owned));
        }
    }
    kinds
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trace_whose_decision_cannot_be_written_is_decided_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let nothing: Encode = |_, _| Err(broken());
    {
        let (journal, queue, sampler) = sampler_in(folder.path(), nothing);
        let part = Part::Rows(Table::Spans, retrieval_and_calls(2, 10));
        let (kind, payload) = frame::encode(&[part]).unwrap();
        journal.append(kind.0, payload).await.unwrap();
        decided(sampler, &journal).await;
        assert_eq!((decisions(&journal), queue.stats(UnixNanos(0)).items), (Vec::new(), 0));
        assert_eq!(journal.cursor(CURSOR).unwrap(), 0, "its frame is still owed");
    }
    let (journal, queue, sampler) = sampler_in(folder.path(), encoded);
    decided(sampler, &journal).await;
    assert_eq!((decisions(&journal), queue.stats(UnixNanos(0)).items), (vec!["queued".to_owned()], 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_cannot_be_written_is_decided_as_failed() {
    let folder = tempfile::tempdir().unwrap();
    let no_items: Encode = |d, events| if events.is_empty() { encoded(d, events) } else { Err(broken()) };
    let (journal, queue, sampler) = sampler_in(folder.path(), no_items);
    let part = Part::Rows(Table::Spans, retrieval_and_calls(2, 10));
    let (kind, payload) = frame::encode(&[part]).unwrap();
    journal.append(kind.0, payload).await.unwrap();
    decided(sampler, &journal).await;
    assert_eq!((decisions(&journal), queue.stats(UnixNanos(0)).items), (vec!["failed".to_owned()], 0));
}

/// Three calls are three items of one frame; the one of the second call cannot be written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_cannot_be_written_costs_no_other_of_its_frame() {
    let folder = tempfile::tempdir().unwrap();
    let not_one: Encode = |decisions, events| {
        let is_it = |event: &QueueEvent| matches!(event, QueueEvent::Queued(item) if item.span_id.0[7] == 3);
        if events.iter().any(is_it) { Err(broken()) } else { encoded(decisions, events) }
    };
    let (journal, queue, sampler) = sampler_for(folder.path(), not_one, Target::Span);
    let part = Part::Rows(Table::Spans, retrieval_and_calls(3, 10));
    let (kind, payload) = frame::encode(&[part]).unwrap();
    journal.append(kind.0, payload).await.unwrap();
    decided(sampler, &journal).await;
    let mut said = decisions(&journal);
    said.sort();
    assert_eq!(said, ["failed", "queued", "queued"]);
    assert_eq!(queue.stats(UnixNanos(0)).items, 2);
}

/// The decisions of a trace are durable together: of two frames, a crash could leave one, and the trace would count as decided.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trace_is_decided_in_one_frame() {
    const CALLS: i64 = 300;
    let folder = tempfile::tempdir().unwrap();
    let (journal, _, sampler) = sampler_for(folder.path(), encoded, Target::Span);
    let calls =
        |trace: u8| (0..CALLS).map(move |n| Span { trace_id: TraceId([trace; 16]), ..span(n, model_call()) });
    let spans: Vec<Span> = (1..=4).flat_map(calls).collect();
    let part = Part::Rows(Table::Spans, spans_to_batch(&spans, "t", NOW).unwrap());
    let (kind, payload) = frame::encode(&[part]).unwrap();
    journal.append(kind.0, payload).await.unwrap();
    decided(sampler, &journal).await;
    let (mut reader, mut frames) = (journal.reader(0).unwrap(), Vec::new());
    while let Some(frame) = reader.next().unwrap() {
        for part in parts(&frame, FrameKind::of(Table::Decisions)) {
            let Part::Rows(_, rows) = part else { continue };
            let column = rows.column_by_name("trace_id").unwrap().as_string::<i32>();
            frames.push(column.iter().flatten().map(str::to_owned).collect::<BTreeSet<_>>());
        }
    }
    let traces: BTreeSet<&String> = frames.iter().flatten().collect();
    assert_eq!((traces.len(), frames.iter().map(BTreeSet::len).sum::<usize>()), (4, 4));
}
