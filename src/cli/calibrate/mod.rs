//! What an evaluator's scores mean as probabilities, learned from labels.
//!
//! | file | what |
//! |---|---|
//! | `args` | what is parsed |
//! | `labels` | scores with their labels, from a server or a data directory |
//! | `fit` | curves, and how wrong they are on labels that they have not seen |
//! | `report` | for people and for programs |
//! | `write` | into the configuration |
//! | `run` | the verb |

mod args;
mod fit;
mod labels;
mod report;
mod run;
mod write;

pub use args::CalibrateArgs;
pub use run::run;
