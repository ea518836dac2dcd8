//! A result as text or bytes.

use super::error::SqlError;
use arrow::array::{Array, ArrayRef, RecordBatch, StringBuilder};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use arrow::json::writer::{EncoderOptions, JsonArray, WriterBuilder, make_encoder};
use arrow::util::display::FormatOptions;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Casts that fail where a value does not fit.
const STRICT: CastOptions<'static> = CastOptions { safe: false, format_options: FormatOptions::new() };

/// How a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Aligned columns for people.
    Table,
    /// One array of objects; times in ISO 8601, nested values as JSON.
    Json,
    /// A header and one line a row; nested values as JSON text.
    Csv,
    /// An Arrow IPC stream.
    Arrow,
    /// A Parquet file, compressed with zstd.
    Parquet,
}

impl Format {
    /// The media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Format::Table => "text/plain; charset=utf-8",
            Format::Json => "application/json",
            Format::Csv => "text/csv; charset=utf-8",
            Format::Arrow => "application/vnd.apache.arrow.stream",
            Format::Parquet => "application/vnd.apache.parquet",
        }
    }
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "table" => Ok(Format::Table),
            "json" => Ok(Format::Json),
            "csv" => Ok(Format::Csv),
            "arrow" => Ok(Format::Arrow),
            "parquet" => Ok(Format::Parquet),
            other => Err(format!("unknown format {other:?}: table, json, csv, arrow or parquet")),
        }
    }
}

/// The whole result in `format`, at most `most` bytes; a table for a terminal is not bounded.
///
/// # Errors
/// [`SqlError::Wrong`] for a column type that the format has no way to write, [`SqlError::Limit`] for more bytes: names of
/// columns are written once a row in JSON, so a result can be far longer than its values.
pub fn encode(
    format: Format,
    schema: &SchemaRef,
    batches: &[RecordBatch],
    most: usize,
) -> Result<Vec<u8>, SqlError> {
    let is_full = Arc::new(AtomicBool::new(false));
    let out = Bounded { bytes: Vec::new(), most, is_full: is_full.clone() };
    let encoded = match format {
        Format::Table => table(schema, batches),
        Format::Json => json(batches, out),
        Format::Csv => csv(schema, batches, out),
        Format::Arrow => ipc(schema, batches, out),
        Format::Parquet => parquet(schema, batches, out),
    };
    // Each writer tells the error in words of its own.
    if is_full.load(Ordering::Relaxed) {
        let why = format!("the encoded result has more than {most} bytes (sql.max_result_size)");
        return Err(SqlError::Limit(why));
    }
    encoded
}

/// Bytes up to a limit, and whether it was met.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
    is_full: Arc<AtomicBool>,
}

impl std::io::Write for Bounded {
    fn write(&mut self, part: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() + part.len() > self.most {
            self.is_full.store(true, Ordering::Relaxed);
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn table(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Vec<u8>, SqlError> {
    let options = FormatOptions::default();
    let text = if batches.is_empty() {
        let empty = [RecordBatch::new_empty(schema.clone())];
        arrow::util::pretty::pretty_format_batches_with_options(&empty, &options)?
    } else {
        arrow::util::pretty::pretty_format_batches_with_options(batches, &options)?
    };
    Ok(format!("{text}\n").into_bytes())
}

fn json(batches: &[RecordBatch], out: Bounded) -> Result<Vec<u8>, SqlError> {
    let mut writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(out);
    for batch in batches {
        writer.write(batch)?;
    }
    writer.finish()?;
    let out = writer.into_inner().bytes;
    // The writer writes no brackets when it was given no rows.
    Ok(if out.is_empty() { b"[]".to_vec() } else { out })
}

fn csv(schema: &SchemaRef, batches: &[RecordBatch], out: Bounded) -> Result<Vec<u8>, SqlError> {
    let flat = flat_schema(schema, |_| true);
    let mut writer = arrow::csv::WriterBuilder::new().with_header(true).build(out);
    if batches.is_empty() {
        writer.write(&RecordBatch::new_empty(flat.clone()))?;
    }
    for batch in batches {
        writer.write(&flatten(batch, &flat)?)?;
    }
    Ok(writer.into_inner().bytes)
}

fn ipc(schema: &SchemaRef, batches: &[RecordBatch], out: Bounded) -> Result<Vec<u8>, SqlError> {
    let mut writer = arrow::ipc::writer::StreamWriter::try_new(out, schema)?;
    for batch in batches {
        writer.write(batch)?;
    }
    Ok(writer.into_inner()?.bytes)
}

fn parquet(schema: &SchemaRef, batches: &[RecordBatch], out: Bounded) -> Result<Vec<u8>, SqlError> {
    let wrong = |e: ParquetError| SqlError::Wrong(format!("not as Parquet: {e}"));
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let mut writer = ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(wrong)?;
    for batch in batches {
        writer.write(batch).map_err(wrong)?;
    }
    Ok(writer.into_inner().map_err(wrong)?.bytes)
}

/// `schema` with text in the place of every nested type that `replace` picks.
pub fn flat_schema(schema: &SchemaRef, replace: impl Fn(&Field) -> bool) -> SchemaRef {
    let fields: Vec<FieldRef> = schema
        .fields()
        .iter()
        .map(|f| {
            if f.data_type().is_nested() && replace(f) {
                Arc::new(Field::new(f.name(), DataType::Utf8, true))
            } else {
                f.clone()
            }
        })
        .collect();
    Arc::new(Schema::new(fields))
}

/// The columns that a result has on the wire: lists of plain values stay lists, everything else that is nested is JSON. Types that
/// the protocol does not have are those that hold their values.
pub fn wire_schema(schema: &SchemaRef) -> SchemaRef {
    let flat = flat_schema(schema, |field| !is_plain_list(field));
    let sent = |field: &FieldRef| match stand_in(field.data_type()) {
        Some(other) => Arc::new(field.as_ref().clone().with_data_type(other)),
        None => field.clone(),
    };
    Arc::new(Schema::new(flat.fields().iter().map(sent).collect::<Vec<FieldRef>>()))
}

/// The type that stands for one that the protocol does not have.
fn stand_in(data_type: &DataType) -> Option<DataType> {
    let of = |element: &FieldRef| {
        let other = stand_in(element.data_type())?;
        Some(Arc::new(element.as_ref().clone().with_data_type(other)))
    };
    Some(match data_type {
        DataType::Int8 => DataType::Int16,
        // Places and lengths, which are bigint in PostgreSQL; the library would send them as numeric.
        DataType::UInt64 => DataType::Int64,
        DataType::Float16 => DataType::Float32,
        DataType::FixedSizeBinary(_) => DataType::Binary,
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
            DataType::Decimal128(*precision, *scale)
        }
        DataType::Decimal256(..) => DataType::Utf8,
        DataType::Dictionary(_, values) if !values.is_nested() => {
            stand_in(values).unwrap_or_else(|| values.as_ref().clone())
        }
        DataType::List(element) => DataType::List(of(element)?),
        DataType::LargeList(element) => DataType::LargeList(of(element)?),
        _ => return None,
    })
}

fn is_plain_list(field: &Field) -> bool {
    match field.data_type() {
        DataType::List(element) | DataType::LargeList(element) => !element.data_type().is_nested(),
        _ => false,
    }
}

/// The batch with JSON text in every column that `flat` has as text and the batch as something nested, and with the types of `flat`.
///
/// # Errors
/// An error for a nested type that JSON has no way to write, and for a value that a type of `flat` cannot hold.
pub fn flatten(batch: &RecordBatch, flat: &SchemaRef) -> Result<RecordBatch, SqlError> {
    let schema = batch.schema();
    let columns = batch
        .columns()
        .iter()
        .zip(schema.fields())
        .zip(flat.fields())
        .map(|((array, from), to)| {
            if from.data_type().is_nested() && !to.data_type().is_nested() {
                json_texts(from, array)
            } else if array.data_type() != to.data_type() {
                // What does not fit is told: it is not NULL.
                Ok(cast_with_options(array, to.data_type(), &STRICT)?)
            } else {
                Ok(array.clone())
            }
        })
        .collect::<Result<Vec<ArrayRef>, SqlError>>()?;
    let options = arrow::record_batch::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(flat.clone(), columns, &options)?)
}

/// Each value as JSON text; NULL stays NULL.
///
/// # Errors
/// An error for a type that JSON has no way to write.
pub fn json_texts(field: &FieldRef, array: &ArrayRef) -> Result<ArrayRef, SqlError> {
    let options = EncoderOptions::default().with_explicit_nulls(true);
    let mut encoder = make_encoder(field, array.as_ref(), &options)?;
    let mut out = StringBuilder::new();
    let mut text = Vec::new();
    for row in 0..array.len() {
        if array.is_null(row) {
            out.append_null();
            continue;
        }
        text.clear();
        encoder.encode(row, &mut text);
        out.append_value(String::from_utf8_lossy(&text));
    }
    Ok(Arc::new(out.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{AsArray, Int8Array, ListArray, UInt64Array};
    use arrow::datatypes::{Int8Type, Int16Type};

    #[test]
    fn what_the_protocol_has_no_type_for_is_sent_as_one_that_holds_it() {
        let lists = ListArray::from_iter_primitive::<Int8Type, _, _>([Some(vec![Some(-5), None]), None]);
        let columns: [(&str, ArrayRef); 2] =
            [("n", Arc::new(Int8Array::from(vec![Some(5), None]))), ("l", Arc::new(lists))];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let wire = wire_schema(&batch.schema());
        let sent = flatten(&batch, &wire).unwrap();
        assert_eq!(sent.column(0).as_primitive::<Int16Type>().iter().collect::<Vec<_>>(), [Some(5), None]);
        let first = sent.column(1).as_list::<i32>().value(0);
        assert_eq!(first.as_primitive::<Int16Type>().iter().collect::<Vec<_>>(), [Some(-5), None]);
        assert!(sent.column(1).is_null(1));
        let large: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX]));
        let batch = RecordBatch::try_from_iter([("n", large)]).unwrap();
        assert!(flatten(&batch, &wire_schema(&batch.schema())).is_err(), "what does not fit is no NULL");
        for (from, to) in [
            (DataType::Float16, DataType::Float32),
            (DataType::UInt64, DataType::Int64),
            (DataType::Decimal64(9, 2), DataType::Decimal128(9, 2)),
            (DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)), DataType::Utf8),
            (
                DataType::new_list(DataType::FixedSizeBinary(2), true),
                DataType::new_list(DataType::Binary, true),
            ),
            (DataType::Int64, DataType::Int64),
        ] {
            let schema = Arc::new(Schema::new(vec![Field::new("a", from.clone(), true)]));
            assert_eq!(wire_schema(&schema).field(0).data_type(), &to, "{from}");
        }
    }
}
