//! The lane of what takes long: evaluators that wait for others hold no thread, and hundreds are asked at once.
//!
//! Each judge and each plug-in has places of its own, and an item is begun when all that it waits for have one: who is slow,
//! or away and has none, holds up its own items and no others. An item whose judge is found to be away goes back to wait, and
//! what others said of it is kept until it comes again: nobody is asked twice for what was answered, and local evaluators,
//! which have a lane of their own, see nothing of it.

use super::rows::{Evaluated, score_rows};
use super::run::{Scorer, Thread, errors, too_old};
use crate::eval::{Away, Evaluator, Owed, Places, Said};
use crate::journal::JournalError;
use crate::queue::{Item, Lane, Lease, Outcome};
use crate::units::words;
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a worker sleeps when nothing tells it of an item.
const NAP: Duration = Duration::from_millis(250);
/// How long an item waits whose judge is away and does not say for how long.
const AWAY: Duration = Duration::from_secs(5);
/// How long items in work may take to end at a stop; those that do not are judged again after the next start.
const LAST: Duration = Duration::from_secs(5);
/// How long an item waits for a thread; then another one may be first.
const THREAD: Duration = Duration::from_secs(20);
/// Items of which something is known that are kept at most; of more, all is asked again.
const MAX_KEPT: usize = 10_000;

/// What is known of items that wait for the rest, by item and version of its scores.
type Kept = HashMap<(String, i32), Known>;

/// What is known of an item that waits for the rest.
#[derive(Default)]
struct Known {
    /// What was said of it.
    judged: Vec<Evaluated>,
    /// Those that have not answered, with what was paid to them.
    owed: Vec<(Arc<dyn Evaluator>, Owed)>,
}

impl Known {
    /// Whether the evaluator has answered.
    fn has(&self, evaluator: &str) -> bool {
        self.judged.iter().any(|one| one.evaluator == evaluator)
    }

    /// Whether nothing was said, and nothing paid for.
    fn is_empty(&self) -> bool {
        self.judged.is_empty() && !self.owed.iter().any(|(_, owed)| owed.is_open())
    }

    /// An evaluator has not answered, and this was paid to it.
    fn owe(&mut self, evaluator: &Arc<dyn Evaluator>, owed: Owed) {
        match self.owed.iter_mut().find(|(known, _)| known.id() == evaluator.id()) {
            Some((_, before)) => before.renew(owed),
            None => self.owed.push((Arc::clone(evaluator), owed)),
        }
    }

    /// What was said, and an error of each that has not answered. Nobody comes again for what was paid to those: the errors
    /// tell what it took.
    fn given_up(self, why: &str) -> Vec<Evaluated> {
        let Self { mut judged, mut owed } = self;
        owed.retain(|(evaluator, _)| judged.iter().all(|one| one.evaluator != evaluator.id()));
        judged
            .extend(owed.iter().map(|(e, owed)| Evaluated { usage: owed.take(), ..errors(e.as_ref(), why) }));
        judged
    }

    /// The same of an item that waited too long: who was paid nothing is no error of it.
    fn expired(mut self, why: &str) -> Vec<Evaluated> {
        self.owed.retain(|(_, owed)| owed.is_open());
        self.given_up(why)
    }
}

/// One worker of the slow lane, with many items in work.
pub struct SlowLane {
    scorer: Arc<Scorer>,
    /// Items in work at once.
    at_once: usize,
    /// The longest evaluation of one item.
    timeout: Duration,
    /// Items whose local evaluators run at once: each holds a thread.
    threads: Arc<Semaphore>,
    /// Items in work by who they wait for.
    taken: Taken,
    kept: Mutex<Kept>,
}

/// Items in work by who they wait for.
type Taken = Arc<Mutex<HashMap<String, usize>>>;

/// The places of one item in work; free when it is dropped.
struct Held {
    taken: Taken,
    of: BTreeSet<String>,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut taken = self.taken.lock();
        for of in &self.of {
            if let Some(count) = taken.get_mut(of) {
                *count = count.saturating_sub(1);
            }
        }
    }
}

/// How the asking of one item ended.
enum Asked {
    /// Everybody has answered.
    All,
    /// Somebody is away, for as long as is known, and this is no attempt.
    Away(String, Option<Duration>),
    /// Somebody has not answered, and it may be for this very item.
    Failed(String),
}

impl SlowLane {
    /// A worker with up to `at_once` items in work, each for up to `timeout`, and up to `threads` of them at local evaluators.
    pub fn new(scorer: Arc<Scorer>, at_once: usize, threads: usize, timeout: Duration) -> Self {
        let threads = Arc::new(Semaphore::new(threads));
        let taken = Taken::default();
        Self { scorer, at_once: at_once.max(1), timeout, threads, taken, kept: Mutex::default() }
    }

    /// The next item that can be asked about, with its places.
    fn lease(&self) -> Option<(Lease, Held)> {
        let (queue, now) = (&self.scorer.queue, self.scorer.clock.now());
        let fits = |item: &Item| queue.is_expired(item, now) || self.has_places(item);
        let lease = queue.lease_where(Lane::Slow, now, fits)?;
        let of: BTreeSet<String> = self
            .open(&lease.item)
            .iter()
            .filter_map(|e| e.waits())
            .map(|w| w.places().of.to_owned())
            .collect();
        let mut taken = self.taken.lock();
        for of in &of {
            *taken.entry(of.clone()).or_default() += 1;
        }
        drop(taken);
        Some((lease, Held { taken: self.taken.clone(), of }))
    }

    /// Whether all that `item` waits for have a place for it.
    fn has_places(&self, item: &Item) -> bool {
        let taken = self.taken.lock();
        self.open(item).iter().filter_map(|evaluator| evaluator.waits()).all(|waits| {
            let Places { of, most } = waits.places();
            taken.get(of).copied().unwrap_or_default() < most
        })
    }

    /// The evaluators of `item` that have not answered yet; none where they are not known any more.
    fn open(&self, item: &Item) -> Vec<Arc<dyn Evaluator>> {
        let mut open = self.scorer.evaluators(item).unwrap_or_default();
        if let Some(known) = self.kept.lock().get(&(item.id.clone(), item.score_version)) {
            open.retain(|evaluator| !known.has(evaluator.id()));
        }
        open
    }

    /// Works until `stop`. Items in work then have a few seconds to end.
    pub async fn work(self: Arc<Self>, stop: CancellationToken) -> Result<(), JournalError> {
        let mut working: JoinSet<Result<(), JournalError>> = JoinSet::new();
        while !stop.is_cancelled() {
            let has_room = working.len() < self.at_once;
            let changed = self.scorer.queue.changed(Lane::Slow);
            if let Some((lease, held)) = has_room.then(|| self.lease()).flatten() {
                let (lane, stop) = (self.clone(), stop.clone());
                working.spawn(async move {
                    let ended = lane.handle(lease, &stop).await;
                    drop(held);
                    ended
                });
                continue;
            }
            tokio::select! {
                () = stop.cancelled() => {}
                Some(ended) = working.join_next() => known(ended)?,
                () = changed, if has_room => {}
                () = tokio::time::sleep(NAP) => {}
            }
        }
        let all = async {
            while let Some(ended) = working.join_next().await {
                known(ended)?;
            }
            Ok(())
        };
        // Their leases end with the process.
        tokio::time::timeout(LAST, all).await.unwrap_or(Ok(()))
    }

    async fn handle(&self, lease: Lease, stop: &CancellationToken) -> Result<(), JournalError> {
        // Together they take no longer than the lease.
        let until = Instant::now() + self.timeout;
        let key = (lease.item.id.clone(), lease.item.score_version);
        let mut known = self.kept.lock().remove(&key).unwrap_or_default();
        if self.scorer.has_expired(&lease) {
            let judged = known.expired(&too_old(&lease.item));
            return self.scorer.expire(&lease, judged).await;
        }
        let evaluators = match self.scorer.evaluators(&lease.item) {
            Ok(evaluators) => evaluators,
            Err(error) => return self.failed(&lease, key, known, &error.to_string()).await,
        };
        let open: Vec<_> = evaluators.iter().filter(|e| !known.has(e.id())).collect();
        let (waiting, local): (Vec<_>, Vec<_>) = open.into_iter().partition(|e| e.waits().is_some());
        let mut thread = None;
        if !local.is_empty() {
            let Ok(Ok(free)) = tokio::time::timeout(THREAD, self.threads.clone().acquire_owned()).await
            else {
                self.wait(&lease, key, known, "other items keep score.slow_workers busy", AWAY);
                return Ok(());
            };
            thread = Some(free);
        }
        if waiting.is_empty() && known.judged.is_empty() {
            return self.scorer.evaluate(lease, stop).await;
        }
        if let Some(thread) = thread {
            let local: Vec<_> = local.into_iter().cloned().collect();
            known.judged.extend(self.local(&lease, &local, thread).await);
        }
        match self.ask(&lease, &waiting, &mut known, until).await {
            Asked::All => {
                let mut judged = known.judged;
                // In the order in which they are named.
                let place = |one: &Evaluated| evaluators.iter().position(|e| e.id() == one.evaluator);
                judged.sort_by_key(place);
                let rows = score_rows(&lease, judged, self.scorer.clock.now());
                self.scorer.finish(&lease, rows, Outcome::Scored, "all evaluators have answered").await
            }
            Asked::Away(why, wait) => {
                self.wait(&lease, key, known, &why, wait.unwrap_or(AWAY));
                Ok(())
            }
            Asked::Failed(why) => self.failed(&lease, key, known, &why).await,
        }
    }

    /// Has the item tried again, and keeps what is `known` for that; after the last attempt it is given up with it.
    async fn failed(
        &self,
        lease: &Lease,
        key: (String, i32),
        known: Known,
        why: &str,
    ) -> Result<(), JournalError> {
        let last = if self.scorer.has_another(lease) {
            self.keep(key, known);
            Vec::new()
        } else {
            known.given_up(why)
        };
        self.scorer.failed(lease, last, why).await
    }

    /// Has the item wait for `wait` without an attempt.
    fn wait(&self, lease: &Lease, key: (String, i32), known: Known, why: &str, wait: Duration) {
        self.keep(key, known);
        self.scorer.queue.release(lease, why, wait, self.scorer.clock.now());
    }

    fn keep(&self, key: (String, i32), known: Known) {
        let mut kept = self.kept.lock();
        if !known.is_empty() && kept.len() < MAX_KEPT {
            kept.insert(key, known);
        }
    }

    /// What local evaluators of an item say that has others too. One that breaks off or takes too long is an error.
    async fn local(
        &self,
        lease: &Lease,
        evaluators: &[Arc<dyn Evaluator>],
        held: OwnedSemaphorePermit,
    ) -> Vec<Evaluated> {
        let (mut judged, ended) = self.scorer.judged(lease, evaluators).await;
        let why = match ended {
            Thread::Ended => "evaluation broke off".to_owned(),
            Thread::Broken(why) => format!("evaluation broke off: {why}"),
            Thread::Running(thread) => {
                // A thread cannot be stopped: its place is free when it ends.
                tokio::spawn(async move {
                    let _ = thread.await;
                    drop(held);
                });
                format!("evaluation took longer than {} (score.timeout)", words(self.scorer.timeout))
            }
        };
        let missing = evaluators.iter().skip(judged.len()).map(|e| errors(e.as_ref(), &why));
        judged.extend(missing.collect::<Vec<_>>());
        judged
    }

    /// Asks those who wait for others, all at once.
    async fn ask(
        &self,
        lease: &Lease,
        waiting: &[&Arc<dyn Evaluator>],
        known: &mut Known,
        until: Instant,
    ) -> Asked {
        let all = waiting.iter().map(|evaluator| self.ask_one(lease, evaluator.as_ref(), until));
        let (mut gone, mut failed) = (None, None);
        let answers = futures::future::join_all(all).await;
        for (&evaluator, answer) in waiting.iter().zip(answers) {
            match answer {
                Ok(one) => known.judged.push(one),
                Err(Away { why, counts, wait, owed }) => {
                    known.owe(evaluator, owed);
                    if counts {
                        failed = Some(why);
                    } else {
                        gone = Some((why, wait));
                    }
                }
            }
        }
        match (gone, failed) {
            (None, None) => Asked::All,
            // Nobody knows what those say who are away.
            (Some((why, wait)), _) => Asked::Away(why, wait),
            (None, Some(why)) => Asked::Failed(why),
        }
    }

    async fn ask_one(
        &self,
        lease: &Lease,
        evaluator: &dyn Evaluator,
        until: Instant,
    ) -> Result<Evaluated, Away> {
        let Some(waits) = evaluator.waits() else { return Ok(errors(evaluator, "it waits for nobody")) };
        let started = Instant::now();
        let Said { scores, usage, version } =
            self.scorer.registry.ask(evaluator, waits, &lease.item.input, until).await?;
        let seconds = started.elapsed().as_secs_f64();
        metrics::histogram!("groundline_evaluation_seconds", "evaluator" => evaluator.id().to_owned())
            .record(seconds);
        let (id, version) =
            (evaluator.id().to_owned(), version.unwrap_or_else(|| evaluator.version().to_owned()));
        Ok(Evaluated { evaluator: id, version, scores, latency_ms: seconds * 1e3, usage })
    }
}

/// What a task ended with. One that panicked has left its item to its lease.
fn known(ended: Result<Result<(), JournalError>, tokio::task::JoinError>) -> Result<(), JournalError> {
    ended.unwrap_or_else(|error| {
        tracing::error!(%error, "the evaluation of an item broke off; it is tried again when its lease ends");
        Ok(())
    })
}

#[cfg(test)]
#[path = "slow_tests.rs"]
mod tests;
