//! Rows that somebody has a right to see gone: files are written again without them, or with nothing of their content.

use super::super::config::Config;
use super::super::error::LakeError;
use super::super::lake::Lake;
use super::super::manifest::{self, LogFile, Rows, SharedManifest};
use super::super::path::merged_path;
use super::super::read::stream_holding;
use super::super::snapshot::DataFile;
use super::super::writer::{Effort, FileWriter, Written};
use super::merge::conform;
use super::run::listed;
use crate::schema::columns::Table;
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, RecordBatch, Scalar, StringArray, new_null_array,
};
use arrow::compute::kernels::zip::zip;
use arrow::compute::{and, filter_record_batch, is_not_null, not, or};
use bytes::Bytes;
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// How often files are looked at again because others have replaced them meanwhile.
const ATTEMPTS: usize = 10;
/// How long hot rows may take to come into files, and how often it is looked.
const FLUSHED: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(50);

/// Which rows of a table are erased, and what is left of them.
#[derive(Debug, Clone)]
pub struct Erasure {
    /// The table.
    pub table: Table,
    /// Whose rows.
    pub tenant: String,
    /// The column that names them, and the values that do.
    pub column: &'static str,
    /// The values.
    pub values: BTreeSet<String>,
    /// What is left of a row.
    pub left: Left,
}

/// What is left of an erased row.
#[derive(Debug, Clone, Copy)]
pub enum Left {
    /// Nothing.
    Nothing,
    /// The row without its content.
    Bare {
        /// Columns that become NULL.
        without: &'static [&'static str],
        /// A text column, and what stands there instead of which value.
        mark: (&'static str, &'static str, &'static str),
    },
}

/// What was erased.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Erased {
    /// Files that were written again.
    pub files: usize,
    /// Rows that are gone, or are without their content.
    pub rows: u64,
}

/// Files that were looked through before, and hold no row of some values. A file never changes: they hold none later either.
#[derive(Debug, Default)]
pub struct Looked {
    values: BTreeSet<String>,
    files: HashSet<Path>,
}

impl Lake {
    /// Looks for the rows of an erasure: [`Lake::erase`] of the same then reads only the files that have some, or that are new
    /// by then. Who must keep others from writing meanwhile keeps them for a shorter time.
    ///
    /// # Errors
    /// When files cannot be read.
    pub async fn look_for(&self, erasure: &Erasure) -> Result<Looked, LakeError> {
        let mut looked = Looked { values: erasure.values.clone(), files: HashSet::new() };
        for manifest in &self.manifests {
            let (table, store, files) = listed(manifest).await?;
            for file in files.into_iter().filter(|_| table == erasure.table) {
                if !erasure.is_in(&store, &file.file).await? {
                    looked.files.insert(file.file.path);
                }
            }
        }
        Ok(looked)
    }

    /// Erases rows that are visible now; `looked` is what is known of files that have none of them. When it returns, no version
    /// of the table from the newest on has their content; files that had it are deleted by vacuum, as all that were replaced.
    /// Erasing again changes nothing.
    ///
    /// # Errors
    /// When files cannot be read or written, or others replace them all the time; what was erased before stays erased.
    pub async fn erase(&self, erasure: &Erasure, looked: &Looked) -> Result<Erased, LakeError> {
        self.all_in_files(erasure.table).await?;
        // What was not looked for may be in any file.
        let values = erasure.values.difference(&looked.values).cloned().collect();
        let rest = Erasure { values, ..erasure.clone() };
        let mut erased = Erased::default();
        for manifest in &self.manifests {
            if manifest.lock().await.table == erasure.table {
                self.erase_in(manifest, erasure, (&looked.files, &rest), &mut erased).await?;
            }
        }
        Ok(erased)
    }

    /// Waits until the flush loop has written what is visible now.
    async fn all_in_files(&self, table: Table) -> Result<(), LakeError> {
        let upto = self.applied();
        let waiting = async {
            while self.first_hot(table).is_some_and(|first| first <= upto) {
                self.flush_soon();
                tokio::time::sleep(LOOK).await;
            }
        };
        let ended = tokio::time::timeout(FLUSHED, waiting).await;
        ended.map_err(|_| LakeError::Unflushed { table: table.name() })
    }

    async fn erase_in(
        &self,
        manifest: &SharedManifest,
        erasure: &Erasure,
        (looked, rest): (&HashSet<Path>, &Erasure),
        erased: &mut Erased,
    ) -> Result<(), LakeError> {
        for _ in 0..ATTEMPTS {
            manifest.lock().await.refresh().await?;
            let (_, store, files) = listed(manifest).await?;
            let mut is_done = true;
            for file in files {
                let sought = if looked.contains(&file.file.path) { rest } else { erasure };
                if sought.is_in(&store, &file.file).await? {
                    let bytes = store.get(&file.file.path).await?.bytes().await?;
                    is_done &= self.erase_file(manifest, &file, bytes, (erasure, &mut *erased)).await?;
                }
            }
            if is_done {
                return Ok(());
            }
        }
        Err(LakeError::Contended { table: erasure.table.name() })
    }

    /// Whether the file was replaced, or need not be; false if it was replaced by another.
    async fn erase_file(
        &self,
        manifest: &SharedManifest,
        file: &LogFile,
        bytes: Bytes,
        (erasure, erased): (&Erasure, &mut Erased),
    ) -> Result<bool, LakeError> {
        let (work, config) = (erasure.clone(), self.config.clone());
        let written = tokio::task::spawn_blocking(move || rewrite(&work, bytes, &config)).await??;
        let Some((written, rows)) = written else { return Ok(true) };
        let (table, store) = (erasure.table, manifest.lock().await.store.clone());
        let new = match written.rows {
            0 => Vec::new(),
            _ => {
                vec![manifest::put(&store, table, merged_path(Uuid::new_v4()), written, file.arrived).await?]
            }
        };
        let mut manifest = manifest.lock().await;
        let is_replaced =
            manifest.replace(&HashSet::from([file.file.path.clone()]), &new, Rows::Change).await?;
        if is_replaced {
            self.publish(&manifest)?;
            erased.files += 1;
            erased.rows += rows;
        }
        Ok(is_replaced)
    }
}

/// Whose a row is.
const TENANT: &str = "tenant";

/// The file again, and how many rows were erased in it; none if there were none.
fn rewrite(erasure: &Erasure, bytes: Bytes, config: &Config) -> Result<Option<(Written, u64)>, LakeError> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes)?;
    let read: i64 = reader.metadata().row_groups().iter().map(|group| group.num_rows()).sum();
    let read = u64::try_from(read).unwrap_or_default();
    let rows = usize::try_from(read).unwrap_or_default();
    let mut out = FileWriter::new(erasure.table, rows, Effort::Small, config);
    let (mut changed, mut gone) = (0, 0);
    for batch in reader.build()? {
        let batch = conform(erasure.table, &batch?)?;
        let (kept, rows) = erasure.applied(&batch)?;
        changed += rows;
        gone += (batch.num_rows() - kept.num_rows()) as u64;
        out.write(&kept)?;
    }
    let written = out.finish()?;
    // A file is never replaced by one that has lost other rows, whatever the reason would be.
    if written.rows + gone != read {
        return Err(LakeError::RowsLost { read, written: written.rows, left_out: gone });
    }
    Ok((changed > 0).then_some((written, changed)))
}

impl Erasure {
    /// Whether a file has such a row.
    async fn is_in(&self, store: &Arc<dyn ObjectStore>, file: &DataFile) -> Result<bool, LakeError> {
        if self.values.is_empty() {
            return Ok(false);
        }
        let names = [TENANT, self.column];
        let mut batches = stream_holding(store, file, &names, (self.column, &self.values)).await?;
        while let Some(batch) = batches.try_next().await? {
            if self.names(&batch).true_count() > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Which rows are meant.
    fn names(&self, batch: &RecordBatch) -> BooleanArray {
        let text = |name: &str| batch.column_by_name(name).and_then(|c| c.as_string_opt::<i32>());
        let (Some(tenants), Some(values)) = (text(TENANT), text(self.column)) else {
            return BooleanArray::from(vec![false; batch.num_rows()]);
        };
        let is_meant = |(tenant, value): (Option<&str>, Option<&str>)| {
            Some(
                tenant == Some(self.tenant.as_str())
                    && value.is_some_and(|value| self.values.contains(value)),
            )
        };
        tenants.iter().zip(values.iter()).map(is_meant).collect()
    }

    /// The rows that are left, and how many were changed.
    fn applied(&self, batch: &RecordBatch) -> Result<(RecordBatch, u64), LakeError> {
        let meant = self.names(batch);
        let Left::Bare { without, mark: (marked, from, to) } = self.left else {
            let changed = meant.true_count() as u64;
            return Ok((filter_record_batch(batch, &not(&meant)?)?, changed));
        };
        let mut changed = BooleanArray::from(vec![false; batch.num_rows()]);
        let mut columns = Vec::with_capacity(batch.num_columns());
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            let name = field.name().as_str();
            let next: ArrayRef = if name == marked {
                let is_from = column.as_string::<i32>().iter().map(|text| Some(text == Some(from)));
                let turned = and(&meant, &is_from.collect::<BooleanArray>())?;
                changed = or(&changed, &turned)?;
                zip(&turned, &StringArray::new_scalar(to), column)?
            } else if without.contains(&name) {
                let there = and(&meant, &is_not_null(column)?)?;
                changed = or(&changed, &there)?;
                let nothing = Scalar::new(new_null_array(column.data_type(), 1));
                zip(&there, &nothing, column)?
            } else {
                column.clone()
            };
            columns.push(next);
        }
        Ok((RecordBatch::try_new(batch.schema(), columns)?, changed.true_count() as u64))
    }
}
