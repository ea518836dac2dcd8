//! The loop of evaluation: a queue item to durable scores.
//!
//! | file | what |
//! |---|---|
//! | `config` | how many items at once, and for how long |
//! | `rows` | scores as rows, with their identity |
//! | `judge` | evaluators that ask an LLM |
//! | `run` | the loop |
//! | `slow` | the loop of the slow lane: many items at once, and judges that may be away |

mod config;
mod judge;
mod rows;
mod run;
mod slow;

#[cfg(test)]
mod blocked_tests;

pub use config::Config;
pub use judge::{JudgeConfig, Judges, JudgesError, Secret, custom_faults, faults as judge_faults};
pub use run::{Scorer, in_lanes};
pub use slow::SlowLane;
