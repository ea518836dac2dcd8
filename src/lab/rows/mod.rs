//! The lines and rows of files, for datasets, suites and answers alike: CSV, JSON lines, JSON, Parquet, told apart by what is
//! in them and not by their name. What is wrong with a row is told with its place and costs no other row.
//!
//! | file | what |
//! |---|---|
//! | `cell` | what the cells of a row say |
//! | `format` | what a file is |
//! | `reader` | a file into rows |
//! | `columns` | batches of columns into rows |
//! | `safe` | CSV for spreadsheets |
//! | `yaml` | YAML as JSON values |

pub mod yaml;

mod cell;
mod columns;
mod format;
mod reader;
mod safe;

pub use cell::looks_like_json;
pub use columns::of_batches;
pub use format::FileFormat;
pub use reader::{Limits, Read, read};
pub use safe::safe_cells;
