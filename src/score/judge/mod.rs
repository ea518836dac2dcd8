//! LLM judges: questions that need a strong reader, asked over OpenAI-compatible chat completions.
//!
//! | file | what |
//! |---|---|
//! | `config` | `[[judges]]` and its faults |
//! | `question` | what a judge is asked |
//! | `manner` | how a server takes requests: what it has refused is not sent again |
//! | `breaker` | whether a judge may be asked now, or is away |
//! | `budget` | requests and tokens a minute, dollars a day and a month |
//! | `cache` | replies that a judge has given before, on the disk |
//! | `likelihood` | log-probabilities: what is asked for, what is read, who can tell them |
//! | `transport` | one request and its answer |
//! | `client` | one judge: limits, retries, price; and what stands in for it |
//! | `desk` | the judge that an evaluator asks |
//! | `rewriter` | texts that a judge writes anew |
//! | `delimit` | untrusted text between delimiters that nobody can guess |
//! | `prompt` | prompt files with placeholders, filled with an input |
//! | `reply` | the one JSON object of a reply, and what it says |
//! | `shape` | what a judge must answer, and what follows from it |
//! | `copied` | parts that a judge copied, found again in the text |
//! | `verdict` | one question: what is sent of an input, and what the reply says |
//! | `told` | findings as scores |
//! | `partial` | what was answered of several questions while another one waits |
//! | `ragas`, `pairwise`, `query`, `gptscore` | evaluators that are more than one question, or less |
//! | `session` | what was said before in the session of a trace |
//! | `evaluator` | an evaluator that asks a judge, in one of these ways |
//! | `builtin` | those that the program has, as a table |
//! | `custom` | those of the user's own |
//! | `writing` | what a judge is asked that no configuration knows, and texts that it writes |
//! | `catalog` | all of them |
//! | `canary` | questions whose answers are known, on a schedule |
//!
//! Promises: the text under evaluation is data, and stands between delimiters with a nonce of its own for each call; a
//! verdict is read from the schema and nowhere else; a reply that does not parse or contradicts itself is an error, never a
//! verdict; each limit names its key in the error.

mod breaker;
mod budget;
mod builtin;
mod cache;
mod canary;
mod catalog;
mod client;
mod config;
mod copied;
mod custom;
mod delimit;
mod desk;
mod evaluator;
mod gptscore;
mod likelihood;
mod manner;
mod pairwise;
mod partial;
mod prompt;
mod query;
mod question;
mod ragas;
mod reply;
mod rewriter;
mod session;
mod shape;
mod told;
mod transport;
mod verdict;
mod writing;

#[cfg(test)]
mod injection_tests;

pub use cache::CacheConfig;
pub use catalog::{Judges, JudgesError, JudgesSetup, custom_faults};
pub use config::{JudgeConfig, faults};
pub use session::SessionQuery;
