//! The face of the lake: what queries see, and what the loop adds.

use super::config::Config;
use super::error::LakeError;
use super::files::LakeFiles;
use super::join::Waiting;
use super::manifest::{Manifest, SharedManifest};
use super::snapshot::{DataFile, TableSnapshot};
use super::store::LakeStore;
use super::tail::HotTable;
use super::window::{self, DedupWindow};
use crate::domain::merge::merge_content;
use crate::domain::time::{Clock, UnixNanos};
use crate::journal::Frame;
use crate::schema::batch::read_log_content;
use crate::schema::columns::Table;
use crate::schema::frame::{FrameKind, Part};
use crate::units::{millis, nanos};
use arrow::array::{AsArray, BooleanArray, RecordBatch};
use arrow::datatypes::TimestampMicrosecondType;
use futures::TryStreamExt;
use object_store::ObjectStore;
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::sync::watch;

/// Every table: files and hot rows.
pub struct Lake {
    pub(super) config: Config,
    pub(super) tables: RwLock<BTreeMap<Table, HotTable>>,
    pub(super) manifests: Vec<SharedManifest>,
    pub(super) clock: Arc<dyn Clock>,
    stores: BTreeMap<Table, Arc<dyn ObjectStore>>,
    files: LakeFiles,
    seen: Mutex<Seen>,
    applied: watch::Sender<u64>,
    /// Whether somebody waits for hot rows to be in files.
    pub(super) is_wanted: AtomicBool,
}

/// What the loop remembers between frames.
struct Seen {
    windows: BTreeMap<Table, DedupWindow>,
    waiting: Waiting,
}

impl Lake {
    /// Opens or creates every table, to be filled from the journal `journal_id`. Gives the lake, and the manifests for
    /// the flush loop.
    pub async fn open(
        config: Config,
        data_dir: &Path,
        clock: Arc<dyn Clock>,
        journal_id: u32,
    ) -> Result<(Arc<Lake>, Vec<SharedManifest>), LakeError> {
        Self::open_in(&LakeStore::open(&config, data_dir)?, config, clock, journal_id).await
    }

    /// [`Lake::open`] in a store.
    pub(super) async fn open_in(
        store: &LakeStore,
        config: Config,
        clock: Arc<dyn Clock>,
        journal_id: u32,
    ) -> Result<(Arc<Lake>, Vec<SharedManifest>), LakeError> {
        let (mut tables, mut stores, mut windows) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut manifests = Vec::new();
        for table in Table::ALL {
            let manifest = Manifest::open(store, table, journal_id, clock.clone()).await?;
            tables.insert(table, HotTable::new(table, manifest.files()?, manifest.position()));
            stores.insert(table, manifest.store.clone());
            windows.insert(table, recent(&manifest, &config, clock.now()).await?);
            manifests.push(Arc::new(tokio::sync::Mutex::new(manifest)));
        }
        let seen = Mutex::new(Seen { windows, waiting: Waiting::new(config.join_wait) });
        let (tables, applied) = (RwLock::new(tables), watch::channel(0).0);
        let is_wanted = AtomicBool::new(false);
        let handed = manifests.clone();
        let files = store.files();
        let lake = Lake { config, tables, manifests, clock, stores, files, seen, applied, is_wanted };
        Ok((Arc::new(lake), handed))
    }

    /// A consistent view of `table`: each row once, in a file or hot.
    pub fn snapshot(&self, table: Table) -> TableSnapshot {
        let tables = self.tables.read();
        let (files, hot) = match tables.get(&table) {
            Some(known) => (known.files.clone(), known.hot()),
            None => (Arc::default(), Vec::new()),
        };
        TableSnapshot { table, schema: table.schema(), store: self.stores[&table].clone(), files, hot }
    }

    /// The files beside the tables.
    pub fn files(&self) -> &LakeFiles {
        &self.files
    }

    /// The values of a text column in hot rows and in files whose times reach into the last `window`.
    pub async fn recent(
        &self,
        table: Table,
        column: &str,
        window: Duration,
    ) -> Result<Vec<String>, LakeError> {
        let snapshot = self.snapshot(table);
        let window = nanos(window) / 1_000;
        let since = self.clock.now().micros().saturating_sub(window);
        let mut batches = snapshot.hot;
        for file in snapshot.files.iter().filter(|f| f.max_time.is_none_or(|time| time >= since)) {
            batches.extend(super::read::read_columns(&snapshot.store, file, &[column]).await?);
        }
        let columns =
            batches.iter().filter_map(|b| b.column_by_name(column)?.as_string_opt::<i32>().cloned());
        Ok(columns.flat_map(|c| c.iter().flatten().map(str::to_owned).collect::<Vec<_>>()).collect())
    }

    /// The last journal frame whose rows are visible.
    pub fn applied(&self) -> u64 {
        *self.applied.borrow()
    }

    /// Told of every change of [`Lake::applied`].
    pub fn watch_applied(&self) -> watch::Receiver<u64> {
        self.applied.subscribe()
    }

    /// The frame `seq` has been dealt with: its rows are visible.
    pub(super) fn set_applied(&self, seq: u64) {
        self.applied.send_replace(seq);
    }

    /// Makes the rows of `frame` visible. Rows that a table already has in files or has seen are left out.
    pub(super) fn apply(&self, frame: &Frame) -> Result<(), LakeError> {
        let wanted = Table::ALL.iter().fold(FrameKind::default(), |all, t| all.and(FrameKind::of(*t)));
        for part in crate::schema::frame::decode(&frame.payload, wanted)? {
            if let Part::Rows(table, batch) = part {
                self.apply_rows(frame.seq, table, batch)?;
            }
        }
        Ok(())
    }

    fn apply_rows(&self, seq: u64, table: Table, batch: RecordBatch) -> Result<(), LakeError> {
        let now = self.clock.now();
        let mut seen = self.seen.lock();
        if self.tables.read().get(&table).is_none_or(|known| seq <= known.position) {
            // The records are in files, but their spans may be in this very replay.
            if table == Table::LogRecords {
                self.join_content(&mut seen, &batch, now)?;
            }
            return Ok(());
        }
        let mut batch = batch;
        if let Some(window) = seen.windows.get_mut(&table) {
            let (kept, again) = window::only_new(window, table, batch, now)?;
            batch = kept;
            if again > 0 {
                let again = u64::try_from(again).unwrap_or(u64::MAX);
                metrics::counter!("groundline_duplicate_rows_total", "table" => table.name())
                    .increment(again);
            }
        }
        if table == Table::LogRecords {
            self.join_content(&mut seen, &batch, now)?;
        }
        if table == Table::Spans {
            batch = seen.waiting.meet(batch, merge_content)?;
        }
        if let Some(known) = self.tables.write().get_mut(&table) {
            known.push(seq, batch)?;
        }
        Ok(())
    }

    fn join_content(&self, seen: &mut Seen, batch: &RecordBatch, now: UnixNanos) -> Result<(), LakeError> {
        let content: Vec<_> = read_log_content(batch)
            .into_iter()
            .map(|c| ((c.tenant.to_string(), c.trace_id.to_string(), c.span_id.to_string()), c.llm))
            .collect();
        if content.is_empty() {
            return Ok(());
        }
        let mut rest = content;
        if let Some(spans) = self.tables.write().get_mut(&Table::Spans) {
            rest = spans.join(rest, merge_content)?;
        }
        for (key, llm) in rest {
            let given_up = seen.waiting.keep(key, llm, now);
            let given_up = u64::try_from(given_up).unwrap_or(u64::MAX);
            metrics::counter!("groundline_log_content_unjoined_total").increment(given_up);
        }
        Ok(())
    }
}

/// The keys of the rows that came within the window.
async fn recent(manifest: &Manifest, config: &Config, now: UnixNanos) -> Result<DedupWindow, LakeError> {
    let mut window = DedupWindow::new(config.dedup_window, config.dedup_max_ids, now);
    let names = window::key_columns(manifest.table);
    if names.is_empty() {
        return Ok(window);
    }
    let since = now.millis().saturating_sub(millis(config.dedup_window));
    let mut names = names.to_vec();
    names.extend(manifest.table.schema().column_with_name(RECEIVED).map(|_| RECEIVED));
    // The oldest files come first, because the window forgets what it was told first.
    for file in manifest.log_files()?.iter().filter(|file| file.arrived >= since) {
        let noted = note_keys(&mut window, manifest, (&file.file, names.as_slice()), (since, now)).await;
        noted.map_err(|error| error.in_file(manifest.table, &file.file.path))?;
    }
    Ok(window)
}

/// Notes the keys of a file's rows that came at `since` (milliseconds since 1970) or later.
async fn note_keys(
    window: &mut DedupWindow,
    manifest: &Manifest,
    (file, names): (&DataFile, &[&str]),
    (since, now): (i64, UnixNanos),
) -> Result<(), LakeError> {
    // Piece by piece: the texts of a whole file would take many times its size in memory.
    let mut batches = super::read::stream_columns(&manifest.store, file, names).await?;
    while let Some(batch) = batches.try_next().await? {
        // A merged file has older rows as well; they would push the recent ones out.
        let batch = received_since(batch, since.saturating_mul(1_000))?;
        // A file that lacks the columns of the key is none of ours: no sender can send its rows again.
        for key in window::keys(manifest.table, &batch).unwrap_or_default() {
            window.insert(key, now);
        }
    }
    Ok(())
}

/// When the server received a row, where a table says it.
const RECEIVED: &str = "received_at";

/// The rows that were received at `micros` since 1970 or later; all rows of a table that does not say it.
fn received_since(batch: RecordBatch, micros: i64) -> Result<RecordBatch, arrow::error::ArrowError> {
    let received =
        batch.column_by_name(RECEIVED).and_then(|c| c.as_primitive_opt::<TimestampMicrosecondType>());
    let Some(received) = received else { return Ok(batch) };
    let recent: BooleanArray = received.iter().map(|at| Some(at.is_none_or(|at| at >= micros))).collect();
    arrow::compute::filter_record_batch(&batch, &recent)
}
