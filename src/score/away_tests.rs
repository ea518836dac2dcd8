//! A judge that is dead for ten minutes of a clock that stands still between its seconds: ingest and local scores go on as
//! before, the queue keeps its limit, and all that waits is judged once when the judge is back.

use super::blocked_tests::{in_new_traces, span};
use super::{CacheConfig, JudgeConfig, Judges, JudgesSetup, Scorer, SlowLane, in_lanes};
use crate::domain::score::{Better, Score};
use crate::domain::time::{Clock, ManualClock, SECOND, UnixNanos};
use crate::domain::trace::EvalInput;
use crate::eval::{Evaluator, Metric, Registry};
use crate::journal::{Config as LogConfig, Journal};
use crate::queue::{Config, Follower, Lane, LaneConfig, Queue};
use crate::sample::{RuleConfig, Sampler, compile};
use crate::schema::FORMAT;
use crate::schema::batch::spans_to_batch;
use crate::schema::columns::Table;
use crate::schema::frame::{self, FrameKind, Part};
use arrow::array::{Array, AsArray, RecordBatch};
use axum::Json;
use axum::routing::post;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The clock moves so many seconds at a time.
const STEP: usize = 10;
/// Steps without the judge, ten minutes, and steps after it is back, one minute.
const DEAD: usize = 600 / STEP;
const BACK: usize = 60 / STEP;
const CALLS_A_STEP: usize = 20;
/// Less than comes in ten minutes.
const MAX_ITEMS: usize = 800;

/// A local evaluator that counts.
struct Local(AtomicUsize);

static METRICS: [Metric; 1] = [Metric::new("m", Better::Higher, None)];

impl Evaluator for Local {
    fn id(&self) -> &str {
        "local"
    }

    fn version(&self) -> &str {
        "1"
    }

    fn metrics(&self) -> &[Metric] {
        &METRICS
    }

    fn evaluate(&self, _: &EvalInput) -> Vec<Score> {
        self.0.fetch_add(1, Ordering::SeqCst);
        vec![Score::told("m", 1.0)]
    }
}

/// Everything from the journal to the scores, on one clock.
struct Room {
    clock: Arc<ManualClock>,
    journal: Journal,
    queue: Arc<Queue>,
    local: Arc<Local>,
    progress: Arc<crate::sample::Progress>,
    stop: CancellationToken,
    loops: Vec<tokio::task::JoinHandle<Result<(), String>>>,
    spans: RecordBatch,
    steps: usize,
    _folder: tempfile::TempDir,
}

impl Room {
    fn open(judge: SocketAddr) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal"), LogConfig::default(), FORMAT).unwrap();
        // Workers keep what they hold, however fast the clock goes.
        let fast = LaneConfig { lease: Duration::from_hours(30), ..LaneConfig::default() };
        let slow = LaneConfig { max_items: MAX_ITEMS, max_age: Duration::from_hours(24), ..fast.clone() };
        let queue = Arc::new(Queue::new(Config { fast, slow, ..Config::default() }));
        let log = folder.path().join("queue");
        let follower = Follower::open(journal.clone(), &log, queue.clone(), &LogConfig::default()).unwrap();
        let clock = Arc::new(ManualClock::at(UnixNanos(1_000 * SECOND)));
        let local = Arc::new(Local(AtomicUsize::new(0)));
        let mut evaluators = judges(judge, clock.clone()).evaluators();
        evaluators.push(local.clone());
        let registry = Arc::new(Registry::of(evaluators));
        let rule = |name: &str| RuleConfig::new(name, "operation = 'llm'", 1.0, &[name]);
        let rules = compile(&[rule("local"), rule("safety")]).ok().unwrap();
        let rules: Vec<_> = rules.into_iter().map(|rule| in_lanes(rule, &registry)).collect();
        let (known, settings) = (std::iter::empty(), crate::sample::Config::default());
        let sampler =
            Sampler::new(journal.clone(), Arc::new(rules), queue.clone(), clock.clone(), settings, known);
        let sampler = sampler.unwrap();
        let timeout = Duration::from_secs(60);
        let scorer = Scorer::new(journal.clone(), queue.clone(), registry, clock.clone(), timeout);
        let (scorer, stop, progress) = (Arc::new(scorer), CancellationToken::new(), sampler.progress());
        let slow = Arc::new(SlowLane::new(scorer.clone(), 25, 1, Duration::from_secs(90)));
        let ended = |error: &dyn std::fmt::Display| error.to_string();
        let (one, two, three, four) = (stop.clone(), stop.clone(), stop.clone(), stop.clone());
        let loops = vec![
            tokio::spawn(async move { sampler.run(one).await.map_err(|e| ended(&e)) }),
            tokio::spawn(async move { follower.run(two).await.map_err(|e| ended(&e)) }),
            tokio::spawn(async move { scorer.work(Lane::Fast, three).await.map_err(|e| ended(&e)) }),
            tokio::spawn(async move { slow.work(four).await.map_err(|e| ended(&e)) }),
        ];
        // Each in a trace of its own, and all of them calls.
        let mut call = span(0);
        (call.llm.question, call.llm.answer) = (Some("Who?".into()), Some("Bram Stoker.".into()));
        let spans = vec![call; CALLS_A_STEP];
        let spans = spans_to_batch(&spans, "t", UnixNanos(1)).unwrap();
        Self { clock, journal, queue, local, progress, stop, loops, spans, steps: 0, _folder: folder }
    }

    /// What comes in one step, and all that is scored of it here.
    async fn step(&mut self) {
        let rows = in_new_traces(&self.spans, i64::try_from(self.steps).unwrap());
        let (kind, bytes) = frame::encode(&[Part::Rows(Table::Spans, rows)]).unwrap();
        let seq = self.journal.append(kind.0, bytes).await.unwrap();
        // A trace is as old as its reading: the clock stands still until that is done, and then until local scores are there.
        self.until("ingest is held up", |room| room.progress.now().0 >= seq).await;
        self.clock.advance(i64::try_from(STEP).unwrap() * SECOND);
        self.steps += 1;
        // Five seconds after its last span a trace is decided: its local scores are no later than this step.
        let wanted = CALLS_A_STEP * self.steps;
        self.until("local scores are late", |room| room.local.0.load(Ordering::SeqCst) >= wanted).await;
    }

    async fn until(&self, otherwise: &str, holds: impl Fn(&Self) -> bool) {
        let started = Instant::now();
        while !holds(self) {
            assert!(started.elapsed() < Duration::from_secs(300), "{otherwise}: step {}", self.steps);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    fn waiting(&self) -> usize {
        self.queue.lane_stats(Lane::Slow, self.clock.now()).items
    }

    /// Until all that was sent is decided and scored.
    async fn settle(&self) {
        let started = Instant::now();
        while self.progress.now().1 > 0 || self.queue.stats(self.clock.now()).items > 0 {
            assert!(started.elapsed() < Duration::from_secs(300), "{:?}", self.queue.rows());
            self.clock.advance(SECOND);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// How many rows of `table` have these two columns, joined.
    fn counted(&self, table: Table, columns: [&str; 2]) -> BTreeMap<String, usize> {
        let mut found = BTreeMap::new();
        let mut reader = self.journal.reader(0).unwrap();
        while let Some(stored) = reader.next().unwrap() {
            for part in frame::decode(&stored.payload, FrameKind::of(table)).unwrap() {
                let Part::Rows(of, rows) = part else { continue };
                if of != table {
                    continue;
                }
                let column = |name: &str| {
                    arrow::compute::cast(
                        rows.column_by_name(name).unwrap(),
                        &arrow::datatypes::DataType::Utf8,
                    )
                    .unwrap()
                };
                let texts = columns.map(column);
                for row in 0..texts[0].len() {
                    let key = texts.each_ref().map(|t| t.as_string::<i32>().value(row)).join(" ");
                    *found.entry(key).or_default() += 1;
                }
            }
        }
        found
    }
}

fn judges(address: SocketAddr, clock: Arc<dyn Clock>) -> Judges {
    let judge = JudgeConfig {
        timeout: Duration::from_secs(5),
        ..JudgeConfig::new("main", &format!("http://{address}/v1"), "m")
    };
    let setup = JudgesSetup {
        judges: &[judge],
        custom: &[],
        correctness_weight: 0.75,
        pairwise_runs: 1,
        cache: (&CacheConfig::default(), PathBuf::new()),
        policy: &Arc::default(),
        clock: &clock,
        similarity: None,
    };
    Judges::new(&setup).unwrap()
}

/// A judge that finds everything safe, and counts.
async fn listen(address: SocketAddr, asked: Arc<AtomicUsize>) {
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    let answer = move |_: Json<Value>| {
        asked.fetch_add(1, Ordering::SeqCst);
        let verdict = r#"{"rationale":"It is fine.","problems":[],"rating":"yes"}"#;
        std::future::ready(Json(json!({"choices": [{"message": {"content": verdict}}]})))
    };
    let routes = axum::Router::new().route("/v1/chat/completions", post(answer));
    tokio::spawn(async move { axum::serve(listener, routes).await });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_judge_that_is_dead_for_ten_minutes_holds_up_nothing_and_then_judges_all_once() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    // Nobody listens there yet: a socket that is bound and does not listen keeps the port for who names it.
    let held = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    held.set_reuse_address(true).unwrap();
    held.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    let address = held.local_addr().unwrap().as_socket().unwrap();
    let mut room = Room::open(address);
    let mut most = 0;
    for _ in 0..DEAD {
        room.step().await;
        most = most.max(room.waiting());
    }
    assert_eq!(most, MAX_ITEMS, "the queue grows to its limit, and no further");
    let asked = Arc::new(AtomicUsize::new(0));
    listen(address, asked.clone()).await;
    for _ in 0..BACK {
        room.step().await;
    }
    room.settle().await;
    room.stop.cancel();
    for one in std::mem::take(&mut room.loops) {
        one.await.unwrap().unwrap();
    }
    let calls = CALLS_A_STEP * (DEAD + BACK);
    let scores = room.counted(Table::Scores, ["evaluator", "trace_id"]);
    assert!(scores.values().all(|rows| *rows == 1), "nothing is doubled: {scores:?}");
    let of = |evaluator: &str| scores.keys().filter(|key| key.starts_with(evaluator)).count();
    let decided = room.counted(Table::Decisions, ["rule", "decision"]);
    let judged = of("safety ");
    assert_eq!(of("local "), calls);
    assert_eq!((judged, decided["safety scored"]), (asked.load(Ordering::SeqCst), judged), "{decided:?}");
    // What did not fit was told, and nothing else is missing.
    assert_eq!(judged + decided["safety throttled"], calls, "{decided:?}");
    assert!(judged >= MAX_ITEMS, "{judged}");
}
