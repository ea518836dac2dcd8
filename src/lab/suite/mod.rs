//! Test suites: a file of cases and checks, a target that answers, verdicts, and gates that test an interval's bound.
//!
//! | file | what |
//! |---|---|
//! | `spec` | a suite as it is written |
//! | `fault` | what is wrong with a file, with its place |
//! | `cases` | cases from CSV, JSON and JSON lines |
//! | `item` | a case as evaluators see it |
//! | `template` | `{{…}}` in criteria and prompts |
//! | `pattern` | regular expressions, with a limit of time |
//! | `text` | what the exact operators look for in a text |
//! | `exact` | operators that need no model |
//! | `operator` | the catalogue |
//! | `check` | a check that is ready to run |
//! | `compile` | checks as written into checks that run |
//! | `load` | a suite file into a suite |
//! | `exchange` | files of other systems |
//! | `open` | a suite file of ours or of another system |
//! | `reply` | what a target answers |
//! | `target` | who is asked: the file itself, HTTP, chat completions, a command |
//! | `outcome` | what became of a run |
//! | `bench` | the evaluators that a suite needs |
//! | `verdict` | a run judged by its checks |
//! | `examples` | examples of checks, and which come out otherwise than they are marked |
//! | `summary` | metrics with intervals |
//! | `baseline` | the values of an earlier run |
//! | `gate` | what must hold, and the exit code |
//! | `report` | a table, JSON, JUnit XML, Markdown |
//!
//! Promises: a verdict is pass, fail, skipped or error, and neither of the last two is ever a pass; a fault of a file names
//! its line and item, and all faults of a file are told at once; what a target sends is bounded in size and time.

mod baseline;
mod bench;
mod cases;
mod check;
mod compile;
mod exact;
mod examples;
mod exchange;
mod fault;
mod gate;
mod item;
mod load;
mod open;
mod operator;
mod outcome;
mod pattern;
mod reply;
mod report;
mod spec;
mod summary;
mod target;
mod template;
mod text;
mod verdict;

pub use baseline::Baseline;
pub use bench::{Bench, evaluators, questions};
pub use examples::{examples, wrong_examples};
pub use exchange::{Form, Imported, Part, export, import};
pub use fault::Faults;
pub use gate::{Code, Decided, Verdict, code, decide, unknown_metrics};
pub use load::Suite;
pub use open::read;
pub use outcome::{Outcome, Status};
pub use report::{Report, junit, markdown, table};
pub use summary::{Summary, summarise};
pub use target::{Answered, Target, ask_all};
pub use verdict::judge;
