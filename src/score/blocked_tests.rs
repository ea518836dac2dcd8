//! Evaluation that stands still for an hour: the journal goes on, the queue keeps its limits, nothing is lost.

use super::Scorer;
use crate::domain::id::{SpanId, TraceId};
use crate::domain::score::{Better, Score};
use crate::domain::span::{Dialect, Llm, Operation, Source, Span, SpanKind, StatusCode};
use crate::domain::time::{Clock, SECOND, UnixNanos};
use crate::domain::trace::EvalInput;
use crate::domain::value::Attrs;
use crate::eval::{Evaluator, Metric, Registry};
use crate::journal::{Config as LogConfig, Journal, JournalError};
use crate::queue::{Config, Follower, Lane, LaneConfig, Queue};
use crate::sample::{Progress, RuleConfig, Sampler, compile};
use crate::schema::FORMAT;
use crate::schema::batch::spans_to_batch;
use crate::schema::columns::Table;
use crate::schema::frame::{self, FrameKind, Part};
use crate::units::ByteSize;
use arrow::array::{ArrayRef, AsArray, RecordBatch, StringArray};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;
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

/// Sampling, the queue and its log, and workers whose evaluator does not answer.
struct Blocked {
    journal: Journal,
    queue: Arc<Queue>,
    clock: Arc<Paused>,
    progress: Arc<Progress>,
    open: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
    stop: CancellationToken,
    loops: Vec<JoinHandle<Result<(), JournalError>>>,
    _folder: tempfile::TempDir,
}

/// What was seen in the hour.
#[derive(Debug, Default)]
struct Most {
    segments: u64,
    items: usize,
}

impl Blocked {
    fn start(fast: LaneConfig, log_config: &LogConfig) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal"), log_config.clone(), FORMAT).unwrap();
        // Workers keep what they hold: a lease that ran out would be evaluated twice.
        let fast = LaneConfig { lease: Duration::from_hours(30), ..fast };
        let queue = Arc::new(Queue::new(Config { fast, ..Config::default() }));
        let log = folder.path().join("queue");
        let follower = Follower::open(journal.clone(), &log, queue.clone(), log_config).unwrap();
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
        let (stop, progress) = (CancellationToken::new(), sampler.progress());
        let mut loops =
            vec![tokio::spawn(sampler.run(stop.clone())), tokio::spawn(follower.run(stop.clone()))];
        for _ in 0..8 {
            loops.push(tokio::spawn(scorer.clone().work(Lane::Fast, stop.clone())));
        }
        Self { journal, queue, clock, progress, open, asked, stop, loops, _folder: folder }
    }

    /// An hour of `spans_a_second` passes, as fast as sampling reads it.
    async fn pass_an_hour(&self, spans_a_second: usize) -> Most {
        let spans: Vec<Span> = (0..spans_a_second as u64).map(span).collect();
        let template = spans_to_batch(&spans, "t", UnixNanos(1)).unwrap();
        let mut most = Most::default();
        for second in 0..HOUR {
            let part = Part::Rows(Table::Spans, in_new_traces(&template, second));
            let (kind, bytes) = frame::encode(&[part]).unwrap();
            let seq = self.journal.append(kind.0, bytes).await.unwrap();
            self.clock.0.fetch_add(SECOND, Ordering::SeqCst);
            while self.progress.now().0 + 30 < seq {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            most.segments = most.segments.max(self.journal.stats().segments);
            most.items = most.items.max(self.queue.stats(self.clock.now()).items);
        }
        assert_eq!(self.asked.load(Ordering::SeqCst), 0);
        most
    }

    /// The evaluator is back; the last traces become ripe, and what waits is evaluated.
    async fn end(&mut self) {
        self.open.store(true, Ordering::SeqCst);
        while self.progress.now().1 > 0 || self.queue.stats(self.clock.now()).items > 0 {
            self.clock.0.fetch_add(SECOND, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.stop.cancel();
        for one in self.loops.drain(..) {
            one.await.unwrap().unwrap();
        }
    }

    /// The decisions that stand in the journal, by their words.
    fn decisions(&self) -> BTreeMap<String, usize> {
        let (mut reader, mut found) = (self.journal.reader(0).unwrap(), BTreeMap::new());
        let wanted = FrameKind::of(Table::Decisions);
        while let Some(frame) = reader.next().unwrap() {
            if !FrameKind(frame.kind).meets(wanted) {
                continue;
            }
            for part in frame::decode(&frame.payload, wanted).unwrap() {
                let Part::Rows(_, batch) = part else { continue };
                let words = batch.column_by_name("decision").unwrap().as_string::<i32>().clone();
                for word in words.iter().flatten() {
                    *found.entry(word.to_owned()).or_default() += 1;
                }
            }
        }
        found
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_evaluator_that_is_away_for_an_hour_holds_up_neither_journal_nor_queue() {
    let patient = LaneConfig { max_age: Duration::from_hours(2), ..LaneConfig::default() };
    let mut blocked = Blocked::start(patient, &journal_config());
    let most = blocked.pass_an_hour(SPANS_A_SECOND).await;
    let written = HOUR as usize * SPANS_A_SECOND;
    // Some 500 bytes a span: without room made, 200 segments.
    assert!(most.segments < 30, "{} segments were kept of {written} spans", most.segments);
    assert!(most.items <= LaneConfig::default().max_items, "{most:?}");
    blocked.end().await;
    assert_eq!(blocked.asked.load(Ordering::SeqCst), HOUR as usize * CALLS_A_SECOND);
    assert_eq!(blocked.queue.stats(blocked.clock.now()).ended, 0);
}

/// More comes in the hour than the lane may hold: it holds so many and no more, the rest is `throttled`, what waited longer
/// than an hour is `expired`, and each item has one end.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_lane_that_is_full_keeps_its_limit_and_says_what_it_left_out() {
    const MAX_ITEMS: usize = 1_000;
    let small = LaneConfig { max_items: MAX_ITEMS, ..LaneConfig::default() };
    // One segment: every decision can be read again at the end.
    let mut blocked = Blocked::start(small, &LogConfig::default());
    let most = blocked.pass_an_hour(10 * CALLS_A_SECOND).await;
    assert_eq!(most.items, MAX_ITEMS);
    // Now the items of the first minutes have waited for longer than the lane allows.
    blocked.clock.0.fetch_add(250 * SECOND, Ordering::SeqCst);
    blocked.end().await;
    let found = blocked.decisions();
    let of = |word: &str| found.get(word).copied().unwrap_or_default();
    assert_eq!(of("queued") + of("throttled"), HOUR as usize * CALLS_A_SECOND, "{found:?}");
    assert!(of("queued") >= MAX_ITEMS && of("throttled") > 5 * MAX_ITEMS, "{found:?}");
    assert_eq!(of("scored") + of("expired"), of("queued"), "{found:?}");
    assert_eq!(of("scored"), blocked.asked.load(Ordering::SeqCst), "{found:?}");
    assert!(of("expired") > 0, "what came first has waited for more than an hour: {found:?}");
    assert_eq!(blocked.queue.stats(blocked.clock.now()).ended, of("expired"));
}
