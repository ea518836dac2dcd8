//! Evaluation results leave as OpenTelemetry log events `gen_ai.evaluation.result`.
//!
//! | file | what |
//! |---|---|
//! | `config` | `[emit]` and its faults |
//! | `record` | scores to an OTLP request |
//! | `run` | the loop that follows the scores and sends them |
//!
//! Promises: every production score with a result is sent at least once, in the order in which scores became durable; a
//! backend that is away costs disk up to `emit.max_disk_size` and never a request of a sender; what is left out beyond that is counted.

mod config;
mod record;
mod run;

pub use config::Config;
pub use run::Emitter;
