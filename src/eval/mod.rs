//! Evaluation: what is asked of an answer. It knows no journal and no queue.
//!
//! | file | what |
//! |---|---|
//! | `ids` | the ids that there are |
//! | `config` | which evaluators run, with which thresholds |
//! | `evaluator` | the trait that every evaluator implements |
//! | `text` | sentences and words |
//! | `language` | which language a text is in |
//! | `model` | inference with the weights that the binary carries |
//! | `evidence` | what in a context speaks for a sentence |
//! | `local` | one file an evaluator that runs in the process |
//! | `catalog` | evaluators by id |
//! | `offline` | JSON lines in, JSON lines out |

pub mod text;

mod catalog;
mod config;
mod evaluator;
mod evidence;
mod ids;
mod language;
mod local;
mod model;
mod offline;

pub use catalog::{Registry, RegistryError};
pub use config::Config;
pub use evaluator::{Evaluator, Metric, Pace};
pub use ids::IDS;
pub use language::{Guess, identify};
pub use model::{ModelError, Models};
pub use offline::{OfflineInput, OfflineRow, read_line, score_line};
