//! The command line, one file a verb.
//!
//! | file | verb |
//! |---|---|
//! | `args` | what is parsed, and the exit codes |
//! | `serve` | the server |
//! | `welcome` | what the server says to people when it is ready |
//! | `demo` | the server with the bundled captures, and a report |
//! | `demo_captures` | the captures, and waiting until they are scored |
//! | `demo_times` | when they happened: a moment ago |
//! | `demo_report` | the report |
//! | `demo_drift` | its end: a model changes, and an alert says so |
//! | `demo_lab` | the demo of the lab |
//! | `sql` | one query |
//! | `export` | stored spans as OTLP |
//! | `send` | OTLP files to a server |
//! | `score` | offline scoring |
//! | `suite` | suites checked, and exchanged with other systems |
//! | `test` | a test suite with its gates |
//! | `evalbench` | the evaluators measured on labelled data |
//! | `evaluators` | the evaluators of a configuration, for verbs that score without a server |
//! | `model` | a model file of the user: what fits, and how fast it is |
//! | `token` | bearer tokens |
//! | `config` | check and dump |
//! | `queue` | items that wait, failed or expired |
//! | `replay_decisions` | a day's sampling decisions again, by the same rules or by others |
//! | `labels` | labels as files, what is labelled, how far people agree |
//! | `calibrate` | what scores mean as probabilities, learned from labels |
//! | `anchors` | frozen items that are scored again: did the evaluator move? |
//! | `alerts` | how alerts stand, who was told, and baselines that are learned anew |
//! | `alert_deliveries` | who was told of an alert |
//! | `lab` | datasets and experiments |
//! | `remote` | a running server, for the verbs that ask one |
//! | `trust` | whose certificates a verb takes that asks a server |
//! | `table` | tables of texts |
//! | `pipe` | standard output and standard error, and a reader of them that has read enough |
//! | `interrupt` | Ctrl-C in verbs that ask others for long |
//! | `rewrite` | a configuration file, changed by a verb |
//! | `memory` | what the allocator keeps |

// Before the others, which write by its macros.
#[macro_use]
mod pipe;

mod alert_deliveries;
mod alerts;
mod anchors;
mod args;
mod calibrate;
mod config;
mod demo;
mod demo_captures;
mod demo_drift;
mod demo_lab;
mod demo_report;
mod demo_times;
mod evalbench;
mod evaluators;
mod export;
mod interrupt;
mod lab;
mod labels;
mod memory;
mod model;
mod queue;
mod remote;
mod replay_decisions;
mod rewrite;
mod score;
mod send;
mod serve;
mod sql;
mod suite;
mod table;
mod test;
mod token;
mod trust;
mod welcome;

pub use args::{Cli, main};
pub use send::{Protocol, send_file};
