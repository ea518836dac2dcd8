//! Settings of the loop of evaluation.

use super::judge::CacheConfig;
use crate::units::Time;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Settings of the loop of evaluation.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How many items are evaluated at once; 0 for one a core.
    pub workers: usize,
    /// How many items of slow local evaluators are evaluated at once, beside the others.
    pub slow_workers: usize,
    /// The longest evaluation of one item by the evaluators that ask a judge, retries included. Then the item waits, and
    /// they are asked again.
    #[serde(with = "Time")]
    pub slow_timeout: Duration,
    /// The longest evaluation of one item by all its evaluators together. Evaluators that have not answered by then give
    /// errors, and the item is not tried again. The one that is running cannot be stopped: its worker takes no other item
    /// until it ends.
    #[serde(with = "Time")]
    pub timeout: Duration,
    /// Verdicts of judges that are kept, so that the same question about the same texts is not paid for twice.
    pub judge_cache: CacheConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            workers: 0,
            slow_workers: 1,
            slow_timeout: Duration::from_secs(90),
            timeout: Duration::from_mins(1),
            judge_cache: CacheConfig::default(),
        }
    }
}

impl Config {
    /// Every fault, each with the key and what to do.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.slow_workers == 0 {
            faults.push("score.slow_workers is 0: slow evaluators would never be asked".to_owned());
        }
        if self.slow_timeout.is_zero() {
            faults.push("score.slow_timeout is 0: no judge would ever be asked".to_owned());
        }
        if self.timeout.is_zero() {
            faults.push("score.timeout is 0: every evaluation would time out".to_owned());
        }
        faults.extend(self.judge_cache.faults());
        faults
    }

    /// The number of workers on this machine.
    pub fn worker_count(&self) -> usize {
        if self.workers > 0 {
            return self.workers;
        }
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
    }
}
