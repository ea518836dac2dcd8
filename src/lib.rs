//! Groundline: an OpenTelemetry trace collector and online evaluator for LLM applications.
//!
//! The modules stand in the order of the floors: each may use only what stands above it. ARCHITECTURE.md is the tour.

// Floor 0: sizes and durations.
pub mod units;

// Floor 1: nouns, mathematics, bytes, connections, texts.
pub mod detect;
pub mod domain;
pub mod journal;
pub mod net;
pub mod stats;

// Floor 2: how rows are written down, and pure evaluation.
pub mod eval;
pub mod schema;

// Floor 3: the stores that a span comes to first.
pub mod ingest;
pub mod lake;
pub mod queue;

// Floor 4: which traces are evaluated, and how all is read.
pub mod sample;
pub mod sql;

// Floor 5: the loops of evaluation, of alerts, and of what leaves; what people say; what is asked before a release.
pub mod drift;
pub mod emit;
pub mod label;
pub mod score;

// Floor 6 and above: the offline side, what is shown, the settings, the wiring, the verbs.
pub mod console;
pub mod lab;
pub mod watch;

pub mod config;

pub mod app;

pub mod cli;
