//! The command line.

use clap::Parser;
use std::path::PathBuf;

/// Fills a lake with generated spans and asks it.
#[derive(Debug, Parser)]
#[command(name = "query")]
pub struct Args {
    /// How many spans.
    #[arg(long, default_value_t = 1_000_000)]
    pub spans: usize,
    /// Instead of spans so many scores, and the quality aggregates beside `avg`.
    #[arg(long, default_value_t = 0)]
    pub scores: usize,
    /// The console's statements, over the spans and as many scores of them.
    #[arg(long)]
    pub console: bool,
    /// Warm runs of each query.
    #[arg(long, default_value_t = 21)]
    pub runs: usize,
    /// Ask DuckDB and chdb the same, over the same files (Python in ~/.cache/groundline-bench-venv; installed if missing).
    #[arg(long)]
    pub peers: bool,
    /// Leave the files as the flush loop writes them; otherwise they are merged first, as the server does every 30 seconds.
    #[arg(long)]
    pub unmerged: bool,
    /// Only queries whose name has this in it.
    #[arg(long)]
    pub only: Option<String>,
    /// Print the bytes of every column.
    #[arg(long)]
    pub columns: bool,
    /// Keep the lake there, and use it if it is there already; otherwise it is temporary.
    #[arg(long)]
    pub keep: Option<PathBuf>,
    /// Where a temporary lake is made.
    #[arg(long, default_value = env!("CARGO_TARGET_TMPDIR"))]
    pub folder: PathBuf,
    /// Write the figures there as JSON.
    #[arg(long)]
    pub json: Option<PathBuf>,
    /// Cargo passes it; it says nothing.
    #[arg(long, hide = true)]
    pub bench: bool,
}
