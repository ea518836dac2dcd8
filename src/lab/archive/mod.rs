//! Archives: datasets with all their versions, experiments, runs and scores as one file, and back.
//!
//! | file | what |
//! |---|---|
//! | `manifest` | what an archive says of itself |
//! | `tables` | rows of a table as Parquet, and back |
//! | `stored` | rows as they are stored |
//! | `documents` | the files of items |
//! | `more` | suites and reviews, which come with datasets and experiments |
//! | `differ` | which rows are there already, and which say something else |
//! | `traces` | the traces of runs: which were made for them |
//! | `span_pages` | spans on their way into an archive |
//! | `make` | writing one |
//! | `versions` | datasets of an archive: hashes, versions, limits |
//! | `span_row` | what a row of spans must be to be stored |
//! | `span_files` | the spans of an archive, held against its runs |
//! | `check` | what an archive says, held against what it has |
//! | `span_restore` | spans on their way into the table |
//! | `restore` | putting its rows into the tables |
//! | `http` | the routes |
//!
//! ```text
//! manifest.json                    format, names, SHA-256 of every other file
//! datasets/datasets.parquet        versions          datasets/dataset_items.parquet   revisions of items
//! experiments.parquet              states            runs.parquet, scores.parquet     attempts, and what was said of them
//! suites/suites.parquet …          suites, their tests and checks; check_results.parquet, and reviews/review_queues.parquet …
//! spans/00001.parquet …            spans of the traces that were made for the runs, if they were asked for
//! llm-eval-results/ …              files for other programs, which are not read back
//! ```
//!
//! Rows are in the order of their keys and have no tenant, so what was restored gives the same bytes again, wherever it is.
//! An archive is what somebody sends: nothing of it is believed. Every hash is computed again, scores must be those of its
//! own experiments, and what is there with other content is never replaced.

mod check;
mod differ;
mod documents;
mod http;
mod make;
mod manifest;
mod more;
mod restore;
mod span_files;
mod span_pages;
mod span_restore;
mod span_row;
mod stored;
mod tables;
mod traces;
mod versions;

#[cfg(test)]
mod tried;

pub use http::{ArchiveEndpoint, archive_router};
pub use manifest::{OfTraces, traces_of};
