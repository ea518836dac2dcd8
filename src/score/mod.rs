//! The loop of evaluation: a queue item to durable scores.
//!
//! | file | what |
//! |---|---|
//! | `rows` | scores as rows, with their identity |
//! | `run` | the loop |

mod rows;
mod run;

pub use run::Scorer;
