//! Experiments: what a target answers to the items of a dataset, how evaluators judge it, and how two of them differ.
//!
//! | file | what |
//! |---|---|
//! | `definition` | what is to be asked, of whom, and how often; what comes back |
//! | `reading` | experiments, runs and scores as they are stored |
//! | `taken` | what is asked of a target, and what is taken of its answers |
//! | `known` | which runs are stored already, in memory |
//! | `checks` | what checks of suites said, as rows |
//! | `input` | what evaluators are given of an item and its answer |
//! | `judge` | what evaluators say about answers, as rows of `scores` |
//! | `needs` | what evaluators need and no item has |
//! | `gone` | evaluators that this server has no more |
//! | `experiments` | making experiments, taking runs |
//! | `claims` | runs that requests judge now |
//! | `received` | answers on their way into the tables, each judged once |
//! | `asked` | what evaluators said, as a reviewer is asked about it |
//! | `reviewed` | a run as an item of a queue of review |
//! | `flagged` | runs that a person must look at |
//! | `run_span` | the span that is made of a run whose target sent none |
//! | `own` | runs that this server stored |
//! | `run_spans` | the loop that makes them |
//! | `traces` | the target `trace`: answers that production gave |
//! | `summary` | estimates of one experiment |
//! | `both` | the items of two experiments, each at a place of its own |
//! | `compare` | the difference of two, item by item |
//! | `several` | the differences of several from one baseline |
//! | `slices` | parts of a dataset, by tag, split or metadata |
//! | `findings` | what stands out in one experiment |
//! | `findings_sql` | the same as a table of SQL |
//! | `detail` | what two experiments answered to the items that moved |
//! | `playground` | a few items asked at once, of which nothing is kept |
//! | `beside` | experiments beside each other, with all that is known of them |
//! | `artifacts` | files for other programs: results, leaderboards, archives |
//! | `http` | the routes |
//!
//! A run is named by its experiment, item and repetition: sent twice it is stored once, and what is missing can be asked for
//! at any time. A batch of runs and the scores of their answers are one frame.

mod artifacts;
mod asked;
mod beside;
mod both;
mod called;
mod checks;
mod claims;
mod compare;
mod definition;
mod detail;
mod experiments;
mod findings;
mod findings_sql;
mod flagged;
mod flips;
mod gone;
mod http;
mod input;
mod judge;
mod known;
mod leaderboard;
mod needs;
mod own;
mod playground;
mod reading;
mod received;
mod reviewed;
mod run_span;
mod run_spans;
mod several;
mod slices;
mod summary;
mod taken;
mod traces;

#[cfg(test)]
mod tried;

pub(in crate::lab) use asked::{AutoEval, MAX_ASKED};
pub(in crate::lab) use beside::{Beside, MAX_BESIDE};
pub use called::MAX_CALLED;
pub use compare::{Comparison, compare};
pub use definition::{
    Answer, EditExperiment, NewExperiment, OfSuite, Retry, SentScore, Stored, Target, Telling, Todo,
};
pub use experiments::Experiments;
pub use findings_sql::register as findings_in_sql;
pub use http::{ExperimentEndpoint, experiment_router};
pub(in crate::lab) use http::{artifact, retry_of, todo_page};
pub(in crate::lab) use input::{Answered as Given, eval_input};
pub(in crate::lab) use judge::Case;
pub use reading::Experiment;
pub(in crate::lab) use reading::{
    baseline_of, find as find_experiment, named, of_dataset as experiments_of, parsed,
};
pub(in crate::lab) use reviewed::{Chosen, ForQueue, item_of_run};
pub use run_spans::RunSpans;
pub(in crate::lab) use slices::{Dimension, Slice, slices};
pub use summary::{Summary, summary};
#[cfg(test)]
pub(in crate::lab) use tried::{asked as asked_one, me, opened};
