//! Judges that answer, are away, come back, and fail for one item.

use super::super::run::tests::item;
use super::*;
use crate::domain::score::{Better, Score, Usage};
use crate::domain::time::{Clock, ManualClock, SystemClock};
use crate::domain::trace::EvalInput;
use crate::eval::{Bill, Metric, Pace, Registry, Waits};
use crate::journal::Journal;
use crate::queue::{Config, Item, LaneConfig, Queue, QueueEvent};
use crate::schema::columns::Table;
use crate::schema::frame::{self, Part};
use arrow::array::{Array, AsArray};
use arrow::datatypes::{Float64Type, Int64Type};
use async_trait::async_trait;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static METRICS: [Metric; 2] =
    [Metric::new("first", Better::Higher, None), Metric::new("second", Better::Higher, None)];

/// A judge that answers after a while, or is away as long as it is told to be.
#[derive(Default)]
struct Probe {
    id: &'static str,
    /// Items at once; none for as many as there are.
    places: Option<usize>,
    takes: Duration,
    /// Nobody is answered before so many items were there at once.
    gathers: usize,
    is_away: AtomicBool,
    /// It has no place for anybody.
    is_shut: AtomicBool,
    counts: bool,
    /// It is paid for an answer to one of its questions before it is away.
    is_paid: bool,
    /// What it was paid for answers that nobody has told.
    bills: Mutex<Vec<Bill>>,
    asked: AtomicUsize,
    now: AtomicUsize,
    at_once: AtomicUsize,
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

    fn pace(&self) -> Pace {
        Pace::Slow
    }

    fn evaluate(&self, _: &EvalInput) -> Vec<Score> {
        self.fail("it waits")
    }

    fn waits(&self) -> Option<&dyn Waits> {
        Some(self)
    }
}

#[async_trait]
impl Waits for Probe {
    async fn ask(&self, _: &EvalInput, _: Instant) -> Result<Said, Away> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.at_once.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(self.takes).await;
        while self.at_once.load(Ordering::SeqCst) < self.gathers {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.now.fetch_sub(1, Ordering::SeqCst);
        let mut usage =
            Usage { model: "m".into(), input_tokens: Some(10), output_tokens: Some(2), cost_usd: Some(0.5) };
        if self.is_away.load(Ordering::SeqCst) {
            let mut away = Away::new("nobody is there", self.counts, None);
            let mut bills = self.bills.lock();
            bills.extend(self.is_paid.then(|| Bill::new(Some(usage))));
            bills.iter().for_each(|bill| away.owed.add(bill.clone()));
            return Err(away);
        }
        for before in self.bills.lock().drain(..).filter_map(|bill| bill.take()) {
            usage.add(before);
        }
        let scores = METRICS.iter().map(|m| Score::told(&m.name, 1.0)).collect();
        Ok(Said { scores, usage: Some(usage), version: None })
    }

    fn places(&self) -> Places<'_> {
        let is_shut = self.is_shut.load(Ordering::SeqCst);
        Places { of: self.id, most: if is_shut { 0 } else { self.places.unwrap_or(usize::MAX) } }
    }
}

struct Bench {
    scorer: Arc<Scorer>,
    stop: CancellationToken,
    _folder: tempfile::TempDir,
}

impl Bench {
    fn new(probes: &[&Arc<Probe>], max_attempts: u32) -> Self {
        Self::at(Arc::new(SystemClock), probes, max_attempts)
    }

    fn at(clock: Arc<dyn Clock>, probes: &[&Arc<Probe>], max_attempts: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = crate::journal::Config::default();
        let journal = Journal::open(folder.path(), config, crate::schema::FORMAT).unwrap();
        let slow =
            LaneConfig { max_attempts, retry_backoff: Duration::from_millis(1), ..LaneConfig::default() };
        let queue = Arc::new(Queue::new(Config { slow, ..Config::default() }));
        let registry =
            Arc::new(Registry::of(probes.iter().map(|p| (*p).clone() as Arc<dyn Evaluator>).collect()));
        let timeout = Duration::from_secs(10);
        let scorer = Arc::new(Scorer::new(journal, queue, registry, clock, timeout));
        Self { scorer, stop: CancellationToken::new(), _folder: folder }
    }

    fn put(&self, id: &str, evaluators: &[&str]) {
        let now = self.scorer.clock.now().0;
        let item = Item { lane: Lane::Slow, ..item(id, evaluators, now) };
        self.scorer.queue.apply(QueueEvent::Queued(Box::new(item)));
    }

    fn start(&self) -> tokio::task::JoinHandle<Result<(), JournalError>> {
        let lane = SlowLane::new(self.scorer.clone(), 64, 1, Duration::from_secs(100));
        tokio::spawn(Arc::new(lane).work(self.stop.clone()))
    }

    fn waiting(&self) -> usize {
        self.scorer.queue.stats(self.scorer.clock.now()).items
    }

    /// Makes items that wait for a judge ready at once.
    async fn until_done(&self) {
        self.until_left(0).await;
    }

    /// Until no more than `left` items wait.
    async fn until_left(&self, left: usize) {
        let started = std::time::Instant::now();
        while self.waiting() > left {
            assert!(started.elapsed() < Duration::from_secs(90), "{:?}", self.scorer.queue.rows());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Until `probe` has been asked so often, and nobody is asked any more.
    async fn until_asked(&self, probe: &Probe, times: usize) {
        let started = std::time::Instant::now();
        let is_asked = || probe.asked.load(Ordering::SeqCst) >= times;
        while !is_asked() || self.scorer.queue.stats(self.scorer.clock.now()).leased > 0 {
            assert!(started.elapsed() < Duration::from_secs(90), "{:?}", self.scorer.queue.rows());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Evaluator, metric, status, tokens and cost of every score, sorted.
    fn scores(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut reader = self.scorer.journal.reader(0).unwrap();
        while let Some(stored) = reader.next().unwrap() {
            for part in frame::decode(&stored.payload, frame::FrameKind::of(Table::Scores)).unwrap() {
                let Part::Rows(_, rows) = part else { continue };
                for row in 0..rows.num_rows() {
                    let text = |name: &str| {
                        rows.column_by_name(name).unwrap().as_string::<i32>().value(row).to_owned()
                    };
                    let tokens = rows.column_by_name("input_tokens").unwrap().as_primitive::<Int64Type>();
                    let cost = rows.column_by_name("cost_usd").unwrap().as_primitive::<Float64Type>();
                    let tokens = tokens.is_valid(row).then(|| tokens.value(row));
                    let cost = cost.is_valid(row).then(|| cost.value(row));
                    let words = ["evaluator", "metric", "status"].map(text).join(" ");
                    found.push(format!("{words} {tokens:?} {cost:?}"));
                }
            }
        }
        found.sort();
        found
    }
}

fn probe(id: &'static str) -> Probe {
    Probe { id, ..Probe::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_items_are_asked_at_once_and_cost_is_told_once() {
    let judge = Arc::new(Probe { gathers: 17, ..probe("judge") });
    let bench = Bench::new(&[&judge], 4);
    (0..32).for_each(|n| bench.put(&n.to_string(), &["judge"]));
    let working = bench.start();
    bench.until_done().await;
    assert!(judge.at_once.load(Ordering::SeqCst) > 16, "{}", judge.at_once.load(Ordering::SeqCst));
    bench.stop.cancel();
    working.await.unwrap().unwrap();
    let scores = bench.scores();
    assert_eq!(scores.len(), 64);
    assert_eq!(scores[..32], vec!["judge first ok Some(10) Some(0.5)"; 32]);
    assert_eq!(scores[32..], vec!["judge second ok None None"; 32]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_away_is_asked_again_and_who_has_answered_is_not() {
    let (there, away) = (Arc::new(probe("a")), Arc::new(probe("b")));
    away.is_away.store(true, Ordering::SeqCst);
    let bench = Bench::new(&[&there, &away], 1);
    bench.put("one", &["a", "b"]);
    let working = bench.start();
    while bench.scorer.queue.rows().first().and_then(|row| row.error.clone()).is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let row = bench.scorer.queue.rows().remove(0);
    assert_eq!((row.state, row.attempt, row.error.as_deref()), ("waiting", 0, Some("nobody is there")));
    away.is_away.store(false, Ordering::SeqCst);
    bench.until_done().await;
    assert_eq!((there.asked.load(Ordering::SeqCst), away.asked.load(Ordering::SeqCst)), (1, 2));
    assert_eq!(bench.scores().len(), 4);
    bench.stop.cancel();
    working.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_no_places_left_holds_up_its_own_items_and_no_others() {
    // More items than the lane has places, all of them older, for one who never answers and for one who may not be asked.
    let stuck = Arc::new(Probe { takes: Duration::from_hours(1), places: Some(3), ..probe("stuck") });
    let (shut, there) = (Arc::new(probe("shut")), Arc::new(Probe { places: Some(2), ..probe("there") }));
    shut.is_shut.store(true, Ordering::SeqCst);
    let bench = Bench::new(&[&stuck, &shut, &there], 4);
    (0..100).for_each(|n| bench.put(&format!("a{n}"), &["stuck"]));
    (0..100).for_each(|n| bench.put(&format!("b{n}"), &["shut", "there"]));
    (0..50).for_each(|n| bench.put(&format!("c{n}"), &["there"]));
    let working = bench.start();
    bench.until_left(200).await;
    let asked = |probe: &Probe| probe.asked.load(Ordering::SeqCst);
    assert_eq!((asked(&stuck), asked(&shut), asked(&there)), (3, 0, 50));
    assert!(there.at_once.load(Ordering::SeqCst) <= 2);
    assert!(!bench.scorer.queue.is_behind(), "what waits for somebody waits for no worker");
    // Those that waited for both.
    shut.is_shut.store(false, Ordering::SeqCst);
    bench.until_left(100).await;
    assert_eq!((asked(&stuck), asked(&shut), asked(&there)), (3, 100, 150));
    bench.stop.cancel();
    working.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_only_fails_ends_with_an_error_and_what_others_said() {
    let (there, broken) = (Arc::new(probe("a")), Arc::new(Probe { counts: true, ..probe("b") }));
    broken.is_away.store(true, Ordering::SeqCst);
    let bench = Bench::new(&[&there, &broken], 3);
    bench.put("one", &["a", "b"]);
    let working = bench.start();
    bench.until_done().await;
    assert_eq!((there.asked.load(Ordering::SeqCst), broken.asked.load(Ordering::SeqCst)), (1, 3));
    assert_eq!(
        bench.scores(),
        [
            "a first ok Some(10) Some(0.5)",
            "a second ok None None",
            "b first error None None",
            "b second error None None"
        ]
    );
    bench.stop.cancel();
    working.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_expires_has_what_was_answered_and_paid_before() {
    let (there, away) = (Arc::new(probe("a")), Arc::new(probe("b")));
    away.is_away.store(true, Ordering::SeqCst);
    let clock = Arc::new(ManualClock::at(SystemClock.now()));
    let bench = Bench::at(clock.clone(), &[&there, &away], 3);
    bench.put("one", &["a", "b"]);
    bench.put("two", &["b"]);
    let working = bench.start();
    while bench.scorer.queue.rows().iter().any(|row| row.error.is_none()) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    clock.advance(i64::try_from(LaneConfig::default().max_age.as_nanos()).unwrap() + 1);
    bench.until_done().await;
    assert_eq!(there.asked.load(Ordering::SeqCst), 1);
    assert_eq!(bench.scores(), ["a first ok Some(10) Some(0.5)", "a second ok None None"]);
    bench.stop.cancel();
    working.await.unwrap().unwrap();
}

/// Moves the clock forward.
fn pass(clock: &ManualClock, time: Duration) {
    clock.advance(i64::try_from(time.as_nanos()).unwrap());
}

/// A clock for [`pass`], and how long an item may wait.
fn clock_and_age() -> (Arc<ManualClock>, Duration) {
    let age = LaneConfig::default().max_age + Duration::from_nanos(1);
    (Arc::new(ManualClock::at(SystemClock.now())), age)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_paid_without_an_answer_is_in_the_rows_once_when_the_item_expires() {
    // Nobody was answered, and this very item was not.
    for counts in [false, true] {
        let there = Arc::new(probe("a"));
        let broken = Arc::new(Probe { counts, is_paid: true, ..probe("b") });
        broken.is_away.store(true, Ordering::SeqCst);
        let (clock, age) = clock_and_age();
        let bench = Bench::at(clock.clone(), &[&there, &broken], 4);
        bench.put("one", &["a", "b"]);
        let working = bench.start();
        bench.until_asked(&broken, 1).await;
        pass(&clock, AWAY);
        // Its first bill comes a second time, with the next.
        bench.until_asked(&broken, 2).await;
        pass(&clock, age);
        bench.until_done().await;
        let asked = |probe: &Probe| probe.asked.load(Ordering::SeqCst);
        assert_eq!((asked(&there), asked(&broken)), (1, 2));
        let expired = [
            "a first ok Some(10) Some(0.5)",
            "a second ok None None",
            "b first error Some(20) Some(1.0)",
            "b second error None None",
        ];
        assert_eq!(bench.scores(), expired);
        bench.stop.cancel();
        working.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_answered_at_last_owes_nothing_when_the_item_expires() {
    let (late, away) = (Arc::new(Probe { is_paid: true, ..probe("a") }), Arc::new(probe("b")));
    late.is_away.store(true, Ordering::SeqCst);
    away.is_away.store(true, Ordering::SeqCst);
    let (clock, age) = clock_and_age();
    let bench = Bench::at(clock.clone(), &[&late, &away], 4);
    bench.put("one", &["a", "b"]);
    let working = bench.start();
    bench.until_asked(&late, 1).await;
    late.is_away.store(false, Ordering::SeqCst);
    pass(&clock, AWAY);
    bench.until_asked(&late, 2).await;
    pass(&clock, age);
    bench.until_done().await;
    assert_eq!(bench.scores(), ["a first ok Some(20) Some(1.0)", "a second ok None None"]);
    bench.stop.cancel();
    working.await.unwrap().unwrap();
}

/// Tokens that were read, in all these rows.
fn tokens(scores: &[String]) -> usize {
    let read = |row: &String| row.split_once("Some(")?.1.split_once(')')?.0.parse::<usize>().ok();
    scores.iter().filter_map(read).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_paid_is_in_the_rows_once_whether_an_item_is_given_up_or_judged_at_last() {
    let (there, broken) =
        (Arc::new(probe("a")), Arc::new(Probe { counts: true, is_paid: true, ..probe("b") }));
    broken.is_away.store(true, Ordering::SeqCst);
    let bench = Bench::new(&[&there, &broken], 3);
    bench.put("one", &["a", "b"]);
    let working = bench.start();
    bench.until_done().await;
    let given_up = [
        "a first ok Some(10) Some(0.5)",
        "a second ok None None",
        "b first error Some(30) Some(1.5)",
        "b second error None None",
    ];
    assert_eq!(bench.scores(), given_up);
    broken.is_away.store(false, Ordering::SeqCst);
    bench.put("two", &["b"]);
    bench.until_done().await;
    let asked = |probe: &Probe| probe.asked.load(Ordering::SeqCst);
    assert_eq!((asked(&there), asked(&broken)), (1, 4));
    assert_eq!(tokens(&bench.scores()), 10 * (asked(&there) + asked(&broken)));
    bench.stop.cancel();
    working.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_does_not_wait_for_who_does_not_answer() {
    let judge = Arc::new(Probe { takes: Duration::from_hours(1), ..probe("judge") });
    let bench = Bench::new(&[&judge], 4);
    bench.put("one", &["judge"]);
    let working = bench.start();
    while judge.asked.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    bench.stop.cancel();
    let stopped = tokio::time::timeout(LAST + Duration::from_secs(5), working).await;
    stopped.unwrap().unwrap().unwrap();
    assert_eq!((bench.scores().len(), bench.waiting()), (0, 1));
}
