//! The loop of the lake: journal to tail, tail to files.
//!
//! Two tasks. One reads frames as they become durable and makes their rows visible. The other writes what has waited
//! long enough or has grown big enough, table by table, and then moves the journal cursor. A crash between the two
//! costs nothing: each table's commit says which frames it holds.

use super::lake::{Lake, LakeError};
use super::manifest::Manifest;
use super::writer;
use crate::domain::columns::Table;
use crate::journal::{Journal, JournalError};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The name of the journal cursor behind which the lake needs no frames.
pub const CURSOR: &str = "lake";

/// How often the flush task looks, at most.
const TICK: Duration = Duration::from_millis(200);

/// The two tasks of the lake, not started yet.
pub struct FlushHandle {
    lake: Arc<Lake>,
    journal: Journal,
    manifests: Vec<Manifest>,
    start: u64,
}

impl FlushHandle {
    /// Registers the cursor and makes every frame after it visible. When it returns, queries see all that was
    /// acknowledged before the call.
    pub async fn catch_up(
        lake: Arc<Lake>,
        journal: Journal,
        manifests: Vec<Manifest>,
    ) -> Result<Self, LakeError> {
        let cursor = journal.cursor(CURSOR)?;
        let (to, from) = (journal.clone(), lake.clone());
        lake.set_applied(cursor);
        let start = tokio::task::spawn_blocking(move || drain(&from, &to, cursor)).await??;
        Ok(Self { lake, journal, manifests, start })
    }

    /// Runs both tasks until `stop`; then flushes once more and moves the cursor.
    pub async fn run(mut self, stop: CancellationToken) -> Result<(), LakeError> {
        let applier = tokio::spawn(follow(self.lake.clone(), self.journal.clone(), self.start, stop.clone()));
        while !stop.is_cancelled() {
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(TICK) => {}
            }
            if let Err(error) = self.flush(false).await {
                metrics::counter!("groundline_flush_errors_total").increment(1);
                tracing::error!(%error, "flush failed; rows stay in the journal and it is tried again");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
        applier.await??;
        let cursor = self.lake.applied();
        self.flush(true).await?;
        self.journal.set_cursor(CURSOR, cursor)?;
        Ok(())
    }

    /// Writes the tables that are due, or all of them.
    async fn flush(&mut self, all: bool) -> Result<(), LakeError> {
        let due = all || self.lake.due();
        if !due {
            return Ok(());
        }
        let upto = self.lake.applied();
        for manifest in &mut self.manifests {
            flush_table(&self.lake, manifest).await?;
        }
        self.journal.set_cursor(CURSOR, upto)?;
        Ok(())
    }
}

async fn flush_table(lake: &Arc<Lake>, manifest: &mut Manifest) -> Result<(), LakeError> {
    let table = manifest.table;
    let Some((first, last, batches)) = lake.seal(table) else { return Ok(()) };
    let started = Instant::now();
    let config = lake.config.clone();
    let committed = async {
        let written = tokio::task::spawn_blocking(move || writer::write(table, &batches, &config)).await??;
        let bytes = written.bytes.len();
        manifest.append(first, last, written).await?;
        Ok::<usize, LakeError>(bytes)
    };
    match committed.await {
        Ok(bytes) => {
            lake.flushed(table, last, manifest.files()?);
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            metrics::counter!("groundline_flush_bytes_total", "table" => table.name()).increment(bytes);
            metrics::histogram!("groundline_flush_seconds", "table" => table.name())
                .record(started.elapsed().as_secs_f64());
            Ok(())
        }
        Err(error) => {
            lake.unseal(table);
            Err(error)
        }
    }
}

impl Lake {
    /// Whether the hot rows have waited long enough or are big enough.
    fn due(&self) -> bool {
        let tables = self.tables.read();
        let interval = Duration::from_millis(self.config.flush_interval_ms);
        let bytes: usize = tables.values().map(|t| t.bytes()).sum();
        let rows: usize = tables.values().map(|t| t.rows()).sum();
        metrics::gauge!("groundline_hot_bytes").set(bytes as f64);
        metrics::gauge!("groundline_hot_rows").set(rows as f64);
        bytes as u64 >= self.config.flush_bytes
            || tables.values().any(|t| t.waited().is_some_and(|waited| waited >= interval))
    }

    fn seal(&self, table: Table) -> Option<(u64, u64, Vec<arrow::array::RecordBatch>)> {
        let mut tables = self.tables.write();
        let known = tables.get_mut(&table)?;
        let first = known.position + 1;
        known.seal().map(|(last, batches)| (first, last, batches))
    }

    fn unseal(&self, table: Table) {
        if let Some(known) = self.tables.write().get_mut(&table) {
            known.unseal();
        }
    }

    fn flushed(&self, table: Table, last: u64, files: Vec<super::snapshot::DataFile>) {
        metrics::gauge!("groundline_table_files", "table" => table.name()).set(files.len() as f64);
        if let Some(known) = self.tables.write().get_mut(&table) {
            known.flushed(last, files);
        }
    }
}

/// Makes every durable frame after `after` visible; gives the last one.
fn drain(lake: &Lake, journal: &Journal, after: u64) -> Result<u64, LakeError> {
    let mut reader = journal.reader(after)?;
    let mut last = after;
    while let Some(frame) = reader.next()? {
        if let Err(error) = lake.apply(&frame) {
            metrics::counter!("groundline_frames_unreadable_total").increment(1);
            tracing::error!(seq = frame.seq, %error, "journal frame left out of the tables");
        }
        last = frame.seq;
        lake.set_applied(last);
    }
    Ok(last)
}

async fn follow(
    lake: Arc<Lake>,
    journal: Journal,
    start: u64,
    stop: CancellationToken,
) -> Result<(), LakeError> {
    let mut durable: watch::Receiver<u64> = journal.watch();
    let mut at = start;
    loop {
        let (to, from) = (journal.clone(), lake.clone());
        at = tokio::task::spawn_blocking(move || drain(&from, &to, at)).await??;
        tokio::select! {
            () = stop.cancelled() => {
                let (to, from) = (journal.clone(), lake.clone());
                tokio::task::spawn_blocking(move || drain(&from, &to, at)).await??;
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
