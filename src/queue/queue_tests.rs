//! Leases, retries, ends, and items that are put back.

use super::*;
use crate::domain::id::{SpanId, TraceId};
use crate::domain::prompt::Prompt;
use crate::domain::time::{SECOND, UnixNanos};
use crate::domain::trace::EvalInput;
use futures::FutureExt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

/// An item without content.
pub(crate) fn item(id: &str) -> Item {
    Item {
        id: id.into(),
        trace_id: TraceId([1; 16]),
        span_id: SpanId([1; 8]),
        rule: "r".into(),
        rule_version: "v".into(),
        inclusion_probability: 1.0,
        stratum: None,
        reason: String::new(),
        evaluators: vec!["a".into()],
        span_time: 0,
        span_end: 0,
        queued_at: 0,
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

pub(super) fn queued(id: &str) -> QueueEvent {
    QueueEvent::Queued(Box::new(item(id)))
}

pub(super) fn done(id: &str, outcome: Outcome) -> QueueEvent {
    QueueEvent::Done { id: id.into(), outcome, error: None, score_version: 1 }
}

fn queue() -> Queue {
    let fast = LaneConfig {
        lease: Duration::from_secs(10),
        max_attempts: 3,
        retry_backoff: Duration::from_secs(1),
        ..LaneConfig::default()
    };
    Queue::new(Config { fast, max_failed_items: 2, ..Config::default() })
}

fn lease(queue: &Queue, now: i64) -> Option<Lease> {
    queue.lease(Lane::Fast, UnixNanos(now))
}

#[test]
fn nobody_is_woken_who_has_nothing_to_do() {
    let queue = queue();
    queue.apply(queued("a"));
    let mut fast = pin!(queue.changed(Lane::Fast));
    let mut slow = pin!(queue.changed(Lane::Slow));
    assert!(fast.as_mut().now_or_never().is_none() && slow.as_mut().now_or_never().is_none());
    queue.apply(done("a", Outcome::Scored));
    assert!(fast.as_mut().now_or_never().is_none(), "an end leaves nothing to do");
    queue.apply_all([queued("b"), done("b", Outcome::Scored)]);
    assert!(fast.as_mut().now_or_never().is_some());
    assert!(slow.as_mut().now_or_never().is_none(), "it came to the other lane");
}

#[test]
fn what_comes_between_a_look_and_the_wait_is_not_missed() {
    let queue = queue();
    let changed = queue.changed(Lane::Fast);
    assert!(lease(&queue, 0).is_none());
    queue.apply(queued("a"));
    assert!(changed.now_or_never().is_some());
}

#[test]
fn the_earliest_span_that_waits_is_known() {
    let queue = queue();
    let at = |id: &str, span_time| QueueEvent::Queued(Box::new(Item { span_time, ..item(id) }));
    queue.apply_all([at("a", 5), at("b", 3), at("c", 3), at("d", 9)]);
    let earliest = |floor| queue.earliest(Lane::Fast, UnixNanos(floor)).map(|start| start.0);
    assert_eq!([0, 4, 6, 10].map(earliest), [Some(3), Some(5), Some(9), None]);
    queue.apply(done("b", Outcome::Scored));
    assert_eq!(earliest(0), Some(3), "another one began then");
    queue.apply(done("c", Outcome::Failed));
    assert_eq!(earliest(0), Some(5), "what failed waits no more");
    queue.apply(QueueEvent::PutBack { id: "c".into(), queued_at: 1, score_version: 2 });
    assert_eq!((earliest(0), queue.earliest(Lane::Slow, UnixNanos(0))), (Some(3), None));
}

#[test]
fn a_lease_copies_no_texts() {
    let queue = queue();
    queue.apply(queued("a"));
    let held = lease(&queue, 0).unwrap();
    assert_eq!(Arc::strong_count(&held.item), 2, "it is the queue's");
    queue.apply(done("a", Outcome::Scored));
    assert_eq!(Arc::strong_count(&held.item), 1);
}

#[test]
fn an_item_is_leased_once_and_again_when_the_lease_ends() {
    let queue = queue();
    queue.apply(queued("a"));
    queue.apply(queued("a"));
    assert_eq!(lease(&queue, 0).unwrap().item.id, "a");
    assert!(lease(&queue, 0).is_none());
    assert!(lease(&queue, 11 * SECOND).is_some());
    queue.apply(done("a", Outcome::Scored));
    queue.apply(queued("a"));
    assert!(lease(&queue, 99 * SECOND).is_none());
    assert_eq!(queue.stats(UnixNanos(0)), QueueStats::default());
}

#[test]
fn a_failed_attempt_waits_twice_as_long_each_time_and_ends() {
    let queue = queue();
    queue.apply(queued("a"));
    let mut now = 0;
    for (attempt, wait) in [(1, 1), (2, 2)] {
        let held = lease(&queue, now).unwrap();
        assert_eq!(held.attempt, attempt);
        queue.apply(queue.after_failure(&held, "no", UnixNanos(now)).unwrap());
        assert!(lease(&queue, now + wait * SECOND - 1).is_none());
        now += wait * SECOND;
    }
    let last = lease(&queue, now).unwrap();
    assert!(queue.after_failure(&last, "no", UnixNanos(now)).is_none());
    assert_eq!(queue.rows()[0].error.as_deref(), Some("no"));
}

#[test]
fn a_retried_item_does_not_starve_behind_newer_ones() {
    let queue = queue();
    queue.apply(queued("old"));
    let held = lease(&queue, 0).unwrap();
    queue.apply(queue.after_failure(&held, "no", UnixNanos(0)).unwrap());
    for n in 2..5 {
        let newer = Item { queued_at: n, ..item(&format!("new{n}")) };
        queue.apply(QueueEvent::Queued(Box::new(newer)));
    }
    assert_eq!(lease(&queue, 2 * SECOND).unwrap().item.id, "old");
}

#[test]
fn it_is_behind_while_an_item_waits_for_a_worker() {
    let queue = queue();
    assert!(!queue.is_behind());
    queue.apply(QueueEvent::Queued(Box::new(Item { lane: Lane::Slow, ..item("a") })));
    assert!(queue.is_behind());
    let held = queue.lease(Lane::Slow, UnixNanos(0)).unwrap();
    assert!(!queue.is_behind(), "a worker has it");
    queue.apply(queue.after_failure(&held, "no", UnixNanos(0)).unwrap());
    assert!(!queue.is_behind(), "its next attempt is later");
}

#[test]
fn only_one_worker_finishes_an_item() {
    let queue = queue();
    queue.apply(queued("a"));
    let slow = lease(&queue, 0).unwrap();
    let quick = lease(&queue, 11 * SECOND).unwrap();
    assert!(queue.claim(&quick));
    assert!(!queue.claim(&slow));
    assert!(lease(&queue, 99 * SECOND).is_none());
    queue.unclaim(&quick);
    assert!(lease(&queue, 99 * SECOND).is_some());
}

#[test]
fn lanes_do_not_wait_for_each_other() {
    let queue = queue();
    let slow = Item { lane: Lane::Slow, queued_at: -1, ..item("slow") };
    queue.apply(QueueEvent::Queued(Box::new(slow)));
    queue.apply(queued("fast"));
    assert_eq!(lease(&queue, 0).unwrap().item.id, "fast");
    assert!(lease(&queue, 0).is_none(), "the slow one is not for this lane");
    assert_eq!(queue.lease(Lane::Slow, UnixNanos(0)).unwrap().item.id, "slow");
    let stats = Lane::ALL.map(|lane| queue.lane_stats(lane, UnixNanos(0)).items);
    assert_eq!(stats, [1, 1]);
}

#[test]
fn what_failed_is_kept_and_put_back_once() {
    let queue = queue();
    queue.apply(queued("a"));
    queue.apply(done("a", Outcome::Failed));
    assert_eq!((queue.stats(UnixNanos(0)).items, queue.stats(UnixNanos(0)).ended), (0, 1));
    assert!(lease(&queue, 99 * SECOND).is_none());
    assert!(queue.put_back(&["other".into()], None, UnixNanos(5)).is_empty());
    assert!(queue.put_back(&[], Some("another tenant"), UnixNanos(5)).is_empty());
    let (_, back) = queue.put_back(&["a".into()], Some("t"), UnixNanos(5)).pop().unwrap();
    queue.apply(back.clone());
    queue.apply(back.clone());
    let held = lease(&queue, 99 * SECOND).unwrap();
    assert_eq!((held.attempt, held.item.score_version, held.item.queued_at), (1, 2, 5));
    // What was said of its first life, and is read late, changes nothing.
    queue.apply(done("a", Outcome::Failed));
    queue.apply(QueueEvent::Retry {
        id: "a".into(),
        attempt: 3,
        not_before: 9,
        error: "no".into(),
        score_version: 1,
    });
    assert_eq!(queue.rows()[0].state, "leased");
    let second = |outcome| QueueEvent::Done { id: "a".into(), outcome, error: None, score_version: 2 };
    queue.apply(second(Outcome::Expired));
    // The event that put it back the first time does not do so again.
    queue.apply(back);
    assert_eq!(queue.rows()[0].state, "expired");
    queue.apply(QueueEvent::Dropped { id: "a".into() });
    assert!(queue.rows().is_empty());
}

#[test]
fn what_failed_is_bounded_and_the_oldest_goes_first() {
    let queue = queue();
    for id in ["a", "b", "c"] {
        queue.apply(queued(id));
        queue.apply(done(id, Outcome::Failed));
    }
    let kept: Vec<String> = queue.rows().into_iter().map(|row| row.item).collect();
    assert_eq!(kept, ["b", "c"]);
    // One that waits is not dropped by a command for those that ended.
    queue.apply(queued("d"));
    queue.apply(QueueEvent::Dropped { id: "d".into() });
    assert_eq!(queue.stats(UnixNanos(0)).items, 1);
}
