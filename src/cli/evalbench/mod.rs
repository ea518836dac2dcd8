//! How good the evaluators are on labelled data: the product's own evaluators, through the product's own code.
//!
//! | file | what |
//! |---|---|
//! | `args` | what the verb takes |
//! | `run` | one dataset after the other |
//! | `rows` | labelled files as rows |
//! | `tasks` | which evaluators a task's rows are given to, and which side of a label they should find |
//! | `measure` | rows scored on all cores, figures with intervals |
//! | `language` | identification of languages, which is no yes or no |
//! | `spans` | personal data by place and kind |
//! | `labels` | a user's own labelled answers instead |
//! | `advice` | what they say of an evaluator, and the threshold that they ask for |
//! | `report` | the table and the JSON |

mod advice;
mod args;
mod labels;
mod language;
mod measure;
mod report;
mod rows;
mod run;
mod spans;
mod tasks;

pub use args::EvalbenchArgs;
pub use run::run;
