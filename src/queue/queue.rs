//! Items that wait for their evaluators.
//!
//! The queue is what the journal says it is: `Queued` puts an item in, `Done` takes it out, `Retry` counts an attempt.
//! Memory holds the same state for the workers; leases are only in memory, because a crash ends every one of them.

use super::config::Config;
use crate::domain::time::UnixNanos;
use crate::domain::trace::EvalInput;
use crate::units::nanos;
use bytes::Bytes;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::time::Duration;
use tokio::sync::Notify;

/// No attempt waits longer for the next one.
const LONGEST_WAIT: Duration = Duration::from_mins(10);
/// Ids of finished items that are remembered, so that a worker whose lease ran out cannot finish one twice.
const MAX_FINISHED: usize = 100_000;

/// One thing to evaluate. It carries its input, so that it is judged even when its spans are gone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Identity: the same trace or span and rule give the same.
    pub id: String,
    /// The trace, hex.
    pub trace_id: String,
    /// The span that stands for the item, hex.
    pub span_id: String,
    /// The rule that selected it.
    pub rule: String,
    /// The rule's version.
    pub rule_version: String,
    /// The probability with which it was selected.
    pub inclusion_probability: f64,
    /// The stratum that it was drawn from.
    pub stratum: Option<String>,
    /// Why it was selected.
    pub reason: String,
    /// Evaluators by id; `*` for all.
    pub evaluators: Vec<String>,
    /// When the span began, nanoseconds since 1970.
    pub span_time: i64,
    /// When it was put in the queue, nanoseconds since 1970.
    pub queued_at: i64,
    /// `service.name` of the span.
    pub service_name: String,
    /// The model that was asked for.
    pub request_model: Option<String>,
    /// The tenant.
    pub tenant: String,
    /// What is judged.
    pub input: EvalInput,
}

/// How an item ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Its scores are in the same frame.
    Scored,
    /// Every attempt failed, or the evaluators took too long together.
    Failed,
    /// It waited too long.
    Expired,
}

/// What the journal says about the queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueEvent {
    /// An item waits.
    Queued(Box<Item>),
    /// An attempt failed; the next one may begin at `not_before` (nanoseconds since 1970).
    Retry { id: String, attempt: u32, not_before: i64, error: String },
    /// The item is finished.
    Done { id: String, outcome: Outcome },
}

/// Why bytes are not queue events.
#[derive(Debug, thiserror::Error)]
#[error("queue events: {0}")]
pub struct QueueError(#[from] serde_json::Error);

impl QueueEvent {
    /// Events as the bytes of a frame's part.
    pub fn encode(events: &[QueueEvent]) -> Result<Bytes, QueueError> {
        Ok(Bytes::from(serde_json::to_vec(events)?))
    }

    /// Reads what [`QueueEvent::encode`] wrote.
    pub fn decode(bytes: &[u8]) -> Result<Vec<QueueEvent>, QueueError> {
        Ok(serde_json::from_slice(bytes)?)
    }
}

/// An item in the hands of one worker until the lease runs out.
#[derive(Debug, Clone)]
pub struct Lease {
    /// The item.
    pub item: Item,
    /// Which attempt this is, from 1.
    pub attempt: u32,
}

/// Numbers about the queue.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct QueueStats {
    /// Items that wait or are leased.
    pub items: usize,
    /// Items that are leased.
    pub leased: usize,
    /// Bytes of all items, roughly.
    pub bytes: usize,
    /// How long the oldest item has waited, nanoseconds.
    pub oldest_nanos: i64,
}

struct Entry {
    item: Item,
    seq: u64,
    failed: u32,
    bytes: usize,
    leased_until: Option<UnixNanos>,
    not_before: i64,
    /// Its end is being written: no other worker may take it, however long that takes.
    finishing: bool,
}

#[derive(Default)]
struct State {
    entries: HashMap<String, Entry>,
    /// Items that may be worked on, oldest frame first: a retried item does not queue behind newer ones for ever.
    ready: BTreeSet<(u64, String)>,
    /// Items whose next attempt has to wait, by the time from which it may begin.
    delayed: BTreeSet<(i64, u64, String)>,
    leased: HashSet<String>,
    by_seq: BTreeMap<u64, HashSet<String>>,
    finished: HashSet<String>,
    finished_order: VecDeque<String>,
    bytes: usize,
}

/// The queue. Shared by the sampling loop and the workers.
pub struct Queue {
    state: Mutex<State>,
    changed: Notify,
    config: Config,
}

impl Queue {
    /// An empty queue.
    pub fn new(config: Config) -> Self {
        Self { state: Mutex::new(State::default()), changed: Notify::new(), config }
    }

    /// Applies an event that the frame `seq` made durable. Events that were applied before change nothing.
    pub fn apply(&self, seq: u64, event: QueueEvent) {
        let mut state = self.state.lock();
        match event {
            QueueEvent::Queued(item) => state.put(seq, *item),
            QueueEvent::Retry { id, attempt, not_before, .. } => state.retry(&id, attempt, not_before),
            QueueEvent::Done { id, .. } => state.finish(&id),
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Whether not even the smallest item fits beside those that are there and `more` items of `more_bytes` that are on
    /// their way. It is asked before an item is built, which copies all that is judged.
    pub fn is_full(&self, more: usize, more_bytes: usize) -> bool {
        let state = self.state.lock();
        state.entries.len() + more >= self.config.max_items
            || state.bytes + more_bytes + ITEM_BYTES > self.config.max_size.in_memory()
    }

    /// Whether `item` still fits beside those that are there and `more` items of `more_bytes` that are on their way.
    pub fn has_room(&self, item: &Item, more: usize, more_bytes: usize) -> bool {
        let state = self.state.lock();
        state.entries.len() + more < self.config.max_items
            && state.bytes + more_bytes + size(item) <= self.config.max_size.in_memory()
    }

    /// The first frame whose item is not finished.
    pub fn first_seq(&self) -> Option<u64> {
        self.state.lock().by_seq.keys().next().copied()
    }

    /// Leases the item that has waited longest; none if none may be worked on now.
    pub fn lease(&self, now: UnixNanos) -> Option<Lease> {
        let mut state = self.state.lock();
        state.end_leases(now);
        state.end_delays(now);
        let (_, id) = state.ready.pop_first()?;
        let entry = state.entries.get_mut(&id)?;
        entry.leased_until = Some(UnixNanos(now.0.saturating_add(nanos(self.config.lease))));
        let lease = Lease { item: entry.item.clone(), attempt: entry.failed + 1 };
        state.leased.insert(id);
        Some(lease)
    }

    /// Claims the end of a leased item. False if another worker has finished it, is about to, or holds it now.
    pub fn claim(&self, lease: &Lease) -> bool {
        let mut state = self.state.lock();
        let Some(entry) = state.entries.get_mut(&lease.item.id) else { return false };
        if entry.finishing || entry.failed + 1 != lease.attempt {
            return false;
        }
        let seq = entry.seq;
        (entry.finishing, entry.leased_until) = (true, None);
        state.leased.remove(&lease.item.id);
        // A lease that ran out may have put it back.
        state.ready.remove(&(seq, lease.item.id.clone()));
        true
    }

    /// What to record for a failed attempt: another one later, or none if it was the last.
    pub fn after_failure(&self, lease: &Lease, error: &str, now: UnixNanos) -> Option<QueueEvent> {
        if lease.attempt >= self.config.max_attempts {
            return None;
        }
        let doubled = self.config.retry_backoff.saturating_mul(1 << (lease.attempt - 1).min(20));
        let wait = nanos(doubled.min(LONGEST_WAIT));
        Some(QueueEvent::Retry {
            id: lease.item.id.clone(),
            attempt: lease.attempt,
            not_before: now.0.saturating_add(wait),
            error: error.to_owned(),
        })
    }

    /// Whether the item has waited longer than the limit.
    pub fn is_expired(&self, item: &Item, now: UnixNanos) -> bool {
        now.0.saturating_sub(item.queued_at) > nanos(self.config.max_age)
    }

    /// Waits until something changes.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Numbers at `now`.
    pub fn stats(&self, now: UnixNanos) -> QueueStats {
        let state = self.state.lock();
        let oldest = state.entries.values().map(|e| e.item.queued_at).min();
        QueueStats {
            items: state.entries.len(),
            leased: state.leased.len(),
            bytes: state.bytes,
            oldest_nanos: oldest.map_or(0, |at| now.0.saturating_sub(at).max(0)),
        }
    }
}

impl State {
    fn put(&mut self, seq: u64, item: Item) {
        if self.entries.contains_key(&item.id) || self.finished.contains(&item.id) {
            return;
        }
        let bytes = size(&item);
        self.bytes += bytes;
        self.by_seq.entry(seq).or_default().insert(item.id.clone());
        self.ready.insert((seq, item.id.clone()));
        let entry =
            Entry { item, seq, failed: 0, bytes, leased_until: None, not_before: 0, finishing: false };
        self.entries.insert(entry.item.id.clone(), entry);
    }

    fn retry(&mut self, id: &str, attempt: u32, not_before: i64) {
        let Some(entry) = self.entries.get_mut(id) else { return };
        if attempt <= entry.failed {
            return;
        }
        let seq = entry.seq;
        (entry.failed, entry.leased_until, entry.finishing) = (attempt, None, false);
        let before = std::mem::replace(&mut entry.not_before, not_before);
        self.take_out(before, seq, id);
        self.delayed.insert((not_before, seq, id.to_owned()));
    }

    /// Takes an item out of whichever order it stands in.
    fn take_out(&mut self, not_before: i64, seq: u64, id: &str) {
        self.ready.remove(&(seq, id.to_owned()));
        self.delayed.remove(&(not_before, seq, id.to_owned()));
        self.leased.remove(id);
    }

    fn finish(&mut self, id: &str) {
        if self.finished.insert(id.to_owned()) {
            self.finished_order.push_back(id.to_owned());
        }
        while self.finished_order.len() > MAX_FINISHED {
            if let Some(old) = self.finished_order.pop_front() {
                self.finished.remove(&old);
            }
        }
        let Some(entry) = self.entries.remove(id) else { return };
        self.bytes -= entry.bytes;
        self.take_out(entry.not_before, entry.seq, id);
        if let Some(ids) = self.by_seq.get_mut(&entry.seq) {
            ids.remove(id);
            if ids.is_empty() {
                self.by_seq.remove(&entry.seq);
            }
        }
    }

    fn end_leases(&mut self, now: UnixNanos) {
        let over = |id: &String| {
            let until = self.entries.get(id).and_then(|entry| entry.leased_until);
            until.is_none_or(|until| until <= now)
        };
        let ended: Vec<String> = self.leased.iter().filter(|id| over(id)).cloned().collect();
        for id in ended {
            self.leased.remove(&id);
            if let Some(entry) = self.entries.get_mut(&id) {
                entry.leased_until = None;
                self.ready.insert((entry.seq, id));
            }
        }
    }

    fn end_delays(&mut self, now: UnixNanos) {
        while let Some((_, seq, id)) = self.delayed.first().filter(|(at, ..)| *at <= now.0).cloned() {
            self.delayed.pop_first();
            self.ready.insert((seq, id));
        }
    }
}

/// Seconds of a setting in nanoseconds.
/// Roughly what an item holds beside its texts, bytes.
const ITEM_BYTES: usize = 500;

/// Roughly how many bytes an item holds.
pub fn size(item: &Item) -> usize {
    let text = |t: &Option<String>| t.as_ref().map_or(0, String::len);
    let input = &item.input;
    let contexts: usize = input.contexts.iter().map(|d| text(&d.content) + 200).sum();
    let history: usize = input.history.iter().map(String::len).sum();
    ITEM_BYTES + text(&input.question) + text(&input.answer) + text(&input.system_prompt) + contexts + history
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::SECOND;

    fn item(id: &str) -> Item {
        Item {
            id: id.into(),
            trace_id: String::new(),
            span_id: String::new(),
            rule: "r".into(),
            rule_version: "v".into(),
            inclusion_probability: 1.0,
            stratum: None,
            reason: String::new(),
            evaluators: vec![],
            span_time: 0,
            queued_at: 0,
            service_name: String::new(),
            request_model: None,
            tenant: String::new(),
            input: EvalInput::default(),
        }
    }

    fn queue() -> Queue {
        Queue::new(Config {
            lease: Duration::from_secs(10),
            max_attempts: 3,
            retry_backoff: Duration::from_secs(1),
            ..Config::default()
        })
    }

    #[test]
    fn an_item_is_leased_once_and_again_when_the_lease_ends() {
        let queue = queue();
        queue.apply(5, QueueEvent::Queued(Box::new(item("a"))));
        queue.apply(5, QueueEvent::Queued(Box::new(item("a"))));
        assert_eq!(queue.lease(UnixNanos(0)).unwrap().item.id, "a");
        assert!(queue.lease(UnixNanos(0)).is_none());
        assert!(queue.lease(UnixNanos(11 * SECOND)).is_some());
        assert_eq!(queue.first_seq(), Some(5));
        queue.apply(6, QueueEvent::Done { id: "a".into(), outcome: Outcome::Scored });
        queue.apply(7, QueueEvent::Queued(Box::new(item("a"))));
        assert_eq!((queue.first_seq(), queue.lease(UnixNanos(99 * SECOND)).is_none()), (None, true));
    }

    #[test]
    fn a_failed_attempt_waits_twice_as_long_each_time_and_ends() {
        let queue = queue();
        queue.apply(1, QueueEvent::Queued(Box::new(item("a"))));
        let mut now = UnixNanos(0);
        for (attempt, wait) in [(1, 1), (2, 2)] {
            let lease = queue.lease(now).unwrap();
            assert_eq!(lease.attempt, attempt);
            let event = queue.after_failure(&lease, "no", now).unwrap();
            queue.apply(1, event);
            assert!(queue.lease(UnixNanos(now.0 + wait * SECOND - 1)).is_none());
            now = UnixNanos(now.0 + wait * SECOND);
        }
        let last = queue.lease(now).unwrap();
        assert!(queue.after_failure(&last, "no", now).is_none());
    }

    #[test]
    fn events_survive_the_journal() {
        let events = vec![
            QueueEvent::Queued(Box::new(item("a"))),
            QueueEvent::Retry { id: "a".into(), attempt: 1, not_before: 7, error: "e".into() },
            QueueEvent::Done { id: "a".into(), outcome: Outcome::Expired },
        ];
        assert_eq!(QueueEvent::decode(&QueueEvent::encode(&events).unwrap()).unwrap(), events);
    }

    #[test]
    fn a_retried_item_does_not_starve_behind_newer_ones() {
        let queue = queue();
        queue.apply(1, QueueEvent::Queued(Box::new(item("old"))));
        let lease = queue.lease(UnixNanos(0)).unwrap();
        queue.apply(1, queue.after_failure(&lease, "no", UnixNanos(0)).unwrap());
        for seq in 2..5 {
            queue.apply(seq, QueueEvent::Queued(Box::new(item(&format!("new{seq}")))));
        }
        assert_eq!(queue.lease(UnixNanos(2 * SECOND)).unwrap().item.id, "old");
    }

    #[test]
    fn only_one_worker_finishes_an_item() {
        let queue = queue();
        queue.apply(1, QueueEvent::Queued(Box::new(item("a"))));
        let slow = queue.lease(UnixNanos(0)).unwrap();
        let quick = queue.lease(UnixNanos(11 * SECOND)).unwrap();
        assert!(queue.claim(&quick));
        assert!(!queue.claim(&slow));
        assert!(queue.lease(UnixNanos(99 * SECOND)).is_none());
    }
}
