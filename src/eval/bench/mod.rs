//! How good evaluators are on labelled data: rows in, figures with intervals out.
//!
//! | file | what |
//! |---|---|
//! | `rows` | labelled files as rows |
//! | `tasks` | which evaluators a task's rows are given to, and which side of a label they should find |
//! | `measure` | rows scored on all cores, figures with intervals |
//! | `language` | identification of languages, which is no yes or no |
//! | `spans` | personal data by place and kind |
//! | `advice` | what a user's own labels say of an evaluator, and the threshold that they ask for |

mod advice;
mod language;
mod measure;
mod rows;
mod spans;
mod tasks;

pub use advice::{Advice, Choice, Column};
pub use language::identification;
pub use measure::{Limits, Measured, Progress, measure};
pub use rows::{Dataset, Row, Span, datasets, read};
pub use spans::spans;
pub use tasks::{Target, targets};
