//! Evaluators that wait for others: those that ask an LLM judge, and plug-ins.

use crate::config::Config;
use crate::domain::time::Clock;
use crate::eval::{Evaluator, Registry};
use crate::score::{Judges, JudgesError, Plugins, PluginsError};
use std::sync::Arc;

/// Why those that others are to be asked through cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AskersError {
    /// Judges.
    #[error("{0}")]
    Judges(#[from] JudgesError),
    /// Plug-ins.
    #[error("{0}")]
    Plugins(#[from] PluginsError),
}

/// What the configuration has of them.
pub struct Askers {
    /// LLM judges.
    pub judges: Judges,
    /// Plug-ins.
    pub plugins: Plugins,
}

impl Askers {
    /// The judges and plug-ins of `config`. Nobody is asked before it is needed.
    ///
    /// # Errors
    /// When a key is missing, a prompt cannot be read, or an address cannot be used.
    pub fn open(config: &Config, registry: &Registry, clock: &Arc<dyn Clock>) -> Result<Self, AskersError> {
        // It is not there if it is disabled.
        let similarity =
            registry.select(&["answer_semantic_similarity".to_owned()]).ok().and_then(|mut all| all.pop());
        let judges = Judges::new(&config.judges, &config.eval.custom, clock, similarity.as_ref())?;
        Ok(Self { judges, plugins: Plugins::new(&config.plugins)? })
    }

    /// Their evaluators.
    pub fn evaluators(&self) -> Vec<Arc<dyn Evaluator>> {
        [self.judges.evaluators(), self.plugins.evaluators()].concat()
    }

    /// Items at once that may wait for them.
    pub fn at_once(&self) -> usize {
        self.judges.at_once() + self.plugins.at_once()
    }
}
