//! Evaluation that stands still for an hour: the journal goes on, the queue keeps its limits, nothing is lost.

use super::Scorer;
use crate::domain::id::{SpanId, TraceId};
use crate::domain::score::{Better, Score};
use crate::domain::span::{Dialect, Llm, Operation, Source, Span, SpanKind, StatusCode};
use crate::domain::time::{Clock, SECOND, UnixNanos};
use crate::domain::trace::EvalInput;
use crate::domain::value::Attrs;
use crate::eval::{Evaluator, Metric, Registry};
use crate::journal::{Config as LogConfig, Journal};
use crate::queue::{Config, Follower, Lane, LaneConfig, Queue};
use crate::sample::{RuleConfig, Sampler, compile};
use crate::schema::FORMAT;
use crate::schema::batch::spans_to_batch;
use crate::schema::columns::Table;
use crate::schema::frame::{self, Part};
use crate::units::ByteSize;
use arrow::array::{ArrayRef, RecordBatch, StringArray};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const HOUR: i64 = 3_600;
const SPANS_A_SECOND: usize = 1_000;
const CALLS_A_SECOND: usize = 2;

/// A clock that stands still until it is told to go on.
struct Paused(AtomicI64);

impl Clock for Paused {
    fn now(&self) -> UnixNanos {
        UnixNanos(self.0.load(Ordering::SeqCst))
    }
}

/// An evaluator that does not answer until the gate is open.
struct Gate {
    open: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
}

static METRICS: [Metric; 1] = [Metric::new("m", Better::Higher, None)];

impl Evaluator for Gate {
    fn id(&self) -> &str {
        "gate"
    }

    fn version(&self) -> &str {
        "1"
    }

    fn metrics(&self) -> &[Metric] {
        &METRICS
    }

    fn evaluate(&self, _: &EvalInput) -> Vec<Score> {
        while !self.open.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        vec![Score::skipped("m", "nothing")]
    }
}

pub(super) fn span(number: u64) -> Span {
    let llm = match number < CALLS_A_SECOND as u64 {
        true => Llm { dialect: Dialect::OtelGenai, operation: Operation::Llm, ..Llm::default() },
        false => Llm::default(),
    };
    Span {
        trace_id: TraceId([7; 16]),
        span_id: SpanId((number + 1).to_be_bytes()),
        parent_span_id: None,
        name: "s".to_owned(),
        kind: SpanKind::Internal,
        start: UnixNanos(1),
        end: UnixNanos(2),
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

/// The same spans, in traces of their own.
pub(super) fn in_new_traces(template: &RecordBatch, second: i64) -> RecordBatch {
    let ids: StringArray =
        (0..template.num_rows()).map(|row| Some(format!("{:016x}{:016x}", second + 1, row + 1))).collect();
    let mut columns = template.columns().to_vec();
    columns[template.schema().index_of("trace_id").unwrap()] = Arc::new(ids) as ArrayRef;
    RecordBatch::try_new(template.schema(), columns).unwrap()
}

fn journal_config() -> LogConfig {
    LogConfig { segment_size: ByteSize::mib(8), max_frame_size: ByteSize::mib(4), ..LogConfig::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_evaluator_that_is_away_for_an_hour_holds_up_neither_journal_nor_queue() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join("journal"), journal_config(), FORMAT).unwrap();
    // Workers keep what they hold: a lease that ran out would be evaluated twice.
    let fast = LaneConfig {
        max_age: Duration::from_hours(2),
        lease: Duration::from_hours(30),
        ..LaneConfig::default()
    };
    let queue = Arc::new(Queue::new(Config { fast, ..Config::default() }));
    let log = folder.path().join("queue");
    let follower = Follower::open(journal.clone(), &log, queue.clone(), &journal_config()).unwrap();
    let rule = RuleConfig::new("r", "operation = 'llm'", 1.0, &["gate"]);
    let rules = Arc::new(compile(&[rule]).ok().unwrap());
    let clock = Arc::new(Paused(AtomicI64::new(SECOND)));
    let (known, settings) = (std::iter::empty(), crate::sample::Config::default());
    let sampler =
        Sampler::new(journal.clone(), rules, queue.clone(), clock.clone(), settings, known).unwrap();
    let (open, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let gate: Arc<dyn Evaluator> = Arc::new(Gate { open: open.clone(), asked: asked.clone() });
    let registry = Arc::new(Registry::of(vec![gate]));
    let timeout = Duration::from_secs(100_000);
    let scorer = Arc::new(Scorer::new(journal.clone(), queue.clone(), registry, clock.clone(), timeout));
    let stop = CancellationToken::new();
    let progress = sampler.progress();
    let mut loops = vec![tokio::spawn(sampler.run(stop.clone())), tokio::spawn(follower.run(stop.clone()))];
    for _ in 0..8 {
        loops.push(tokio::spawn(scorer.clone().work(Lane::Fast, stop.clone())));
    }

    let template =
        spans_to_batch(&(0..SPANS_A_SECOND as u64).map(span).collect::<Vec<_>>(), "t", UnixNanos(1));
    let template = template.unwrap();
    let mut most_segments = 0;
    for second in 0..HOUR {
        let part = Part::Rows(Table::Spans, in_new_traces(&template, second));
        let (kind, bytes) = frame::encode(&[part]).unwrap();
        let seq = journal.append(kind.0, bytes).await.unwrap();
        clock.0.fetch_add(SECOND, Ordering::SeqCst);
        // The hour passes as fast as sampling reads it.
        while progress.now().0 + 30 < seq {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        most_segments = most_segments.max(journal.stats().segments);
    }
    let written = HOUR as usize * SPANS_A_SECOND;
    // Some 500 bytes a span: without room made, 200 segments.
    assert!(most_segments < 30, "{most_segments} segments were kept of {written} spans");
    let stats = queue.stats(clock.now());
    assert!(stats.items <= LaneConfig::default().max_items, "{stats:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 0);

    // The last traces become ripe, and the evaluator is back.
    let wanted = HOUR as usize * CALLS_A_SECOND;
    open.store(true, Ordering::SeqCst);
    while progress.now().1 > 0 || queue.stats(clock.now()).items > 0 {
        clock.0.fetch_add(SECOND, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    stop.cancel();
    for one in loops {
        one.await.unwrap().unwrap();
    }
    assert_eq!(asked.load(Ordering::SeqCst), wanted);
    assert_eq!(queue.stats(clock.now()).ended, 0);
}
