//! Files that other systems exchange: read into suites, written from suites and reports.
//!
//! | file | what |
//! |---|---|
//! | `blocks` | CSV files of several tables, one below the other |
//! | `imported` | what every reader gives |
//! | `vals_csv` | suites as CSV |
//! | `vals_json` | suites as JSON |
//! | `h2o` | suites of H2O Eval Studio as JSON |
//! | `promptfoo` | assertions and tables of promptfoo |
//! | `promptfoo_files` | its configurations as YAML and JSON, and files of tests |
//! | `promptfoo_out` | a suite as one of their configurations |
//! | `import` | any of them, told by the content |
//! | `results` | reports as CSV: results, questions and answers |
//! | `results_in` | results as CSV back into a report |
//! | `export` | a suite or a report in one of the forms |

mod blocks;
mod export;
mod h2o;
mod import;
mod imported;
mod promptfoo;
mod promptfoo_files;
mod promptfoo_out;
mod results;
mod results_in;
mod vals_csv;
mod vals_json;

#[cfg(test)]
mod round_trip_tests;

pub use export::{Exported, Form, export};
pub use import::{import, import_results, import_sent};
pub use imported::Imported;
