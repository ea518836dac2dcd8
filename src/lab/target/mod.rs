//! Who is asked, and what came of it: for suites, experiments and the server alike. What a target sends is bounded in size
//! and time.
//!
//! | file | what |
//! |---|---|
//! | `spec` | a target as it is written |
//! | `question` | one question, and the ids that it is asked under |
//! | `answer` | what a target answers |
//! | `wire` | one HTTP request with its limits and retries |
//! | `http` | an address that is posted to |
//! | `openai` | chat completions |
//! | `command` | a process that reads and writes JSON lines |
//! | `existing` | answers that are there |
//! | `ask` | one question to any of them |

mod answer;
mod ask;
mod command;
mod existing;
mod http;
mod openai;
mod question;
mod spec;
mod wire;

pub use answer::Answer;
pub use ask::Target;
pub use question::{Prompts, Question};
pub use spec::{Form, Kind, TargetSpec};
