//! The lab: what is asked of an application before a release, with the evaluators that watch it afterwards.
//!
//! | file | what |
//! |---|---|
//! | `config` | the section `[lab]` |
//! | `error` | what can go wrong, and whose fault it is |
//! | `cells` | cells of batches by name |
//! | `store` | rows in through the journal, out through SQL |
//! | `dataset` | datasets: versions of items, import and export |
//! | `suite` | test suites with a gate |
//! | `experiment` | experiments: runs of a target over a dataset, their scores, and the comparison of two |
//!
//! Promises: a change is one journal frame, so a crash leaves all of it or nothing; a version is never rewritten; two
//! changes that were made from one version do not both succeed; a production number never counts an experiment.

pub mod dataset;
pub mod experiment;
pub mod suite;

mod cells;
mod config;
mod door;
mod error;
mod store;

pub use config::Config;
pub use error::{Fault, LabError};
pub use store::{Store, Who};
