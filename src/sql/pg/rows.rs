//! Rows as the protocol writes them; nested values as JSON text.

use crate::sql::SqlError;
use crate::sql::format::{flat_schema, flatten};
use crate::sql::stream::QueryStream;
use arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion_postgres::arrow_pg::datatypes::{arrow_schema_to_pg_fields, encode_recordbatch};
use futures::{StreamExt, stream};
use pgwire::api::Type;
use pgwire::api::portal::Format;
use pgwire::api::results::{DataRowEncoder, FieldFormat, FieldInfo, QueryResponse, Response};
use pgwire::error::{ErrorInfo, PgWireError, PgWireResult};
use pgwire::messages::data::DataRow;
use pgwire::types::format::FormatOptions;
use std::sync::Arc;

/// An error with its SQLSTATE.
pub fn error(code: &str, why: String) -> PgWireError {
    PgWireError::UserError(Box::new(ErrorInfo::new("ERROR".to_owned(), code.to_owned(), why)))
}

/// The SQLSTATE for each kind of error: syntax error or access rule violation, query canceled, too many connections,
/// internal error.
pub fn wire_error(why: &SqlError) -> PgWireError {
    let code = match why {
        SqlError::Wrong(_) => "42000",
        SqlError::Limit(_) => "57014",
        SqlError::Busy => "53300",
        SqlError::Internal(_) => "XX000",
    };
    error(code, why.to_string())
}

/// The columns that a result has on the wire: lists of plain values stay lists, everything else that is nested is JSON.
pub fn wire_schema(schema: &SchemaRef) -> SchemaRef {
    flat_schema(schema, |field| !is_plain_list(field))
}

fn is_plain_list(field: &Field) -> bool {
    match field.data_type() {
        DataType::List(element) | DataType::LargeList(element) => !element.data_type().is_nested(),
        _ => false,
    }
}

/// The descriptions of the columns of `schema`.
///
/// # Errors
/// An error for a type that the protocol has no name for.
pub fn wire_fields(
    schema: &SchemaRef,
    format: &Format,
    options: Option<Arc<FormatOptions>>,
) -> PgWireResult<Vec<FieldInfo>> {
    arrow_schema_to_pg_fields(&wire_schema(schema), format, options)
}

/// The answer to a query. Waits for the first batch, because until then a client can cancel.
///
/// # Errors
/// The error that the query ends with before its first row.
pub async fn respond(
    mut rows: QueryStream,
    format: &Format,
    options: Arc<FormatOptions>,
) -> PgWireResult<Response> {
    let schema = rows.schema();
    let flat = wire_schema(&schema);
    let fields = Arc::new(wire_fields(&schema, format, Some(options))?);
    let first = match rows.next().await {
        Some(Err(why)) => return Err(wire_error(&why)),
        other => other,
    };
    let described = fields.clone();
    let encoded = stream::iter(first).chain(rows).flat_map(move |batch| {
        let flat = batch.and_then(|batch| flatten(&batch, &flat));
        let rows: Box<dyn Iterator<Item = PgWireResult<DataRow>> + Send> = match flat {
            Ok(batch) => encode_recordbatch(described.clone(), batch),
            Err(why) => Box::new(std::iter::once(Err(wire_error(&why)))),
        };
        stream::iter(rows)
    });
    Ok(Response::Query(QueryResponse::new(fields, encoded)))
}

/// One row with one text.
///
/// # Errors
/// None are expected; the type is that of the encoder.
pub fn one_text(name: &str, value: &str) -> PgWireResult<Response> {
    let fields = Arc::new(vec![text_field(name)]);
    let mut encoder = DataRowEncoder::new(fields.clone());
    encoder.encode_field(&Some(value))?;
    let row = encoder.take_row();
    Ok(Response::Query(QueryResponse::new(fields, stream::iter([Ok(row)]))))
}

/// A column of text.
pub fn text_field(name: &str) -> FieldInfo {
    FieldInfo::new(name.to_owned(), None, None, Type::TEXT, FieldFormat::Text)
}
