//! `groundline test`: a suite is asked, judged, and held against its gates.
//!
//! | file | what |
//! |---|---|
//! | `args` | arguments |
//! | `bench` | the evaluators that a suite needs |
//! | `progress` | the bar |
//! | `run` | ask, judge, decide, report |

mod args;
mod bench;
mod progress;
mod run;

pub use args::TestArgs;
pub use bench::{chosen, configured};
pub use run::run;
