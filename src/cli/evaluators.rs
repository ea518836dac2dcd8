//! The evaluators of a configuration, judges included, for verbs that score without a server.

use crate::app::open_judges;
use crate::config::Config;
use crate::detect::Policy;
use crate::domain::time::{Clock, SystemClock};
use crate::eval::{Evaluator, Registry};
use crate::score::Judges;
use std::sync::Arc;

/// Lines at once whose evaluators wait for a judge.
const MAX_WAITING: usize = 64;

/// Evaluators that are ready, and how many lines may be scored at once.
pub struct Scorers {
    /// All evaluators that the configuration does not disable.
    pub registry: Registry,
    judges: Judges,
    workers: usize,
}

impl Scorers {
    /// Loads models and judges. The error has the exit code: 1 for a model that does not open, 2 for the configuration.
    pub fn open(config: &Config) -> Result<Self, (u8, String)> {
        let (workers, policy) = (config.score.worker_count(), Arc::new(Policy::new(&config.detect)));
        let registry =
            Registry::with_policy(&config.eval, workers, &policy).map_err(|e| (1, e.to_string()))?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let judges = open_judges(config, &registry, &clock).map_err(|e| (2, e.to_string()))?;
        let registry = registry.with(judges.evaluators(), &config.eval);
        Ok(Self { registry, judges, workers })
    }

    /// The evaluators of these ids, `*` for all.
    pub fn select(&self, ids: &[String]) -> Result<Vec<Arc<dyn Evaluator>>, (u8, String)> {
        self.registry.select(ids).map_err(|e| (2, e.to_string()))
    }

    /// Lines that are scored at once: more than there are cores where evaluators wait for a judge.
    pub fn at_once(&self, evaluators: &[Arc<dyn Evaluator>]) -> usize {
        let waits = evaluators.iter().any(|evaluator| evaluator.waits().is_some());
        if waits { self.workers.max(self.judges.at_once().min(MAX_WAITING)) } else { self.workers }
    }
}
