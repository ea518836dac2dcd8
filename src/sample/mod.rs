//! Which traces deserve a judge.
//!
//! | file | what |
//! |---|---|
//! | `config` | settings and their faults |
//! | `rule` | a rule, compiled: filter, target, rate, evaluators, version |
//! | `upstream` | the sampling that happened before us (`tracestate` `ot=th:`) |
//! | `assemble` | spans of a trace that is still open |
//! | `input` | what an evaluator is given, from the spans of a trace |
//! | `decide` | the draw, and the rows and items that follow from it |
//! | `run` | the loop: journal to open traces, ripe traces to decisions |
//!
//! Decisions and queue items become durable in one journal frame; scores and the completion of their item in another.
//! So the queue is what the journal says it is: after a crash the loops read again from their cursors, and nothing is
//! lost or done twice (P5, P6).

mod assemble;
mod config;
mod decide;
mod input;
mod rule;
mod run;
mod upstream;

#[cfg(test)]
mod tests;

pub use config::{Config, RuleConfig, Target};
pub use decide::item_id;
pub use rule::{Rule, RuleError, compile};
pub use run::{CURSOR, Progress, Sampler};
