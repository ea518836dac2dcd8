//! Batches of columns into rows.

use super::super::error::LabError;
use super::super::place::Place;
use super::cell::{cell, nest};
use crate::sql::{Format, SqlError, encode};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Map, Value};

/// Most bytes of the rows of a Parquet file when they are unpacked, as JSON. Equal values are stored once: a small file may have
/// a large text in each of a million rows.
const MAX_UNPACKED: usize = 1 << 30;
/// Rows that are unpacked at once, before their bytes are counted.
const AT_ONCE: usize = 64;

/// A row and its place.
pub type Placed = (Place, Map<String, Value>);

/// The rows of a query or a Parquet file. Texts that are JSON objects or arrays are these; points in a column's name nest.
///
/// # Errors
/// [`LabError::Wrong`] for a column type that has no JSON.
pub fn of_batches(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Vec<Placed>, LabError> {
    Ok(placed(parsed(&encode(Format::Json, schema, batches, usize::MAX)?)?))
}

fn parsed(json: &[u8]) -> Result<Vec<Map<String, Value>>, LabError> {
    serde_json::from_slice(json).map_err(|e| LabError::Broken(e.to_string()))
}

fn placed(rows: Vec<Map<String, Value>>) -> Vec<Placed> {
    let row = |(number, row): (u64, Map<String, Value>)| {
        let mut fields = Map::new();
        for (name, value) in row {
            let value = if let Value::String(text) = value { cell(&text) } else { value };
            nest(&mut fields, &name, value);
        }
        (Place::item(number), fields)
    };
    (1..).zip(rows).map(row).collect()
}

/// The rows of a Parquet file.
///
/// # Errors
/// As [`of_batches`], when it is none, and [`LabError::Limit`] for one with more than 1 GiB when it is unpacked.
pub(super) fn of_parquet(bytes: &Bytes) -> Result<Vec<Placed>, LabError> {
    unpacked(bytes, MAX_UNPACKED)
}

fn unpacked(bytes: &Bytes, most: usize) -> Result<Vec<Placed>, LabError> {
    let wrong = |e: &dyn ToString| LabError::Wrong(format!("not a Parquet file: {}", e.to_string()));
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes.clone()).map_err(|e| wrong(&e))?;
    let schema = builder.schema().clone();
    let classes = classes(schema.metadata().get("huggingface").map_or("", String::as_str));
    let reader = builder.with_batch_size(AT_ONCE).build().map_err(|e| wrong(&e))?;
    let (mut rows, mut left) = (Vec::new(), most);
    for batch in reader {
        let batch = batch.map_err(|e| wrong(&e))?;
        // Columns may share their values in memory; as JSON each row has its own.
        let json = encode(Format::Json, &schema, &[batch], left).map_err(too_large)?;
        left = left.saturating_sub(json.len());
        rows.extend(parsed(&json)?);
    }
    let mut rows = placed(rows);
    for (_, row) in &mut rows {
        for (column, names) in &classes {
            let name =
                row.get(column).and_then(Value::as_u64).and_then(|at| names.get(usize::try_from(at).ok()?));
            if let Some(name) = name.cloned() {
                row.insert(column.clone(), name);
            }
        }
    }
    Ok(rows)
}

fn too_large(error: SqlError) -> LabError {
    match error {
        SqlError::Limit(_) => {
            let why = "the Parquet file has more than 1 GiB when it is unpacked: cut it in parts";
            LabError::Limit(why.to_owned())
        }
        other => other.into(),
    }
}

/// The names of classes that columns have as numbers, of what a Hugging Face dataset tells of itself.
fn classes(told: &str) -> Vec<(String, Vec<Value>)> {
    let told: Value = serde_json::from_str(told).unwrap_or_default();
    let features = told["info"]["features"].as_object().cloned().unwrap_or_default();
    let named = features.into_iter().filter(|(_, feature)| feature["_type"] == "ClassLabel");
    named.filter_map(|(column, feature)| Some((column, feature["names"].as_array()?.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, DictionaryArray, Int64Array, StringArray};
    use arrow::datatypes::{Int32Type, Schema};
    use parquet::arrow::ArrowWriter;
    use std::collections::HashMap;
    use std::sync::Arc;

    fn file_of(batch: &RecordBatch) -> Bytes {
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(batch).unwrap();
        Bytes::from(writer.into_inner().unwrap())
    }

    #[test]
    fn a_small_file_that_is_large_when_it_is_unpacked_is_refused() {
        let text = "a long answer ".repeat(700);
        let said = || vec![text.as_str(); 1_000];
        let own: ArrayRef = Arc::new(StringArray::from(said()));
        let shared: ArrayRef = Arc::new(said().into_iter().collect::<DictionaryArray<Int32Type>>());
        for column in [own, shared] {
            let file = file_of(&RecordBatch::try_from_iter([("input", column)]).unwrap());
            assert!(file.len() < 100_000, "{} bytes", file.len());
            assert_eq!(of_parquet(&file).unwrap().len(), 1_000);
            let refused = unpacked(&file, 2_000_000).unwrap_err();
            assert!(matches!(&refused, LabError::Limit(why) if why.contains("cut it in parts")), "{refused}");
        }
    }

    #[test]
    fn classes_of_a_hugging_face_dataset_have_their_names() {
        let text: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
        let label: ArrayRef = Arc::new(Int64Array::from(vec![1, 0, -1]));
        let batch = RecordBatch::try_from_iter([("text", text), ("label", label)]).unwrap();
        let told = r#"{"info": {"features": {"label": {"names": ["neg", "pos"], "_type": "ClassLabel"}}}}"#;
        let metadata = HashMap::from([("huggingface".to_owned(), told.to_owned())]);
        let schema = Schema::new_with_metadata(batch.schema().fields().clone(), metadata);
        let batch = batch.with_schema(Arc::new(schema)).unwrap();
        let rows = of_parquet(&file_of(&batch)).unwrap();
        let labels: Vec<&Value> = rows.iter().map(|(_, row)| &row["label"]).collect();
        assert_eq!(labels, [&Value::from("pos"), &Value::from("neg"), &Value::from(-1)]);
    }
}
