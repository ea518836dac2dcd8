//! What a query sees of a table: the files of one version and the rows that are not in files yet.

use crate::schema::columns::Table;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use object_store::ObjectStore;
use object_store::path::Path;
use std::sync::Arc;

/// A consistent view of a table. Every row is in exactly one file or one hot batch.
#[derive(Clone)]
pub struct TableSnapshot {
    /// Which table.
    pub table: Table,
    /// The stored schema, that of files and hot batches alike.
    pub schema: SchemaRef,
    /// Where the files are.
    pub store: Arc<dyn ObjectStore>,
    /// The Parquet files of one version of the table.
    pub files: Arc<Vec<DataFile>>,
    /// Rows that are durable in the journal but not in files yet.
    pub hot: Vec<RecordBatch>,
}

/// One Parquet file of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct DataFile {
    /// Its path in the store.
    pub path: Path,
    /// Its size in bytes.
    pub bytes: u64,
    /// How many rows it holds.
    pub rows: u64,
    /// The smallest value of the table's time column, microseconds; none where the log does not say.
    pub min_time: Option<i64>,
    /// The largest value of the table's time column, microseconds; none where the log does not say.
    pub max_time: Option<i64>,
}
