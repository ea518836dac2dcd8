//! One test crate: a file per room, and flow, recovery and tidy across rooms.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails says so by panicking, also in its helpers"
)]

mod access;
mod alerts;
mod clients;
mod compaction;
mod config;
mod conformance;
mod console;
mod designs;
mod dialect;
mod disk;
mod drift;
mod emit;
mod endpoints;
mod evaluators;
mod failures;
mod flow;
mod forward;
mod fuzz;
mod judges;
mod lab;
mod labels;
mod late;
mod models;
mod net;
mod pg;
mod plugins;
mod readers;
mod readme;
mod recovery;
mod s3;
mod schemas;
mod sdk;
mod sql;
mod suites;
mod support;
mod tidy;
mod watch;
mod watermarks;
