//! The loop of evaluation: a queue item to durable scores.
//!
//! | file | what |
//! |---|---|
//! | `rows` | scores as rows, with their identity |
//! | `run` | the loop |

mod rows;
mod run;

#[cfg(test)]
mod blocked_tests;

pub use run::Scorer;
