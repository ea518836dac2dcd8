//! Items that wait for their evaluators.
//!
//! | file | what |
//! |---|---|
//! | `config` | settings and their faults |
//! | `lane` | where an item waits: what is cheap never waits behind what is slow |
//! | `event` | items and what happens to them, as bytes |
//! | `ready` | those of one lane that may be worked on, by what they wait for |
//! | `entries` | the items of one lane, in the orders in which they are asked for |
//! | `row` | what people see of an item |
//! | `queue` | leases, claims, retries, and items that are put back |
//! | `follow` | the loop that keeps the queue's own log |
//! | `http` | `POST /v1/queue/retry` and `/v1/queue/drop` |
//!
//! Decisions and queue items become durable in one journal frame; scores and the completion of their item in another. The
//! loop copies the items to a log of the queue's own, so that the journal need not keep what waits:
//!
//! ```text
//! <data_dir>/queue/LOCK  <first seq>.seg …  items.cursor      frames of queue events, as journal frames hold them
//! <data_dir>/journal/queue.cursor                            up to here the log has everything
//! ```

mod config;
mod entries;
mod event;
mod follow;
mod http;
mod lane;
#[expect(clippy::module_inception, reason = "the room is named after what it is")]
mod queue;
mod ready;
mod row;

#[cfg(test)]
mod follow_tests;
#[cfg(test)]
mod queue_tests;

pub use config::{Config, LaneConfig};
pub use event::{Item, Outcome, QueueError, QueueEvent, size};
pub use follow::{CURSOR, Follower};
pub use http::{QueueEndpoint, queue_router};
pub use lane::Lane;
pub use queue::{Lease, Queue, QueueStats};

#[cfg(test)]
pub(crate) use queue_tests::item as test_item;
