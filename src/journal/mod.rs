//! The durable log of opaque frames: the only write-ahead log of the product. It knows bytes, not spans.
//!
//! | file | what |
//! |---|---|
//! | `config` | the limits, and all their faults at once |
//! | `error` | what can go wrong, and whether another try can help |
//! | `files` | the file operations that can fail, behind a trait so that tests can make them fail |
//! | `record` | one frame as bytes: header, checksums |
//! | `segment` | one file: its name, its header, its creation, and the scan over its records |
//! | `state` | what appenders, writer and readers share: the queue, the segment list, what is durable |
//! | `damage` | which sequence numbers were found unreadable, each counted once |
//! | `writer` | the one thread that writes: group commit, roll, roll-back, poison |
//! | `recent` | the last frames in memory, for readers that keep up |
//! | `reader` | frames in order, never one that is not durable |
//! | `recover` | what `open` does to a directory that a crash left behind |
//! | `cursor` | how far each named reader has come, one small file each |
//! | `journal` | the facade |
//!
//! # On the disk
//!
//! ```text
//! <dir>/LOCK                        held while open; holds the journal's salt as 8 hex digits
//! <dir>/00000000000000000001.seg    frames 1 up to the next file's name; the last file is the active one
//! <dir>/00000000000000052311.seg
//! <dir>/lake.cursor                 "<seq> <crc32c of seq, hex>\n", replaced whole (tmp, fsync, rename, fsync of dir)
//! <dir>/<name>.seg.bad              a file that held nothing readable; kept for a person, never read
//!
//! segment = header (32 bytes)  magic "GLJOURNL" | version u32 | reserved u32 | first seq u64 | salt u32 | crc32c u32
//!           record*
//! record  = header (28 bytes)  magic u32 | length u32 | seq u64 | kind u8 | 0 0 0 | crc32c(payload) u32 | crc32c(seed, header) u32
//!           payload (length bytes)
//! ```
//!
//! All numbers are little endian. The seed of a record header's checksum is made from the salt and the segment's first
//! sequence number: bytes inside of a payload cannot pass for a record, so the search for the next good record after
//! damage can trust a header that checks out, and reads every byte once. The salt is in `LOCK` and in every segment, so
//! that one damaged place does not lose it.
//!
//! # What holds
//!
//! - A sequence number is answered only after its frame, and the name of its file, are synced.
//! - While the disk is sound, numbers start at 1, are dense, and are never given to two frames that were answered.
//! - A number that a cursor has passed is never given again, even if damage took its frame.
//! - A failed sync ends all writing until the process opens the journal anew; it is never tried again.
//! - Damage costs the damaged frames only. It is counted, never fatal.
//! - A frame that was refused or never answered may still be found after a crash: readers must be idempotent.

mod config;
mod cursor;
mod damage;
mod error;
mod files;
#[expect(clippy::module_inception, reason = "the facade is named after what it is")]
mod journal;
mod reader;
mod recent;
mod record;
mod recover;
mod segment;
mod state;
mod writer;

#[cfg(test)]
mod tests;

pub use config::Config;
pub use error::{Full, JournalError};
pub use files::create_dirs;
pub use journal::{Journal, JournalStats};
pub use reader::Reader;
pub use record::Frame;
