//! The queue's own log: what waits survives without the journal, and the log does not grow for ever.

use super::queue_tests::{done, item, queued};
use super::*;
use crate::domain::time::UnixNanos;
use crate::domain::trace::EvalInput;
use crate::journal::{Config as LogConfig, Journal};
use crate::schema::FORMAT;
use crate::schema::frame::{self, Part};
use crate::units::ByteSize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn small() -> LogConfig {
    LogConfig { segment_size: ByteSize::mib(1), max_frame_size: ByteSize::kib(512), ..LogConfig::default() }
}

struct Bench {
    journal: Journal,
    queue: Arc<Queue>,
    follower: Follower,
}

impl Bench {
    fn open(dir: &Path) -> Self {
        Self::open_with(dir, Config::default())
    }

    fn open_with(dir: &Path, config: Config) -> Self {
        let journal = Journal::open(&dir.join("journal"), small(), FORMAT).unwrap();
        let queue = Arc::new(Queue::new(config));
        let follower = Follower::open(journal.clone(), &dir.join("queue"), queue.clone(), &small()).unwrap();
        Self { journal, queue, follower }
    }

    async fn write(&self, events: &[QueueEvent]) {
        let part = Part::Queue(QueueEvent::encode(events).unwrap());
        let (kind, bytes) = frame::encode(&[part]).unwrap();
        self.journal.append(kind.0, bytes).await.unwrap();
    }

    async fn follow(&mut self) {
        while self.follower.copy().await.unwrap() {}
        self.follower.compact().await.unwrap();
        self.follower.save().unwrap();
    }

    fn states(&self) -> Vec<String> {
        self.queue
            .rows()
            .into_iter()
            .map(|row| format!("{} {} {}", row.item, row.state, row.attempt))
            .collect()
    }
}

fn retry(id: &str, attempt: u32) -> QueueEvent {
    QueueEvent::Retry { id: id.into(), attempt, not_before: 7, error: "away".into(), score_version: 1 }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_is_there_after_a_crash_at_any_step() {
    let events = [
        vec![queued("a"), queued("b"), queued("c")],
        vec![retry("a", 1)],
        vec![done("b", Outcome::Scored)],
        vec![retry("a", 2), done("c", Outcome::Failed)],
        vec![QueueEvent::PutBack { id: "c".into(), queued_at: 9, score_version: 2 }],
    ];
    let wanted = ["a waiting 2", "c waiting 0"];
    // After each frame the process may end before the log has it, before the cursor moves, or after both.
    for (crash_at, step) in (0..events.len()).flat_map(|at| (0..3).map(move |step| (at, step))) {
        let dir = tempfile::tempdir().unwrap();
        let mut bench = Bench::open(dir.path());
        for (at, frame) in events.iter().enumerate() {
            bench.write(frame).await;
            if at == crash_at {
                match step {
                    0 => {}
                    1 => while bench.follower.copy().await.unwrap() {},
                    _ => bench.follow().await,
                }
                drop(bench);
                bench = Bench::open(dir.path());
            }
        }
        bench.follow().await;
        assert_eq!(bench.states(), wanted, "crash after frame {crash_at}, step {step}");
        drop(bench);
        let bench = Bench::open(dir.path());
        assert_eq!(bench.states(), wanted, "opened again; crash after frame {crash_at}, step {step}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_item_that_waits_keeps_neither_the_journal_nor_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::open(dir.path());
    let text = "x".repeat(20 << 10);
    let long = |id: String| {
        let input = EvalInput { answer: Some(text.clone()), ..EvalInput::default() };
        QueueEvent::Queued(Box::new(Item { input, ..item(&id) }))
    };
    bench.write(&[queued("old"), retry("old", 1)]).await;
    let (mut journal, mut log) = (0, 0);
    for n in 0..400 {
        let ids: Vec<String> = (0..20).map(|at| format!("i{n}-{at}")).collect();
        bench.write(&ids.iter().cloned().map(long).collect::<Vec<_>>()).await;
        bench.write(&ids.iter().map(|id| done(id, Outcome::Scored)).collect::<Vec<_>>()).await;
        if n % 5 == 4 {
            bench.follow().await;
            journal = journal.max(bench.journal.stats().bytes_on_disk);
            log = log.max(bench.follower.disk_bytes());
        }
    }
    // 160 MB went through both.
    assert!(journal < 8 << 20, "the journal grew to {journal} bytes");
    assert!(log < 96 << 20, "the log grew to {log} bytes");
    assert_eq!(bench.states(), ["old waiting 1"]);
    drop(bench);
    let bench = Bench::open(dir.path());
    assert_eq!(bench.states(), ["old waiting 1"]);
    assert_eq!(bench.queue.rows()[0].error.as_deref(), Some("away"));
    assert_eq!(bench.queue.lease(Lane::Fast, UnixNanos(8)).map(|lease| lease.attempt), Some(2));
}

/// An item is a frame of its own here, so the process ends behind each of them: before the cursor has moved, or after.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_is_there_after_a_crash_at_any_step_of_a_compaction() {
    let config = || Config { compact_after: ByteSize::ZERO, ..Config::default() };
    let waiting = ["a", "b", "c", "d"];
    let wanted = ["a waiting 2", "b waiting 0", "c failed 0", "d waiting 0"];
    let mut compacted = 0;
    for (steps, is_saved) in (0..=waiting.len() + 1).flat_map(|steps| [(steps, false), (steps, true)]) {
        let dir = tempfile::tempdir().unwrap();
        let mut bench = Bench::open_with(dir.path(), config());
        bench.follower.set_chunk_bytes(0);
        let long = "x".repeat(4 << 10);
        for n in 0..20 {
            // What has ended makes the log worth compacting.
            let input = EvalInput { answer: Some(long.clone()), ..EvalInput::default() };
            let id = format!("gone{n}");
            bench.write(&[QueueEvent::Queued(Box::new(Item { input, ..item(&id) }))]).await;
            bench.write(&[done(&id, Outcome::Scored)]).await;
        }
        bench.write(&waiting.map(queued)).await;
        bench.write(&[retry("a", 1), done("c", Outcome::Failed)]).await;
        while bench.follower.copy().await.unwrap() {}
        let newest = bench.follower.due().unwrap();
        let mut left = true;
        for _ in 0..steps {
            left = bench.follower.compact_some(newest).await.unwrap();
        }
        compacted += usize::from(!left);
        if is_saved {
            bench.follower.save().unwrap();
        }
        drop(bench);
        let mut bench = Bench::open_with(dir.path(), config());
        // News about an item whose copy may stand in the log twice.
        bench.write(&[retry("a", 2)]).await;
        bench.follow().await;
        assert_eq!(bench.states(), wanted, "ended behind {steps} frames, cursor moved: {is_saved}");
        drop(bench);
        let bench = Bench::open_with(dir.path(), config());
        assert_eq!(
            bench.states(),
            wanted,
            "opened again; ended behind {steps} frames, cursor moved: {is_saved}"
        );
    }
    assert_eq!(compacted, 2, "the last step of each kind finds nothing left to write");
}

/// A log that holds little beside what waits is not written again and again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_was_compacted_is_left_alone_until_it_has_grown() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench =
        Bench::open_with(dir.path(), Config { compact_after: ByteSize::ZERO, ..Config::default() });
    for n in 0..40 {
        let id = format!("gone{n}");
        bench.write(&[queued(&id)]).await;
        bench.write(&[done(&id, Outcome::Scored)]).await;
    }
    bench.write(&[queued("old")]).await;
    while bench.follower.copy().await.unwrap() {}
    assert!(bench.follower.due().is_some());
    bench.follow().await;
    let compacted = bench.follower.disk_bytes();
    for _ in 0..3 {
        assert_eq!(bench.follower.due(), None);
        bench.follow().await;
        assert_eq!(bench.follower.disk_bytes(), compacted);
    }
    assert_eq!(bench.states(), ["old waiting 0"]);
}

/// Items with this answer, each in a frame of its own.
async fn write_long(bench: &Bench, ids: &[String], text: &str) {
    for id in ids {
        let input = EvalInput { answer: Some(text.to_owned()), ..EvalInput::default() };
        bench.write(&[QueueEvent::Queued(Box::new(Item { input, ..item(id) }))]).await;
    }
}

/// The loop itself is all that makes room in the log, so it must not wait for room without making it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_log_lets_go_of_what_has_ended_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let small = Config { max_disk_size: ByteSize::ZERO, ..Config::default() };
    let mut bench = Bench::open_with(dir.path(), small);
    // The log takes three of its segments and an eighth more. Seven rounds of 8 MB fit, the eighth does not.
    let text = "x".repeat(400 << 10);
    let mut before: Vec<String> = Vec::new();
    for round in 0..8 {
        let ids: Vec<String> = (0..20).map(|at| format!("i{round}-{at}")).collect();
        bench.write(&before.iter().map(|id| done(id, Outcome::Scored)).collect::<Vec<_>>()).await;
        write_long(&bench, &ids, &text).await;
        let copied = async { while bench.follower.copy().await.unwrap() {} };
        tokio::time::timeout(Duration::from_mins(2), copied).await.expect("the log makes room");
        before = ids;
    }
    assert!(bench.follower.disk_bytes() < 57_000_000, "{}", bench.follower.disk_bytes());
    assert_eq!(bench.queue.rows().len(), 20);
    bench.follow().await;
    drop(bench);
    assert_eq!(Bench::open(dir.path()).queue.rows().len(), 20);
}

/// The log can let go of its oldest frames alone, so what stands in them is written again first, whatever its lane.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_compaction_begins_with_the_oldest_copies() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::open(dir.path());
    bench.follower.set_chunk_bytes(0);
    for (id, lane) in [("a", Lane::Slow), ("b", Lane::Fast)] {
        bench.write(&[QueueEvent::Queued(Box::new(Item { lane, ..item(id) }))]).await;
        while bench.follower.copy().await.unwrap() {}
    }
    let first = |lane| bench.queue.with_state(|state| state.lane(lane).first_log_seq());
    assert_eq!((first(Lane::Slow), first(Lane::Fast)), (Some(1), Some(2)));
    assert!(bench.follower.compact_some(2).await.unwrap());
    assert_eq!((first(Lane::Slow), first(Lane::Fast)), (Some(3), Some(2)));
}

/// A control character is six in JSON: what is one frame by its texts is more than a frame of the log takes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_that_are_long_in_json_are_compacted_in_more_frames() {
    let dir = tempfile::tempdir().unwrap();
    let config = || Config { compact_after: ByteSize::ZERO, ..Config::default() };
    let mut bench = Bench::open_with(dir.path(), config());
    let ids: Vec<String> = (0..30).map(|at| format!("i{at}")).collect();
    write_long(&bench, &ids, &"\u{1}".repeat(60_000)).await;
    while bench.follower.copy().await.unwrap() {}
    let newest = bench.follower.due().unwrap();
    let mut frames = 0;
    while bench.follower.compact_some(newest).await.unwrap() {
        frames += 1;
    }
    assert!(frames > 1, "{frames}");
    bench.follower.save().unwrap();
    drop(bench);
    assert_eq!(Bench::open_with(dir.path(), config()).queue.rows().len(), 30);
}
