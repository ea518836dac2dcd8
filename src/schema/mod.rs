//! How rows are written down: tables, columns, batches, frames.
//!
//! | file | what |
//! |---|---|
//! | `columns` | the Arrow schema of every table, with the documentation of each column |
//! | `batch` | rows to Arrow and back |
//! | `frame` | Arrow batches as bytes for the journal |
//!
//! No I/O, nothing asynchronous.

pub mod batch;
pub mod columns;
pub mod frame;
