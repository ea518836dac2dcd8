//! What can go wrong, and whether another try can help.

use crate::units::ByteSize;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which limit an append met.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Full {
    /// The writer is behind.
    #[error("{queued} bytes wait for the writer already (journal.max_queued_size is {limit})")]
    Queue {
        /// Bytes that wait.
        queued: u64,
        /// Bytes that may.
        limit: ByteSize,
    },
    /// The readers are behind.
    #[error(
        "the segments take {used} bytes (journal.max_disk_size is {limit}); a reader must catch up first"
    )]
    Disk {
        /// Bytes of the segments.
        used: u64,
        /// Bytes that they may take.
        limit: ByteSize,
    },
    /// The file system has no space or quota left.
    #[error("the file system has no space left; free some")]
    Device,
}

/// Why the journal did not do what was asked. Cloned to every waiter of a group that failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    /// The values cannot be used together.
    #[error("the journal's configuration is not usable: {}", .0.join("; "))]
    Config(Vec<String>),
    /// Another process (or another handle in this one) has the directory open.
    #[error("the journal in {} is open in another process: stop it, or choose another directory", .dir.display())]
    Locked {
        /// The journal's folder.
        dir: PathBuf,
    },
    /// A limit was met. Nothing was kept; the same append can succeed later.
    #[error("the journal is full: {0}")]
    Full(Full),
    /// The payload is over the limit and will always be.
    #[error("a frame of {bytes} bytes is over journal.max_frame_size ({limit}): send smaller batches")]
    FrameTooLarge {
        /// Bytes of the payload.
        bytes: u64,
        /// Bytes that it may have.
        limit: ByteSize,
    },
    /// A write or sync failed in a way that leaves open what is on the disk. The frame may or may not be kept.
    #[error(
        "the journal takes no more frames because the disk failed ({cause}): check the disk, then restart"
    )]
    Poisoned {
        /// The operation that failed, and why.
        cause: String,
    },
    /// What was to be appended could not be put into bytes. Nothing was written.
    #[error(
        "what is owed to the log cannot be written down ({cause}): this is a fault of the program, please report it"
    )]
    Payload {
        /// What does not fit into bytes.
        cause: String,
    },
    /// `close` was called.
    #[error("the journal is closed")]
    Closed,
    /// A name that cannot be a file name everywhere.
    #[error("{name:?} is not a cursor name: use 1 to 64 of a-z, 0-9, '_' and '-'")]
    CursorName {
        /// The name that was asked for.
        name: String,
    },
    /// Too many names.
    #[error("the journal has {limit} cursors already: remove a *.cursor file of a reader that is gone")]
    CursorLimit {
        /// How many there may be.
        limit: usize,
    },
    /// A cursor can stand only on a frame that is durable.
    #[error("cursor {name} cannot move to {seq}: the last durable frame is {durable}")]
    CursorAhead {
        /// The cursor.
        name: String,
        /// Where it was to stand.
        seq: u64,
        /// The last frame that is durable.
        durable: u64,
    },
    /// What a cursor has passed may be gone, so it does not move back.
    #[error("cursor {name} stands at {at} and cannot move back to {seq}")]
    CursorBack {
        /// The cursor.
        name: String,
        /// Where it was to stand.
        seq: u64,
        /// Where it stands.
        at: u64,
    },
    /// A newer release wrote this file.
    #[error("{} has format version {version}, this release reads {supported}: use a newer release", .path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its format.
        version: u32,
        /// The newest format that is read.
        supported: u32,
    },
    /// Another file operation failed.
    #[error("cannot {what} {}: {source}", .path.display())]
    Io {
        /// The operation, as a verb.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: Arc<io::Error>,
    },
}

impl JournalError {
    /// True if the same call can succeed later without anybody changing it. What is unknown counts as permanent.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// An I/O error with its path; lack of space is told apart from the rest.
    pub(super) fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        if is_out_of_space(&source) {
            return Self::Full(Full::Device);
        }
        Self::Io { what, path: path.to_owned(), source: Arc::new(source) }
    }

    /// The same for an operation that leaves the state of the disk unknown when it fails.
    pub(super) fn poison(what: &'static str, path: &Path, source: &io::Error) -> Self {
        Self::Poisoned { cause: format!("{what} {}: {source}", path.display()) }
    }
}

fn is_out_of_space(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
