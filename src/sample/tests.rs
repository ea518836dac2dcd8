//! Traces from rows to items: what is held of them, what it costs, and where the queue is full.

use super::assemble::{Open, OpenTrace};
use super::config::Config;
use super::decide::decide;
use super::input::View;
use super::rule::{Rule, compile};
use super::rule_config::{RuleConfig, Target};
use super::run::Sampler;
use crate::domain::decision::DecisionKind;
use crate::domain::document::Document;
use crate::domain::id::{SpanId, TraceId};
use crate::domain::log::LogRecord;
use crate::domain::message::Message;
use crate::domain::span::{Dialect, Llm, Operation, Source, Span, SpanKind, StatusCode};
use crate::domain::time::{SECOND, SystemClock, UnixNanos};
use crate::domain::value::{Attrs, Value};
use crate::journal::Journal;
use crate::queue::{Lane, Queue, size};
use crate::schema::batch::{logs_to_batch, spans_to_batch};
use crate::schema::columns::Table;
use crate::schema::frame::{self, FrameKind, Part};
use crate::units::ByteSize;
use arrow::array::{AsArray, RecordBatch};
use metrics_exporter_prometheus::PrometheusBuilder;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

pub(super) const NOW: UnixNanos = UnixNanos(1_000 * SECOND);
/// A minute later every trace is quiet.
const QUIET: UnixNanos = UnixNanos(1_060 * SECOND);

pub(super) fn rules(filter: &str, target: Target, rate: f64) -> Vec<Rule> {
    compile(&[RuleConfig { target, ..RuleConfig::new("r", filter, rate, &["*"]) }]).ok().unwrap()
}

fn id(number: i64) -> SpanId {
    SpanId((number + 1).to_be_bytes())
}

/// A span that begins and ends behind those of lower numbers; number 0 is the root.
pub(super) fn span(number: i64, llm: Llm) -> Span {
    Span {
        trace_id: TraceId([7; 16]),
        span_id: id(number),
        parent_span_id: (number > 0).then(|| id(0)),
        name: "s".to_owned(),
        kind: SpanKind::Internal,
        start: UnixNanos(NOW.0 + number),
        end: UnixNanos(NOW.0 + number + 1),
        status: StatusCode::Unset,
        status_message: String::new(),
        source: Arc::new(Source::default()),
        attributes: Attrs::default(),
        events: Vec::new(),
        links: Vec::new(),
        trace_state: String::new(),
        flags: 0,
        dropped_attributes_count: 0,
        dropped_events_count: 0,
        dropped_links_count: 0,
        llm,
    }
}

pub(super) fn model_call() -> Llm {
    Llm { dialect: Dialect::OtelGenai, operation: Operation::Llm, ..Llm::default() }
}

/// A retrieval of one long document, and `calls` short model calls after it.
pub(super) fn retrieval_and_calls(calls: i64, document: usize) -> RecordBatch {
    let document = Document { content: Some("x".repeat(document)), ..Document::default() };
    let retrieval = Llm {
        dialect: Dialect::OtelGenai,
        operation: Operation::Retrieval,
        documents: vec![document],
        ..Llm::default()
    };
    let call = |number| span(number, Llm { answer: Some("yes".to_owned()), ..model_call() });
    let all: Vec<Span> = std::iter::once(span(0, retrieval)).chain((1..=calls).map(call)).collect();
    spans_to_batch(&all, "t", NOW).unwrap()
}

/// Log records of the span 0, one after the other.
fn records(contents: Vec<Llm>) -> RecordBatch {
    let record = |(at, content): (i64, Llm)| LogRecord {
        time: UnixNanos(NOW.0 + at),
        trace_id: Some(TraceId([7; 16])),
        span_id: Some(id(0)),
        event_name: String::new(),
        severity_number: 0,
        severity_text: String::new(),
        body: Value::Null,
        attributes: Attrs::default(),
        dropped_attributes_count: 0,
        flags: 0,
        source: Arc::new(Source::default()),
        content: Some(Box::new(content)),
        evaluation: None,
    };
    let all: Vec<LogRecord> = (0i64..).zip(contents).map(record).collect();
    logs_to_batch(&all, "t", NOW).unwrap()
}

/// The one trace of `batch`, closed.
pub(super) fn closed(batch: &RecordBatch, rules: &[Rule]) -> OpenTrace {
    let mut open = Open::new(Config::default());
    open.add_spans(1, batch, rules, |_| false, NOW);
    open.take_ripe(QUIET, rules).pop().unwrap().1
}

#[test]
fn what_log_records_say_counts_as_held() {
    let rules = rules("operation = 'llm'", Target::Trace, 1.0);
    let said = records(vec![Llm { answer: Some("x".repeat(2_000_000)), ..Llm::default() }]);
    for has_span in [false, true] {
        let mut open = Open::new(Config { max_open_size: ByteSize::new(1_000_000), ..Config::default() });
        if has_span {
            let batch = spans_to_batch(&[span(0, model_call())], "t", NOW).unwrap();
            open.add_spans(1, &batch, &rules, |_| false, NOW);
        }
        assert!(open.take_ripe(NOW, &rules).is_empty());
        open.add_logs(2, &said, &rules, |_| false, NOW);
        assert!(open.is_over(), "span: {has_span}");
        let ripe = open.take_ripe(NOW, &rules);
        assert_eq!((ripe.len(), open.len(), open.is_over()), (1, 0, false));
        let answers = ripe[0].1.spans.values().map(|span| span.row.llm.answer.as_ref().map(String::len));
        let wanted = if has_span { vec![Some(2_000_000)] } else { vec![] };
        assert_eq!(answers.collect::<Vec<_>>(), wanted);
    }
}

/// Each record by itself would write all messages again and ask every rule: minutes for these.
#[test]
fn many_records_of_one_span_cost_what_they_say() {
    const RECORDS: usize = 2_000;
    let rules = rules("answer = 'the last'", Target::Trace, 1.0);
    let message = |at: usize| Message::text("system", format!("{at} {}", "x".repeat(500)));
    let mut said: Vec<Llm> =
        (0..RECORDS).map(|at| Llm { input_messages: vec![message(at)], ..Llm::default() }).collect();
    let last = Message::text("assistant", "the last");
    said.push(Llm { output_messages: vec![last], ..Llm::default() });
    let (batch, said) = (spans_to_batch(&[span(0, model_call())], "t", NOW).unwrap(), records(said));
    let started = Instant::now();
    let mut open = Open::new(Config::default());
    open.add_spans(1, &batch, &rules, |_| false, NOW);
    open.add_logs(2, &said, &rules, |_| false, NOW);
    let (_, trace) = open.take_ripe(QUIET, &rules).pop().unwrap();
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    let span = &trace.spans[&id(0)];
    assert_eq!((span.marks.rules, span.row.llm.input_messages.len()), (1, RECORDS));
    assert!(span.row.llm.system_prompt.as_ref().is_some_and(|prompt| prompt.len() > 500 * RECORDS));
}

#[test]
fn records_before_and_after_their_ordinary_span_are_the_same() {
    let rules = rules("operation = 'llm'", Target::Trace, 1.0);
    let spans = spans_to_batch(&[span(0, Llm::default()), span(1, Llm::default())], "t", NOW).unwrap();
    let said = records(vec![Llm { answer: Some("yes".to_owned()), ..model_call() }]);
    for logs_first in [false, true] {
        let mut open = Open::new(Config::default());
        if logs_first {
            open.add_logs(1, &said, &rules, |_| false, NOW);
        }
        open.add_spans(2, &spans, &rules, |_| false, NOW);
        if !logs_first {
            open.add_logs(3, &said, &rules, |_| false, NOW);
        }
        let (_, trace) = open.take_ripe(QUIET, &rules).pop().unwrap();
        assert_eq!(trace.spans.len(), 2);
        assert_eq!(trace.spans[&id(0)].row.llm.answer.as_deref(), Some("yes"));
        assert_eq!(trace.spans[&id(1)].row.llm, Llm::default());
    }
    assert!(closed(&spans, &rules).spans.is_empty(), "ordinary spans alone are judged by no rule");
}

#[test]
fn what_an_experiment_asked_is_decided_about_and_never_drawn() {
    let mut marked = [7; 16];
    marked[..6].copy_from_slice(&crate::domain::id::EXPERIMENT_MARK);
    for target in [Target::Trace, Target::Span] {
        let rules = rules("operation = 'llm'", target, 1.0);
        for (trace_id, kind) in [(marked, DecisionKind::Filtered), ([7; 16], DecisionKind::Queued)] {
            let call = Span { trace_id: TraceId(trace_id), ..span(0, model_call()) };
            let trace = closed(&spans_to_batch(&[call], "t", NOW).unwrap(), &rules);
            let drawn = decide(&trace, &View::new(&trace), &rules);
            let [one] = drawn.as_slice() else { panic!("one rule decides once") };
            let told = one.decision(NOW);
            assert_eq!(told.decision, kind);
            assert_eq!(told.reason.contains("experiment"), kind == DecisionKind::Filtered, "{}", told.reason);
        }
    }
}

#[test]
fn a_draw_holds_no_texts() {
    let all = rules("operation = 'llm'", Target::Span, 1.0);
    let trace = closed(&retrieval_and_calls(100, 100_000), &all);
    let view = View::new(&trace);
    let drawn = decide(&trace, &view, &all);
    assert_eq!(drawn.len(), 100);
    assert!(size_of_val(drawn.as_slice()) < 100 * 64);
    assert!(drawn.iter().all(|one| one.decision(NOW).decision == DecisionKind::Queued));
    // Each item is large, and gone before the next one is built.
    let bytes: usize =
        drawn.iter().filter_map(|one| one.item(&view, NOW, Lane::Fast)).map(|item| size(&item)).sum();
    assert!(bytes > 100 * 100_000, "{bytes}");
    let none = rules("operation = 'llm'", Target::Span, 1e-12);
    let drawn = decide(&trace, &view, &none);
    assert_eq!(drawn.len(), 100);
    assert!(drawn.iter().all(|one| one.decision(NOW).decision == DecisionKind::NotSampled));
    assert!(drawn.iter().all(|one| one.item(&view, NOW, Lane::Fast).is_none()));
}

#[test]
fn a_trace_is_drawn_once_and_a_filter_that_nothing_passes_is_told() {
    let rules: Vec<Rule> = ["operation = 'llm'", "operation = 'tool'"]
        .into_iter()
        .flat_map(|filter| rules(filter, Target::Trace, 1.0))
        .collect();
    let trace = closed(&retrieval_and_calls(3, 10), &rules);
    let view = View::new(&trace);
    let drawn = decide(&trace, &view, &rules);
    let kinds: Vec<DecisionKind> = drawn.iter().map(|one| one.decision(NOW).decision).collect();
    assert_eq!(kinds, [DecisionKind::Queued, DecisionKind::Filtered]);
    let items: Vec<_> = drawn.iter().filter_map(|one| one.item(&view, NOW, Lane::Fast)).collect();
    assert_eq!((items.len(), items[0].input.contexts.len()), (1, 1));
    assert_eq!(
        (items[0].input.answer.as_deref(), items[0].span_id.to_string().as_str()),
        (Some("yes"), "0000000000000001")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_of_one_trace_end_where_the_queue_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let journal =
        Journal::open(folder.path(), crate::journal::Config::default(), crate::schema::FORMAT).unwrap();
    let batch = retrieval_and_calls(20, 100_000);
    let (kind, payload) = frame::encode(&[Part::Rows(Table::Spans, batch)]).unwrap();
    journal.append(kind.0, payload).await.unwrap();
    // Two items fit.
    let config = Config { idle: Duration::ZERO, ..Config::default() };
    let fast =
        crate::queue::LaneConfig { max_size: ByteSize::new(250_000), ..crate::queue::LaneConfig::default() };
    let queue = Arc::new(Queue::new(crate::queue::Config { fast, ..crate::queue::Config::default() }));
    let rules = Arc::new(rules("operation = 'llm'", Target::Span, 1.0));
    let (clock, known) = (Arc::new(SystemClock), std::iter::empty());
    let sampler = Sampler::new(journal.clone(), rules, queue.clone(), clock, config, known).unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(sampler.run(stop.clone()));
    let started = Instant::now();
    while queue.stats(NOW).items < 2 && started.elapsed() < Duration::from_secs(300) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    stop.cancel();
    running.await.unwrap().unwrap();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut reader = journal.reader(0).unwrap();
    while let Some(frame) = reader.next().unwrap() {
        for part in frame::decode(&frame.payload, FrameKind::of(Table::Decisions)).unwrap() {
            let Part::Rows(_, rows) = part else { continue };
            for kind in rows.column_by_name("decision").unwrap().as_string::<i32>().iter().flatten() {
                *kinds.entry(kind.to_owned()).or_default() += 1;
            }
        }
    }
    let wanted = [("queued".to_owned(), 2), ("throttled".to_owned(), 18)];
    assert_eq!(kinds, BTreeMap::from(wanted));
    assert_eq!(queue.stats(NOW).items, 2);
}

#[test]
fn what_a_tool_found_is_context() {
    let tool = |answer: Option<&str>, documents: Vec<Document>| Llm {
        operation: Operation::Tool,
        answer: answer.map(str::to_owned),
        documents,
        ..model_call()
    };
    let found = Document {
        id: Some("d".to_owned()),
        content: Some("text".to_owned()),
        score: Some(0.5),
        ..Document::default()
    };
    let spans = [
        span(0, tool(None, vec![found.clone()])),
        span(1, tool(None, vec![found])),
        span(2, tool(Some("sunny"), Vec::new())),
        span(3, Llm { answer: Some("So.".to_owned()), ..model_call() }),
    ];
    let rules = rules("operation = 'llm'", Target::Trace, 1.0);
    let trace = closed(&spans_to_batch(&spans, "t", NOW).unwrap(), &rules);
    let view = View::new(&trace);
    let contexts = view.of_trace(view.root().unwrap()).contexts;
    let texts: Vec<&str> = contexts.iter().filter_map(|document| document.content.as_deref()).collect();
    assert_eq!(texts, ["text", "sunny"]);
    assert_eq!((contexts[0].id.as_deref(), contexts[0].score), (Some("d"), Some(0.5)));
}

/// A trace that came while the clock was ahead was ripe only when it showed that time again, and held the journal until then.
#[test]
fn a_clock_that_is_set_right_leaves_no_trace_open() {
    let rules = rules("true", Target::Trace, 1.0);
    let (batch, ahead) = (retrieval_and_calls(1, 10), UnixNanos(NOW.0 + 365 * 86_400 * SECOND));
    for comes_again in [false, true] {
        let mut open = Open::new(Config::default());
        open.add_spans(1, &batch, &rules, |_| false, ahead);
        assert!(open.take_ripe(ahead, &rules).is_empty());
        // What comes before the next look is seen by the clock as it is now.
        if comes_again {
            open.add_spans(2, &batch, &rules, |_| false, NOW);
        }
        assert!(open.take_ripe(NOW, &rules).is_empty() && open.first_seq() == Some(1));
        let ripe = open.take_ripe(QUIET, &rules).len();
        assert_eq!((ripe, open.first_seq()), (1, None), "comes again: {comes_again}");
    }
}

/// Each time that a client sent a trace again, the trace looked larger, until the oldest were judged early.
#[test]
fn a_trace_that_is_sent_again_takes_no_more_room() {
    let rules = rules("operation = 'llm'", Target::Trace, 1.0);
    let batch = retrieval_and_calls(3, 1_000);
    let mut open = Open::new(Config { max_open_size: ByteSize::new(5_000_000), ..Config::default() });
    for seq in 1..=1_000 {
        open.add_spans(seq, &batch, &rules, |_| false, NOW);
    }
    assert!(!open.is_over() && open.take_ripe(NOW, &rules).is_empty());
    let (_, trace) = open.take_ripe(QUIET, &rules).pop().unwrap();
    assert_eq!((trace.spans.len(), open.is_over()), (4, false));
}

#[test]
fn spans_for_which_a_trace_has_no_room_are_counted() {
    let rules = rules("operation = 'llm'", Target::Trace, 1.0);
    let recorder = PrometheusBuilder::new().build_recorder();
    let counted = recorder.handle();
    metrics::with_local_recorder(&recorder, || {
        let mut open = Open::new(Config { max_trace_spans: 2, ..Config::default() });
        open.add_spans(1, &retrieval_and_calls(3, 10), &rules, |_| false, NOW);
        // What is held already needs no room.
        open.add_spans(2, &retrieval_and_calls(1, 10), &rules, |_| false, NOW);
        let ordinary = spans_to_batch(&[span(9, Llm::default())], "t", NOW).unwrap();
        open.add_spans(3, &ordinary, &rules, |_| false, NOW);
    });
    let text = counted.render();
    assert!(text.contains("groundline_trace_spans_refused_total 3\n"), "{text}");
}
