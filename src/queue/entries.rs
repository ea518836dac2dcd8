//! The items of one lane, in the orders in which they are asked for.

use super::event::{Item, Kept, Outcome, size};
use super::ready::Ready;
use crate::domain::time::UnixNanos;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// Finished items that are remembered, so that an event that comes again does not bring them back.
const MAX_FINISHED: usize = 100_000;

/// What is known of an item.
pub(super) struct Entry {
    /// Shared with who works on it: its texts may be long.
    pub(super) item: Arc<Item>,
    /// The frame of the queue's log that has it; none while only the journal does.
    pub(super) log_seq: Option<u64>,
    pub(super) failed: u32,
    pub(super) error: Option<String>,
    bytes: usize,
    pub(super) leased_until: Option<UnixNanos>,
    pub(super) not_before: i64,
    /// Its end is being written: no other worker may take it, however long that takes.
    pub(super) finishing: bool,
    /// How it ended, if it failed or expired: it is kept for a while, so that it can be put back.
    pub(super) ended: Option<Outcome>,
}

impl Entry {
    /// What the queue's log needs to know of it.
    pub(super) fn kept(&self) -> Kept {
        Kept {
            item: Item::clone(&self.item),
            failed: self.failed,
            not_before: self.not_before,
            error: self.error.clone(),
            ended: self.ended,
        }
    }
}

/// Items by id, and in order.
#[derive(Default)]
pub(super) struct Entries {
    pub(super) all: HashMap<String, Entry>,
    /// Items that may be worked on: who waits longer goes first, also after an attempt that failed.
    ready: Ready,
    /// Items whose next attempt has to wait, by the time from which it may begin.
    delayed: BTreeSet<(i64, String)>,
    leased: HashSet<String>,
    /// No lease ends before this; none while nothing is leased, as far as is known.
    lease_ends: Option<UnixNanos>,
    /// Items that failed or expired, in the order of their end.
    ended: VecDeque<String>,
    by_log_seq: BTreeMap<u64, HashSet<String>>,
    /// When the spans began of the items that wait or are leased, and of how many.
    starts: BTreeMap<i64, usize>,
    /// With the version that was evaluated.
    finished: HashMap<String, i32>,
    finished_order: VecDeque<String>,
    /// Bytes of the items that wait.
    pub(super) bytes: usize,
    /// Bytes of those that failed or expired.
    pub(super) ended_bytes: usize,
}

impl Entries {
    /// Items that wait or are leased.
    pub(super) fn waiting(&self) -> usize {
        self.all.len() - self.ended.len()
    }

    /// Items that failed or expired.
    pub(super) fn ended(&self) -> usize {
        self.ended.len()
    }

    /// Whether an item may be worked on and is not.
    pub(super) fn has_ready(&self) -> bool {
        self.ready.has_some()
    }

    /// Items that are leased.
    pub(super) fn leased(&self) -> usize {
        self.leased.len()
    }

    /// When the item was queued that has waited longest.
    pub(super) fn oldest(&self) -> Option<i64> {
        self.all.values().filter(|e| e.ended.is_none()).map(|e| e.item.queued_at).min()
    }

    /// When the earliest span began, from `floor` on, whose item waits or is leased.
    pub(super) fn earliest(&self, floor: i64) -> Option<i64> {
        self.starts.range(floor..).next().map(|(start, _)| *start)
    }

    /// The first frame of the log that has an item which is still needed.
    pub(super) fn first_log_seq(&self) -> Option<u64> {
        self.by_log_seq.keys().next().copied()
    }

    /// The items whose newest copy stands in a frame of the log up to `seq`, the oldest first.
    pub(super) fn logged_through(&self, seq: u64) -> impl Iterator<Item = &Entry> {
        self.by_log_seq.range(..=seq).flat_map(|(_, ids)| ids).filter_map(move |id| self.all.get(id))
    }

    /// Whether this evaluation of the item is here or was finished, or a later one.
    pub(super) fn knows(&self, item: &Item) -> bool {
        let here = self.all.get(&item.id).map(|entry| entry.item.score_version);
        here.max(self.finished.get(&item.id).copied()).is_some_and(|known| known >= item.score_version)
    }

    /// Whether the item waits or is leased.
    pub(super) fn has_waiting(&self, id: &str) -> bool {
        self.all.get(id).is_some_and(|entry| entry.ended.is_none())
    }

    /// Takes in an item that waits. One that is known, or was finished, changes nothing; a later evaluation takes the place of
    /// one that failed or expired, and waits for none that is under way.
    pub(super) fn put(&mut self, item: Item) {
        if self.knows(&item) || self.has_waiting(&item.id) {
            return;
        }
        self.remove(&item.id);
        self.insert(Kept { item, failed: 0, not_before: 0, error: None, ended: None });
    }

    /// Takes in what the log kept of an item, in place of what was known.
    pub(super) fn restore(&mut self, kept: Kept) {
        self.remove(&kept.item.id.clone());
        self.insert(kept);
    }

    fn insert(&mut self, kept: Kept) {
        let Kept { item, failed, not_before, error, ended } = kept;
        let (id, bytes) = (item.id.clone(), size(&item));
        let entry = Entry {
            item: Arc::new(item),
            log_seq: None,
            failed,
            error,
            bytes,
            leased_until: None,
            not_before,
            finishing: false,
            ended,
        };
        match (ended, not_before) {
            (Some(_), _) => self.ended.push_back(id.clone()),
            (None, 0) => self.ready.insert(&entry.item),
            (None, _) => drop(self.delayed.insert((not_before, id.clone()))),
        }
        match ended {
            Some(_) => self.ended_bytes += bytes,
            None => {
                self.bytes += bytes;
                *self.starts.entry(entry.item.span_time).or_default() += 1;
            }
        }
        self.all.insert(id, entry);
    }

    /// Takes an item out of all orders.
    pub(super) fn remove(&mut self, id: &str) -> Option<Entry> {
        let entry = self.all.remove(id)?;
        self.take_out(&entry);
        self.unlog(id, entry.log_seq);
        match entry.ended {
            Some(_) => {
                self.ended.retain(|other| other != id);
                self.ended_bytes -= entry.bytes;
            }
            None => {
                self.bytes -= entry.bytes;
                self.forget_start(entry.item.span_time);
            }
        }
        Some(entry)
    }

    fn forget_start(&mut self, start: i64) {
        let Some(count) = self.starts.get_mut(&start) else { return };
        *count -= 1;
        if *count == 0 {
            self.starts.remove(&start);
        }
    }

    fn take_out(&mut self, entry: &Entry) {
        self.ready.remove(&entry.item);
        self.delayed.remove(&(entry.not_before, entry.item.id.clone()));
        self.leased.remove(&entry.item.id);
    }

    fn unlog(&mut self, id: &str, seq: Option<u64>) {
        let Some(seq) = seq else { return };
        if let Some(ids) = self.by_log_seq.get_mut(&seq) {
            ids.remove(id);
            if ids.is_empty() {
                self.by_log_seq.remove(&seq);
            }
        }
    }

    /// The frame `seq` of the log has what is needed of the item.
    pub(super) fn logged(&mut self, id: &str, seq: u64) {
        let Some(entry) = self.all.get_mut(id) else { return };
        let before = entry.log_seq.replace(seq);
        self.unlog(id, before);
        self.by_log_seq.entry(seq).or_default().insert(id.to_owned());
    }

    /// An attempt failed; an event that is known changes nothing.
    pub(super) fn retry(&mut self, id: &str, version: i32, attempt: u32, not_before: i64, error: &str) {
        let Some(entry) = self.all.get_mut(id) else { return };
        if attempt <= entry.failed || entry.ended.is_some() || entry.item.score_version != version {
            return;
        }
        (entry.failed, entry.leased_until, entry.finishing) = (attempt, None, false);
        entry.error = Some(error.to_owned());
        let before = std::mem::replace(&mut entry.not_before, not_before);
        self.ready.remove(&entry.item);
        self.delayed.remove(&(before, id.to_owned()));
        self.leased.remove(id);
        self.delayed.insert((not_before, id.to_owned()));
    }

    /// The item has ended. One that failed or expired is kept, so that it can be put back.
    pub(super) fn finish(&mut self, id: &str, version: i32, outcome: Outcome, error: Option<String>) {
        let known = self.all.get(id);
        if known.is_some_and(|entry| entry.ended.is_some() || entry.item.score_version != version) {
            return;
        }
        let seq = known.and_then(|entry| entry.log_seq);
        self.note_finished(id, version);
        let Some(entry) = self.remove(id) else { return };
        if outcome == Outcome::Scored {
            return;
        }
        let error = error.or(entry.error);
        self.insert(Kept {
            item: Arc::unwrap_or_clone(entry.item),
            failed: entry.failed,
            not_before: 0,
            error,
            ended: Some(outcome),
        });
        // The log still has it there.
        if let Some(seq) = seq {
            self.logged(id, seq);
        }
    }

    fn note_finished(&mut self, id: &str, version: i32) {
        match self.finished.get_mut(id) {
            Some(known) => *known = version.max(*known),
            None => {
                self.finished.insert(id.to_owned(), version);
                self.finished_order.push_back(id.to_owned());
            }
        }
        while self.finished_order.len() > MAX_FINISHED {
            if let Some(old) = self.finished_order.pop_front() {
                self.finished.remove(&old);
            }
        }
    }

    /// An item that failed or expired waits again; an event that is known changes nothing.
    pub(super) fn put_back(&mut self, id: &str, queued_at: i64, version: i32) {
        let fits = |entry: &&Entry| entry.ended.is_some() && entry.item.score_version < version;
        if self.all.get(id).filter(fits).is_none() {
            return;
        }
        let Some(entry) = self.remove(id) else { return };
        self.finished.remove(id);
        let (mut item, error) = (Arc::unwrap_or_clone(entry.item), entry.error);
        (item.queued_at, item.score_version) = (queued_at, version);
        self.insert(Kept { item, failed: 0, not_before: 0, error, ended: None });
        if let Some(seq) = entry.log_seq {
            self.logged(id, seq);
        }
    }

    /// Forgets an item that failed or expired.
    pub(super) fn drop_ended(&mut self, id: &str) {
        if self.all.get(id).is_some_and(|entry| entry.ended.is_some()) {
            self.remove(id);
        }
    }

    /// The items that failed or expired, oldest first.
    pub(super) fn oldest_ended(&self) -> Option<String> {
        self.ended.front().cloned()
    }

    /// The next item that may be worked on and `fits`, leased until `until`; of items that name the same evaluators the first
    /// one is asked about.
    pub(super) fn lease(
        &mut self,
        now: UnixNanos,
        until: UnixNanos,
        fits: impl Fn(&Item) -> bool,
    ) -> Option<(Arc<Item>, u32)> {
        self.end_leases(now);
        self.end_delays(now);
        let all = &self.all;
        let id = self.ready.pop_first(|id| all.get(id).is_none_or(|entry| fits(&entry.item)))?;
        let entry = self.all.get_mut(&id)?;
        entry.leased_until = Some(until);
        let leased = (entry.item.clone(), entry.failed + 1);
        self.leased.insert(id);
        self.lease_ends = Some(self.lease_ends.map_or(until, |ends| ends.min(until)));
        Some(leased)
    }

    /// Gives a lease back without an attempt: nothing of it is written down.
    pub(super) fn release(&mut self, item: &Item, attempt: u32, not_before: i64, why: &str) {
        let Some(entry) = self.all.get_mut(&item.id) else { return };
        let is_same = entry.failed + 1 == attempt && entry.item.score_version == item.score_version;
        if entry.finishing || entry.ended.is_some() || entry.leased_until.is_none() || !is_same {
            return;
        }
        entry.leased_until = None;
        entry.error = Some(why.to_owned());
        let before = std::mem::replace(&mut entry.not_before, not_before);
        self.delayed.remove(&(before, item.id.clone()));
        self.leased.remove(&item.id);
        self.delayed.insert((not_before, item.id.clone()));
    }

    /// Claims the end of a leased item.
    pub(super) fn claim(&mut self, item: &Item, attempt: u32) -> bool {
        let Some(entry) = self.all.get_mut(&item.id) else { return false };
        let is_same = entry.failed + 1 == attempt && entry.item.score_version == item.score_version;
        if entry.finishing || entry.ended.is_some() || !is_same {
            return false;
        }
        (entry.finishing, entry.leased_until) = (true, None);
        self.leased.remove(&item.id);
        // A lease that ran out may have put it back.
        self.ready.remove(&entry.item);
        true
    }

    /// The end of a claimed item could not be written: it may be worked on again.
    pub(super) fn unclaim(&mut self, id: &str) {
        let Some(entry) = self.all.get_mut(id).filter(|entry| entry.finishing) else { return };
        entry.finishing = false;
        self.ready.insert(&entry.item);
    }

    fn end_leases(&mut self, now: UnixNanos) {
        // Hundreds are leased at a time, and whoever asks for an item comes by here.
        if self.lease_ends.is_none_or(|ends| ends > now) {
            return;
        }
        let over = |id: &String| {
            let until = self.all.get(id).and_then(|entry| entry.leased_until);
            until.is_none_or(|until| until <= now)
        };
        let ended: Vec<String> = self.leased.iter().filter(|id| over(id)).cloned().collect();
        for id in ended {
            self.leased.remove(&id);
            if let Some(entry) = self.all.get_mut(&id) {
                entry.leased_until = None;
                self.ready.insert(&entry.item);
            }
        }
        let until = |id: &String| self.all.get(id).and_then(|entry| entry.leased_until);
        self.lease_ends = self.leased.iter().filter_map(until).min();
    }

    fn end_delays(&mut self, now: UnixNanos) {
        while let Some((_, id)) = self.delayed.first().filter(|(at, _)| *at <= now.0).cloned() {
            self.delayed.pop_first();
            if let Some(entry) = self.all.get(&id) {
                self.ready.insert(&entry.item);
            }
        }
    }
}
