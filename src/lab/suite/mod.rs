//! Test suites: a file of cases and checks, a target that answers, verdicts, and gates that test an interval's bound.
//!
//! | file | what |
//! |---|---|
//! | `spec` | a suite as it is written |
//! | `fault` | what is wrong with a file, with its place |
//! | `cases` | cases from CSV, JSON and JSON lines |
//! | `item` | a case as evaluators see it |
//! | `pattern` | regular expressions, with a limit of time |
//! | `text` | what the exact operators look for in a text |
//! | `calls` | calls of tools in an answer |
//! | `trajectory` | their order and arguments against those that are wanted |
//! | `schema` | a JSON schema that answers must match |
//! | `spans` | the spans of a run against what is wanted of them |
//! | `exact` | operators that need no model |
//! | `operator` | the catalogue |
//! | `check` | a check that is ready to run |
//! | `compile` | checks as written into checks that run |
//! | `load` | a suite file into a suite |
//! | `exchange` | files of other systems |
//! | `open` | a suite file of ours or of another system |
//! | `reply` | what a target answers |
//! | `filter` | which tests run, by a condition in SQL |
//! | `earlier` | runs of an earlier report |
//! | `ask` | all questions to the target, several at once |
//! | `outcome` | what became of a run |
//! | `bench` | the evaluators that a suite needs |
//! | `found` | what a test found, and what the scores of an evaluator say |
//! | `verdict` | a run judged by its checks |
//! | `examples` | examples of checks, and which come out otherwise than they are marked |
//! | `analysis` | what failed checks have in common |
//! | `range` | which values a metric can have |
//! | `summary` | metrics with intervals |
//! | `baseline` | the values of an earlier run |
//! | `keep` | a run as an experiment that is stored |
//! | `restored` | what became of runs that are stored |
//! | `gate` | what must hold, and the exit code |
//! | `report` | a table, JSON, JUnit XML, Markdown |
//! | `server` | suites that a server keeps |
//!
//! Promises: a verdict is pass, fail, skipped or error, and neither of the last two is ever a pass; a fault of a file names
//! its line and item, and all faults of a file are told at once; what a target sends is bounded in size and time.

mod analysis;
mod ask;
mod baseline;
mod bench;
mod calls;
mod cases;
mod check;
mod compile;
mod earlier;
mod exact;
mod examples;
mod exchange;
mod fault;
mod filter;
mod found;
mod gate;
mod item;
mod keep;
mod load;
mod open;
mod operator;
mod outcome;
mod pattern;
mod range;
mod reply;
mod report;
mod restored;
mod schema;
mod server;
mod spans;
mod spec;
mod summary;
mod text;
mod trajectory;
mod verdict;

pub use analysis::{Analyses, AnalysisBy};
pub use ask::{Answered, ask_all};
pub use baseline::Baseline;
pub use bench::{Bench, asks_for_parts, asks_for_spans, evaluators, questions};
pub use earlier::{Again, Earlier, Run};
pub use examples::{examples, wrong_examples};
pub use exchange::{Exported, Form, Imported, export, import, import_results};
pub use fault::Faults;
pub(in crate::lab) use filter::filtered;
pub use gate::{Code, Decided, Verdict, code, decide, unknown_metrics};
pub use keep::{marked, scores, sent};
pub use load::{StoredItems, Suite, stored};
pub use open::read;
pub use outcome::{CheckOutcome, Confidence, Outcome, Scored, Status};
pub use report::{Report, junit, markdown, table};
pub use restored::{StoredOutcome, TestNames};
pub(in crate::lab) use server::revision_hash;
pub use server::{
    NewSuite, SentForm, SuiteEndpoint, SuiteHead, SuiteOutcome, Suites, find, find_version, suite_router,
    whole,
};
pub use spans::{RunSpan, Spans, TRACES_AT_ONCE};
pub use spec::suite_schema;
pub use summary::{Summary, summarise};
pub use verdict::judge;
