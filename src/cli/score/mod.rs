//! Offline scoring: JSON lines in, JSON lines out.
//!
//! | file | what |
//! |---|---|
//! | `lines` | lines of a file, in chunks of bounded size |
//! | `output` | rows on their way into a file, so that a run that was stopped can go on |
//! | `summary` | what all rows say together, and what they cost |
//! | `aggregates` | means and shares under the names of MLflow |
//! | `forecast` | what a run would ask of judges, and cost at most, without asking |
//! | `run` | arguments, and one chunk after the other |

mod aggregates;
mod forecast;
mod lines;
mod output;
mod run;
mod summary;

pub use lines::{MAX_LINE_BYTES, past_mark, read_chunk};
pub use run::{ScoreArgs, run};
