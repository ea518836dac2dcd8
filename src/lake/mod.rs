//! The lake: every table as Parquet files under a Delta log, filled from the journal by one loop.
//!
//! | file | what |
//! |---|---|
//! | `config` | settings and their faults |
//! | `error` | what can go wrong |
//! | `store` | the object store: local disk with fsync, or S3 |
//! | `files` | files that rows name by their hash |
//! | `durable` | a local store whose writes are on the disk when they return |
//! | `path` | names of data files, printed and parsed |
//! | `read` | some columns of a file |
//! | `writer` | a batch to the bytes of one Parquet file |
//! | `open` | a Delta table: found or made, with the columns of this release |
//! | `manifest` | its files: list, commit, replace |
//! | `snapshot` | what a query sees |
//! | `window` | which rows were seen before |
//! | `tail` | rows that are in the journal but not in files yet |
//! | `join` | log records meet their spans |
//! | `flush` | the loop: journal to tail, tail to files |
//! | `upkeep` | the other loop: retention, compaction, vacuum |
//! | `lake` | the face of all of it |
//!
//! On disk: `<lake>/<table>/_delta_log/…` and `<lake>/<table>/<first seq>-<last seq>-<random>.parquet`, and
//! `merged-<random>.parquet` for files that were made from others. Each commit of the flush loop records the
//! journal position in the Delta log as the application transaction `groundline-<journal id>`, so a replay after a crash skips what a
//! table already has (P1, P2). Rows are visible from the moment the loop has read them from the journal (P4).

mod config;
mod durable;
mod error;
mod files;
mod flush;
mod join;
mod manifest;
mod open;
mod path;
mod read;
mod snapshot;
mod store;
mod tail;
mod upkeep;
#[cfg(test)]
mod watched;
mod window;
mod writer;

#[expect(clippy::module_inception, reason = "the file that owns the room's handle is named after it")]
mod lake;

pub use config::{Config, Retention, RetentionRule, S3};
pub use error::LakeError;
pub use files::{LakeFiles, Stored};
pub use flush::{CURSOR, FlushHandle};
pub use lake::Lake;
pub use snapshot::{DataFile, TableSnapshot};
pub use upkeep::{Erased, Erasure, Left, Looked, Upkeep};
