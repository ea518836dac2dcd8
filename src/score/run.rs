//! The loop of evaluation: a queue item to durable scores.
//!
//! Scores, the decision `scored` and the completion of the item are one journal frame: a crash leaves either all of it
//! or none, so every item is scored exactly once (P6). A worker has one evaluation at a time, also when that takes longer
//! than it may: a thread cannot be stopped, so the worker waits for it.

use super::rows::{Judged, decision_row, score_rows};
use crate::domain::decision::DecisionKind;
use crate::domain::score::{Score, ScoreRow};
use crate::domain::time::Clock;
use crate::domain::trace::EvalInput;
use crate::eval::{Evaluator, Registry};
use crate::journal::{Journal, JournalError};
use crate::queue::{Lease, Outcome, Queue, QueueEvent};
use crate::schema::batch::{decisions_to_batch, scores_to_batch};
use crate::schema::columns::Table;
use crate::schema::frame::{self, FrameError, Part};
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
}

impl Scorer {
    /// Runs one worker until `stop`. An item in its hands is finished first.
    pub async fn work(self: Arc<Self>, stop: CancellationToken) -> Result<(), JournalError> {
        while !stop.is_cancelled() {
            let Some(lease) = self.queue.lease(self.clock.now()) else {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = self.queue.changed() => {}
                    () = tokio::time::sleep(NAP) => {}
                }
                continue;
            };
            self.handle(lease, &stop).await?;
        }
        Ok(())
    }

    async fn handle(&self, lease: Lease, stop: &CancellationToken) -> Result<(), JournalError> {
        if self.queue.is_expired(&lease.item, self.clock.now()) {
            let reason = "waited longer than queue.max_age";
            return self.finish(&lease, Vec::new(), Outcome::Expired, reason).await;
        }
        let evaluators = match self.registry.select(&lease.item.evaluators) {
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
    async fn judged(&self, lease: &Lease, evaluators: &[Arc<dyn Evaluator>]) -> (Vec<Judged>, Thread) {
        let (done, mut answers) = unbounded_channel();
        let (registry, input, asked) = (self.registry.clone(), lease.item.input.clone(), evaluators.to_vec());
        let deadline = Instant::now().checked_add(self.timeout);
        let thread = tokio::task::spawn_blocking(move || judge(&registry, &input, &asked, deadline, &done));
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
    async fn failed(&self, lease: &Lease, judged: Vec<Judged>, reason: &str) -> Result<(), JournalError> {
        let Some(retry) = self.queue.after_failure(lease, reason, self.clock.now()) else {
            return self.give_up(lease, judged, reason).await;
        };
        tracing::warn!(item = lease.item.id, attempt = lease.attempt, reason, "evaluation failed");
        if let Some((kind, payload)) = encoded(lease, Vec::new(), None, &retry) {
            self.journal.append_durably(kind.0, payload).await?;
        }
        self.queue.apply(0, retry);
        Ok(())
    }

    /// Ends the item with what was `judged`, and an error for each metric of its other evaluators: without these rows
    /// the item would not count among those that each of them should have judged.
    async fn give_up(&self, lease: &Lease, judged: Vec<Judged>, reason: &str) -> Result<(), JournalError> {
        tracing::warn!(item = lease.item.id, attempt = lease.attempt, reason, "evaluation given up");
        let judged = self.with_errors(&lease.item.evaluators, judged, reason);
        let rows = score_rows(lease, judged, self.clock.now());
        self.finish(lease, rows, Outcome::Failed, reason).await
    }

    fn with_errors(&self, ids: &[String], mut judged: Vec<Judged>, reason: &str) -> Vec<Judged> {
        for id in ids {
            let missing: Vec<Judged> = match self.registry.select(std::slice::from_ref(id)) {
                Ok(evaluators) => evaluators.iter().map(|e| errors(e.as_ref(), reason)).collect(),
                // It may have been disabled since the item was queued.
                Err(error) => vec![Judged {
                    evaluator: id.clone(),
                    version: String::new(),
                    scores: vec![Score::failed("evaluation", &error.to_string())],
                    latency_ms: 0.0,
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

    /// Makes the end of an item durable, with its scores.
    async fn finish(
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
        for row in &rows {
            metrics::counter!("groundline_scores_total", "evaluator" => row.evaluator.clone(),
                "status" => row.score.status.as_str())
            .increment(1);
        }
        let kind = match outcome {
            Outcome::Scored => DecisionKind::Scored,
            Outcome::Failed => DecisionKind::Failed,
            Outcome::Expired => DecisionKind::Expired,
        };
        let decision = decision_row(&lease.item, kind, reason, self.clock.now());
        let done = QueueEvent::Done { id: lease.item.id.clone(), outcome };
        if let Some((kind, payload)) = encoded(lease, rows, decision, &done) {
            self.journal.append_durably(kind.0, payload).await?;
        }
        let waited = self.clock.now().0.saturating_sub(lease.item.queued_at);
        metrics::histogram!("groundline_queue_wait_seconds").record(waited as f64 / 1e9);
        self.queue.apply(0, done);
        Ok(())
    }
}

/// What became of the thread that asked the evaluators.
enum Thread {
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
    done: &UnboundedSender<Judged>,
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
        let judged = Judged {
            evaluator: evaluator.id().to_owned(),
            version: evaluator.version().to_owned(),
            scores,
            latency_ms: seconds * 1e3,
        };
        // Nobody waits for more.
        if done.send(judged).is_err() {
            return;
        }
    }
}

/// An error for each metric of an evaluator that gave no scores.
fn errors(evaluator: &dyn Evaluator, reason: &str) -> Judged {
    Judged {
        evaluator: evaluator.id().to_owned(),
        version: evaluator.version().to_owned(),
        scores: evaluator.fail(reason),
        latency_ms: 0.0,
    }
}

/// The frame that records what became of an item.
fn encoded(
    lease: &Lease,
    rows: Vec<ScoreRow>,
    decision: Option<crate::domain::decision::Decision>,
    event: &QueueEvent,
) -> Option<(frame::FrameKind, bytes::Bytes)> {
    let build = || -> Result<_, FrameError> {
        let mut parts = Vec::new();
        if !rows.is_empty() {
            parts.push(Part::Rows(Table::Scores, scores_to_batch(&rows)?));
        }
        if let Some(decision) = &decision {
            let rows = std::slice::from_ref(decision);
            parts.push(Part::Rows(Table::Decisions, decisions_to_batch(rows)?));
        }
        let event = QueueEvent::encode(std::slice::from_ref(event))
            .map_err(|e| arrow::error::ArrowError::ExternalError(Box::new(e)))?;
        parts.push(Part::Queue(event));
        frame::encode(&parts)
    };
    build()
        .inspect_err(|error| tracing::error!(item = lease.item.id, %error, "scores could not be written"))
        .ok()
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
