//! A plug-in as an evaluator.

use super::ledger::Job;
use super::worker::Core;
use crate::domain::score::Score;
use crate::domain::trace::EvalInput;
use crate::eval::{Away, Evaluator, Metric, Pace, Said, Waits};
use async_trait::async_trait;
use std::sync::Arc;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

/// One plug-in. Its workers end when it is dropped.
pub(super) struct PluginEvaluator {
    id: String,
    core: Arc<Core>,
    jobs: Sender<Job>,
    /// Starts the workers, once.
    start: Arc<dyn Fn() + Send + Sync>,
}

impl PluginEvaluator {
    pub(super) fn new(core: Arc<Core>, jobs: Sender<Job>, start: Arc<dyn Fn() + Send + Sync>) -> Self {
        Self { id: core.config.id(), core, jobs, start }
    }

    fn away(&self, why: &str) -> Away {
        Away { why: format!("plug-in {}: {why}", self.core.config.name), counts: false }
    }
}

impl Evaluator for PluginEvaluator {
    fn id(&self) -> &str {
        &self.id
    }

    fn version(&self) -> &str {
        &self.core.known.facts().version
    }

    fn metrics(&self) -> &[Metric] {
        &self.core.known.facts().metrics
    }

    fn pace(&self) -> Pace {
        Pace::Slow
    }

    fn is_by_name_only(&self) -> bool {
        true
    }

    fn evaluate(&self, _: &EvalInput) -> Vec<Score> {
        self.fail("it asks a plug-in, which cannot be done without waiting")
    }

    fn waits(&self) -> Option<&dyn Waits> {
        Some(self)
    }
}

#[async_trait]
impl Waits for PluginEvaluator {
    async fn ask(&self, input: &EvalInput, until: Instant) -> Result<Said, Away> {
        (self.start)();
        // At once: who waits for a plug-in that is away takes the place of those who wait for others.
        if let Some(why) = self.core.presence.shut(Instant::now()) {
            return Err(self.away(&why));
        }
        let (reply, answer) = oneshot::channel();
        self.jobs.try_send(Job { input: input.clone(), reply }).map_err(|error| match error {
            TrySendError::Full(_) => self.away("as many items wait for it as may"),
            TrySendError::Closed(_) => self.away("the server stops"),
        })?;
        match timeout_at(until, answer).await {
            Ok(Ok(told)) => told,
            Ok(Err(_)) => {
                Err(Away { counts: true, ..self.away("the batch broke off; see the server's log") })
            }
            Err(_) => Err(self.away("no answer in time (score.slow_timeout)")),
        }
    }
}
