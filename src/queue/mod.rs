//! Items that wait for their evaluators.
//!
//! | file | what |
//! |---|---|
//! | `config` | settings and their faults |
//! | `queue` | items, their leases and what becomes of them |
//!
//! Decisions and queue items become durable in one journal frame; scores and the completion of their item in another.

mod config;
#[expect(clippy::module_inception, reason = "the room is named after what it is")]
mod queue;

pub use config::Config;
pub use queue::{Item, Lease, Outcome, Queue, QueueError, QueueEvent, QueueStats, size};
