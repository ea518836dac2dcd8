//! The loop of evaluation: a queue item to durable scores.
//!
//! Scores, the decision `scored` and the completion of the item are one journal frame: a crash leaves either all of it
//! or none, so every item is scored exactly once (P6). A worker has one evaluation at a time, also when that takes longer
//! than it may: a thread cannot be stopped, so the worker waits for it.

use super::rows::{Evaluated, decision_row, score_rows};
use super::together::{End, Together, Written};
use crate::domain::decision::{Decision, DecisionKind};
use crate::domain::score::{Score, ScoreRow};
use crate::domain::time::Clock;
use crate::domain::trace::EvalInput;
use crate::eval::{Evaluator, Pace, Registry, RegistryError, asks_others};
use crate::journal::{Journal, JournalError};
use crate::queue::{Item, Lane, Lease, Outcome, Queue, QueueEvent};
use crate::sample::{Follows, Rule, SecondPhases};
use crate::schema::batch::scores_to_batch;
use crate::units::words;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long a worker sleeps when nothing tells it of an item: retries become ready without a sign.
const NAP: Duration = Duration::from_millis(250);

/// The workers' shared part.
pub struct Scorer {
    /// Where scores become durable.
    pub journal: Journal,
    /// Where items come from.
    pub queue: Arc<Queue>,
    /// Who judges.
    pub registry: Arc<Registry>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The longest evaluation of one item, by all its evaluators together.
    pub timeout: Duration,
    /// What follows from scores; none without second phases.
    second: Option<Arc<SecondPhases>>,
    /// How the end of an item becomes durable.
    together: Arc<Together>,
}

impl Scorer {
    /// A scorer that gives an item and all its evaluators `timeout`.
    pub fn new(
        journal: Journal,
        queue: Arc<Queue>,
        registry: Arc<Registry>,
        clock: Arc<dyn Clock>,
        timeout: Duration,
    ) -> Self {
        let together = Arc::new(Together::new(journal.clone()));
        Self { journal, queue, registry, clock, timeout, second: None, together }
    }

    /// The same, with second phases that choose from what is scored.
    #[must_use]
    pub fn with_second(mut self, second: Arc<SecondPhases>) -> Self {
        self.second = Some(second);
        self
    }

    /// Runs one worker of `lane` until `stop`. An item in its hands is finished first.
    pub async fn work(self: Arc<Self>, lane: Lane, stop: CancellationToken) -> Result<(), JournalError> {
        while !stop.is_cancelled() {
            let changed = self.queue.changed(lane);
            let Some(lease) = self.queue.lease(lane, self.clock.now()) else {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = changed => {}
                    () = tokio::time::sleep(NAP) => {}
                }
                continue;
            };
            self.handle(lease, &stop).await?;
        }
        Ok(())
    }

    async fn handle(&self, lease: Lease, stop: &CancellationToken) -> Result<(), JournalError> {
        if self.has_expired(&lease) {
            return self.expire(&lease, Vec::new()).await;
        }
        self.evaluate(lease, stop).await
    }

    /// Whether an item has waited too long.
    pub(super) fn has_expired(&self, lease: &Lease) -> bool {
        self.queue.is_expired(&lease.item, self.clock.now())
    }

    /// Ends an item that has waited too long, with what some have answered before: they are paid.
    pub(super) async fn expire(&self, lease: &Lease, judged: Vec<Evaluated>) -> Result<(), JournalError> {
        let rows = score_rows(lease, judged, self.clock.now());
        self.finish(lease, rows, Outcome::Expired, &too_old(&lease.item)).await
    }

    /// The evaluators of the item that belong to its lane.
    pub(super) fn evaluators(&self, item: &Item) -> Result<Vec<Arc<dyn Evaluator>>, RegistryError> {
        self.registry.select_paced(&item.evaluators, pace(item.lane))
    }

    /// Whether another attempt follows if this one fails.
    pub(super) fn has_another(&self, lease: &Lease) -> bool {
        self.queue.after_failure(lease, "", self.clock.now()).is_some()
    }

    /// Asks the local evaluators of the item and writes down what they say.
    pub(super) async fn evaluate(&self, lease: Lease, stop: &CancellationToken) -> Result<(), JournalError> {
        let evaluators = match self.evaluators(&lease.item) {
            Ok(evaluators) => evaluators,
            Err(error) => return self.failed(&lease, Vec::new(), &error.to_string()).await,
        };
        let (judged, running) = self.judged(&lease, &evaluators).await;
        match (evaluators.get(judged.len()), running) {
            (None, _) => {
                let rows = score_rows(&lease, judged, self.clock.now());
                self.finish(&lease, rows, Outcome::Scored, "all evaluators have answered").await
            }
            (Some(_), Thread::Broken(why)) => {
                self.failed(&lease, judged, &format!("evaluation broke off: {why}")).await
            }
            (Some(late), running) => {
                let limit = words(self.timeout);
                let reason = format!(
                    "evaluation took longer than {limit} (score.timeout); the time ran out at {}",
                    late.id()
                );
                // The same again would take as long again.
                self.give_up(&lease, judged, &reason).await?;
                if let Thread::Running(thread) = running {
                    tokio::select! {
                        () = stop.cancelled() => {}
                        _ = thread => {}
                    }
                }
                Ok(())
            }
        }
    }

    /// Asks the evaluators of the item on a thread of their own, for as long as it may take. What they said in that time,
    /// in their order, and what became of the thread.
    pub(super) async fn judged(
        &self,
        lease: &Lease,
        evaluators: &[Arc<dyn Evaluator>],
    ) -> (Vec<Evaluated>, Thread) {
        let (done, mut answers) = unbounded_channel();
        let (registry, item, asked) = (self.registry.clone(), lease.item.clone(), evaluators.to_vec());
        let deadline = Instant::now().checked_add(self.timeout);
        let thread =
            tokio::task::spawn_blocking(move || judge(&registry, &item.input, &asked, deadline, &done));
        let mut judged = Vec::with_capacity(evaluators.len());
        let all = async {
            while let Some(one) = answers.recv().await {
                judged.push(one);
            }
        };
        let in_time = tokio::time::timeout(self.timeout, all).await.is_ok();
        answers.close();
        while let Ok(one) = answers.try_recv() {
            judged.push(one);
        }
        if !in_time {
            // Ends it only if it has not begun.
            thread.abort();
            return (judged, Thread::Running(thread));
        }
        match thread.await {
            Ok(()) => (judged, Thread::Ended),
            Err(error) => (judged, Thread::Broken(error.to_string())),
        }
    }

    /// Has the item tried again; when that was the last attempt, gives it up with what was `judged` in it.
    pub(super) async fn failed(
        &self,
        lease: &Lease,
        judged: Vec<Evaluated>,
        reason: &str,
    ) -> Result<(), JournalError> {
        let Some(retry) = self.queue.after_failure(lease, reason, self.clock.now()) else {
            return self.give_up(lease, judged, reason).await;
        };
        self.retry(lease, retry, reason).await
    }

    async fn retry(&self, lease: &Lease, retry: QueueEvent, reason: &str) -> Result<(), JournalError> {
        tracing::warn!(item = lease.item.id, attempt = lease.attempt, reason, "evaluation failed");
        let mut end = End { events: vec![retry], ..End::default() };
        match self.write(lease.item.lane, &mut end).await? {
            Written::Yes => self.queue.apply_all(end.events),
            // The lease runs out, and then it is tried again.
            Written::Never(why) => lost(lease, &why),
        }
        Ok(())
    }

    /// Ends the item with what was `judged`, and an error for each metric of its other evaluators: without these rows
    /// the item would not count among those that each of them should have judged.
    async fn give_up(&self, lease: &Lease, judged: Vec<Evaluated>, reason: &str) -> Result<(), JournalError> {
        tracing::warn!(item = lease.item.id, attempt = lease.attempt, reason, "evaluation given up");
        let judged = self.with_errors(lease, judged, reason);
        let rows = score_rows(lease, judged, self.clock.now());
        self.finish(lease, rows, Outcome::Failed, reason).await
    }

    fn with_errors(&self, lease: &Lease, mut judged: Vec<Evaluated>, reason: &str) -> Vec<Evaluated> {
        let lane = lease.item.lane;
        for id in &lease.item.evaluators {
            let missing: Vec<Evaluated> =
                match self.registry.select_paced(std::slice::from_ref(id), pace(lane)) {
                    Ok(evaluators) => evaluators.iter().map(|e| errors(e.as_ref(), reason)).collect(),
                    // One lane tells it: the one that it was queued for.
                    Err(_) if asks_others(id) != (lane == Lane::Slow) => Vec::new(),
                    // It may have been disabled since the item was queued.
                    Err(error) => vec![Evaluated {
                        evaluator: id.clone(),
                        version: String::new(),
                        scores: vec![Score::failed("evaluation", &error.to_string())],
                        latency_ms: 0.0,
                        usage: None,
                    }],
                };
            for one in missing {
                if judged.iter().all(|known| known.evaluator != one.evaluator) {
                    judged.push(one);
                }
            }
        }
        judged
    }

    /// Makes the end of an item durable, with its scores. An end that cannot be written down is a failed attempt.
    pub(super) async fn finish(
        &self,
        lease: &Lease,
        rows: Vec<ScoreRow>,
        outcome: Outcome,
        reason: &str,
    ) -> Result<(), JournalError> {
        // Another worker may have finished it after this lease ran out.
        if !self.queue.claim(lease) {
            return Ok(());
        }
        let Written::Never(why) = self.end(lease, rows, outcome, reason).await? else { return Ok(()) };
        let why = format!("scores could not be written: {why}");
        if outcome == Outcome::Scored
            && let Some(retry) = self.queue.after_failure(lease, &why, self.clock.now())
        {
            self.queue.unclaim(lease);
            return self.retry(lease, retry, &why).await;
        }
        // Without its rows the decision still says what became of it.
        if let Written::Never(why) = self.end(lease, Vec::new(), Outcome::Failed, &why).await? {
            lost(lease, &why);
            self.queue.unclaim(lease);
            tokio::time::sleep(NAP).await;
        }
        Ok(())
    }

    /// Writes the end of a claimed item and tells the queue.
    async fn end(
        &self,
        lease: &Lease,
        rows: Vec<ScoreRow>,
        outcome: Outcome,
        reason: &str,
    ) -> Result<Written, JournalError> {
        let kind = match outcome {
            Outcome::Scored => DecisionKind::Scored,
            Outcome::Failed => DecisionKind::Failed,
            Outcome::Expired => DecisionKind::Expired,
        };
        let decision = decision_row(&lease.item, kind, reason, self.clock.now());
        let done = QueueEvent::Done {
            id: lease.item.id.clone(),
            outcome,
            error: (outcome != Outcome::Scored).then(|| reason.to_owned()),
            score_version: lease.item.score_version,
        };
        let follows =
            if outcome == Outcome::Scored { self.follows(lease, &rows) } else { Follows::default() };
        let mut end = End { rows, decisions: vec![decision], events: vec![done] };
        let after = follows.decisions.len();
        end.decisions.extend(follows.decisions);
        end.events.extend(follows.items.into_iter().map(|item| QueueEvent::Queued(Box::new(item))));
        let mut written = self.write(lease.item.lane, &mut end).await?;
        if let (Written::Never(why), true) = (&written, after > 0) {
            // The scores do not go with what follows from them.
            end.decisions[1..].iter_mut().for_each(|decision| fail(decision, why));
            end.events.truncate(1);
            written = self.write(lease.item.lane, &mut end).await?;
        }
        if let Written::Yes = written {
            let more = end.events.iter().filter_map(|event| match event {
                QueueEvent::Queued(item) => Some(item),
                _ => None,
            });
            for item in more {
                metrics::counter!("groundline_items_total", "rule" => item.rule.clone(),
                    "lane" => item.lane.as_str(), "outcome" => "queued")
                .increment(1);
            }
            for decision in &end.decisions[1..] {
                metrics::counter!("groundline_decisions_total", "rule" => decision.rule.clone(),
                    "decision" => decision.decision.as_str())
                .increment(1);
            }
            for row in &end.rows {
                metrics::counter!("groundline_scores_total", "evaluator" => row.evaluator.clone(),
                    "rule" => row.rule.clone().unwrap_or_default(), "status" => row.score.status.as_str())
                .increment(1);
            }
            let waited = self.clock.now().0.saturating_sub(lease.item.queued_at);
            metrics::histogram!("groundline_queue_wait_seconds", "lane" => lease.item.lane.as_str())
                .record(waited as f64 / 1e9);
            metrics::counter!("groundline_items_total", "rule" => lease.item.rule.clone(),
                "lane" => lease.item.lane.as_str(), "outcome" => kind.as_str())
            .increment(1);
            if outcome == Outcome::Scored {
                self.tell_lag(&lease.item);
            }
            // At once: who waits for an empty queue must not see it between the two.
            self.queue.apply_all(end.events);
        }
        Ok(written)
    }

    /// Tells how long after the end of its span an item is scored. One that is evaluated again says nothing of that.
    fn tell_lag(&self, item: &Item) {
        if item.span_end > 0 && !item.is_again {
            let lag = self.clock.now().0.saturating_sub(item.span_end).max(0);
            metrics::histogram!("groundline_evaluation_lag_seconds", "rule" => item.rule.clone())
                .record(lag as f64 / 1e9);
        }
    }

    /// What second phases make of the scores of an item.
    fn follows(&self, lease: &Lease, rows: &[ScoreRow]) -> Follows {
        let Some(second) = self.second.as_ref().filter(|second| second.looks_at(&lease.item)) else {
            return Follows::default();
        };
        match scores_to_batch(rows) {
            Ok(batch) => second.decide(&lease.item, &batch, &self.queue, self.clock.now()),
            // The frame of the scores fails as well, and says so.
            Err(_) => Follows::default(),
        }
    }

    /// Writes what became of an item: in the slow lane with what else ends in the same moment. An error leaves nothing of it.
    async fn write(&self, lane: Lane, end: &mut End) -> Result<Written, JournalError> {
        match lane {
            Lane::Fast => self.together.alone(&end.rows, &end.decisions, &end.events).await,
            Lane::Slow => {
                let (written, given_back) = self.together.with_others(std::mem::take(end)).await;
                *end = given_back;
                written
            }
        }
    }
}

/// Why an item that has waited too long is ended.
pub(super) fn too_old(item: &Item) -> String {
    format!("waited longer than queue.{}.max_age", item.lane.as_str())
}

/// A second phase whose item cannot be written down.
fn fail(decision: &mut Decision, why: &str) {
    if decision.decision == DecisionKind::Queued {
        (decision.decision, decision.reason) = (DecisionKind::Failed, why.to_owned());
    }
}

/// Nothing about the item can be written: it waits on, for a release that can.
fn lost(lease: &Lease, why: &str) {
    metrics::counter!("groundline_frames_unwritten_total").increment(1);
    tracing::error!(
        item = lease.item.id,
        why,
        "the end of an item could not be written; it stays in the queue"
    );
}

/// The rule, in the lanes of its evaluators.
pub fn in_lanes(rule: Rule, registry: &Registry) -> Rule {
    let ids = &rule.config.evaluators;
    let lanes = [(Lane::Fast, registry.has_fast(ids)), (Lane::Slow, registry.has_slow(ids))];
    let lanes = lanes.into_iter().filter(|(_, has)| *has).map(|(lane, _)| lane).collect();
    rule.in_lanes(lanes)
}

/// The evaluators of a lane.
fn pace(lane: Lane) -> Pace {
    match lane {
        Lane::Fast => Pace::Fast,
        Lane::Slow => Pace::Slow,
    }
}

/// What became of the thread that asked the evaluators.
pub(super) enum Thread {
    /// It asked all, or came to the end of its time.
    Ended,
    /// It panicked, or never ran.
    Broken(String),
    /// An evaluator takes longer than it may.
    Running(JoinHandle<()>),
}

/// Asks one evaluator after the other, and sends what each said. Blocks.
fn judge(
    registry: &Registry,
    input: &EvalInput,
    evaluators: &[Arc<dyn Evaluator>],
    deadline: Option<Instant>,
    done: &UnboundedSender<Evaluated>,
) {
    for evaluator in evaluators {
        let started = Instant::now();
        // One that runs cannot be stopped; the next one is not begun.
        if deadline.is_some_and(|deadline| started >= deadline) {
            return;
        }
        let scores = registry.evaluate(evaluator.as_ref(), input);
        let seconds = started.elapsed().as_secs_f64();
        metrics::histogram!("groundline_evaluation_seconds", "evaluator" => evaluator.id().to_owned())
            .record(seconds);
        let judged = Evaluated {
            evaluator: evaluator.id().to_owned(),
            version: evaluator.version().to_owned(),
            scores,
            latency_ms: seconds * 1e3,
            usage: None,
        };
        // Nobody waits for more.
        if done.send(judged).is_err() {
            return;
        }
    }
}

/// An error for each metric of an evaluator that gave no scores.
pub(super) fn errors(evaluator: &dyn Evaluator, reason: &str) -> Evaluated {
    Evaluated {
        evaluator: evaluator.id().to_owned(),
        version: evaluator.version().to_owned(),
        scores: evaluator.fail(reason),
        latency_ms: 0.0,
        usage: None,
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
pub(super) mod tests;
