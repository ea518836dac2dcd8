//! The loop of evaluation: a queue item to durable scores.
//!
//! Scores, the decision `scored` and the completion of the item are one journal frame: a crash leaves either all of it
//! or none, so every item is scored exactly once (P6).

use super::registry::Registry;
use super::rows::{Judged, decision_row, score_rows};
use crate::domain::batch::{decisions_to_batch, scores_to_batch};
use crate::domain::columns::Table;
use crate::domain::decision::DecisionKind;
use crate::domain::frame::{self, FrameError, Part};
use crate::domain::score::{Score, ScoreRow};
use crate::domain::time::Clock;
use crate::journal::{Journal, JournalError};
use crate::sample::{Lease, Outcome, Queue, QueueEvent, append_durably};
use std::sync::Arc;
use std::time::{Duration, Instant};
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
    /// The longest evaluation of one item.
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
            self.handle(lease).await?;
        }
        Ok(())
    }

    async fn handle(self: &Arc<Self>, lease: Lease) -> Result<(), JournalError> {
        if self.queue.is_expired(&lease.item, self.clock.now()) {
            let reason = "waited longer than sample.queue_max_age_s";
            return self.finish(&lease, Vec::new(), Outcome::Expired, reason).await;
        }
        let (me, leased) = (self.clone(), lease.clone());
        let judging = tokio::task::spawn_blocking(move || me.judge(&leased));
        match tokio::time::timeout(self.timeout, judging).await {
            Ok(Ok(Ok(judged))) => {
                let rows = score_rows(&lease, judged, self.clock.now());
                self.finish(&lease, rows, Outcome::Scored, "all evaluators have answered").await
            }
            Ok(Ok(Err(reason))) => self.failed(&lease, &reason).await,
            Ok(Err(join)) => self.failed(&lease, &format!("evaluation broke off: {join}")).await,
            Err(_) => {
                let reason = format!("evaluation took longer than {} ms", self.timeout.as_millis());
                self.failed(&lease, &reason).await
            }
        }
    }

    /// Asks every evaluator of the item. Blocks.
    fn judge(&self, lease: &Lease) -> Result<Vec<Judged>, String> {
        let evaluators = self.registry.select(&lease.item.evaluators).map_err(|e| e.to_string())?;
        let mut judged = Vec::with_capacity(evaluators.len());
        for evaluator in evaluators {
            let started = Instant::now();
            let scores = self.registry.evaluate(evaluator.as_ref(), &lease.item.input);
            let seconds = started.elapsed().as_secs_f64();
            metrics::histogram!("groundline_evaluation_seconds", "evaluator" => evaluator.id().to_owned())
                .record(seconds);
            judged.push(Judged {
                evaluator: evaluator.id().to_owned(),
                version: evaluator.version().to_owned(),
                scores,
                latency_ms: seconds * 1e3,
            });
        }
        Ok(judged)
    }

    async fn failed(&self, lease: &Lease, reason: &str) -> Result<(), JournalError> {
        tracing::warn!(item = lease.item.id, attempt = lease.attempt, reason, "evaluation failed");
        let Some(retry) = self.queue.after_failure(lease, reason, self.clock.now()) else {
            let judged = Judged {
                evaluator: lease.item.evaluators.join(","),
                version: String::new(),
                scores: vec![Score::failed("evaluation", reason)],
                latency_ms: 0.0,
            };
            let rows = score_rows(lease, vec![judged], self.clock.now());
            return self.finish(lease, rows, Outcome::Failed, reason).await;
        };
        if let Some((kind, payload)) = encoded(lease, Vec::new(), None, &retry) {
            append_durably(&self.journal, kind, payload).await?;
        }
        self.queue.apply(0, retry);
        Ok(())
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
            append_durably(&self.journal, kind, payload).await?;
        }
        let waited = self.clock.now().0.saturating_sub(lease.item.queued_at);
        metrics::histogram!("groundline_queue_wait_seconds").record(waited as f64 / 1e9);
        self.queue.apply(0, done);
        Ok(())
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
