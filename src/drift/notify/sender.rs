//! Who is told what and when.

use super::{reason, request};
use crate::domain::time::UnixNanos;
use crate::drift::config::{Config, ReceiverConfig, ReceiverKind};
use crate::drift::message::Notice;
use crate::units::nanos;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The wait after the first attempt that failed; it doubles with each further one.
const FIRST_WAIT: i64 = 1_000_000_000;
/// The longest wait between two attempts.
const LONGEST_WAIT: i64 = 300 * 1_000_000_000;

/// What came of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Delivered {
    /// The receiver took the message.
    Taken,
    /// Nobody will ever take it.
    Lost(Lost, String),
    /// It is tried again.
    Failed {
        /// Why the attempt failed, as it may be shown.
        why: String,
        /// Not before this, nanoseconds since 1970.
        not_before: i64,
    },
}

/// Why a message is not tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The same again would be refused again.
    Refused,
    /// Its time is over.
    GivenUp,
    /// Its receiver is no longer configured.
    NoReceiver,
}

impl Lost {
    /// The label `reason` of the metric.
    fn word(self) -> &'static str {
        match self {
            Lost::Refused => "refused",
            Lost::GivenUp => "given up",
            Lost::NoReceiver => "no receiver",
        }
    }
}

/// One attempt that has ended.
#[derive(Debug)]
pub(crate) struct Tried {
    /// The message as it was sent.
    pub notice: Notice,
    /// Whether it told what was not told yet; else it only repeated.
    pub counts: bool,
    /// What came of it.
    pub delivered: Delivered,
}

/// What an attempt is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attempt {
    /// It tells what was not told yet: if it fails, it is tried again.
    Counts,
    /// It only repeats: if it fails, the next one comes anyway.
    Repeats,
}

/// Sends messages beside the loop: a receiver that hangs holds up nothing but its own messages.
pub(crate) struct Sender {
    config: Config,
    receivers: HashMap<String, ReceiverConfig>,
    client: reqwest::Client,
    /// Receivers that have a message in the air.
    busy: HashSet<String>,
    done: UnboundedReceiver<Tried>,
    tell: UnboundedSender<Tried>,
    /// When Alertmanager was told last of what fires, nanoseconds since 1970, by the message's number.
    told: HashMap<u64, i64>,
}

impl Sender {
    pub(crate) fn new(config: Config, receivers: &[ReceiverConfig]) -> Self {
        let client = reqwest::Client::builder()
            .timeout(config.send_timeout)
            // A redirect would carry the message to whom nobody has named.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap_or_default();
        let (tell, done) = unbounded_channel();
        let mut sender = Self {
            config,
            receivers: HashMap::new(),
            client,
            busy: HashSet::new(),
            done,
            tell,
            told: HashMap::new(),
        };
        sender.set_receivers(receivers);
        sender
    }

    /// Has these told from now on.
    pub(crate) fn set_receivers(&mut self, receivers: &[ReceiverConfig]) {
        self.receivers = receivers.iter().map(|r| (r.name.clone(), r.clone())).collect();
    }

    /// What came of messages since the last call.
    pub(crate) fn finished(&mut self) -> Vec<Tried> {
        let mut all = Vec::new();
        while let Ok(tried) = self.done.try_recv() {
            self.busy.remove(&tried.notice.receiver);
            all.push(tried);
        }
        all
    }

    /// Whether a message is in the air.
    pub(crate) fn is_busy(&self) -> bool {
        !self.busy.is_empty()
    }

    /// Sends the first message of each receiver that is free, if its time has come, and tells Alertmanager again of what is
    /// `firing`.
    pub(crate) fn send(&mut self, waiting: &VecDeque<Notice>, firing: &[Notice], now: UnixNanos) {
        let mut first: BTreeMap<&str, &Notice> = BTreeMap::new();
        for notice in waiting {
            first.entry(&notice.receiver).or_insert(notice);
        }
        for (receiver, notice) in first {
            if !self.busy.contains(receiver) && is_time(notice, now) {
                self.start(notice.clone(), now, Attempt::Counts);
            }
        }
        self.told.retain(|id, _| firing.iter().any(|notice| notice.id == *id));
        // What waits for its first time is no repetition, and nobody is told again of what somebody knows of.
        let is_repeat = |notice: &&Notice| {
            notice.acknowledged.is_none() && waiting.iter().all(|first| first.id != notice.id)
        };
        let repeats = firing.iter().filter(is_repeat);
        let mut due: Vec<Notice> = repeats.filter(|notice| self.is_due(notice, now)).cloned().collect();
        // Who was told longest ago comes first: one message of a receiver at a time, and where many fire none is left out.
        due.sort_by_key(|notice| self.told.get(&notice.id).copied());
        for notice in due {
            if !self.busy.contains(&notice.receiver) {
                self.start(notice, now, Attempt::Repeats);
            }
        }
    }

    /// Whether Alertmanager must be told of it again: after a start at once, because nobody knows when it was told last.
    fn is_due(&self, notice: &Notice, now: UnixNanos) -> bool {
        let every = nanos(self.config.repeat_interval);
        // What was sent later than now was sent before the clock was set back, and nobody knows how long ago.
        let is_long_ago = |sent: &i64| now.0 < *sent || now.0.saturating_sub(*sent) >= every;
        let receiver = self.receivers.get(&notice.receiver);
        receiver.is_some_and(|r| r.kind == ReceiverKind::Alertmanager)
            && self.told.get(&notice.id).is_none_or(is_long_ago)
    }

    /// Begins one attempt.
    fn start(&mut self, notice: Notice, now: UnixNanos, kind: Attempt) {
        let counts = kind == Attempt::Counts;
        let Some(receiver) = self.receivers.get(&notice.receiver).cloned() else {
            count_lost(Lost::NoReceiver, counts);
            let why = "no receiver of this name is configured any more".to_owned();
            let delivered = Delivered::Lost(Lost::NoReceiver, why);
            let _ = self.tell.send(Tried { notice, counts, delivered });
            return;
        };
        if notice.is_firing {
            self.told.insert(notice.id, now.0);
        }
        self.busy.insert(notice.receiver.clone());
        let (client, config, tell) = (self.client.clone(), self.config.clone(), self.tell.clone());
        tokio::spawn(async move {
            let outcome = attempt(&client, &receiver, &config, &notice, now).await;
            metrics::counter!("groundline_alert_messages_total", "outcome" => outcome.word()).increment(1);
            if let Outcome::Refused(why) | Outcome::Failed(why) = &outcome {
                tracing::warn!(
                    receiver = receiver.name,
                    alert = notice.alert,
                    attempt = notice.failed + 1,
                    why,
                    "a message was not taken"
                );
            }
            let delivered = judged(outcome, &config, &notice, kind, now);
            if let Delivered::Lost(reason, _) = &delivered {
                count_lost(*reason, counts);
            }
            // Nobody listens any more when the server stops; the message is in the state.
            let _ = tell.send(Tried { notice, counts, delivered });
        });
    }
}

/// Whether a message may be tried at `now`. No wait is longer than the longest one: of what is to wait for more the clock was set
/// back meanwhile.
fn is_time(notice: &Notice, now: UnixNanos) -> bool {
    notice.not_before <= now.0 || notice.not_before.saturating_sub(now.0) > LONGEST_WAIT
}

/// Counts a message that nobody will ever take.
fn count_lost(reason: Lost, counts: bool) {
    if counts {
        metrics::counter!("groundline_alert_messages_lost_total", "reason" => reason.word()).increment(1);
    }
}

/// How an attempt ended.
enum Outcome {
    Taken,
    /// It will never be taken: the same again would be refused again.
    Refused(String),
    /// Another attempt may help.
    Failed(String),
}

impl Outcome {
    fn word(&self) -> &'static str {
        match self {
            Outcome::Taken => "taken",
            Outcome::Refused(_) => "refused",
            Outcome::Failed(_) => "failed",
        }
    }
}

fn judged(outcome: Outcome, config: &Config, notice: &Notice, kind: Attempt, now: UnixNanos) -> Delivered {
    let is_old = now.0.saturating_sub(notice.at) > nanos(config.give_up_after);
    let wait = match kind {
        Attempt::Counts => FIRST_WAIT.saturating_mul(1 << notice.failed.min(16)).min(LONGEST_WAIT),
        Attempt::Repeats => nanos(config.repeat_interval),
    };
    match outcome {
        Outcome::Taken => Delivered::Taken,
        Outcome::Refused(why) => Delivered::Lost(Lost::Refused, why),
        Outcome::Failed(why) if is_old && kind == Attempt::Counts => Delivered::Lost(Lost::GivenUp, why),
        Outcome::Failed(why) => Delivered::Failed { why, not_before: now.0.saturating_add(wait) },
    }
}

async fn attempt(
    client: &reqwest::Client,
    receiver: &ReceiverConfig,
    config: &Config,
    notice: &Notice,
    now: UnixNanos,
) -> Outcome {
    let message = match request::build(receiver, config, notice, now) {
        Ok(message) => message,
        Err(why) => return Outcome::Failed(reason::shown(&why, &[])),
    };
    let secrets = message.secrets;
    let sent = client.post(&message.url).headers(message.headers).body(message.body).send().await;
    match sent {
        // Without the address: it may be a secret.
        Err(error) => Outcome::Failed(reason::shown(&reason::unanswered(error), &secrets)),
        Ok(answer) if answer.status().is_success() => Outcome::Taken,
        Ok(answer) => {
            let status = answer.status();
            let text = reason::beginning(answer).await;
            let said = if text.trim().is_empty() { status.to_string() } else { format!("{status}: {text}") };
            let why = reason::shown(&said, &secrets);
            // Too many requests, timeouts and faults of the server pass; the rest is about the message.
            match status.is_client_error() && !matches!(status.as_u16(), 401 | 403 | 404 | 408 | 425 | 429) {
                true => Outcome::Refused(why),
                false => Outcome::Failed(why),
            }
        }
    }
}

#[cfg(test)]
#[path = "sender_tests.rs"]
mod tests;
