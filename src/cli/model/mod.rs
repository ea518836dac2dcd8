//! A model file of the user: what fits, how fast it is, and whether it says what is plain.
//!
//! | file | what |
//! |---|---|
//! | `samples` | texts on which there is no doubt |
//! | `check` | the verb |

mod check;
mod samples;

pub use check::{ModelVerb, run};
