//! Sizes and durations as people write them: `"64MiB"`, `"30s"`.
//!
//! | file | purpose |
//! |---|---|
//! | `size` | a number of bytes with its words |
//! | `time` | the words of a duration, for serde and for messages |
//! | `retry_after` | when to come back, as servers say it |
//!
//! Configurations hold [`ByteSize`] and [`std::time::Duration`], so no value carries its unit in its name. Reading is left
//! to the crates bytesize and humantime. Writing is ours, because theirs round: `64.0 MiB`, or months of 30.44 days.

mod retry_after;
mod size;
mod time;

pub use retry_after::retry_after;
pub use size::ByteSize;
pub use time::{OptionalTime, Time, millis, nanos, words};
