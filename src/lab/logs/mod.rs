//! Logs of other systems: what was asked, answered and scored there, as datasets and experiments take it.
//!
//! | file | what |
//! |---|---|
//! | `log` | what every reader gives |
//! | `inspect` | logs of Inspect, `.eval` and `.json` |
//! | `test_lab` | test labs of H2O Eval Studio |
//! | `read` | any of them, told by the content |

mod inspect;
mod log;
mod read;
mod test_lab;

pub use log::{Log, Logged};
pub use read::read;
