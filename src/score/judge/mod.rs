//! LLM judges: questions that need a strong reader, asked over OpenAI-compatible chat completions.
//!
//! | file | what |
//! |---|---|
//! | `config` | `[[judges]]` and its faults |
//! | `breaker` | whether a judge may be asked now, or is away |
//! | `budget` | requests a minute, and dollars a day |
//! | `transport` | one request and its answer |
//! | `client` | one judge: limits, retries, price; and what stands in for it |
//! | `delimit` | untrusted text between delimiters that nobody can guess |
//! | `prompt` | prompt files with placeholders, filled with an input |
//! | `reply` | the one JSON object of a reply, and what it says |
//! | `shape` | what a judge must answer, and the scores that follow |
//! | `evaluator` | one question to a judge as an evaluator |
//! | `catalog` | every such evaluator, and those of the user's own |
//!
//! Promises: the text under evaluation is data, and stands between delimiters with a nonce of its own for each call; a
//! verdict is read from the schema and nowhere else; a reply that does not parse or contradicts itself is an error, never a
//! verdict; each limit names its key in the error.

mod breaker;
mod budget;
mod catalog;
mod client;
mod config;
mod delimit;
mod evaluator;
mod prompt;
mod reply;
mod shape;
mod transport;

#[cfg(test)]
mod injection_tests;

pub use catalog::{Judges, JudgesError, custom_faults};
pub use config::{JudgeConfig, faults};
