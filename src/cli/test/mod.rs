//! `groundline test`: a suite is asked, judged, and held against its gates.
//!
//! | file | what |
//! |---|---|
//! | `args` | arguments |
//! | `bench` | the evaluators that a suite needs |
//! | `stored` | items of stored datasets |
//! | `keep` | a run that is kept as an experiment |
//! | `progress` | the bar |
//! | `traced` | the spans of runs, where checks read them |
//! | `run` | ask, judge, decide, report |

mod args;
mod bench;
mod keep;
mod progress;
mod run;
mod stored;
mod traced;

pub use args::TestArgs;
pub use bench::{chosen, configured};
pub use run::run;
pub use stored::StoredArgs;
