//! Frozen items that are scored again: what moves there is the evaluator, not the application.
//!
//! | file | what |
//! |---|---|
//! | `compare` | two scorings of the same items, by metric |
//! | `run` | the verb |

mod compare;
mod run;

pub use run::{AnchorArgs, run};
