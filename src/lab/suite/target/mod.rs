//! Who is asked, and what came of it. What a target sends is bounded in size and time.
//!
//! | file | what |
//! |---|---|
//! | `job` | one question, and the ids that it is asked under |
//! | `wire` | one HTTP request with its limits and retries |
//! | `http` | an address that is posted to |
//! | `openai` | chat completions |
//! | `command` | a process that reads and writes JSON lines |
//! | `existing` | answers that are there |
//! | `ask` | all questions, several at once |

mod ask;
mod command;
mod existing;
mod http;
mod job;
mod openai;
mod wire;

pub use ask::{Answered, Target, ask_all};
