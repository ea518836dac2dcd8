//! The loop that looks after the tables.
//!
//! One task, one table and one merge after the other, so that looking after the tables takes one core at most. Decisions
//! are the pure functions of this folder; here they are carried out. What fails is told, counted, and tried again in the
//! next round from what the log then says.

use super::super::error::LakeError;
use super::super::lake::Lake;
use super::super::manifest::{self, LogFile, NewFile, Rows, SharedManifest};
use super::super::path::merged_path;
use super::compact;
use super::merge::{Merge, merge};
use super::quiet;
use super::retention::{self, Held, Verdict};
use super::tenants::Tenants;
use super::vacuum::{self, Log, Object};
use crate::schema::columns::Table;
use crate::units::millis;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Vacuum lists every object, so it runs more seldom than the rest; but at least this often.
const VACUUM_AT_LEAST: Duration = Duration::from_secs(600);

/// Merges share a commit until so much time has passed since the first of them: vacuum of another server takes a file that
/// waits for its commit much longer for one that nobody needs.
const COMMIT_AFTER: Duration = Duration::from_secs(60);

/// Looks after the tables of one lake. There must be one in a process, and there may be one in each of several servers
/// on one bucket.
pub struct Upkeep {
    lake: Arc<Lake>,
    tenants: Tenants,
    /// Files that were part of a merge that failed for what they hold. They are left alone until the next start, so that
    /// one broken file does not keep all others from being merged.
    shunned: HashSet<(Table, Path)>,
    /// When vacuum last ran.
    pub(super) vacuumed: Option<Instant>,
}

impl Upkeep {
    /// For `lake`; nothing happens yet.
    pub fn new(lake: Arc<Lake>) -> Self {
        for table in Table::ALL.map(Table::name) {
            for name in COUNTERS {
                metrics::counter!(*name, "table" => table).increment(0);
            }
        }
        Self { lake, tenants: Tenants::default(), shunned: HashSet::new(), vacuumed: None }
    }

    /// Works until `stop`. A merge that is under way then is given up, which changes nothing.
    pub async fn run(mut self, stop: CancellationToken) {
        let interval = self.lake.config.maintenance_interval;
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = tokio::time::sleep(interval) => {}
            }
            self.round(&stop).await;
        }
    }

    /// One round over all tables: learns what other servers have committed, lets old rows go, merges, and deletes what
    /// nobody needs. Gives how many of its steps failed.
    pub async fn round(&mut self, stop: &CancellationToken) -> usize {
        let mut failed = 0;
        let mut note = |result: Result<(), LakeError>| match result {
            Ok(()) | Err(LakeError::Stopped) => {}
            Err(error) => {
                failed += 1;
                metrics::counter!("groundline_upkeep_errors_total").increment(1);
                tracing::warn!(%error, "upkeep of the tables failed; it is tried again");
            }
        };
        let lake = self.lake.clone();
        for manifest in &lake.manifests {
            note(self.refresh(manifest).await);
        }
        note(self.retain(stop).await);
        for manifest in &lake.manifests {
            note(self.compact(manifest, stop).await);
        }
        let every = (lake.config.vacuum_after / 4).min(VACUUM_AT_LEAST);
        if self.vacuumed.is_none_or(|last| last.elapsed() >= every) {
            self.vacuumed = Some(Instant::now());
            for manifest in lake.manifests.iter().take_while(|_| !stop.is_cancelled()) {
                note(self.vacuum(manifest).await);
            }
        }
        failed
    }

    async fn refresh(&self, manifest: &SharedManifest) -> Result<(), LakeError> {
        let mut manifest = manifest.lock().await;
        manifest.refresh().await?;
        self.lake.publish(&manifest)
    }

    /// Lets rows go that are too old or too many.
    async fn retain(&mut self, stop: &CancellationToken) -> Result<(), LakeError> {
        let retention = &self.lake.config.retention;
        if !retention.is_set() {
            return Ok(());
        }
        let (mut held, mut files, mut there) = (Vec::new(), Vec::new(), HashSet::new());
        let mut failed = None;
        for manifest in &self.lake.manifests {
            let (table, store, listed) = listed(manifest).await?;
            for file in listed {
                let tenants = match retention.names_tenants(table) {
                    true => self.tenants.of(&store, table, &file.file).await,
                    false => Ok(Vec::new()),
                };
                // A file that cannot be read keeps its rows, and does not keep others from going.
                let tenants = match tenants {
                    Ok(tenants) => tenants,
                    Err(error) => {
                        failed = Some(error);
                        continue;
                    }
                };
                there.insert((table, file.file.path.clone()));
                let (path, bytes, rows) = (file.file.path.clone(), file.file.bytes, file.file.rows);
                held.push(Held { table, path, bytes, rows, arrived: file.arrived, tenants });
                files.push((manifest, file));
            }
        }
        self.tenants.keep(&there);
        let verdicts = retention::plan(&held, retention, self.lake.clock.now().millis());
        for manifest in &self.lake.manifests {
            let table = manifest.lock().await.table;
            let dropped: Vec<&Held> = verdicts
                .iter()
                .filter(|(at, verdict)| **verdict == Verdict::Drop && held[**at].table == table)
                .map(|(at, _)| &held[*at])
                .collect();
            // What one table cannot commit must not keep other rows from going.
            failed = self.drop_files(manifest, &dropped).await.err().or(failed);
        }
        for (at, verdict) in verdicts {
            let (manifest, file) = &files[at];
            if let Verdict::Without(tenants) = verdict {
                let done = self.rewrite(manifest, std::slice::from_ref(file), tenants, stop).await;
                failed = done.err().or(failed);
            }
        }
        failed.map_or(Ok(()), Err)
    }

    async fn drop_files(&self, manifest: &SharedManifest, files: &[&Held]) -> Result<(), LakeError> {
        let Some(table) = files.first().map(|file| file.table) else { return Ok(()) };
        let paths: HashSet<Path> = files.iter().map(|file| file.path.clone()).collect();
        let mut manifest = manifest.lock().await;
        if manifest.replace(&paths, &[], Rows::Change).await? {
            self.lake.publish(&manifest)?;
            let (rows, bytes) = files.iter().fold((0, 0), |(r, b), file| (r + file.rows, b + file.bytes));
            expired(table, rows, bytes);
        }
        Ok(())
    }

    /// Merges what is due in one table until nothing is.
    ///
    /// One merge after the other; those of a plan share a commit, because each commit is an entry of the log that every
    /// reader reads until a checkpoint.
    async fn compact(
        &mut self,
        manifest: &SharedManifest,
        stop: &CancellationToken,
    ) -> Result<(), LakeError> {
        loop {
            let (table, _, mut files) = listed(manifest).await?;
            files.retain(|file| !self.shunned.contains(&(table, file.file.path.clone())));
            let merges = compact::plan(
                &files,
                self.lake.clock.now().millis(),
                compact::window(table, &self.lake.config),
                &self.lake.config,
            );
            if merges.is_empty() {
                return Ok(());
            }
            let (mut waiting, mut since) = (Vec::new(), Instant::now());
            for merge in merges {
                let inputs: Vec<LogFile> = merge.into_iter().map(|at| files[at].clone()).collect();
                match self.put_merged(manifest, &inputs, BTreeSet::new(), stop).await {
                    Ok(rewritten) => waiting.push(rewritten),
                    Err(error) => {
                        self.shun(table, broken(&error, &inputs));
                        // What was merged before stays merged.
                        self.commit(manifest, waiting, Rows::Same).await?;
                        return Err(error);
                    }
                }
                if since.elapsed() < COMMIT_AFTER {
                    continue;
                }
                // Another server was faster: the next round sees what it did.
                if !self.commit(manifest, std::mem::take(&mut waiting), Rows::Same).await? {
                    return Ok(());
                }
                since = Instant::now();
            }
            if !self.commit(manifest, waiting, Rows::Same).await? {
                return Ok(());
            }
        }
    }

    /// Leaves files out of merges until the next start.
    fn shun(&mut self, table: Table, files: Vec<Path>) {
        if files.is_empty() {
            return;
        }
        let names: Vec<&str> = files.iter().map(Path::as_ref).collect();
        tracing::error!(table = table.name(), files = ?names, "files cannot be merged and are left as they are");
        self.shunned.extend(files.into_iter().map(|path| (table, path)));
    }

    /// Writes `inputs` anew as one file, without the rows of some tenants; false if another server has removed one of
    /// them.
    async fn rewrite(
        &self,
        manifest: &SharedManifest,
        inputs: &[LogFile],
        without: BTreeSet<String>,
        stop: &CancellationToken,
    ) -> Result<bool, LakeError> {
        let rows = if without.is_empty() { Rows::Same } else { Rows::Change };
        let rewritten = self.put_merged(manifest, inputs, without, stop).await?;
        self.commit(manifest, vec![rewritten], rows).await
    }

    /// Puts one file that stands for `inputs`, without the rows of some tenants. It is no part of the table yet.
    async fn put_merged(
        &self,
        manifest: &SharedManifest,
        inputs: &[LogFile],
        without: BTreeSet<String>,
        stop: &CancellationToken,
    ) -> Result<Rewritten, LakeError> {
        let started = Instant::now();
        let (table, store) = {
            let manifest = manifest.lock().await;
            (manifest.table, manifest.store.clone())
        };
        let mut bytes = Vec::with_capacity(inputs.len());
        for file in inputs {
            let read = async { store.get(&file.file.path).await?.bytes().await };
            bytes.push(read.await.map_err(|e| LakeError::from(e).in_file(table, &file.file.path))?);
        }
        let (work, config, stopped) =
            (Merge { table, inputs: bytes, without }, self.lake.config.clone(), stop.clone());
        let merged = quiet::run(move || merge(work, &config, &stopped)).await??;
        let after = merged.written.bytes.len() as u64;
        let arrived = inputs.iter().map(|file| file.arrived).max().unwrap_or_default();
        let new = match merged.written.rows {
            0 => None,
            _ => Some(
                manifest::put(&store, table, merged_path(Uuid::new_v4()), merged.written, arrived).await?,
            ),
        };
        let old: Vec<Path> = inputs.iter().map(|file| file.file.path.clone()).collect();
        let before = inputs.iter().map(|file| file.file.bytes).sum();
        let (left_out, repeated, took) = (merged.left_out, merged.repeated, started.elapsed());
        Ok(Rewritten { old, new, before, after, left_out, repeated, took })
    }

    /// Puts the new files in the place of the old ones, all in one commit; false if another server has removed one of
    /// the old ones: then nothing has changed, and the new files are left to vacuum.
    async fn commit(
        &self,
        manifest: &SharedManifest,
        mut rewritten: Vec<Rewritten>,
        rows: Rows,
    ) -> Result<bool, LakeError> {
        if rewritten.is_empty() {
            return Ok(true);
        }
        let old: HashSet<Path> = rewritten.iter().flat_map(|one| one.old.iter().cloned()).collect();
        let new: Vec<NewFile> = rewritten.iter_mut().filter_map(|one| one.new.take()).collect();
        let mut manifest = manifest.lock().await;
        if !manifest.replace(&old, &new, rows).await? {
            return Ok(false);
        }
        self.lake.publish(&manifest)?;
        for one in rewritten {
            count("groundline_duplicate_rows_total", manifest.table, one.repeated);
            match rows {
                Rows::Change => expired(manifest.table, one.left_out, one.before.saturating_sub(one.after)),
                Rows::Same => compacted(manifest.table, &one),
            }
        }
        Ok(true)
    }

    /// Deletes files that no version of the table has had for long, and entries of its log that a checkpoint stands for.
    async fn vacuum(&self, manifest: &SharedManifest) -> Result<(), LakeError> {
        let (table, store) = {
            let manifest = manifest.lock().await;
            (manifest.table, manifest.store.clone())
        };
        // The listing comes first: what is listed and committed since is active then, and what the flush loop has put
        // and not committed cannot be seen, because it holds the manifest between the two.
        let listed = store.list(None).map_ok(|meta| Object {
            path: meta.location,
            bytes: meta.size,
            written: meta.last_modified.timestamp_millis(),
        });
        let objects: Vec<Object> = listed.try_collect().await?;
        let log = {
            let mut manifest = manifest.lock().await;
            // Anew from the last checkpoint, because the entries before it may be deleted, by this server or another.
            manifest.reload().await?;
            self.lake.publish(&manifest)?;
            let active = manifest.files()?.into_iter().map(|file| file.path).collect();
            Log { active, removed: manifest.removed().await?, pinned: self.lake.pinned(table) }
        };
        let after = millis(self.lake.config.vacuum_after);
        let now = self.lake.clock.now().millis();
        let files = vacuum::plan(&objects, &log, now, after);
        let entries = vacuum::plan_log(&objects, now.saturating_sub(after));
        let bytes: u64 = files.iter().map(|object| object.bytes).sum();
        delete(&store, &files).await?;
        delete(&store, &entries).await?;
        count("groundline_vacuum_files_total", table, files.len() as u64);
        count("groundline_vacuum_bytes_total", table, bytes);
        count("groundline_vacuum_log_entries_total", table, entries.len() as u64);
        if !files.is_empty() {
            tracing::info!(table = table.name(), files = files.len(), bytes, "deleted files of no version");
        }
        Ok(())
    }
}

/// Files that were written anew as one, which waits for its commit.
struct Rewritten {
    old: Vec<Path>,
    /// None if no row was left.
    new: Option<NewFile>,
    /// Bytes of the old files, and of the new one.
    before: u64,
    after: u64,
    left_out: u64,
    repeated: u64,
    took: Duration,
}

/// Every counter of upkeep has a value from the start: an alert on a counter that is not there never fires.
const COUNTERS: &[&str] = &[
    "groundline_compactions_total",
    "groundline_compaction_files_total",
    "groundline_compaction_read_bytes_total",
    "groundline_compaction_written_bytes_total",
    "groundline_retention_rows_total",
    "groundline_retention_bytes_total",
    "groundline_vacuum_files_total",
    "groundline_vacuum_bytes_total",
    "groundline_vacuum_log_entries_total",
];

fn count(name: &'static str, table: Table, by: u64) {
    metrics::counter!(name, "table" => table.name()).increment(by);
}

fn expired(table: Table, rows: u64, bytes: u64) {
    count("groundline_retention_rows_total", table, rows);
    count("groundline_retention_bytes_total", table, bytes);
    tracing::info!(table = table.name(), rows, bytes, "rows are past their retention and gone");
}

fn compacted(table: Table, one: &Rewritten) {
    let (files, read, written, took) = (one.old.len(), one.before, one.after, one.took);
    count("groundline_compactions_total", table, 1);
    count("groundline_compaction_files_total", table, files as u64);
    count("groundline_compaction_read_bytes_total", table, read);
    count("groundline_compaction_written_bytes_total", table, written);
    metrics::histogram!("groundline_compaction_seconds", "table" => table.name()).record(took.as_secs_f64());
    tracing::debug!(table = table.name(), files, read, written, ?took, "files merged");
}

/// The files with which a merge would fail again: the one that is not there, or all if nobody knows which one it is.
fn broken(error: &LakeError, inputs: &[LogFile]) -> Vec<Path> {
    use LakeError::{Arrow, File, Newer, Parquet, RowsLost, Store};
    match error {
        File { path, source, .. } if matches!(**source, Store(object_store::Error::NotFound { .. })) => {
            vec![path.clone()]
        }
        Parquet(_) | Arrow(_) | RowsLost { .. } | Newer { .. } => {
            inputs.iter().map(|file| file.file.path.clone()).collect()
        }
        _ => Vec::new(),
    }
}

/// The table, where it is, and its files.
pub(super) async fn listed(
    manifest: &SharedManifest,
) -> Result<(Table, Arc<dyn ObjectStore>, Vec<LogFile>), LakeError> {
    let manifest = manifest.lock().await;
    Ok((manifest.table, manifest.store.clone(), manifest.log_files()?))
}

/// Deletes objects; those that are gone already are fine. The first other error is given when all were tried.
async fn delete(store: &Arc<dyn ObjectStore>, objects: &[&Object]) -> Result<(), LakeError> {
    let paths: Vec<_> = objects.iter().map(|object| Ok(object.path.clone())).collect();
    let mut deleted = store.delete_stream(futures::stream::iter(paths).boxed());
    let mut failed = None;
    while let Some(result) = deleted.next().await {
        match result {
            Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    failed.map_or(Ok(()), |error| Err(error.into()))
}
