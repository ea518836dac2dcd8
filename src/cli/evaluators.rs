//! The evaluators of a configuration, judges and plug-ins included, for verbs that score without a server.

use crate::app::Askers;
use crate::config::Config;
use crate::detect::Policy;
use crate::domain::time::{Clock, SystemClock};
use crate::eval::{Evaluator, JudgeDesk, Registry};
use std::sync::Arc;

/// Lines at once whose evaluators wait for a judge or a plug-in: each has a thread, and no verb takes up more of them
/// together.
const MAX_WAITING: usize = 512;

/// Evaluators that are ready, and how many lines may be scored at once.
pub struct Scorers {
    /// All evaluators that the configuration does not disable.
    pub registry: Arc<Registry>,
    askers: Askers,
    workers: usize,
}

impl Scorers {
    /// Loads models and judges. The error has the exit code: 1 for a model that does not open, 2 for the configuration.
    pub fn open(config: &Config) -> Result<Self, (u8, String)> {
        let (workers, policy) = (config.score.worker_count(), Arc::new(Policy::new(&config.detect)));
        let registry = Registry::with_models(&config.eval, &config.models, workers, &policy)
            .map_err(|e| (1, e.to_string()))?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let askers = Askers::open(config, &registry, &policy, &clock).map_err(|e| (2, e.to_string()))?;
        let registry = registry.with(askers.evaluators(), &config.eval);
        Ok(Self { registry: Arc::new(registry), askers, workers })
    }

    /// The evaluators of these ids, `*` for all but those that run only where they are named.
    pub fn select(&self, ids: &[String]) -> Result<Vec<Arc<dyn Evaluator>>, (u8, String)> {
        self.registry.select(ids).map_err(|e| (2, e.to_string()))
    }

    /// Where questions of suites are asked; none without a judge.
    pub fn desk(&self) -> Option<Arc<dyn JudgeDesk>> {
        self.askers.judges.desk()
    }

    /// Lines that are scored at once: more than there are cores where evaluators wait for others.
    pub fn at_once(&self, evaluators: &[Arc<dyn Evaluator>]) -> usize {
        let waits = evaluators.iter().any(|evaluator| evaluator.waits().is_some());
        if waits { self.waiting_at_once() } else { self.workers }
    }

    /// Lines that are in work at once where others are waited for.
    pub fn waiting_at_once(&self) -> usize {
        self.workers.max(self.askers.at_once().min(MAX_WAITING))
    }

    /// Who writes texts anew; none without a judge.
    pub fn writer(&self) -> Option<Arc<dyn crate::eval::Writer>> {
        self.askers.judges.writer()
    }

    /// Ends the programs that plug-ins are.
    pub async fn ended(&self) {
        self.askers.plugins.stop().await;
    }

    /// As [`Scorers::ended`]. Blocks; to be called within a runtime that may block.
    pub fn stop(&self) {
        tokio::runtime::Handle::current().block_on(self.askers.plugins.stop());
    }
}
