use super::super::rule_config::Target;
use super::super::run::Sampler;
use super::super::tests::{NOW, model_call, retrieval_and_calls, rules, span};
use super::*;
use crate::domain::span::Llm;
use crate::domain::time::SystemClock;
use crate::journal::Journal;
use crate::queue::QueueEvent;
use crate::schema::batch::spans_to_batch;
use crate::schema::columns::Table;
use crate::schema::frame::{self, FrameKind, Part};
use arrow::array::{Float64Array, Int64Array, StringArray, TimestampMicrosecondArray};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const TRACE: TraceId = TraceId([7; 16]);

fn id(number: i64) -> SpanId {
    SpanId((number + 1).to_be_bytes())
}

/// The recorded decision of `rule` about the trace.
fn decided(rule: &Rule, span: i64) -> RecordBatch {
    let text = |value: &str| Arc::new(StringArray::from(vec![value])) as ArrayRef;
    RecordBatch::try_from_iter([
        ("span_id", text(&id(span).to_string())),
        ("rule", text(&rule.config.name)),
        ("rule_version", text(&rule.version)),
        ("reason", text("rate 0.25")),
        ("inclusion_probability", Arc::new(Float64Array::from(vec![0.25])) as ArrayRef),
        ("stratum", text("s")),
        ("span_time", Arc::new(TimestampMicrosecondArray::from(vec![NOW.0 / 1_000])) as ArrayRef),
        ("tenant", text("t")),
    ])
    .unwrap()
}

fn versions(rule: &Rule, span: i64, version: i64) -> RecordBatch {
    let text = |value: &str| Arc::new(StringArray::from(vec![value])) as ArrayRef;
    RecordBatch::try_from_iter([
        ("span_id", text(&id(span).to_string())),
        ("rule", text(&rule.config.name)),
        ("version", Arc::new(Int64Array::from(vec![version])) as ArrayRef),
    ])
    .unwrap()
}

fn late(spans: &[i64]) -> Late {
    let mut all = super::super::late::Latecomers::new(super::super::LateConfig {
        debounce: Duration::ZERO,
        ..super::super::LateConfig::default()
    });
    spans.iter().for_each(|number| all.note(TRACE, id(*number), true, 3, NOW));
    all.take(NOW).unwrap().1
}

/// What follows for the trace of `spans` when those in `came` came late and its scores have this version.
fn found(rules: &[Rule], queue: &Queue, spans: RecordBatch, came: &[i64], version: i64) -> Again {
    let rows = StoredTrace {
        decided: vec![decided(&rules[0], 0)],
        versions: if version > 0 { vec![versions(&rules[0], 0, version)] } else { Vec::new() },
        spans: vec![spans],
    };
    let config = Config::default();
    let looked = Looked { rules, queue, config: &config, until: 9, now: NOW };
    again(TRACE, &late(came), &rows, &looked).unwrap()
}

fn queue() -> Queue {
    Queue::new(crate::queue::Config::default())
}

#[test]
fn a_late_answer_makes_the_item_once_more_as_it_was_drawn() {
    let all = rules("operation = 'llm'", Target::Trace, 1.0);
    let again = found(&all, &queue(), retrieval_and_calls(2, 10), &[1, 2], 1);
    let [item] = again.items.try_into().unwrap();
    assert_eq!((item.score_version, item.until, item.inclusion_probability), (2, 9, 0.25));
    assert!(item.is_again);
    assert_eq!((item.stratum.as_deref(), item.reason.as_str()), (Some("s"), "rate 0.25"));
    assert_eq!((item.input.answer.as_deref(), item.span_time), (Some("yes"), NOW.0));
    assert_eq!(item.id, item_id(&TRACE.to_string(), "r", &all[0].version, all[0].lanes[0]));
    assert_eq!(again.decisions.len(), 1);
    assert_eq!(again.decisions[0].reason, "spans came late: evaluation 2");
}

#[test]
fn what_changes_nothing_and_what_was_dropped_is_left() {
    let all = rules("operation = 'llm'", Target::Trace, 1.0);
    let spans = || {
        let call = |number| span(number, Llm { answer: Some("yes".into()), ..model_call() });
        spans_to_batch(&[call(0), call(1)], "t", NOW).unwrap()
    };
    // The answer of the root was there, and the late call says the same.
    let same = found(&all, &queue(), spans(), &[1], 1);
    assert!(same.items.is_empty() && !same.must_wait && !same.is_refused, "{same:?}");
    // No score: it was throttled, or failed, or nobody knows.
    let dropped = found(&all, &queue(), retrieval_and_calls(2, 10), &[1, 2], 0);
    assert!(dropped.items.is_empty() && !dropped.is_refused, "{dropped:?}");
    // Another tenant's spans are not this trace's.
    let call = span(1, Llm { answer: Some("theirs".into()), ..model_call() });
    let theirs = spans_to_batch(&[call], "other", NOW).unwrap();
    assert!(found(&all, &queue(), theirs, &[1], 1).items.is_empty());
    // A rule that has changed since has no decision about it.
    let mut changed = rules("operation = 'llm'", Target::Trace, 0.5);
    changed[0].version = "another".into();
    let rows = StoredTrace {
        decided: vec![decided(&all[0], 0)],
        versions: vec![versions(&all[0], 0, 1)],
        spans: vec![retrieval_and_calls(2, 10)],
    };
    let (config, queue) = (Config::default(), queue());
    let looked = Looked { rules: &changed, queue: &queue, config: &config, until: 9, now: NOW };
    assert!(again(TRACE, &late(&[1, 2]), &rows, &looked).unwrap().items.is_empty());
}

#[test]
fn an_item_waits_for_its_evaluation_and_has_so_many() {
    let all = rules("operation = 'llm'", Target::Trace, 1.0);
    let most = i64::from(Config::default().late.max_versions);
    let spans = || retrieval_and_calls(2, 10);
    assert_eq!(found(&all, &queue(), spans(), &[1, 2], most).items.len(), 1);
    let refused = found(&all, &queue(), spans(), &[1, 2], most + 1);
    assert!(refused.is_refused && refused.items.is_empty());
    let busy = queue();
    let first = found(&all, &busy, spans(), &[1, 2], 1).items.remove(0);
    busy.apply(QueueEvent::Queued(Box::new(Item { score_version: 1, ..first.clone() })));
    let waits = found(&all, &busy, spans(), &[1, 2], 1);
    assert!(waits.must_wait && waits.items.is_empty(), "{waits:?}");
    // When it is over, the next evaluation is taken, and once.
    let done = |version| QueueEvent::Done {
        id: first.id.clone(),
        outcome: crate::queue::Outcome::Scored,
        error: None,
        score_version: version,
    };
    busy.apply(done(1));
    for _ in 0..2 {
        busy.apply(QueueEvent::Queued(Box::new(first.clone())));
        assert_eq!(busy.stats(NOW).items, 1);
    }
    busy.apply(done(2));
    busy.apply(QueueEvent::Queued(Box::new(first)));
    assert_eq!(busy.stats(NOW).items, 0, "it was evaluated");
}

#[test]
fn a_rule_for_spans_evaluates_only_the_span_that_changed() {
    let all = rules("operation = 'llm'", Target::Span, 1.0);
    let rows = StoredTrace {
        decided: vec![decided(&all[0], 1), decided(&all[0], 2)],
        versions: vec![versions(&all[0], 1, 1), versions(&all[0], 2, 1)],
        spans: vec![retrieval_and_calls(2, 10)],
    };
    let (config, queue) = (Config::default(), queue());
    let looked = Looked { rules: &all, queue: &queue, config: &config, until: 9, now: NOW };
    // The second call itself is late: its decision was about what came of it before.
    let again = again(TRACE, &late(&[2]), &rows, &looked).unwrap();
    let spans: Vec<SpanId> = again.items.iter().map(|item| item.span_id).collect();
    assert_eq!(spans, [id(2)]);
}

/// The decisions in the journal, as (decision, reason).
fn decisions(journal: &Journal) -> Vec<String> {
    let (mut reader, mut kinds) = (journal.reader(0).unwrap(), Vec::new());
    while let Some(frame) = reader.next().unwrap() {
        let wanted = FrameKind::of(Table::Decisions);
        if !FrameKind(frame.kind).meets(wanted) {
            continue;
        }
        for part in frame::decode(&frame.payload, wanted).unwrap() {
            let Part::Rows(_, rows) = part else { continue };
            let column = rows.column_by_name("decision").unwrap().as_string::<i32>().clone();
            kinds.extend(column.iter().flatten().map(str::to_owned));
        }
    }
    kinds
}

/// A trace that began long ago is decided if the tables do not know it, and left if they do, or cannot be asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_decided_long_ago_is_not_decided_again() {
    for (answer, wanted) in
        [(Ok(HashSet::new()), vec!["queued".to_owned()]), (Ok(HashSet::from([TRACE])), Vec::new())]
    {
        let folder = tempfile::tempdir().unwrap();
        let journal =
            Journal::open(folder.path(), crate::journal::Config::default(), crate::schema::FORMAT).unwrap();
        let (kind, payload) = frame::encode(&[Part::Rows(Table::Spans, retrieval_and_calls(2, 10))]).unwrap();
        journal.append(kind.0, payload).await.unwrap();
        let config = Config { idle: Duration::ZERO, ..Config::default() };
        let (queue, clock) = (Arc::new(queue()), Arc::new(SystemClock));
        let rules = Arc::new(rules("operation = 'llm'", Target::Trace, 1.0));
        let none = std::iter::empty();
        let sampler = Sampler::new(journal.clone(), rules, queue.clone(), clock, config, none).unwrap();
        let sampler = sampler.with_tables(Tables {
            trace: Arc::new(|_, _| Box::pin(async { Err("not asked here".to_owned()) })),
            decided: Arc::new(move |asked| {
                assert_eq!(asked, [TRACE]);
                let answer = answer.clone();
                Box::pin(async move { answer })
            }),
        });
        let (progress, stop) = (sampler.progress(), CancellationToken::new());
        let running = tokio::spawn(sampler.run(stop.clone()));
        let started = Instant::now();
        while progress.now() != (1, 0) && progress.now() != (2, 0) {
            assert!(started.elapsed() < Duration::from_secs(60), "{:?}", progress.now());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        stop.cancel();
        running.await.unwrap().unwrap();
        assert_eq!(decisions(&journal), wanted);
    }
}
