//! The loop of evaluation: a queue item to durable scores.
//!
//! | file | what |
//! |---|---|
//! | `config` | how many items at once, and for how long |
//! | `rows` | scores as rows, with their identity |
//! | `run` | the loop |

mod config;
mod rows;
mod run;

#[cfg(test)]
mod blocked_tests;

pub use config::Config;
pub use run::Scorer;
