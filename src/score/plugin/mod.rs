//! Plug-ins: evaluators of the user's own, in any language, asked over a pipe, HTTP or gRPC.
//!
//! | file | what |
//! |---|---|
//! | `config` | `[[plugins]]` and its faults |
//! | `describe` | what a plug-in says of itself: inputs and metrics |
//! | `item` | what is sent of an input, and the scores that an answer is |
//! | `ledger` | a batch: who waits for an answer, and what came for whom |
//! | `known` | the metrics of a plug-in for as long as the process lives |
//! | `presence` | whether a plug-in may be asked now, or is away |
//! | `fault` | why a batch has no answer |
//! | `lines` | bounded lines of a pipe |
//! | `process` | JSON lines over the pipes of a process |
//! | `http` | JSON over HTTP |
//! | `pb` | the messages of `proto/groundline/evaluator/v1/evaluator.proto` |
//! | `grpc` | the service of that file |
//! | `link` | one of these forms |
//! | `worker` | batches: sent, and what failed in one sent alone |
//! | `evaluator` | a plug-in as an evaluator |
//! | `catalog` | every configured plug-in |
//!
//! Promises: an item has one answer or one reason why there is none, whatever a plug-in says; an item that a batch failed
//! with is asked alone, so that others do not pay for it; a plug-in gets the inputs that it names and no others.

mod catalog;
mod config;
mod describe;
mod evaluator;
mod fault;
mod grpc;
mod http;
mod item;
mod known;
mod ledger;
mod lines;
mod link;
mod pb;
mod presence;
mod process;
mod worker;

pub use catalog::{Plugins, PluginsError};
pub use config::{PluginConfig, PluginKind, faults};
