//! Evaluation: what is asked of an answer. It knows no journal and no queue.
//!
//! | file | what |
//! |---|---|
//! | `ids` | the ids that there are |
//! | `matrix` | which inputs each needs |
//! | `scale` | the range of each metric, and H2O's threshold for it |
//! | `names` | what MLflow calls them |
//! | `config` | which evaluators run, with which thresholds |
//! | `thresholds` | which of several thresholds holds |
//! | `section` | what one evaluator does otherwise |
//! | `custom` | judges' questions of the user's own |
//! | `writer` | who writes texts anew |
//! | `evaluator` | the trait that every evaluator implements, and the one of those that wait for others |
//! | `owed` | what was paid for answers that wait for others |
//! | `text` | sentences and words |
//! | `language` | which language a text is in |
//! | `model` | inference with the weights that the binary carries |
//! | `evidence` | what in a context speaks for a sentence |
//! | `local` | one file an evaluator that runs in the process |
//! | `catalog` | evaluators by id |
//! | `patience` | waiting for others on a thread of one's own |
//! | `desk` | where a judge is asked what no configuration knows |
//! | `cpu` | how much of the processor an evaluator takes |
//! | `offline` | JSON lines in, JSON lines out |
//! | `parallel` | work spread over threads |
//! | `bench` | how good evaluators are on labelled data |

pub mod bench;
pub mod parallel;
pub mod text;

mod catalog;
mod config;
mod cpu;
mod custom;
mod desk;
mod evaluator;
mod evidence;
mod ids;
mod language;
mod local;
mod matrix;
mod model;
mod names;
mod offline;
mod owed;
mod patience;
mod scale;
mod section;
mod thresholds;
mod writer;

pub use catalog::{Registry, RegistryError};
pub use config::Config;
pub use custom::{CustomConfig, CustomKind, without_placeholders};
pub use desk::{JudgeDesk, Unwritten, Writing, Written, written};
pub use evaluator::{Away, Evaluator, Forecast, Metric, Pace, Places, Said, Waits};
pub use ids::{IDS, JUDGE_IDS, NO_VERDICT, asks_judge, asks_others, is_plugin, plugin_id, tells_origin};
pub use language::{Guess, identify};
pub use matrix::{FITS, Fit, Group, Input, fit_of};
pub use model::{
    Activation, FileConfig, ModelError, Models, ModelsConfig, Pooling, Slot, Survey, TOXICITY_LABELS, survey,
};
pub use names::MlflowName;
pub use offline::{
    OfflineInput, OfflineRow, OfflineUsage, forecast_line, read_line, score_input, score_line, score_line_by,
    score_until,
};
pub use owed::{Bill, Owed};
pub use patience::{PATIENCE, patient};
pub use scale::{SCALES, Scale, scale_of};
pub use section::{EvaluatorConfig, SimilarityMethod};
pub use thresholds::{System, Thresholds};
pub use writer::{NotWritten, Rewritten, Writer};
