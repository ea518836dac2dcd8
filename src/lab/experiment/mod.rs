//! Experiments: what a target answers to the items of a dataset, how evaluators judge it, and how two of them differ.
//!
//! | file | what |
//! |---|---|
//! | `definition` | what is to be asked, of whom, and how often; what comes back |
//! | `reading` | experiments, runs and scores as they are stored |
//! | `taken` | what is asked of a target, and what is taken of its answers |
//! | `known` | which runs are stored already, in memory |
//! | `input` | what evaluators are given of an item and its answer |
//! | `judge` | what evaluators say about answers, as rows of `scores` |
//! | `needs` | what evaluators need and no item has |
//! | `experiments` | making experiments, taking runs |
//! | `traces` | the target `trace`: answers that production gave |
//! | `summary` | estimates of one experiment |
//! | `compare` | the difference of two, item by item |
//! | `slices` | parts of a dataset, by tag, split or metadata |
//! | `detail` | what two experiments answered to the items that moved |
//! | `playground` | a few items asked at once, of which nothing is kept |
//! | `beside` | experiments beside each other, with all that is known of them |
//! | `artifacts` | files for other programs: results, leaderboards, archives |
//! | `http` | the routes |
//!
//! A run is named by its experiment, item and repetition: sent twice it is stored once, and what is missing can be asked for
//! at any time. A batch of runs and the scores of their answers are one frame.

mod artifacts;
mod beside;
mod called;
mod compare;
mod definition;
mod detail;
mod experiments;
mod findings;
mod flips;
mod http;
mod input;
mod judge;
mod known;
mod leaderboard;
mod needs;
mod playground;
mod reading;
mod slices;
mod summary;
mod taken;
mod traces;

#[cfg(test)]
mod tried;

pub(in crate::lab) use beside::{Beside, MAX_BESIDE};
pub use compare::{Comparison, compare};
pub use definition::{
    Answer, EditExperiment, NewExperiment, Retry, SentScore, Stored, Target, Todo, run_id, trace_ids,
    traceparent,
};
pub use experiments::Experiments;
pub use http::{ExperimentEndpoint, experiment_router};
pub use reading::Experiment;
pub(in crate::lab) use reading::{named, of_dataset as experiments_of};
pub use summary::{Summary, summary};
