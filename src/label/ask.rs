//! What this room asks the tables: rows as objects.

use crate::net::Scope;
use crate::sql::{Format, Sql, SqlError, Work, encode};
use datafusion::common::ScalarValue;
use serde::de::DeserializeOwned;

/// Rows of `tenant`, with `values` in the place of `$1`, `$2` …
///
/// # Errors
/// Those of the query; [`SqlError::Internal`] if a row has not the fields of `T`.
pub async fn rows<T: DeserializeOwned>(
    sql: &Sql,
    tenant: &str,
    query: &str,
    values: Vec<ScalarValue>,
) -> Result<Vec<T>, SqlError> {
    let work = Work::Bound(query.to_owned(), values);
    let found = sql.collect_from("local", &Scope::Tenant(tenant.into()), work, None).await?;
    let most = sql.config().max_result_size.in_memory().saturating_mul(4);
    let bytes = encode(Format::Json, &found.schema, &found.batches, most)?;
    serde_json::from_slice(&bytes).map_err(|e| SqlError::Internal(format!("reading rows of labels: {e}")))
}

/// Text as a value.
pub fn text(text: &str) -> ScalarValue {
    ScalarValue::Utf8(Some(text.to_owned()))
}
