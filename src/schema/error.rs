//! Why bytes are not a frame.

use super::format::FRAME_VERSION;
use arrow::error::ArrowError;

/// Why bytes are not a frame.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// Written by a newer version, or not a frame at all.
    #[error("frame version {0} is not known; this program reads versions 1 to {FRAME_VERSION}")]
    Version(u8),
    /// Rows with columns that this program does not know.
    #[error(
        "rows of table {number} have schema version {version}, this program reads {known}: use a newer release"
    )]
    Schema {
        /// The table's number.
        number: u8,
        /// The version of its schema.
        version: u16,
        /// The version that is known.
        known: u16,
    },
    /// The parts do not add up to the frame.
    #[error("frame is damaged: {0}")]
    Damaged(&'static str),
    /// Arrow could not write or read the rows.
    #[error("frame rows: {0}")]
    Arrow(#[from] ArrowError),
}
