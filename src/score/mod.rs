//! The loop of evaluation: a queue item to durable scores.
//!
//! | file | what |
//! |---|---|
//! | `config` | how many items at once, and for how long |
//! | `secret` | values that are neither logged nor dumped |
//! | `wire` | what requests to judges and plug-ins share |
//! | `egress` | whose texts may be sent, and what is redacted in them first |
//! | `rows` | scores as rows, with their identity |
//! | `judge` | evaluators that ask an LLM |
//! | `plugin` | evaluators of the user's own |
//! | `together` | what became of items, durable: alone, or with what ends in the same moment |
//! | `run` | the loop |
//! | `slow` | the loop of the slow lane: many items at once, and judges that may be away |

mod config;
mod egress;
mod judge;
mod plugin;
mod rows;
mod run;
mod secret;
mod slow;
mod together;
mod wire;

#[cfg(test)]
mod away_tests;
#[cfg(test)]
mod blocked_tests;

pub use config::Config;
pub use judge::{
    CacheConfig, JudgeConfig, Judges, JudgesError, JudgesSetup, SessionQuery, custom_faults,
    faults as judge_faults,
};
pub use plugin::{PluginConfig, PluginKind, Plugins, PluginsError, faults as plugin_faults};
pub use run::{Scorer, in_lanes};
pub use secret::Secret;
pub use slow::SlowLane;
