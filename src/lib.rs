//! Groundline: an OpenTelemetry trace collector and online evaluator for LLM applications.
//!
//! The modules stand in the order of the floors: each may use only what stands above it. ARCHITECTURE.md is the tour.

pub mod app;
pub mod cli;
pub mod config;
pub mod domain;
pub mod ingest;
pub mod journal;
pub mod lake;
pub mod net;
pub mod sample;
pub mod scan;
pub mod score;
pub mod sql;
pub mod stats;
pub mod watch;
