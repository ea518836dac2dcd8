//! How rows are written down: tables, columns, batches, frames.
//!
//! | file | what |
//! |---|---|
//! | `column` | what a column is |
//! | `columns` | the Arrow schema of every table, with the documentation of each column |
//! | `lab_columns` | the columns of datasets, suites, experiments and runs |
//! | `score_columns` | the columns of scores and of sampling decisions |
//! | `review_columns` | the columns of queues of review, their items and answers |
//! | `format` | the numbers of what is on the disk |
//! | `layout` | numbers of tables, and columns by schema version |
//! | `batch` | rows to Arrow and back |
//! | `filter` | SQL over the columns of a table, ready to run on its batches: filters, texts, numbers |
//! | `faults` | what errors of the engine say to people |
//! | `error` | why bytes are not a frame |
//! | `rows` | Arrow batches as bytes |
//! | `frame` | what becomes durable together, as bytes for the journal |
//!
//! No I/O, nothing asynchronous.

pub mod batch;
pub mod columns;
pub mod frame;

mod column;
mod error;
mod faults;
mod filter;
mod format;
mod lab_columns;
mod layout;
mod review_columns;
mod rows;
mod score_columns;

#[cfg(test)]
mod shape_tests;

pub use faults::{said, syntax};
pub use filter::{Filter, NumberOf, TextOf};
pub use format::FORMAT;

#[cfg(test)]
pub(crate) use shape_tests::{hold_shape, shape_of};
