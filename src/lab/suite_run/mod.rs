//! Suites that a server asks and judges: runs of them are experiments, with what each check said.
//!
//! | file | what |
//! |---|---|
//! | `runs` | making the experiment, asking its target, taking answers |
//! | `traced` | the spans of runs, as checks read them |
//! | `judged` | answers judged by the checks of their tests |
//! | `stored` | runs, checks and scores as they are stored |
//! | `edits` | verdicts that people change |
//! | `report` | all of a run as one report, for files of other systems |
//! | `http` | the routes |
//!
//! The server asks what `[lab.targets]` has and nothing else; whoever asks another target sends its answers with their
//! verdicts to the same experiment.

mod edits;
mod http;
mod judged;
mod report;
mod runs;
mod stored;
mod traced;

pub use http::{SuiteRunEndpoint, suite_run_router};
pub use runs::{RunSuite, SuiteRuns};
