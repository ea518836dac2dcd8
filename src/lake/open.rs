//! A table's Delta log: found or made, with the columns of this release.
//!
//! Several servers may start on one bucket at the same time, and servers of two releases may share it for a while. So
//! making a table and adding its columns are commits for one version each: who loses looks again at what is there.

use super::error::LakeError;
use super::store::LakeStore;
use crate::schema::columns::Table;
use deltalake::kernel::engine::arrow_conversion::TryIntoKernel;
use deltalake::kernel::transaction::CommitProperties;
use deltalake::kernel::{StructField, StructType};
use deltalake::logstore::{LogStoreRef, StorageConfig, default_logstore};
use deltalake::operations::create::CreateBuilder;
use deltalake::{DeltaTable, DeltaTableError};
use object_store::ObjectStore;
use std::sync::Arc;

/// How often making a table or adding its columns is tried anew because another server has committed meanwhile.
const ATTEMPTS: usize = 10;

/// Opens `table`, makes it if it is not there, and adds the columns that an older release did not have. When it returns,
/// readers that are not ours see every column of [`Table::schema`]. Gives also the store whose root is the table.
///
/// Fails with [`LakeError::Newer`] if the table has columns that this release does not know, and with
/// [`LakeError::Columns`] if its columns cannot become those of this release; then nothing has changed.
pub async fn open(lake: &LakeStore, table: Table) -> Result<(DeltaTable, Arc<dyn ObjectStore>), LakeError> {
    let at = lake.table(table.name())?;
    let log = default_logstore(at.table.clone(), at.root, &at.url, &StorageConfig::default());
    let wanted: StructType = table.schema().as_ref().try_into_kernel()?;
    let mut tries = 1;
    loop {
        let changed = match load(&log).await? {
            None => create(&log, table, &wanted).await,
            Some(delta) => {
                let missing = missing(table, delta.snapshot()?.schema().as_ref(), &wanted)?;
                if missing.is_empty() {
                    return Ok((delta, at.table));
                }
                tracing::info!(table = table.name(), columns = ?names(&missing), "columns are added to the table");
                delta.add_columns().with_fields(missing).with_commit_properties(next_version()).await
            }
        };
        // Another server may have been faster; then the table is as wanted, or nearer to it.
        match changed {
            Err(error) if tries >= ATTEMPTS => return Err(error.into()),
            Err(error) => {
                tracing::debug!(table = table.name(), %error, tries, "the table is looked at again")
            }
            Ok(_) => {}
        }
        tries += 1;
    }
}

async fn load(log: &LogStoreRef) -> Result<Option<DeltaTable>, DeltaTableError> {
    let mut delta = DeltaTable::new(log.clone());
    if !delta.verify_deltatable_existence().await? {
        return Ok(None);
    }
    delta.load().await?;
    Ok(Some(delta))
}

async fn create(
    log: &LogStoreRef,
    table: Table,
    columns: &StructType,
) -> Result<DeltaTable, DeltaTableError> {
    CreateBuilder::new()
        .with_log_store(log.clone())
        .with_table_name(table.name())
        .with_comment(table.doc())
        .with_columns(columns.fields().cloned())
        .with_commit_properties(next_version())
        .await
}

/// For the very next version or not at all. By itself the library would put the second of two creations on top of the
/// first, and so give the table another identity.
fn next_version() -> CommitProperties {
    CommitProperties::default().with_max_retries(0).with_cleanup_expired_logs(Some(false))
}

/// The columns of `wanted` that `stored` lacks.
fn missing(table: Table, stored: &StructType, wanted: &StructType) -> Result<Vec<StructField>, LakeError> {
    let unknown: Vec<StructField> =
        stored.fields().filter(|field| wanted.field(field.name()).is_none()).cloned().collect();
    if !unknown.is_empty() {
        return Err(LakeError::Newer { table: table.name(), columns: names(&unknown) });
    }
    let mut missing = Vec::new();
    for field in wanted.fields() {
        match stored.field(field.name()) {
            None if field.is_nullable() => missing.push(field.clone()),
            // Rows of before have no value for it.
            None => return Err(misfit(table, field, "is missing and must not be NULL".to_owned())),
            Some(has) if has.data_type() != field.data_type() => {
                let (has, wants) = (has.data_type(), field.data_type());
                return Err(misfit(table, field, format!("is {has}, and this release stores {wants}")));
            }
            Some(_) => {}
        }
    }
    Ok(missing)
}

fn misfit(table: Table, field: &StructField, what: String) -> LakeError {
    LakeError::Columns { table: table.name(), column: field.name().clone(), what }
}

fn names(fields: &[StructField]) -> String {
    let names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
    names.join(", ")
}

#[cfg(test)]
#[path = "open_tests.rs"]
mod tests;
