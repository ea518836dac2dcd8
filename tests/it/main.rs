//! One test crate: a file per room, and flow, recovery and tidy across rooms.

mod config;
mod dialect;
mod doors;
mod flow;
mod readers;
mod recovery;
mod sql;
mod support;
mod tidy;
mod watch;
