//! The memory of requests, from the first byte until they are durable (P8).
//!
//! | file | what |
//! |---|---|
//! | `allowance` | how decoders ask for memory, and the most that one request may take |
//! | `drain` | when a client that is refused should come back |
//! | `budget` | what all requests in flight may take together: `ingest.max_in_flight_size` |
//! | `share` | what one request holds of that |
//!
//! How much the structures of a body will take is told by `decode/weigh`, before they are made.

mod allowance;
mod budget;
mod drain;
mod share;

pub use allowance::{Allowance, Full, MAX_DECODED};
pub use budget::Budget;
pub use share::{SHARE_STEP, Share};
