//! What came of the messages: who was told of what and when, what waits for another attempt, and what nobody took.
//!
//! All of it is in the state, and is known after a restart.

use super::message::Notice;
use super::moment::rfc3339;
use super::notify::{Delivered, Lost, Tried};
use crate::domain::time::UnixNanos;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// Receivers of slices of which is kept what came of the last message; those that were told longest ago go first beyond it.
pub(super) const MOST: usize = 1_000;

/// What came of a message, or is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// It waits no longer, and what came of it is not known: a release that did not keep it told of it, so many others were told
    /// since that it was forgotten, or too many messages waited.
    Unknown,
}

/// A message about one slice of one alert to one receiver, as `GET /v1/alerts` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Delivery {
    /// The alert.
    pub alert: String,
    /// The part of the traffic.
    pub slice: String,
    /// To whom.
    pub receiver: String,
    /// What it says: `firing`, `acknowledged` or `resolved`.
    pub status: String,
    /// What came of it.
    pub outcome: DeliveryOutcome,
    /// When what it tells of happened, RFC 3339.
    pub changed_at: String,
    /// When the last attempt was over, RFC 3339; none if there was none, or it is not known. Of what was delivered, when it was
    /// taken.
    pub attempted_at: Option<String>,
    /// Attempts that failed, before a restart too.
    pub failed: u32,
    /// When the next attempt may begin, RFC 3339; none if there is none, or it comes as soon as its turn does.
    pub next_attempt_at: Option<String>,
    /// Why the last attempt failed, without secrets; none if it did not, or it is not known.
    pub error: Option<String>,
}

impl Delivery {
    fn new(notice: &Notice, outcome: DeliveryOutcome) -> Self {
        Self {
            alert: notice.alert.clone(),
            slice: notice.slice.clone(),
            receiver: notice.receiver.clone(),
            status: notice.status().to_owned(),
            outcome,
            changed_at: rfc3339(notice.at),
            attempted_at: None,
            failed: notice.failed,
            next_attempt_at: None,
            error: None,
        }
    }
}

/// A message that waits no longer, as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Settled {
    /// The message's number.
    id: u64,
    /// When its last attempt was over, nanoseconds since 1970.
    at: i64,
    delivery: Delivery,
}

impl Settled {
    fn is_of(&self, alert: &str, slice: &str, receiver: &str) -> bool {
        let of = &self.delivery;
        of.alert == alert && of.slice == slice && of.receiver == receiver
    }
}

/// Why the last attempt of a message failed, as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Fault {
    /// The message's number.
    id: u64,
    /// When the attempt was over, nanoseconds since 1970.
    at: i64,
    why: String,
}

/// What came of messages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Deliveries {
    /// Of each alert, slice and receiver the last message that waits no longer.
    settled: Vec<Settled>,
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
                self.faults.insert(notice.receiver, Fault { id: notice.id, at: now.0, why });
                return;
            }
        };
        self.faults.remove(&notice.receiver);
        let attempted_at = Some(rfc3339(now.0));
        let made = Delivery { failed, attempted_at, error, ..Delivery::new(&notice, outcome) };
        self.keep(notice.id, made, now);
    }

    /// Takes note of a repetition: one that was taken is as good as the message itself, and one that failed says since when the
    /// receiver does not hear what it was told.
    fn note_repetition(&mut self, notice: &Notice, delivered: Delivered, now: UnixNanos) {
        let attempted_at = Some(rfc3339(now.0));
        let (why, next_attempt_at) = match delivered {
            Delivered::Taken => {
                let made = Delivery::new(notice, DeliveryOutcome::Delivered);
                return self.keep(notice.id, Delivery { attempted_at, ..made }, now);
            }
            Delivered::Failed { why, not_before } => (why, Some(rfc3339(not_before))),
            Delivered::Lost(_, why) => (why, None),
        };
        let same = self.settled.iter().find(|old| old.is_of(&notice.alert, &notice.slice, &notice.receiver));
        let told = match same {
            Some(old) if old.id == notice.id => old.delivery.clone(),
            _ => Delivery { attempted_at, ..Delivery::new(notice, DeliveryOutcome::Unknown) },
        };
        self.keep(notice.id, Delivery { error: Some(why), next_attempt_at, ..told }, now);
    }

    fn keep(&mut self, id: u64, delivery: Delivery, now: UnixNanos) {
        self.settled.retain(|old| !old.is_of(&delivery.alert, &delivery.slice, &delivery.receiver));
        self.settled.push(Settled { id, at: now.0, delivery });
        if self.settled.len() > MOST {
            let oldest = self.settled.iter().enumerate().min_by_key(|(_, old)| old.at);
            if let Some((oldest, _)) = oldest {
                self.settled.remove(oldest);
            }
        }
    }

    /// Whether nothing is known.
    pub(super) fn is_empty(&self) -> bool {
        self.settled.is_empty() && self.faults.is_empty()
    }

    /// Forgets what was told of alerts that are not `defined`, and why messages failed that are not `waiting`.
    pub(super) fn fit(&mut self, defined: impl Fn(&str) -> bool, waiting: &VecDeque<Notice>) {
        self.settled.retain(|old| defined(&old.delivery.alert));
        self.faults.retain(|_, fault| waiting.iter().any(|notice| notice.id == fault.id));
    }

    /// What came of messages and what is to come, by alert, slice and receiver, the oldest first: `waiting` are messages in line,
    /// `firing` the last ones about what fires, `held` those that a silence keeps back.
    pub(super) fn all(
        &self,
        waiting: &VecDeque<Notice>,
        firing: &[Notice],
        held: &[Notice],
    ) -> Vec<Delivery> {
        let mut all: Vec<Delivery> = self.settled.iter().map(|old| old.delivery.clone()).collect();
        let mut known: HashSet<u64> = self.settled.iter().map(|old| old.id).collect();
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
                (made.attempted_at, made.error) = (Some(rfc3339(fault.at)), Some(fault.why.clone()));
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
