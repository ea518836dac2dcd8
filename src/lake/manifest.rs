//! A Delta table: open or create it, list its files, commit one more.

use super::lake::LakeError;
use super::path::DataPath;
use super::snapshot::DataFile;
use super::store::LakeStore;
use super::writer::Written;
use crate::domain::columns::Table;
use bytes::Bytes;
use deltalake::kernel::engine::arrow_conversion::TryIntoKernel;
use deltalake::kernel::transaction::{CommitBuilder, CommitProperties};
use deltalake::kernel::{Action, Add, LogicalFileView, StructType, Transaction};
use deltalake::logstore::{StorageConfig, default_logstore};
use deltalake::operations::create::CreateBuilder;
use deltalake::protocol::{DeltaOperation, SaveMode};
use deltalake::{DeltaTable, DeltaTableError};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use serde_json::Value as Json;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use uuid::Uuid;

/// One table of the lake.
pub struct Manifest {
    /// Which.
    pub table: Table,
    /// The store whose root is the table.
    pub store: Arc<dyn ObjectStore>,
    delta: DeltaTable,
    /// Under which application id the Delta log keeps the journal position. It names the journal, because sequence
    /// numbers of another one, on the same bucket or in the place of a deleted one, mean other rows.
    app_id: String,
}

impl Manifest {
    /// Opens the table, and creates it if it is not there.
    pub async fn open(lake: &LakeStore, table: Table, journal_id: u32) -> Result<Self, LakeError> {
        let at = lake.table(table.name())?;
        let log = default_logstore(at.table.clone(), at.root, &at.url, &StorageConfig::default());
        let mut delta = DeltaTable::new(log.clone());
        if delta.verify_deltatable_existence().await? {
            delta.load().await?;
        } else {
            let schema: StructType = table.schema().as_ref().try_into_kernel()?;
            delta = CreateBuilder::new()
                .with_log_store(log)
                .with_table_name(table.name())
                .with_comment(table.doc())
                .with_columns(schema.fields().cloned())
                .await?;
        }
        Ok(Self { table, store: at.table, delta, app_id: format!("groundline-{journal_id:08x}") })
    }

    /// The journal position up to which the table has everything; 0 for a new table.
    pub async fn position(&self) -> Result<u64, LakeError> {
        let snapshot = self.delta.snapshot()?.snapshot();
        let log = self.delta.log_store();
        let version = snapshot.transaction_version(log.as_ref(), &self.app_id).await?;
        Ok(version.and_then(|v| u64::try_from(v).ok()).unwrap_or(0))
    }

    /// The files of the table as last loaded or committed.
    pub fn files(&self) -> Result<Vec<DataFile>, LakeError> {
        let data = self.delta.snapshot()?.log_data();
        Ok(data.iter().map(|view| data_file(&view, self.table)).collect())
    }

    /// Files that were committed at or after `millis` since 1970.
    pub fn files_since(&self, millis: i64) -> Result<Vec<Path>, LakeError> {
        let data = self.delta.snapshot()?.log_data();
        let recent = data.iter().filter(|view| view.modification_time() >= millis);
        Ok(recent.map(|view| view.object_store_path()).collect())
    }

    /// Puts the file and commits it together with the journal position `last`. When it returns, both are durable.
    pub async fn append(&mut self, first: u64, last: u64, written: Written) -> Result<(), LakeError> {
        let position = self.position().await?;
        if position >= first {
            return Err(DeltaTableError::generic(format!(
                "{} has the journal up to {position}, and rows from {first} on would be there twice; restart the server",
                self.table.name()
            ))
            .into());
        }
        let path = DataPath { first, last, tag: Uuid::new_v4().as_fields().0 }.path();
        let size = i64::try_from(written.bytes.len()).unwrap_or(i64::MAX);
        let stats = stats_json(self.table, &written);
        self.store.put(&path, Bytes::from(written.bytes).into()).await?;
        let add = Add {
            path: path.to_string(),
            size,
            modification_time: now_millis(),
            data_change: true,
            stats: Some(stats),
            ..Add::default()
        };
        let Err(error) = self.commit(add, last).await else { return Ok(()) };
        // The commit may be there although its answer was lost. Only the log knows, and to write again would store
        // the rows twice.
        self.delta.update_state().await?;
        if self.position().await? >= last { Ok(()) } else { Err(error) }
    }

    async fn commit(&mut self, add: Add, last: u64) -> Result<(), LakeError> {
        let position = i64::try_from(last).unwrap_or(i64::MAX);
        let properties = CommitProperties::default().with_application_transaction(
            Transaction::new_with_last_update(self.app_id.clone(), position, Some(now_millis())),
        );
        let operation = DeltaOperation::Write { mode: SaveMode::Append, partition_by: None, predicate: None };
        let state = self.delta.snapshot()?;
        let done = CommitBuilder::from(properties)
            .with_actions(vec![Action::Add(add)])
            .build(Some(state), self.delta.log_store(), operation)
            .await?;
        self.delta.state = Some(done.snapshot());
        Ok(())
    }
}

fn now_millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
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
mod tests {
    use super::*;
    use crate::lake::Config;

    fn written() -> Written {
        Written { bytes: b"PAR1".to_vec(), rows: 1, min_time: Some(1), max_time: Some(2) }
    }

    #[tokio::test]
    async fn a_commit_whose_answer_was_lost_is_not_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = LakeStore::open(&Config::default(), folder.path()).unwrap();
        let mut other = Manifest::open(&store, Table::Spans, 7).await.unwrap();
        // As if this one had sent the commit and never heard of it.
        let mut deaf = Manifest::open(&store, Table::Spans, 7).await.unwrap();
        let mut deafer = Manifest::open(&store, Table::Spans, 7).await.unwrap();
        other.append(1, 5, written()).await.unwrap();
        deaf.append(1, 5, written()).await.unwrap();
        assert_eq!((deaf.position().await.unwrap(), deaf.files().unwrap().len()), (5, 1));
        // More rows have come meanwhile: the frames 1 to 5 must not be stored again with them.
        for _ in 0..2 {
            deafer.append(1, 7, written()).await.unwrap_err();
        }
        deaf.append(6, 9, written()).await.unwrap();
        let reopened = Manifest::open(&store, Table::Spans, 7).await.unwrap();
        assert_eq!((reopened.position().await.unwrap(), reopened.files().unwrap().len()), (9, 2));
    }
}
