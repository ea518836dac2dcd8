//! Rows as they are stored.

use super::tables::{Kept, LABELS, SCORES};
use crate::lab::error::LabError;
use crate::lab::store::{Store, Who, text};
use arrow::array::RecordBatch;

/// The rows of a table whose `column` is one of `ids`, in the order of their keys.
///
/// # Errors
/// The limits of queries.
pub async fn read<'a>(
    store: &Store,
    who: &Who,
    kept: Kept,
    column: &str,
    ids: impl Iterator<Item = &'a String>,
) -> Result<RecordBatch, LabError> {
    let only = if kept == SCORES {
        format!("source = 'experiment' AND {column} = $1")
    } else if kept == LABELS {
        format!("item IN (SELECT item FROM review_items WHERE {column} = $1)")
    } else {
        format!("{column} = $1")
    };
    let sql = format!(
        "SELECT {} FROM {} WHERE {only} ORDER BY {}",
        kept.columns(),
        kept.table.name(),
        kept.key.join(", ")
    );
    let mut batches = Vec::new();
    for id in ids {
        batches
            .extend(store.ask(&who.tenant, &sql, vec![text(id)]).await?.collected().batches.iter().cloned());
    }
    kept.stored(&batches).map_err(|e| LabError::Broken(e.to_string()))
}
