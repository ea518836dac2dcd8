//! The command line, one file a verb.
//!
//! | file | verb |
//! |---|---|
//! | `args` | what is parsed, and the exit codes |
//! | `serve` | the server |
//! | `demo` | the server with the bundled captures, and a report |
//! | `demo_captures` | the captures, and waiting until they are scored |
//! | `demo_report` | the report |
//! | `demo_drift` | its end: a model changes, and an alert says so |
//! | `sql` | one query |
//! | `export` | stored spans as OTLP |
//! | `send` | OTLP files to a server |
//! | `score` | offline scoring |
//! | `evalbench` | the evaluators measured on labelled data |
//! | `evaluators` | the evaluators of a configuration, for the two verbs above |
//! | `token` | bearer tokens |
//! | `config` | check and dump |
//! | `queue` | items that wait, failed or expired |
//! | `replay_decisions` | a day's sampling decisions again, by the same rules or by others |
//! | `alerts` | how alerts stand, and baselines that are learned anew |
//! | `lab` | datasets and experiments |
//! | `remote` | a running server, for the verbs that ask one |
//! | `parallel` | work spread over threads |
//! | `memory` | what the allocator keeps |

mod alerts;
mod args;
mod config;
mod demo;
mod demo_captures;
mod demo_drift;
mod demo_report;
mod evalbench;
mod evaluators;
mod export;
mod lab;
mod memory;
mod parallel;
mod queue;
mod remote;
mod replay_decisions;
mod score;
mod send;
mod serve;
mod sql;
mod token;

pub use args::{Cli, main};
pub use send::{Protocol, send_file};
