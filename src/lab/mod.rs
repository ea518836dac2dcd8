//! The lab: what is asked of an application before a release, with the evaluators that watch it afterwards.
//!
//! | file | what |
//! |---|---|
//! | `config` | the section `[lab]` |
//! | `error` | what can go wrong, and whose fault it is |
//! | `place` | where a row of a file stands |
//! | `ids` | ids that follow from what they name |
//! | `template` | `{{…}}` in prompts and criteria |
//! | `texts` | the texts of what is asked and expected |
//! | `rows` | the lines and rows of files |
//! | `target` | who is asked |
//! | `accepted` | several right answers: which of them are asked about, and the best |
//! | `cells` | cells of batches by name |
//! | `condition` | conditions on an answer, as lists of constraints |
//! | `zip` | archives of files |
//! | `turn` | production first |
//! | `store` | rows in through the journal, out through SQL |
//! | `dataset` | datasets: versions of items, import and export |
//! | `lint` | what is suspicious about a dataset |
//! | `perturb` | items that ask the same in other letters |
//! | `logs` | logs of other systems |
//! | `suite` | test suites with a gate |
//! | `experiment` | experiments: runs of a target over a dataset, their scores, and the comparison of two |
//! | `suite_run` | suites that the server asks and judges |
//! | `review` | human review of runs and spans: queues, templates, agreement |
//! | `archive` | datasets and experiments as one file, and back |
//!
//! Promises: a change is one journal frame, so a crash leaves all of it or nothing; a version is never rewritten; two
//! changes that were made from one version do not both succeed; a production number never counts an experiment.

pub mod archive;
pub mod dataset;
pub mod experiment;
pub mod lint;
pub mod logs;
pub mod perturb;
pub mod review;
pub mod suite;
pub mod suite_run;
pub mod target;

mod accepted;
mod cells;
mod condition;
mod config;
mod endpoint;
mod error;
mod ids;
mod place;
mod rows;
mod store;
mod template;
mod texts;
mod turn;
mod zip;

pub use config::Config;
pub use error::{Fault, LabError};
pub use rows::safe_cells;
pub use store::{Restores, Store, Who};
pub use turn::Production;
pub use zip::{read as unzipped, write as zipped};
