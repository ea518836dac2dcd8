//! Frozen items that are scored again: what moves there is the evaluator, not the application.
//!
//! | file | what |
//! |---|---|
//! | `table` | what became of each metric |
//! | `run` | the verb |

mod run;
mod table;

pub use run::{AnchorArgs, run};
