//! How good the evaluators are on labelled data: the product's own evaluators, through the product's own code
//! (`eval::bench` measures).
//!
//! | file | what |
//! |---|---|
//! | `args` | what the verb takes |
//! | `run` | one dataset after the other |
//! | `report` | the table and the JSON |
//! | `labels` | a user's own labelled answers instead |
//! | `advice` | what they say of an evaluator, as text and JSON; the threshold that they ask for, into the configuration |

mod advice;
mod args;
mod labels;
mod report;
mod run;

pub use args::EvalbenchArgs;
pub use run::run;
