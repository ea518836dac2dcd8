//! What came of the messages: who was told of what and when, what waits for another attempt, and what nobody took.
//!
//! What waits is in the state, and is known after a restart. What came of an attempt, and why it failed, is known since the start
//! only.

use super::message::Notice;
use super::moment::rfc3339;
use super::notify::{Delivered, Lost, Tried};
use crate::domain::time::UnixNanos;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet, VecDeque};

/// Receivers of slices of which is kept what came of the last message; those that were told longest ago go first beyond it.
const MOST: usize = 1_000;

/// What came of a message, or is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryOutcome {
    /// The receiver took it.
    Delivered,
    /// It waits for its next attempt, or for its turn.
    Waiting,
    /// A silence keeps it back.
    Silenced,
    /// The receiver refused it, and it is not tried again.
    Refused,
    /// It was not taken for too long, or its receiver is gone, and it is not tried again.
    GivenUp,
    /// It waits no longer, and what came of it is not known: that was before the start, or too many messages waited.
    Unknown,
}

/// A message about one slice of one alert to one receiver, as `GET /v1/alerts` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Delivery {
    /// The alert.
    pub alert: String,
    /// The part of the traffic.
    pub slice: String,
    /// To whom.
    pub receiver: String,
    /// What it says: `firing`, `acknowledged` or `resolved`.
    pub status: &'static str,
    /// What came of it.
    pub outcome: DeliveryOutcome,
    /// When what it tells of happened, RFC 3339.
    pub changed_at: String,
    /// When the last attempt was over, RFC 3339; none if there was none since the start. Of what was delivered, when it was taken.
    pub attempted_at: Option<String>,
    /// Attempts that failed, before a restart too.
    pub failed: u32,
    /// When the next attempt may begin, RFC 3339; none if there is none, or it comes as soon as its turn does.
    pub next_attempt_at: Option<String>,
    /// Why the last attempt failed, without secrets; none if it did not, or that was before the start.
    pub error: Option<String>,
    /// The message's number.
    #[serde(skip)]
    pub(super) id: u64,
}

impl Delivery {
    fn new(notice: &Notice, outcome: DeliveryOutcome) -> Self {
        Self {
            alert: notice.alert.clone(),
            slice: notice.slice.clone(),
            receiver: notice.receiver.clone(),
            status: notice.status(),
            outcome,
            changed_at: rfc3339(notice.at),
            attempted_at: None,
            failed: notice.failed,
            next_attempt_at: None,
            error: None,
            id: notice.id,
        }
    }
}

/// Why the last attempt of a message failed.
struct Fault {
    /// The message's number.
    id: u64,
    at: UnixNanos,
    why: String,
}

/// What came of messages since the start.
#[derive(Default)]
pub(super) struct Deliveries {
    /// By alert, slice and receiver, the last message that waits no longer, with the time of its last attempt.
    ended: BTreeMap<(String, String, String), (UnixNanos, Delivery)>,
    /// By receiver, the last attempt that failed: one message of a receiver is tried at a time.
    faults: BTreeMap<String, Fault>,
}

impl Deliveries {
    /// Takes note of an attempt that was over at `now`.
    pub(super) fn note(&mut self, tried: Tried, now: UnixNanos) {
        let Tried { notice, counts, delivered } = tried;
        if !counts {
            return self.note_repetition(&notice, delivered, now);
        }
        let (outcome, failed, error) = match delivered {
            Delivered::Taken => (DeliveryOutcome::Delivered, notice.failed, None),
            Delivered::Lost(Lost::Refused, why) => (DeliveryOutcome::Refused, notice.failed + 1, Some(why)),
            Delivered::Lost(Lost::GivenUp, why) => (DeliveryOutcome::GivenUp, notice.failed + 1, Some(why)),
            Delivered::Lost(Lost::NoReceiver, why) => (DeliveryOutcome::GivenUp, notice.failed, Some(why)),
            Delivered::Failed { why, .. } => {
                self.faults.insert(notice.receiver, Fault { id: notice.id, at: now, why });
                return;
            }
        };
        self.faults.remove(&notice.receiver);
        let attempted_at = Some(rfc3339(now.0));
        self.keep(Delivery { failed, attempted_at, error, ..Delivery::new(&notice, outcome) }, now);
    }

    /// Takes note of a repetition: one that was taken is as good as the message itself, and one that failed says since when the
    /// receiver does not hear what it was told.
    fn note_repetition(&mut self, notice: &Notice, delivered: Delivered, now: UnixNanos) {
        let attempted_at = Some(rfc3339(now.0));
        let (why, next_attempt_at) = match delivered {
            Delivered::Taken => {
                let made = Delivery::new(notice, DeliveryOutcome::Delivered);
                return self.keep(Delivery { attempted_at, ..made }, now);
            }
            Delivered::Failed { why, not_before } => (why, Some(rfc3339(not_before))),
            Delivered::Lost(_, why) => (why, None),
        };
        let key = (notice.alert.clone(), notice.slice.clone(), notice.receiver.clone());
        let told = match self.ended.get(&key) {
            Some((_, told)) if told.id == notice.id => told.clone(),
            _ => Delivery { attempted_at, ..Delivery::new(notice, DeliveryOutcome::Unknown) },
        };
        self.keep(Delivery { error: Some(why), next_attempt_at, ..told }, now);
    }

    fn keep(&mut self, delivery: Delivery, now: UnixNanos) {
        let key = (delivery.alert.clone(), delivery.slice.clone(), delivery.receiver.clone());
        self.ended.insert(key, (now, delivery));
        if self.ended.len() > MOST {
            let oldest = self.ended.iter().min_by_key(|(_, (at, _))| at.0).map(|(key, _)| key.clone());
            if let Some(key) = oldest {
                self.ended.remove(&key);
            }
        }
    }

    /// What came of messages and what is to come, by alert, slice and receiver, the oldest first: `waiting` are messages in line,
    /// `firing` the last ones about what fires, `held` those that a silence keeps back.
    pub(super) fn all(
        &self,
        waiting: &VecDeque<Notice>,
        firing: &[Notice],
        held: &[Notice],
    ) -> Vec<Delivery> {
        let mut all: Vec<Delivery> = self.ended.values().map(|(_, delivery)| delivery.clone()).collect();
        let mut known: HashSet<u64> = all.iter().map(|delivery| delivery.id).collect();
        known.extend(waiting.iter().chain(held).map(|notice| notice.id));
        let unknown = firing.iter().filter(|notice| !known.contains(&notice.id));
        all.extend(unknown.map(|notice| Delivery::new(notice, DeliveryOutcome::Unknown)));
        let mut begun: HashSet<&str> = HashSet::new();
        for notice in waiting {
            let mut made = Delivery::new(notice, DeliveryOutcome::Waiting);
            // The others of a receiver wait for the first one.
            if begun.insert(&notice.receiver) && notice.not_before > 0 {
                made.next_attempt_at = Some(rfc3339(notice.not_before));
            }
            if let Some(fault) = self.faults.get(&notice.receiver).filter(|fault| fault.id == notice.id) {
                (made.attempted_at, made.error) = (Some(rfc3339(fault.at.0)), Some(fault.why.clone()));
            }
            all.push(made);
        }
        all.extend(held.iter().map(|notice| Delivery::new(notice, DeliveryOutcome::Silenced)));
        all.sort_by(|a, b| (&a.alert, &a.slice, &a.receiver).cmp(&(&b.alert, &b.slice, &b.receiver)));
        all
    }
}

#[cfg(test)]
#[path = "delivery_tests.rs"]
mod tests;
