//! The queue in memory: who may work on what, and for how long.

use super::config::{Config, LaneConfig};
use super::entries::{Entries, Entry};
use super::event::{ITEM_BYTES, Item, QueueEvent, size};
use super::lane::Lane;
use super::row::row;
use crate::domain::time::UnixNanos;
use crate::schema::batch::QueueRow;
use crate::units::nanos;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// No attempt waits longer for the next one.
const LONGEST_WAIT: Duration = Duration::from_mins(10);

/// An item in the hands of one worker until the lease runs out.
#[derive(Debug, Clone)]
pub struct Lease {
    /// The item, which is the queue's own.
    pub item: Arc<Item>,
    /// Which attempt this is, from 1.
    pub attempt: u32,
}

/// Numbers about a lane, or about all of them together.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct QueueStats {
    /// Items that wait or are leased.
    pub items: usize,
    /// Items that are leased.
    pub leased: usize,
    /// Items that failed or expired and can be put back.
    pub ended: usize,
    /// Bytes of all items that wait, roughly.
    pub bytes: usize,
    /// How long the oldest item has waited, nanoseconds.
    pub oldest_nanos: i64,
}

#[derive(Default)]
pub(super) struct State {
    lanes: [Entries; Lane::ALL.len()],
}

impl State {
    pub(super) fn lane(&mut self, lane: Lane) -> &mut Entries {
        &mut self.lanes[lane as usize]
    }

    /// The items whose newest copy stands in a frame of the log up to `seq`, the oldest copies first.
    pub(super) fn logged_through(&self, seq: u64) -> Vec<&Entry> {
        let mut logged: Vec<&Entry> =
            self.lanes.iter().flat_map(|entries| entries.logged_through(seq)).collect();
        logged.sort_by_key(|entry| entry.log_seq);
        logged
    }

    /// The lane that has the item; the first one if none has.
    fn lane_of(&self, id: &str) -> Lane {
        let has = |lane: &Lane| self.lanes[*lane as usize].all.contains_key(id);
        Lane::ALL.into_iter().find(has).unwrap_or_default()
    }

    /// The lane in which there may be something to work on now, or later, that was not before; none after an end.
    fn apply(&mut self, event: QueueEvent) -> Option<Lane> {
        match event {
            QueueEvent::Queued(item) => {
                let lane = item.lane;
                self.lane(lane).put(*item);
                Some(lane)
            }
            QueueEvent::Kept(kept) => {
                let lane = kept.item.lane;
                self.lane(lane).restore(*kept);
                Some(lane)
            }
            QueueEvent::Retry { id, attempt, not_before, error, score_version } => {
                let lane = self.lane_of(&id);
                self.lane(lane).retry(&id, score_version, attempt, not_before, &error);
                Some(lane)
            }
            QueueEvent::Done { id, outcome, error, score_version } => {
                let lane = self.lane_of(&id);
                self.lane(lane).finish(&id, score_version, outcome, error);
                None
            }
            QueueEvent::PutBack { id, queued_at, score_version } => {
                let lane = self.lane_of(&id);
                self.lane(lane).put_back(&id, queued_at, score_version);
                Some(lane)
            }
            QueueEvent::Dropped { id } => {
                let lane = self.lane_of(&id);
                self.lane(lane).drop_ended(&id);
                None
            }
        }
    }

    /// Forgets items that failed or expired, beyond the limits.
    fn forget(&mut self, config: &Config) {
        for entries in &mut self.lanes {
            while entries.ended() > config.max_failed_items
                || entries.ended_bytes > config.max_failed_size.in_memory()
            {
                let Some(id) = entries.oldest_ended() else { break };
                entries.remove(&id);
            }
        }
    }
}

/// The queue. Shared by the sampling loop, the workers, and the loop that keeps its log.
pub struct Queue {
    state: Mutex<State>,
    /// By lane.
    changed: [Notify; Lane::ALL.len()],
    config: Config,
}

impl Queue {
    /// An empty queue.
    pub fn new(config: Config) -> Self {
        let changed = Lane::ALL.map(|_| Notify::new());
        Self { state: Mutex::new(State::default()), changed, config }
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Applies an event that is durable. Events that were applied before change nothing.
    pub fn apply(&self, event: QueueEvent) {
        self.apply_all([event]);
    }

    /// As [`Queue::apply`] of each, in their order: nobody sees the queue between two of them.
    pub fn apply_all(&self, events: impl IntoIterator<Item = QueueEvent>) {
        let mut state = self.state.lock();
        let mut changed = [false; Lane::ALL.len()];
        for event in events {
            if let Some(lane) = state.apply(event) {
                changed[lane as usize] = true;
            }
        }
        state.forget(&self.config);
        drop(state);
        // The end of an item gives nobody anything to do, and hundreds end in a second.
        for (lane, _) in self.changed.iter().zip(changed).filter(|(_, changed)| *changed) {
            lane.notify_waiters();
        }
    }

    /// Whether not even the smallest item fits into `lane` beside those that are there and `more` items of `more_bytes`
    /// that are on their way. It is asked before an item is built, which copies all that is evaluated.
    pub fn is_full(&self, lane: Lane, more: usize, more_bytes: usize) -> bool {
        let (mut state, limits) = (self.state.lock(), self.config.lane(lane));
        let entries = state.lane(lane);
        entries.waiting() + more >= limits.max_items
            || entries.bytes + more_bytes + ITEM_BYTES > limits.max_size.in_memory()
    }

    /// Whether `item` still fits beside those that are there and `more` items of `more_bytes` that are on their way.
    pub fn has_room(&self, item: &Item, more: usize, more_bytes: usize) -> bool {
        let (mut state, limits) = (self.state.lock(), self.config.lane(item.lane));
        let entries = state.lane(item.lane);
        entries.waiting() + more < limits.max_items
            && entries.bytes + more_bytes + size(item) <= limits.max_size.in_memory()
    }

    /// Leases the item of `lane` that has waited longest; none if none may be worked on now.
    pub fn lease(&self, lane: Lane, now: UnixNanos) -> Option<Lease> {
        self.lease_where(lane, now, |_| true)
    }

    /// As [`Queue::lease`], of the items that `fits`. Items that name the same evaluators fit alike: only the first of them is
    /// asked about, and where it does not fit those of other evaluators go on.
    pub fn lease_where(&self, lane: Lane, now: UnixNanos, fits: impl Fn(&Item) -> bool) -> Option<Lease> {
        let until = UnixNanos(now.0.saturating_add(nanos(self.config.lane(lane).lease)));
        let (item, attempt) = self.state.lock().lane(lane).lease(now, until, fits)?;
        Some(Lease { item, attempt })
    }

    /// Claims the end of a leased item. False if another worker has finished it, is about to, or holds it now.
    pub fn claim(&self, lease: &Lease) -> bool {
        self.state.lock().lane(lease.item.lane).claim(&lease.item, lease.attempt)
    }

    /// Gives a claim back: the end of the item could not be made durable, so it is owed as before.
    pub fn unclaim(&self, lease: &Lease) {
        self.state.lock().lane(lease.item.lane).unclaim(&lease.item.id);
    }

    /// Gives a lease back to wait for another `wait`: who should have judged is away, which is no attempt. After a restart
    /// the item may be worked on at once.
    pub fn release(&self, lease: &Lease, why: &str, wait: Duration, now: UnixNanos) {
        let not_before = now.0.saturating_add(nanos(wait));
        self.state.lock().lane(lease.item.lane).release(&lease.item, lease.attempt, not_before, why);
    }

    /// What to record for a failed attempt: another one later, or none if it was the last.
    pub fn after_failure(&self, lease: &Lease, error: &str, now: UnixNanos) -> Option<QueueEvent> {
        let limits = self.limits(lease);
        if lease.attempt >= limits.max_attempts {
            return None;
        }
        let doubled = limits.retry_backoff.saturating_mul(1 << (lease.attempt - 1).min(20));
        let wait = nanos(doubled.min(LONGEST_WAIT));
        Some(QueueEvent::Retry {
            id: lease.item.id.clone(),
            attempt: lease.attempt,
            not_before: now.0.saturating_add(wait),
            error: error.to_owned(),
            score_version: lease.item.score_version,
        })
    }

    /// Whether the item has waited longer than the limit of its lane.
    pub fn is_expired(&self, item: &Item, now: UnixNanos) -> bool {
        now.0.saturating_sub(item.queued_at) > nanos(self.config.lane(item.lane).max_age)
    }

    fn limits(&self, lease: &Lease) -> &LaneConfig {
        self.config.lane(lease.item.lane)
    }

    /// Ends when there may be more to work on in `lane` than at this call: who asks before looking for an item misses none.
    pub fn changed(&self, lane: Lane) -> Notified<'_> {
        self.changed[lane as usize].notified()
    }

    /// Numbers of one lane at `now`.
    pub fn lane_stats(&self, lane: Lane, now: UnixNanos) -> QueueStats {
        let mut state = self.state.lock();
        let entries = state.lane(lane);
        QueueStats {
            items: entries.waiting(),
            leased: entries.leased(),
            ended: entries.ended(),
            bytes: entries.bytes,
            oldest_nanos: entries.oldest().map_or(0, |at| now.0.saturating_sub(at).max(0)),
        }
    }

    /// Whether an item could be worked on, and no worker has it yet. Those that were found to wait for somebody do not count.
    pub fn is_behind(&self) -> bool {
        let mut state = self.state.lock();
        Lane::ALL.into_iter().any(|lane| state.lane(lane).has_ready())
    }

    /// When the earliest span began that waits in `lane` for its scores; spans before `floor` are left out.
    pub fn earliest(&self, lane: Lane, floor: UnixNanos) -> Option<UnixNanos> {
        // It is asked several times a second, and tens of thousands may wait.
        self.state.lock().lane(lane).earliest(floor.0).map(UnixNanos)
    }

    /// Numbers of all lanes at `now`.
    pub fn stats(&self, now: UnixNanos) -> QueueStats {
        let all = Lane::ALL.map(|lane| self.lane_stats(lane, now));
        all.into_iter().fold(QueueStats::default(), |a, b| QueueStats {
            items: a.items + b.items,
            leased: a.leased + b.leased,
            ended: a.ended + b.ended,
            bytes: a.bytes + b.bytes,
            oldest_nanos: a.oldest_nanos.max(b.oldest_nanos),
        })
    }

    /// What the table `queue` shows, the oldest item first. Texts that are evaluated are left out.
    pub fn rows(&self) -> Vec<QueueRow> {
        let mut state = self.state.lock();
        let mut rows = Vec::new();
        for lane in Lane::ALL {
            rows.extend(state.lane(lane).all.values().map(row));
        }
        drop(state);
        rows.sort_by(|a, b| (a.queued_at, &a.item).cmp(&(b.queued_at, &b.item)));
        rows
    }

    /// The items among `ids` that failed or expired, or all of them if none is named: the event that puts each back.
    pub fn put_back(&self, ids: &[String], tenant: Option<&str>, now: UnixNanos) -> Vec<(Item, QueueEvent)> {
        let event = |item: &Item| QueueEvent::PutBack {
            id: item.id.clone(),
            queued_at: now.0,
            score_version: item.score_version + 1,
        };
        self.ended(ids, tenant, event)
    }

    /// As [`Queue::put_back`]: the event that forgets each.
    pub fn drop_ended(&self, ids: &[String], tenant: Option<&str>) -> Vec<(Item, QueueEvent)> {
        self.ended(ids, tenant, |item| QueueEvent::Dropped { id: item.id.clone() })
    }

    fn ended(
        &self,
        ids: &[String],
        tenant: Option<&str>,
        event: impl Fn(&Item) -> QueueEvent,
    ) -> Vec<(Item, QueueEvent)> {
        let mut state = self.state.lock();
        let mut found = Vec::new();
        for lane in Lane::ALL {
            let ended = state.lane(lane).all.values().filter(|entry| entry.ended.is_some());
            let items = ended.map(|entry| &*entry.item);
            let meant = items.filter(|item| ids.is_empty() || ids.contains(&item.id));
            let theirs = meant.filter(|item| tenant.is_none_or(|tenant| item.tenant == tenant));
            found.extend(theirs.map(|item| (item.clone(), event(item))));
        }
        found
    }

    /// The state, for the queue's own log.
    pub(super) fn with_state<T>(&self, what: impl FnOnce(&mut State) -> T) -> T {
        what(&mut self.state.lock())
    }

    /// Whether the item is here or was finished: then `Queued` changes nothing, and need not be copied to find that out.
    pub(super) fn knows(&self, item: &Item) -> bool {
        self.state.lock().lanes.iter().any(|entries| entries.knows(item))
    }

    /// Whether an item of this id waits or is leased.
    pub fn is_waiting(&self, id: &str) -> bool {
        self.state.lock().lanes.iter().any(|entries| entries.has_waiting(id))
    }
}
