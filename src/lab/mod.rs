//! Offline: what is asked again and again, and how well each version of an application answers it.
//!
//! | file | what |
//! |---|---|
//! | `config` | the section `[lab]` |
//! | `error` | what can go wrong, and whose fault it is |
//! | `cells` | cells of batches by name |
//! | `store` | rows in through the journal, out through SQL |
//! | `dataset` | datasets: versions of items, import and export |
//! | `experiment` | experiments: runs of a target over a dataset, their scores, and the comparison of two |
//!
//! Promises: a change is one journal frame, so a crash leaves all of it or nothing; a version is never rewritten; two
//! changes that were made from one version do not both succeed; a production number never counts an experiment.

pub mod dataset;
pub mod experiment;

mod cells;
mod config;
mod door;
mod error;
mod store;

pub use config::Config;
pub use error::{Fault, LabError};
pub use store::{Store, Who};
