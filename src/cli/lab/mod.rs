//! Datasets and experiments from the command line.
//!
//! | file | what |
//! |---|---|
//! | `door` | the routes of the lab: of a running server, or in this process on a data directory |
//! | `dataset` | the verb `dataset` |
//! | `experiment` | the verb `experiment` |
//! | `runner` | asking a target for what is missing |
//! | `target` | who answers |
//! | `program` | a program that answers |
//! | `template` | a prompt with places |
//! | `answers` | what targets and files answer |
//! | `told` | what the routes answer, as text |

mod answers;
mod dataset;
mod door;
mod experiment;
mod program;
mod runner;
mod target;
mod template;
mod told;

pub use dataset::{DatasetVerb, run as dataset};
pub use experiment::{ExperimentVerb, run as experiment};
