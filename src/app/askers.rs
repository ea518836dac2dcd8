//! Evaluators that wait for others: those that ask an LLM judge, and plug-ins.

use crate::config::Config;
use crate::detect::Policy;
use crate::domain::time::Clock;
use crate::eval::{Evaluator, Registry};
use crate::net::Scope;
use crate::score::{Judges, JudgesError, JudgesSetup, Plugins, PluginsError, SessionQuery};
use crate::sql::{Sql, Work};
use datafusion::common::ScalarValue;
use serde_json::Value as Json;
use std::sync::Arc;

/// The folder of judges' replies, in the data directory.
const CACHE: &str = "judges";

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
    /// When a key is missing, a prompt cannot be read, or an address or folder cannot be used.
    pub fn open(
        config: &Config,
        registry: &Registry,
        policy: &Arc<Policy>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, AskersError> {
        let similarity = registry.similarity();
        let judges = Judges::new(&JudgesSetup {
            judges: &config.judges,
            custom: &config.eval.custom,
            correctness_weight: config.eval.answer_correctness_weight,
            pairwise_runs: config.eval.pairwise_runs,
            cache: (&config.score.judge_cache, config.server.data_dir.join(CACHE)),
            policy,
            clock,
            similarity: similarity.as_ref(),
        })?;
        Ok(Self { judges, plugins: Plugins::new(&config.plugins, policy)? })
    }

    /// Their evaluators.
    pub fn evaluators(&self) -> Vec<Arc<dyn Evaluator>> {
        [self.judges.evaluators(), self.plugins.evaluators()].concat()
    }

    /// Items that may be in work for them at once.
    pub fn at_once(&self) -> usize {
        self.judges.at_once() + self.plugins.at_once()
    }
}

/// Reads the earlier traces of sessions with `sql`.
pub fn sessions_of(sql: Arc<Sql>) -> SessionQuery {
    Arc::new(move |query, values| {
        let sql = sql.clone();
        Box::pin(async move {
            let value = |value: Json| match value {
                Json::String(text) => ScalarValue::Utf8(Some(text)),
                other => ScalarValue::Int64(other.as_i64()),
            };
            let work = Work::Bound(query.to_owned(), values.into_iter().map(value).collect());
            let rows = sql.collect_from("local", &Scope::All, work, None).await;
            rows.map(|rows| rows.batches).map_err(|error| error.to_string())
        })
    })
}
