//! Looking after the tables: old rows go, small files become larger ones, files that nobody needs are deleted.
//!
//! | file | what |
//! |---|---|
//! | `compact` | which files are merged: a pure function of their sizes and arrival times |
//! | `erase` | rows go that somebody has a right to see gone |
//! | `merge` | sorted files to one sorted file, in bounded memory |
//! | `repeats` | rows that the inputs of a merge have more than once |
//! | `retention` | which rows go: a pure function of ages and sizes |
//! | `quiet` | merges get what receiving and reading leave of the processor |
//! | `tenants` | how many rows of each tenant a file has |
//! | `vacuum` | which objects are deleted: a pure function of a listing and the log |
//! | `run` | the loop, one table and one merge after the other |
//!
//! Each retention step is one Delta commit, and so are the merges of a plan: it removes files and adds those that stand for
//! them, so a crash leaves the old files or the new ones, never both. What a crash leaves behind is no part of any version
//! and is deleted by vacuum.
//! The journal position is an application transaction of the flush commits; these commits do not touch it.

mod compact;
mod erase;
mod merge;
mod quiet;
mod repeats;
mod retention;
mod run;
mod tenants;
mod vacuum;

#[cfg(test)]
mod tests;

pub use erase::{Erased, Erasure, Left, Looked};
pub use run::Upkeep;
