//! What is suspicious about a dataset before anybody is asked: the same item twice, answers in questions, places that nobody
//! filled.
//!
//! | file | what |
//! |---|---|
//! | `finding` | what is found, and where |
//! | `seen` | an item as the rules look at it |
//! | `near` | texts that are nearly the same |
//! | `rules` | the rules |
//! | `http` | the routes |
//! | `table` | `evaluators()`: what evaluators need, for queries |
//!
//! Pure but for `http` and `table`: items in, findings out, the same for the same items in any order of their words' hashes.

mod finding;
mod http;
mod near;
mod rules;
mod seen;
mod table;

pub use finding::{Finding, Severity};
pub(in crate::lab) use http::matrix;
pub use http::{LintEndpoint, lint_router};
pub use rules::{Wanted, lint};
pub use table::register as evaluators_in_sql;
