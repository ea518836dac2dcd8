//! The loop of the lake: journal to tail, tail to files.
//!
//! Two tasks. One reads frames as they become durable and makes their rows visible. The other writes what has waited
//! long enough or has grown big enough, table by table, and then moves the journal cursor. A crash between the two
//! costs nothing: each table's commit says which frames it holds.

use super::error::LakeError;
use super::lake::Lake;
use super::manifest::{Filled, Manifest, SharedManifest};
use super::snapshot::DataFile;
use super::tail::{HotTable, Sealed};
use super::writer;
use crate::journal::{Journal, JournalError, Reader};
use crate::schema::columns::Table;
use object_store::path::Path;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The name of the journal cursor behind which the lake needs no frames.
pub const CURSOR: &str = "lake";

/// How often the flush task looks, at most.
const TICK: Duration = Duration::from_millis(200);

/// How long reading rests when the hot rows take too much memory.
const PAUSE: Duration = Duration::from_millis(100);

/// Most files that one flush writes at the same time, each on a core of its own, when rows come faster than one core
/// writes them.
const MAX_FILES: usize = 4;

/// The two tasks of the lake, not started yet.
pub struct FlushHandle {
    lake: Arc<Lake>,
    journal: Journal,
    manifests: Vec<SharedManifest>,
    start: u64,
}

impl FlushHandle {
    /// Registers the cursor and makes every frame after it visible. When it returns, queries see all that was
    /// acknowledged before the call. A journal that ends before what the tables have of it is refused.
    pub async fn catch_up(
        lake: Arc<Lake>,
        journal: Journal,
        manifests: Vec<SharedManifest>,
    ) -> Result<Self, LakeError> {
        lake.check_end(&journal)?;
        let cursor = journal.cursor(CURSOR)?;
        lake.set_applied(cursor);
        let start = Read { reader: journal.reader(cursor)?, last: cursor, paused: false };
        let mut read = drain(&lake, start).await?;
        let mut me = Self { lake, journal, manifests, start: cursor };
        while read.paused {
            me.flush_all().await?;
            read = drain(&me.lake, read).await?;
        }
        me.start = read.last;
        Ok(me)
    }

    /// Runs both tasks until `stop`; then flushes once more and moves the cursor.
    pub async fn run(mut self, stop: CancellationToken) -> Result<(), LakeError> {
        let follow = follow(self.lake.clone(), self.journal.clone(), self.start, stop.clone());
        let mut applier = tokio::spawn(follow);
        while !stop.is_cancelled() {
            tokio::select! {
                // First, because the reader ends by itself once it is told to stop.
                biased;
                () = stop.cancelled() => {}
                () = tokio::time::sleep(TICK) => {}
                // Without its reader the lake would stand still unseen.
                ended = &mut applier => {
                    ended??;
                    return Err(LakeError::Journal(JournalError::Closed));
                }
            }
            if self.lake.due()
                && let Err(error) = self.flush_all().await
            {
                metrics::counter!("groundline_flush_errors_total").increment(1);
                tracing::error!(%error, "flush failed; rows stay in the journal and it is tried again");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
        applier.await??;
        self.flush_all().await
    }

    /// Writes the hot rows of all tables, and moves the cursor.
    async fn flush_all(&mut self) -> Result<(), LakeError> {
        let upto = self.lake.applied();
        // One table that cannot be written must not keep the others from their files.
        let mut failed = None;
        for manifest in &self.manifests {
            if let Err(error) = flush_table(&self.lake, manifest, upto).await {
                failed = Some(error);
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let journal = self.journal.clone();
        // It waits for the disk.
        Ok(tokio::task::spawn_blocking(move || journal.set_cursor(CURSOR, upto)).await??)
    }
}

/// Writes the hot rows of one table that came with the frames up to `upto`, and commits them. Each file takes at most
/// about `lake.flush_size` of rows, and a commit at most [`MAX_FILES`], so that what a flush needs beside the hot rows is
/// bounded.
pub(super) async fn flush_table(
    lake: &Arc<Lake>,
    manifest: &SharedManifest,
    upto: u64,
) -> Result<(), LakeError> {
    let table = manifest.lock().await.table;
    while lake.first_hot(table).is_some_and(|first| first <= upto) {
        let Some(sealed) = lake.seal(table) else { break };
        flush_sealed(lake, manifest, table, sealed).await?;
    }
    Ok(())
}

async fn flush_sealed(
    lake: &Arc<Lake>,
    manifest: &SharedManifest,
    table: Table,
    sealed: Sealed,
) -> Result<(), LakeError> {
    let started = Instant::now();
    let writing: Vec<_> = sealed
        .parts
        .into_iter()
        .map(|part| {
            let (config, first, last) = (lake.config.clone(), part.first, part.last);
            let write = move || writer::write(table, &part.batches, &config);
            (first, last, tokio::task::spawn_blocking(write))
        })
        .collect();
    let mut files = Vec::with_capacity(writing.len());
    for (first, last, written) in writing {
        files.push(Filled { first, last, written: written.await?? });
    }
    let Some(last) = files.last().map(|file| file.last) else { return Ok(()) };
    let bytes: u64 = files.iter().map(|file| file.written.bytes.len() as u64).sum();
    let mut manifest = manifest.lock().await;
    manifest.append(files).await?;
    lake.flushed(table, last, manifest.files()?);
    metrics::counter!("groundline_flush_bytes_total", "table" => table.name()).increment(bytes);
    metrics::histogram!("groundline_flush_seconds", "table" => table.name())
        .record(started.elapsed().as_secs_f64());
    Ok(())
}

impl Lake {
    /// Fails if a table has a frame that is not in `journal` any more. Frames with such numbers are still to come, and
    /// would be left out as stored ones.
    fn check_end(&self, journal: &Journal) -> Result<(), LakeError> {
        let durable = journal.durable();
        let tables = self.tables.read();
        match tables.values().max_by_key(|known| known.position) {
            Some(known) if known.position > durable => Err(LakeError::JournalBehind {
                table: known.table.name(),
                position: known.position,
                durable,
                dir: journal.dir().to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Whether hot rows take so much memory that no more are read.
    fn is_full(&self) -> bool {
        let bytes: usize = self.tables.read().values().map(|t| t.bytes()).sum();
        bytes as u64 >= self.config.max_hot_size.bytes()
    }

    /// Whether the hot rows have waited long enough or are big enough.
    fn due(&self) -> bool {
        let tables = self.tables.read();
        let interval = self.config.flush_interval;
        let bytes: usize = tables.values().map(|t| t.bytes()).sum();
        let rows: usize = tables.values().map(|t| t.rows()).sum();
        metrics::gauge!("groundline_hot_bytes").set(bytes as f64);
        metrics::gauge!("groundline_hot_rows").set(rows as f64);
        let is_wanted = self.is_wanted.swap(false, Ordering::Relaxed);
        is_wanted
            || bytes as u64 >= self.config.flush_size.min(self.config.max_hot_size).bytes()
            || tables.values().any(|t| t.waited().is_some_and(|waited| waited >= interval))
    }

    fn seal(&self, table: Table) -> Option<Sealed> {
        let bytes = self.config.flush_size.in_memory();
        let files = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_FILES);
        self.tables.write().get_mut(&table)?.seal(bytes, files)
    }

    /// Has the flush loop write all hot rows when it looks next.
    pub(super) fn flush_soon(&self) {
        self.is_wanted.store(true, Ordering::Relaxed);
    }

    /// The first frame of which `table` has hot rows.
    pub(super) fn first_hot(&self, table: Table) -> Option<u64> {
        self.tables.read().get(&table)?.first()
    }

    fn flushed(&self, table: Table, last: u64, files: Vec<DataFile>) {
        measure(table, &files);
        if let Some(known) = self.tables.write().get_mut(&table) {
            known.flushed(last, files);
        }
    }

    /// Lets later snapshots see the files of `manifest`, unless the log has rows that are also still hot: a flush whose
    /// commit is there and whose answer was lost publishes them when it is tried again.
    pub(super) fn publish(&self, manifest: &Manifest) -> Result<(), LakeError> {
        let (table, position, files) = (manifest.table, manifest.position(), manifest.files()?);
        if let Some(known) = self.tables.write().get_mut(&table)
            && known.position >= position
        {
            measure(table, &files);
            known.publish(files);
        }
        Ok(())
    }

    /// Files that a snapshot of `table` may still read.
    pub(super) fn pinned(&self, table: Table) -> HashSet<Path> {
        self.tables.read().get(&table).map(HotTable::pinned).unwrap_or_default()
    }
}

fn measure(table: Table, files: &[DataFile]) {
    let bytes: u64 = files.iter().map(|file| file.bytes).sum();
    metrics::gauge!("groundline_table_files", "table" => table.name()).set(files.len() as f64);
    metrics::gauge!("groundline_table_bytes", "table" => table.name()).set(bytes as f64);
}

/// How far reading of the journal came. The reader is kept: a new one would have to look for its place in the segment.
struct Read {
    reader: Reader,
    /// The last frame that was dealt with.
    last: u64,
    /// Whether it ended because the hot rows take too much memory.
    paused: bool,
}

/// Makes the durable frames that come next visible, as many as memory allows.
async fn drain(lake: &Arc<Lake>, read: Read) -> Result<Read, LakeError> {
    let lake = lake.clone();
    tokio::task::spawn_blocking(move || drain_blocking(&lake, read)).await?
}

fn drain_blocking(lake: &Lake, mut read: Read) -> Result<Read, LakeError> {
    loop {
        read.paused = lake.is_full();
        if read.paused {
            return Ok(read);
        }
        let Some(frame) = read.reader.next()? else { return Ok(read) };
        if let Err(error) = lake.apply(&frame) {
            metrics::counter!("groundline_frames_unreadable_total").increment(1);
            tracing::error!(seq = frame.seq, %error, "journal frame left out of the tables");
        }
        read.last = frame.seq;
        lake.set_applied(read.last);
    }
}

async fn follow(
    lake: Arc<Lake>,
    journal: Journal,
    start: u64,
    stop: CancellationToken,
) -> Result<(), LakeError> {
    let mut durable: watch::Receiver<u64> = journal.watch();
    let mut read = Read { reader: journal.reader(start)?, last: start, paused: false };
    loop {
        // What comes while this reads is seen by the wait below.
        durable.mark_unchanged();
        read = drain(&lake, read).await?;
        if read.paused && !stop.is_cancelled() {
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        tokio::select! {
            // What is not read now is read at the next start.
            () = stop.cancelled() => {
                drain(&lake, read).await?;
                return Ok(());
            }
            changed = durable.changed() => {
                if changed.is_err() {
                    return Err(LakeError::Journal(JournalError::Closed));
                }
            }
        }
    }
}
