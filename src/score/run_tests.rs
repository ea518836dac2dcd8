//! Evaluators that take too long, panic or are not there.

use super::super::together::{Encode, encoded};
use super::*;
use crate::domain::id::{SpanId, TraceId};
use crate::domain::prompt::Prompt;
use crate::domain::score::Better;
use crate::domain::time::SystemClock;
use crate::eval::Metric;
use crate::queue::{Config, Follower, Item, LaneConfig};
use crate::schema::columns::Table;
use crate::schema::frame::{self, FrameError, Part};
use arrow::array::AsArray;
use std::sync::atomic::{AtomicUsize, Ordering};

static METRICS: [Metric; 2] =
    [Metric::new("first", Better::Higher, None), Metric::new("second", Better::Higher, None)];

/// How often evaluators were asked, how many were at it at once, and how many are at it now.
#[derive(Default)]
struct Asked {
    times: AtomicUsize,
    at_once: AtomicUsize,
    now: AtomicUsize,
}

/// Gives both scores after a while, or panics.
struct Probe {
    id: &'static str,
    takes: Duration,
    panics: bool,
    asked: Arc<Asked>,
}

impl Evaluator for Probe {
    fn id(&self) -> &str {
        self.id
    }

    fn version(&self) -> &str {
        "1"
    }

    fn metrics(&self) -> &[Metric] {
        &METRICS
    }

    fn evaluate(&self, _: &EvalInput) -> Vec<Score> {
        self.asked.times.fetch_add(1, Ordering::SeqCst);
        let now = self.asked.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.asked.at_once.fetch_max(now, Ordering::SeqCst);
        std::thread::sleep(self.takes);
        self.asked.now.fetch_sub(1, Ordering::SeqCst);
        assert!(!self.panics, "this evaluator panics");
        METRICS.iter().map(|metric| Score::told(&metric.name, 1.0)).collect()
    }
}

fn probe(id: &'static str, millis: u64) -> (Arc<dyn Evaluator>, Arc<Asked>) {
    let asked = Arc::new(Asked::default());
    let takes = Duration::from_millis(millis);
    (Arc::new(Probe { id, takes, panics: false, asked: asked.clone() }), asked)
}

pub(in crate::score) fn item(id: &str, evaluators: &[&str], now: i64) -> Item {
    Item {
        id: id.to_owned(),
        trace_id: TraceId([7; 16]),
        span_id: SpanId([7; 8]),
        rule: "r".to_owned(),
        rule_version: "v".to_owned(),
        inclusion_probability: 1.0,
        stratum: None,
        reason: String::new(),
        evaluators: evaluators.iter().map(|id| (*id).to_owned()).collect(),
        span_time: now,
        span_end: 0,
        queued_at: now,
        service_name: String::new(),
        request_model: None,
        prompt: Prompt::default(),
        tenant: "t".into(),
        lane: Lane::Fast,
        score_version: 1,
        until: 0,
        is_again: false,
        input: EvalInput::default(),
    }
}

struct Bench {
    scorer: Arc<Scorer>,
    _folder: tempfile::TempDir,
}

impl Bench {
    fn new(evaluators: Vec<Arc<dyn Evaluator>>, limit_ms: u64, max_attempts: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal =
            Journal::open(folder.path(), crate::journal::Config::default(), crate::schema::FORMAT).unwrap();
        let fast =
            LaneConfig { max_attempts, retry_backoff: Duration::from_millis(1), ..LaneConfig::default() };
        let queue = Arc::new(Queue::new(Config { fast, ..Config::default() }));
        let registry = Arc::new(Registry::of(evaluators));
        let timeout = Duration::from_millis(limit_ms);
        let scorer = Arc::new(Scorer::new(journal, queue, registry, Arc::new(SystemClock), timeout));
        Self { scorer, _folder: folder }
    }

    /// Lets one worker work until the items are done, and after that until it ends.
    async fn work(&self, items: &[(&str, &[&str])]) {
        let now = self.scorer.clock.now();
        for (id, evaluators) in items {
            let queued = QueueEvent::Queued(Box::new(item(id, evaluators, now.0)));
            self.scorer.queue.apply(queued);
        }
        let stop = CancellationToken::new();
        let working = tokio::spawn(self.scorer.clone().work(Lane::Fast, stop.clone()));
        let started = Instant::now();
        while self.scorer.queue.stats(now).items > 0 && started.elapsed() < Duration::from_secs(300) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stop.cancel();
        working.await.unwrap().unwrap();
        assert_eq!(self.scorer.queue.stats(now).items, 0);
    }

    /// What was stored: evaluator, metric and status of every score, sorted.
    fn scores(&self) -> Vec<String> {
        let mut scores = self.column(Table::Scores, &["evaluator", "metric", "status"]);
        scores.sort();
        scores
    }

    fn column(&self, table: Table, names: &[&str]) -> Vec<String> {
        let mut found = Vec::new();
        let mut reader = self.scorer.journal.reader(0).unwrap();
        while let Some(stored) = reader.next().unwrap() {
            for part in frame::decode(&stored.payload, frame::FrameKind::of(table)).unwrap() {
                let Part::Rows(_, rows) = part else { continue };
                for row in 0..rows.num_rows() {
                    let text = |name: &&str| {
                        let column = rows.column_by_name(name).unwrap();
                        column.as_string::<i32>().value(row).to_owned()
                    };
                    found.push(names.iter().map(text).collect::<Vec<_>>().join(" "));
                }
            }
        }
        found
    }
}

#[tokio::test]
async fn a_time_limit_keeps_what_was_scored_and_fails_the_rest_by_metric() {
    let ((quick, _), (slow, asked), (next, never)) = (probe("a", 0), probe("b", 4_000), probe("c", 0));
    let bench = Bench::new(vec![quick, slow, next], 3_000, 4);
    bench.work(&[("one", &["*"])]).await;
    let wanted =
        ["a first ok", "a second ok", "b first error", "b second error", "c first error", "c second error"];
    assert_eq!(bench.scores(), wanted);
    assert_eq!(bench.column(Table::Decisions, &["decision"]), ["failed"]);
    // It is not tried again, and what comes after the limit is not asked.
    assert_eq!((asked.times.load(Ordering::SeqCst), never.times.load(Ordering::SeqCst)), (1, 0));
}

#[tokio::test]
async fn a_worker_waits_for_an_evaluator_that_takes_too_long() {
    let (slow, asked) = probe("a", 300);
    let bench = Bench::new(vec![slow], 100, 4);
    bench.work(&[("one", &["a"]), ("two", &["a"]), ("three", &["a"])]).await;
    // A thread that a busy machine starts too late asks nobody.
    assert!((1..=3).contains(&asked.times.load(Ordering::SeqCst)));
    assert_eq!(asked.at_once.load(Ordering::SeqCst), 1);
    assert_eq!(bench.scores().len(), 6);
}

#[tokio::test]
async fn a_panic_is_an_error_of_every_metric() {
    let asked = Arc::new(Asked::default());
    let takes = Duration::ZERO;
    let broken: Arc<dyn Evaluator> = Arc::new(Probe { id: "a", takes, panics: true, asked: asked.clone() });
    let bench = Bench::new(vec![broken, probe("b", 0).0], 10_000, 4);
    bench.work(&[("one", &["*"])]).await;
    assert_eq!(bench.scores(), ["a first error", "a second error", "b first ok", "b second ok"]);
    assert_eq!(asked.times.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn the_last_failure_names_every_evaluator() {
    let bench = Bench::new(vec![probe("a", 0).0, probe("b", 0).0], 10_000, 2);
    bench.work(&[("one", &["*", "gone", "a"])]).await;
    let wanted =
        ["a first error", "a second error", "b first error", "b second error", "gone evaluation error"];
    assert_eq!(bench.scores(), wanted);
}

fn broken() -> FrameError {
    FrameError::Damaged("a row that cannot be written")
}

/// A scorer over a journal and a queue's log in `folder`, whose writing goes wrong as `encode` says.
fn scorer_in(folder: &std::path::Path, encode: Encode) -> (Scorer, Follower) {
    let config = crate::journal::Config::default();
    let journal = Journal::open(&folder.join("journal"), config.clone(), crate::schema::FORMAT).unwrap();
    let fast =
        LaneConfig { max_attempts: 3, retry_backoff: Duration::from_millis(1), ..LaneConfig::default() };
    let queue = Arc::new(Queue::new(Config { fast, ..Config::default() }));
    let log = folder.join("queue");
    let follower = Follower::open(journal.clone(), &log, queue.clone(), &config).unwrap();
    let registry = Arc::new(Registry::of(vec![probe("a", 0).0]));
    let timeout = Duration::from_secs(10);
    let scorer = Scorer::new(journal, queue, registry, Arc::new(SystemClock), timeout);
    let together = Arc::new(Together::new(scorer.journal.clone()).with_encode(encode));
    (Scorer { together, ..scorer }, follower)
}

/// One attempt under each error: scores alone, scores and decisions, everything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_whose_end_cannot_be_written_is_there_after_a_restart() {
    let no_scores: Encode = |rows, d, e| if rows.is_empty() { encoded(rows, d, e) } else { Err(broken()) };
    let no_decisions: Encode = |rows, d, e| if d.is_empty() { encoded(rows, d, e) } else { Err(broken()) };
    let nothing: Encode = |_, _, _| Err(broken());
    for (encode, retries) in [(no_scores, 1), (no_decisions, 1), (nothing, 0)] {
        let folder = tempfile::tempdir().unwrap();
        {
            let (scorer, mut follower) = scorer_in(folder.path(), encode);
            let queued = QueueEvent::Queued(Box::new(item("one", &["a"], scorer.clock.now().0)));
            let (kind, payload) = encoded(&[], &[], std::slice::from_ref(&queued)).unwrap();
            scorer.journal.append(kind.0, payload).await.unwrap();
            scorer.queue.apply(queued);
            let lease = scorer.queue.lease(Lane::Fast, scorer.clock.now()).unwrap();
            scorer.handle(lease, &CancellationToken::new()).await.unwrap();
            assert_eq!(scorer.queue.stats(scorer.clock.now()).items, 1);
            while follower.copy().await.unwrap() {}
            follower.save().unwrap();
        }
        let (scorer, _follower) = scorer_in(folder.path(), encoded);
        let rows = scorer.queue.rows();
        assert_eq!((rows.len(), rows[0].state, rows[0].attempt), (1, "waiting", retries));
        let bench = Bench { scorer: Arc::new(scorer), _folder: folder };
        bench.work(&[]).await;
        assert_eq!(bench.scores(), ["a first ok", "a second ok"]);
        assert_eq!(bench.column(Table::Decisions, &["decision"]), ["scored"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scores_that_can_never_be_written_end_as_failed_and_can_be_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let no_scores: Encode = |rows, d, e| if rows.is_empty() { encoded(rows, d, e) } else { Err(broken()) };
    let (scorer, _follower) = scorer_in(folder.path(), no_scores);
    let bench = Bench { scorer: Arc::new(scorer), _folder: folder };
    bench.work(&[("one", &["a"])]).await;
    assert_eq!(bench.scores(), Vec::<String>::new());
    assert_eq!(bench.column(Table::Decisions, &["decision"]), ["failed"]);
    let rows = bench.scorer.queue.rows();
    assert_eq!((rows.len(), rows[0].state), (1, "failed"));
    assert!(rows[0].error.as_deref().unwrap().contains("a row that cannot be written"), "{rows:?}");
    let back = bench.scorer.queue.put_back(&[], None, bench.scorer.clock.now());
    assert_eq!(back.len(), 1);
}
