//! Rows as the protocol writes them; nested values as JSON text.

use super::floats;
use super::rewrite::shown;
use crate::sql::SqlError;
use crate::sql::explain::IS_JSON;
use crate::sql::format::{flatten, wire_schema};
use crate::sql::stream::QueryStream;
use arrow::array::{Array, ArrayRef, NullArray, RecordBatch};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion_postgres::arrow_pg::datatypes::{arrow_schema_to_pg_fields, encode_recordbatch};
use futures::{Stream, StreamExt, stream};
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

/// An error with its SQLSTATE, and what to do about it.
pub fn hinted(code: &str, why: String, hint: &str) -> PgWireError {
    let mut info = ErrorInfo::new("ERROR".to_owned(), code.to_owned(), why);
    info.hint = Some(hint.to_owned());
    PgWireError::UserError(Box::new(info))
}

/// The error of the engine with its SQLSTATE: query canceled, too many connections, internal error, or what is wrong.
pub fn wire_error(why: &SqlError) -> PgWireError {
    let text = why.to_string();
    let code = match why {
        SqlError::Wrong(_) => wrong(&text),
        SqlError::Limit(_) => "57014",
        SqlError::Busy => "53300",
        SqlError::Internal(_) => "XX000",
    };
    match hint(code, &text) {
        Some(hint) => hinted(code, text, hint),
        None => error(code, text),
    }
}

/// What to do about an error.
fn hint(code: &str, text: &str) -> Option<&'static str> {
    if code.starts_with("2203") || text.contains("jsonpath") {
        return Some(OF_PATHS);
    }
    if text.contains("OuterReferenceColumn") {
        return Some(OF_LATERAL);
    }
    HINTS.iter().find(|(known, _)| *known == code).map(|(_, hint)| *hint)
}

/// What to do about subqueries that the engine cannot join.
const OF_LATERAL: &str = "A subquery that names columns of an outer one has no LIMIT here, and needs a FROM: DISTINCT ON (key) with ORDER BY, or row_number() OVER (PARTITION BY key ORDER BY …) in a subquery of its own, gives the first rows of each.";

/// What to do about paths that do not fit.
const OF_PATHS: &str = "A path looks like $.a.\"b c\"[0] ? (@.d > 1); @? and @@, and functions that are told to be silent, pass over values that it does not fit. The SQL page of the documentation says what paths have.";

/// What to do about errors of a class.
const HINTS: &[(&str, &str)] = &[
    (
        "2201B",
        "Regular expressions have no backreferences and no lookaround; a backslash makes a letter of a sign.",
    ),
    ("0A000", "The SQL page of the documentation lists what of PostgreSQL works at this port."),
    ("25006", "Spans come over OTLP and labels as annotations; SQL reads what has come."),
    (
        "42804",
        "JSON text is read with ->> 'key' or #>> '{a,0}', or subscripted once it is cast: (attributes::jsonb)['key']; structs and lists with ['field'] and [1].",
    ),
    (
        "42883",
        "The functions are those of DataFusion, in the PostgreSQL dialect, and those on the SQL page of the documentation; an argument may need a cast.",
    ),
    (
        "42P01",
        "Tables and views stand in the schema public: SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'.",
    ),
    ("53300", "Try again later: the same query may succeed then."),
];

/// Parts of the engine's errors and the SQLSTATE that PostgreSQL has for them; the first that fits counts.
const CLASSES: &[(&str, &str)] = &[
    ("of jsonpath input", "42601"),
    ("at end of jsonpath", "42601"),
    ("invalid regular expression", "2201B"),
    ("nvalid escape ", "22025"),
    ("could not find jsonpath variable", "42704"),
    ("is not a variable which can be viewed", "42704"),
    ("argument of jsonpath is not an object", "22023"),
    ("JSON object does not contain key", "2203A"),
    ("jsonpath member accessor", "2203A"),
    ("jsonpath wildcard member accessor", "2203C"),
    ("array accessor can only be applied", "22039"),
    ("jsonpath array subscript", "22033"),
    (".size() can only be applied", "22039"),
    (".keyvalue() can only be applied", "2203C"),
    ("of jsonpath item method", "22036"),
    ("can only be applied to a", "22036"),
    ("of unary jsonpath operator", "2203B"),
    ("is not a single numeric value", "22038"),
    ("single boolean result is expected", "22038"),
    ("number of the jsonpath expression is out of range", "22003"),
    ("bigint out of range", "22003"),
    ("integer out of range", "22003"),
    ("smallint out of range", "22003"),
    ("ivision by zero", "22012"),
    ("is not unique: cast", "42725"),
    ("was not provided a value", "42P02"),
    ("\" not recognized", "22023"),
    ("Invalid timezone", "22023"),
    ("must appear in select list", "42P10"),
    ("subquery returned more than one row", "21000"),
    ("Can't cast value", "22003"),
    ("to value of Date32 type", "22007"),
    // Texts of the user stand in these, and may say what is sought below.
    ("malformed array literal", "22P02"),
    ("Cannot cast string", "22P02"),
    ("Cannot access field at argument", "42804"),
    ("a jsonb value is", "22023"),
    ("this endpoint is read-only", "25006"),
    ("ParserError", "42601"),
    ("TokenizerError", "42601"),
    ("syntax error", "42601"),
    ("Expected: ", "42601"),
    ("No field named", "42703"),
    ("Ambiguous reference", "42702"),
    ("Invalid function", "42883"),
    ("No function matches", "42883"),
    ("Failed to coerce", "42883"),
    ("Cannot coerce", "42883"),
    ("not found", "42P01"),
    ("must appear in the GROUP BY", "42803"),
    ("must be in the GROUP BY", "42803"),
    ("ivide by zero", "22012"),
    ("verflow", "22003"),
    ("Error parsing timestamp", "22007"),
    ("Parser error", "22007"),
    ("Cast error", "22P02"),
    ("not implemented", "0A000"),
    ("not supported", "0A000"),
    ("nsupported", "0A000"),
];

fn wrong(text: &str) -> &'static str {
    CLASSES.iter().find(|(part, _)| text.contains(part)).map_or("42000", |(_, code)| code)
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
    let named = |field: &FieldRef| Arc::new(field.as_ref().clone().with_name(shown(field.name())));
    let fields: Vec<FieldRef> = wire_schema(schema).fields().iter().map(named).collect();
    let told = arrow_schema_to_pg_fields(&Schema::new(fields.clone()), format, options)?;
    let told = told.into_iter().zip(&fields).map(|(told, field)| {
        // A query can give any column such a key.
        let is_json = field.metadata().contains_key(IS_JSON) && matches!(field.data_type(), DataType::Utf8);
        if is_json { with_type(&told, Type::JSON) } else { told }
    });
    Ok(told.collect())
}

/// The same column with another type.
fn with_type(field: &FieldInfo, data_type: Type) -> FieldInfo {
    let (name, options) = (field.name().to_owned(), field.format_options().clone());
    FieldInfo::new(name, field.table_id(), field.column_id(), data_type, field.format())
        .with_format_options(options)
}

/// The answer to a query. Waits for the first batch, because an error before it comes instead of columns.
///
/// # Errors
/// The error that the query ends with before its first row.
pub async fn respond(
    mut rows: QueryStream,
    format: &Format,
    options: Arc<FormatOptions>,
) -> PgWireResult<QueryResponse> {
    let schema = rows.schema();
    let first = match rows.next().await {
        Some(Err(why)) => return Err(wire_error(&why)),
        other => other,
    };
    encode(&schema, stream::iter(first).chain(rows), format, options)
}

/// The rows of `batches` as the protocol writes them.
///
/// # Errors
/// For a type that the protocol has no name for.
pub fn encode(
    schema: &SchemaRef,
    batches: impl Stream<Item = Result<RecordBatch, SqlError>> + Send + 'static,
    format: &Format,
    options: Arc<FormatOptions>,
) -> PgWireResult<QueryResponse> {
    let flat = wire_schema(schema);
    let fields = Arc::new(wire_fields(schema, format, Some(options))?);
    // JSON is written as its text, in binary too.
    let as_text = |field: &FieldInfo| match *field.datatype() {
        Type::JSON => with_type(field, Type::TEXT),
        _ => field.clone(),
    };
    let described: Arc<Vec<FieldInfo>> = Arc::new(fields.iter().map(as_text).collect());
    let encoded = batches.flat_map(move |batch| {
        let flat = batch.and_then(|batch| flatten(&batch, &flat));
        let rows: Box<dyn Iterator<Item = PgWireResult<DataRow>> + Send> = match flat {
            Ok(batch) => {
                let described = described.clone();
                let parts = without_null_intervals(batch).into_iter();
                Box::new(parts.flat_map(move |part| written(described.clone(), part)))
            }
            Err(why) => Box::new(std::iter::once(Err(wire_error(&why)))),
        };
        stream::iter(rows)
    });
    Ok(QueryResponse::new(fields, encoded))
}

/// The rows of `batch` as bytes.
fn written(
    fields: Arc<Vec<FieldInfo>>,
    batch: RecordBatch,
) -> impl Iterator<Item = PgWireResult<DataRow>> + Send {
    let endless = floats::endless(&fields, &batch);
    encode_recordbatch(fields, batch).map(move |row| match endless.is_empty() {
        true => row,
        false => row.map(|row| floats::spelled(row, &endless)),
    })
}

/// The rows of `batch`, one a batch if an interval is NULL: the library writes that as nought, and a column without a type as
/// NULL.
fn without_null_intervals(batch: RecordBatch) -> Vec<RecordBatch> {
    let has_none =
        |column: &ArrayRef| matches!(column.data_type(), DataType::Interval(_)) && column.null_count() > 0;
    if !batch.columns().iter().any(has_none) {
        return vec![batch];
    }
    let one = |row: usize| {
        let row = batch.slice(row, 1);
        let cells = row.columns().iter().zip(row.schema_ref().fields());
        let cells = cells.map(|(column, field)| match has_none(column) {
            true => {
                let field = Field::new(field.name(), DataType::Null, true);
                (Arc::new(NullArray::new(1)) as ArrayRef, Arc::new(field))
            }
            false => (column.clone(), field.clone()),
        });
        let (columns, fields): (Vec<ArrayRef>, Vec<FieldRef>) = cells.unzip();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap_or(row)
    };
    (0..batch.num_rows()).map(one).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn only_texts_are_told_as_json() {
        let told = HashMap::from([(IS_JSON.to_owned(), "true".to_owned())]);
        let field = |kind: DataType| Field::new("c", kind, true).with_metadata(told.clone());
        let schema = Arc::new(Schema::new(vec![field(DataType::Utf8), field(DataType::Int64)]));
        let told = wire_fields(&schema, &Format::UnifiedText, None).unwrap();
        let types: Vec<&Type> = told.iter().map(FieldInfo::datatype).collect();
        assert_eq!(types, [&Type::JSON, &Type::INT8]);
    }

    #[test]
    fn errors_have_the_class_of_postgresql() {
        for (text, code) in [
            ("DROP TABLE is refused: this endpoint is read-only (SELECT)", "25006"),
            ("syntax error at end of jsonpath input: $ was expected", "42601"),
            ("JSON object does not contain key \"a\"", "2203A"),
            ("jsonpath array subscript is out of bounds", "22033"),
            ("jsonpath item method .abs() can only be applied to a numeric value", "22036"),
            ("syntax error: Unterminated string literal at Line: 1, Column: 8", "42601"),
            ("table 'groundline.public.nope' not found", "42P01"),
            ("No field named nope. Did you mean 'name'?", "42703"),
            ("Invalid function 'nope'.", "42883"),
            ("Divide by zero error", "22012"),
            ("Cast error: Cannot cast string 'x' to value of Int64 type", "22P02"),
            ("Cast error: Cannot cast string 'not found' to value of Int64 type", "22P02"),
            ("malformed array literal: \"a syntax error\"", "22P02"),
            ("This feature is not implemented: x", "0A000"),
            ("bigint out of range", "22003"),
            ("function range is not unique: cast one of the parameters", "42725"),
            ("Placeholder '$1' was not provided a value for execution.", "42P02"),
            ("time zone \"Nowhere\" not recognized", "22023"),
            ("Parser error: Invalid timezone \"Nowhere\": failed to parse timezone", "22023"),
            ("anything else", "42000"),
        ] {
            assert_eq!(wrong(text), code, "{text}");
        }
    }
}
