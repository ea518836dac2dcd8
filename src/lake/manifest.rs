//! A Delta table: open or create it, list its files, commit one more, replace some by others.

use super::error::LakeError;
use super::open;
use super::path::DataPath;
use super::snapshot::DataFile;
use super::store::LakeStore;
use super::writer::Written;
use crate::domain::time::Clock;
use crate::schema::columns::Table;
use bytes::Bytes;
use deltalake::kernel::transaction::{CommitBuilder, CommitProperties, TransactionError};
use deltalake::kernel::{Action, Add, LogicalFileView, Remove, Transaction};
use deltalake::protocol::{DeltaOperation, SaveMode};
use deltalake::table::state::DeltaTableState;
use deltalake::{DeltaTable, DeltaTableError};
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use serde_json::Value as Json;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use uuid::Uuid;

/// How often a replacement is tried anew because another server has committed meanwhile.
const REPLACE_ATTEMPTS: usize = 10;

/// A table that the flush loop and upkeep share. Who commits holds it, and publishes the files before letting go.
pub type SharedManifest = Arc<tokio::sync::Mutex<Manifest>>;

/// One table of the lake.
pub struct Manifest {
    /// Which.
    pub table: Table,
    /// The store whose root is the table.
    pub store: Arc<dyn ObjectStore>,
    delta: DeltaTable,
    /// Kept, because to find it in the log costs a request for every entry since the last checkpoint.
    position: u64,
    /// Under which application id the Delta log keeps the journal position. It names the journal, because sequence
    /// numbers of another one, on the same bucket or in the place of a deleted one, mean other rows.
    app_id: String,
    /// Whether a commit may be there whose answer was lost, and the log could not be asked either.
    in_doubt: bool,
    clock: Arc<dyn Clock>,
}

/// A file of the table's newest known version.
#[derive(Debug, Clone)]
pub struct LogFile {
    /// The file.
    pub file: DataFile,
    /// When its newest row was committed, milliseconds since 1970. A merged file has it from its inputs.
    pub arrived: i64,
}

/// A file that is to be put: its rows are those of the journal frames from `first` to `last`.
pub struct Filled {
    /// Sequence number of the first frame.
    pub first: u64,
    /// Sequence number of the last frame.
    pub last: u64,
    /// The file.
    pub written: Written,
}

/// What a commit does to the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// They come, or go for good.
    Change,
    /// They are the same in other files.
    Same,
}

/// A file that was put and waits for its commit.
pub struct NewFile {
    path: Path,
    size: usize,
    stats: String,
    arrived: i64,
}

impl Manifest {
    /// Opens the table as [`open::open`] does.
    pub async fn open(
        lake: &LakeStore,
        table: Table,
        journal_id: u32,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, LakeError> {
        let (delta, store) = open::open(lake, table).await?;
        let app_id = format!("groundline-{journal_id:08x}");
        let mut me = Self { table, store, delta, app_id, position: 0, in_doubt: false, clock };
        me.find_position().await?;
        Ok(me)
    }

    /// The journal position up to which the table has everything, as last loaded or committed; 0 for a new table.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Looks the position up in the log: this reads every entry since the last checkpoint.
    async fn find_position(&mut self) -> Result<(), LakeError> {
        let log = self.delta.log_store();
        let snapshot = self.delta.snapshot()?.snapshot();
        let version = snapshot.transaction_version(log.as_ref(), &self.app_id).await?;
        self.position = version.and_then(|v| u64::try_from(v).ok()).unwrap_or(0);
        Ok(())
    }

    /// The files of the table as last loaded or committed.
    pub fn files(&self) -> Result<Vec<DataFile>, LakeError> {
        let data = self.delta.snapshot()?.log_data();
        Ok(data.iter().map(|view| data_file(&view, self.table)).collect())
    }

    /// The same files with the time of their newest row, oldest first.
    pub fn log_files(&self) -> Result<Vec<LogFile>, LakeError> {
        let data = self.delta.snapshot()?.log_data();
        let file = |view: LogicalFileView| LogFile {
            file: data_file(&view, self.table),
            arrived: view.modification_time(),
        };
        let mut files: Vec<LogFile> = data.iter().map(file).collect();
        files.sort_by_key(|file| file.arrived);
        Ok(files)
    }

    /// Learns what others have committed. Asks for the next version by its name: where nothing has happened, that is one
    /// small request.
    ///
    /// A server that has slept until a checkpoint stood for entries that it has not read, and they were deleted, finds no
    /// next version; it learns of them at its next commit or [`Manifest::reload`], whichever comes first.
    pub async fn refresh(&mut self) -> Result<(), LakeError> {
        if self.in_doubt {
            self.delta.update_state().await?;
            self.find_position().await?;
            self.in_doubt = false;
            return Ok(());
        }
        let known = self.delta.snapshot()?.version();
        let (mut newest, mut position) = (known, self.position);
        while let Some(entry) = self.entry(newest + 1).await? {
            newest += 1;
            position = position.max(position_in(&entry, &self.app_id));
        }
        if newest > known {
            self.delta.update_incremental(Some(newest)).await?;
            self.position = position;
        }
        Ok(())
    }

    /// The entry of the log for `version`, if it is there.
    async fn entry(&self, version: u64) -> Result<Option<Bytes>, LakeError> {
        match self.store.get(&Path::from(format!("_delta_log/{version:020}.json"))).await {
            Ok(entry) => Ok(Some(entry.bytes().await?)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Like [`Manifest::refresh`], from the last checkpoint on: older entries of the log are not needed after it.
    pub async fn reload(&mut self) -> Result<(), LakeError> {
        let log = self.delta.log_store();
        self.delta.state = Some(DeltaTableState::try_new(log.as_ref(), None).await?);
        self.find_position().await?;
        self.in_doubt = false;
        Ok(())
    }

    /// Puts the files, whose frames follow one another, and commits them together with the journal position of the last.
    /// When it returns, all are durable. The same call may be made again after an error, also if the commit is there and
    /// its answer was lost.
    pub async fn append(&mut self, files: Vec<Filled>) -> Result<(), LakeError> {
        let Some((first, last)) = files.first().zip(files.last()).map(|(a, b)| (a.first, b.last)) else {
            return Ok(());
        };
        if self.in_doubt {
            self.refresh().await?;
        }
        let position = self.position;
        if position >= last {
            return Ok(());
        }
        if position >= first {
            return Err(DeltaTableError::generic(format!(
                "{} has the journal up to {position}, and rows from {first} on would be there twice; restart the server",
                self.table.name()
            ))
            .into());
        }
        let (mut adds, arrived) = (Vec::with_capacity(files.len()), self.now_millis());
        for Filled { first, last, written } in files {
            let path = DataPath { first, last, tag: Uuid::new_v4().as_fields().0 }.path();
            let file = put(&self.store, self.table, path, written, arrived).await?;
            adds.push(Action::Add(file.add(Rows::Change)));
        }
        let Err(error) = self.commit_append(adds, last).await else {
            self.position = last;
            return Ok(());
        };
        // The commit may be there although its answer was lost. Only the log knows, and to write again would store
        // the rows twice.
        self.in_doubt = true;
        self.refresh().await?;
        if self.position >= last { Ok(()) } else { Err(error) }
    }

    async fn commit_append(&mut self, adds: Vec<Action>, last: u64) -> Result<(), LakeError> {
        let position = i64::try_from(last).unwrap_or(i64::MAX);
        let properties = commit_properties().with_application_transaction(Transaction::new_with_last_update(
            self.app_id.clone(),
            position,
            Some(self.now_millis()),
        ));
        let operation = DeltaOperation::Write { mode: SaveMode::Append, partition_by: None, predicate: None };
        self.commit(properties, adds, operation).await
    }

    /// Replaces the files `old` by those of `new`, or by nothing, in one commit.
    /// False if that cannot be because another server has removed some of `old` meanwhile: then nothing has changed.
    ///
    /// When it returns an error, the commit may or may not be there; the next [`Manifest::refresh`] tells.
    pub async fn replace(
        &mut self,
        old: &HashSet<Path>,
        new: &[NewFile],
        rows: Rows,
    ) -> Result<bool, LakeError> {
        let adds: Vec<Action> = new.iter().map(|file| Action::Add(file.add(rows))).collect();
        let operation = match rows {
            Rows::Change => DeltaOperation::Delete { predicate: None },
            Rows::Same => DeltaOperation::Optimize { predicate: None, target_size: 0 },
        };
        for _ in 0..REPLACE_ATTEMPTS {
            let mut actions = self.removes(old, rows)?;
            // The library lets two merges of the same files both succeed, which would double their rows. So each try is
            // for the very next version, and a lost try looks at the files again.
            if actions.len() != old.len() {
                return Ok(false);
            }
            actions.extend(adds.iter().cloned());
            let next = commit_properties().with_max_retries(0);
            let Err(error) = self.commit(next, actions, operation.clone()).await else { return Ok(true) };
            self.in_doubt = true;
            self.refresh().await?;
            let files = self.files()?;
            // One commit has all of them, so the first speaks for the others.
            let done = match new.first() {
                Some(new) => files.iter().any(|file| file.path == new.path),
                None => !files.iter().any(|file| old.contains(&file.path)),
            };
            if done {
                return Ok(true);
            }
            if !is_conflict(&error) {
                return Err(error);
            }
        }
        Ok(false)
    }

    fn removes(&self, old: &HashSet<Path>, rows: Rows) -> Result<Vec<Action>, LakeError> {
        let data = self.delta.snapshot()?.log_data();
        let known = data.iter().filter(|view| old.contains(&view.object_store_path()));
        let remove = |view: LogicalFileView| {
            let deletion_timestamp = Some(self.now_millis());
            Action::Remove(Remove { deletion_timestamp, ..view.remove_action(rows == Rows::Change) })
        };
        Ok(known.map(remove).collect())
    }

    async fn commit(
        &mut self,
        properties: CommitProperties,
        actions: Vec<Action>,
        operation: DeltaOperation,
    ) -> Result<(), LakeError> {
        let state = self.delta.snapshot()?;
        let done = CommitBuilder::from(properties)
            .with_actions(actions)
            .build(Some(state), self.delta.log_store(), operation)
            .await?;
        self.delta.state = Some(done.snapshot());
        Ok(())
    }

    /// Files that commits have removed, with the time, milliseconds since 1970. The log forgets them after a week.
    pub async fn removed(&self) -> Result<HashMap<Path, i64>, LakeError> {
        let log = self.delta.log_store();
        let tombstones = self.delta.snapshot()?.all_tombstones(log.as_ref());
        let removed = tombstones
            .map_ok(|t| (Path::from(t.path().as_ref()), t.deletion_timestamp().unwrap_or_default()));
        Ok(removed.try_collect().await?)
    }

    fn now_millis(&self) -> i64 {
        self.clock.now().millis()
    }
}

/// Puts a file, to be committed. When it returns, the file is durable, and no part of the table.
pub async fn put(
    store: &Arc<dyn ObjectStore>,
    table: Table,
    path: Path,
    written: Written,
    arrived: i64,
) -> Result<NewFile, LakeError> {
    let stats = stats_json(table, &written);
    let size = written.bytes.len();
    store.put(&path, Bytes::from(written.bytes).into()).await?;
    Ok(NewFile { path, size, stats, arrived })
}

impl NewFile {
    fn add(&self, rows: Rows) -> Add {
        Add {
            path: self.path.to_string(),
            size: i64::try_from(self.size).unwrap_or(i64::MAX),
            modification_time: self.arrived,
            data_change: rows == Rows::Change,
            stats: Some(self.stats.clone()),
            ..Add::default()
        }
    }
}

/// The journal position that an entry of the log sets for `app_id`; 0 if it sets none.
fn position_in(entry: &[u8], app_id: &str) -> u64 {
    let entry = String::from_utf8_lossy(entry);
    let named = entry.lines().filter(|line| line.contains(app_id));
    let actions = named.filter_map(|line| serde_json::from_str::<Json>(line).ok());
    let ours = actions.filter(|action| action["txn"]["appId"] == app_id);
    ours.filter_map(|action| action["txn"]["version"].as_u64()).max().unwrap_or(0)
}

/// Log entries are cleaned up by upkeep, so that no commit waits for a listing of the whole log.
fn commit_properties() -> CommitProperties {
    CommitProperties::default().with_cleanup_expired_logs(Some(false))
}

/// Whether another commit was faster.
fn is_conflict(error: &LakeError) -> bool {
    matches!(
        error,
        LakeError::Delta(
            DeltaTableError::VersionAlreadyExists(_)
                | DeltaTableError::Transaction {
                    source: TransactionError::MaxCommitAttempts(_)
                        | TransactionError::CommitConflict(_)
                        | TransactionError::VersionAlreadyExists(_),
                }
        )
    )
}

fn stats_json(table: Table, written: &Written) -> String {
    let time = |micros: Option<i64>| {
        let moment = micros.and_then(chrono::DateTime::from_timestamp_micros);
        moment.map(|t| t.format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string())
    };
    let column = table.time_column();
    serde_json::json!({
        "numRecords": written.rows,
        "minValues": {column: time(written.min_time)},
        "maxValues": {column: time(written.max_time)},
        "nullCount": {column: 0},
    })
    .to_string()
}

fn data_file(view: &LogicalFileView, table: Table) -> DataFile {
    let stats: Json = view.stats().and_then(|s| serde_json::from_str(&s).ok()).unwrap_or(Json::Null);
    let time = |side: &str| {
        let text = stats.get(side)?.get(table.time_column())?.as_str()?;
        chrono::DateTime::parse_from_rfc3339(text).ok().map(|t| t.timestamp_micros())
    };
    DataFile {
        path: view.object_store_path(),
        bytes: u64::try_from(view.size()).unwrap_or(0),
        rows: stats.get("numRecords").and_then(Json::as_u64).unwrap_or(0),
        min_time: time("minValues"),
        max_time: time("maxValues"),
    }
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
