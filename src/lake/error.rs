//! What can go wrong in the lake.

use crate::journal::JournalError;
use crate::schema::columns::Table;
use crate::schema::frame::FrameError;
use object_store::path::Path;
use std::path::PathBuf;

/// What can go wrong in the lake.
#[derive(Debug, thiserror::Error)]
pub enum LakeError {
    /// The lake's folder cannot be made or found.
    #[error("lake folder {0}: {1}")]
    Folder(PathBuf, std::io::Error),
    /// `lake.url` is not an address of a lake.
    #[error("lake.url {0:?} is not an address; use s3://bucket/prefix")]
    Url(String),
    /// The Delta log.
    #[error("table log: {0}")]
    Delta(#[from] deltalake::DeltaTableError),
    /// The object store.
    #[error("object store: {0}")]
    Store(#[from] object_store::Error),
    /// The object store's path.
    #[error("object store path: {0}")]
    Path(#[from] object_store::path::Error),
    /// Arrow.
    #[error("columns: {0}")]
    Arrow(#[from] arrow::error::ArrowError),
    /// Parquet.
    #[error("Parquet: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// The journal.
    #[error("journal: {0}")]
    Journal(#[from] JournalError),
    /// A frame of the journal.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A table has frames of this journal that the journal does not have. Its next frames would get their numbers and be
    /// taken for stored ones.
    #[error(
        "the table {table} holds frames up to {position} of the journal in {}, which ends at {durable}: the data directory \
         was restored or copied, or its disk lost data. Stop every other server on these tables, then move {} away to begin \
         a new journal; the stored tables stay, but frames of the old journal that are not in them yet do not come in",
        .dir.display(), .dir.display()
    )]
    JournalBehind {
        /// The table.
        table: &'static str,
        /// The last frame that it holds.
        position: u64,
        /// The last frame of the journal.
        durable: u64,
        /// Where the journal is.
        dir: PathBuf,
    },
    /// A table has columns that this release does not know.
    #[error(
        "the table {table} has columns that this release does not know ({columns}): a newer release has written to it. \
         Start that release or a newer one; nothing was changed"
    )]
    Newer {
        /// The table.
        table: &'static str,
        /// The columns.
        columns: String,
    },
    /// A stored column cannot become that of this release.
    #[error(
        "the column {table}.{column} {what}: the tables were not written by groundline, or by a release that this one cannot follow"
    )]
    Columns {
        /// The table.
        table: &'static str,
        /// The column.
        column: String,
        /// What is wrong with it.
        what: String,
    },
    /// A file of a table cannot be read.
    #[error("the file {path} of the table {table} cannot be read: {source}")]
    File {
        /// The table.
        table: &'static str,
        /// The file, relative to the table.
        path: Path,
        /// Why.
        source: Box<LakeError>,
    },
    /// A merge would have lost rows; the old files stay.
    #[error("a merge read {read} rows, left out {left_out} and wrote {written}; the old files stay")]
    RowsLost {
        /// Rows of the inputs.
        read: u64,
        /// Rows of the output.
        written: u64,
        /// Rows that were to be left out.
        left_out: u64,
    },
    /// Hot rows do not come into files.
    #[error(
        "the rows of {table} that are in memory do not come into files: see the server's log; nothing was erased"
    )]
    Unflushed {
        /// The table.
        table: &'static str,
    },
    /// Others replace the same files all the time.
    #[error("others replace the files of {table} all the time; erase the rest later")]
    Contended {
        /// The table.
        table: &'static str,
    },
    /// The server stops.
    #[error("stopped")]
    Stopped,
    /// The system gives no thread.
    #[error("no thread for a merge: {0}")]
    Thread(std::io::Error),
    /// A task of ours was cancelled.
    #[error("flush was cancelled: {0}")]
    Task(#[from] tokio::task::JoinError),
}

impl LakeError {
    /// The same, with the file of `table` that it is about.
    pub(super) fn in_file(self, table: Table, path: &Path) -> Self {
        Self::File { table: table.name(), path: path.clone(), source: Box::new(self) }
    }
}
