//! What is told of a run: for a person, for a build server, for the next run.
//!
//! | file | what |
//! |---|---|
//! | `document` | all of it, as JSON |
//! | `lines` | what the readable forms share |
//! | `table` | for a terminal |
//! | `markdown` | for a pull request |
//! | `junit` | for a build server |

mod document;
mod junit;
mod lines;
mod markdown;
mod table;

pub use document::{FORMAT, Report};
pub use junit::junit;
pub use markdown::markdown;
pub use table::table;
