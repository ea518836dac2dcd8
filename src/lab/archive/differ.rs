//! Which rows are there already, and which say something else.

use super::tables::{Kept, rows_of};
use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::error::ArrowError;
use arrow::row::Rows;
use arrow::util::display::array_value_to_string;
use std::collections::HashMap;

/// All columns of a batch, as one comparable value a row.
pub fn contents(batch: &RecordBatch) -> Result<Rows, ArrowError> {
    let schema = batch.schema();
    rows_of(batch, &schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>())
}

/// What is different.
#[derive(Debug)]
pub enum Differs {
    /// A row of this key is there with other content.
    Other(String),
    /// The archive has a row of this key twice.
    Twice(String),
    /// The rows cannot be compared.
    Broken(ArrowError),
}

impl From<ArrowError> for Differs {
    fn from(error: ArrowError) -> Self {
        Self::Broken(error)
    }
}

/// The rows of `archived` that are not `there`.
///
/// # Errors
/// The first row whose key is there with other content.
pub fn missing(kept: Kept, archived: &RecordBatch, there: &RecordBatch) -> Result<RecordBatch, Differs> {
    let (old_keys, old) = (rows_of(there, kept.key)?, contents(there)?);
    let (keys, new) = (rows_of(archived, kept.key)?, contents(archived)?);
    let mut seen: HashMap<&[u8], Option<usize>> = HashMap::with_capacity(archived.num_rows());
    seen.extend(old_keys.iter().enumerate().map(|(at, key)| (key.data(), Some(at))));
    let mut is_new = Vec::with_capacity(archived.num_rows());
    for at in 0..archived.num_rows() {
        match seen.insert(keys.row(at).data(), None) {
            None => is_new.push(true),
            Some(Some(old_at)) if old.row(old_at).data() == new.row(at).data() => is_new.push(false),
            Some(Some(_)) => return Err(Differs::Other(named(kept, archived, at)?)),
            Some(None) => return Err(Differs::Twice(named(kept, archived, at)?)),
        }
    }
    Ok(filter_record_batch(archived, &BooleanArray::from(is_new))?)
}

/// A row by its key, for people.
fn named(kept: Kept, batch: &RecordBatch, at: usize) -> Result<String, ArrowError> {
    let column = |name: &&str| {
        let column = batch.column(batch.schema().index_of(name)?);
        Ok(format!("{name} {}", array_value_to_string(column, at)?))
    };
    let parts = kept.key.iter().map(column).collect::<Result<Vec<String>, ArrowError>>()?;
    Ok(format!("{} ({})", kept.table.name(), parts.join(", ")))
}
