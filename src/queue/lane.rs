//! Lanes: what is cheap never waits behind what is slow.

use serde::{Deserialize, Serialize};

/// Where an item waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// Evaluators that answer in milliseconds to seconds on this machine.
    #[default]
    Fast,
    /// Evaluators that take long, or wait for others.
    Slow,
}

impl Lane {
    /// Every lane.
    pub const ALL: [Lane; 2] = [Lane::Fast, Lane::Slow];

    /// Its name in the configuration, in metrics and in the table `queue`.
    pub fn as_str(self) -> &'static str {
        match self {
            Lane::Fast => "fast",
            Lane::Slow => "slow",
        }
    }
}
