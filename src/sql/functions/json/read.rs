//! What a JSON text is, and its parts as lists.

use super::get::{As, look, path};
use super::texts::texts;
use crate::sql::functions::bounded::check_bytes;
use arrow::array::{Array, ArrayRef, Int32Array, ListArray, StringArray, StringBuilder};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};
use std::sync::Arc;

/// Bytes that an element of a list takes beside its text.
const ELEMENT: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Length,
    Kind,
    Pretty,
    WithoutNulls,
    Elements,
    ElementTexts,
    Keys,
    Values,
    ValueTexts,
}

/// The last five give lists: what `jsonb_array_elements` and its like give row by row is a list that is unnested.
const FUNCTIONS: &[(&str, What)] = &[
    ("json_array_length", What::Length),
    ("jsonb_array_length", What::Length),
    ("json_typeof", What::Kind),
    ("jsonb_typeof", What::Kind),
    ("jsonb_pretty", What::Pretty),
    ("json_strip_nulls", What::WithoutNulls),
    ("jsonb_strip_nulls", What::WithoutNulls),
    ("json_elements", What::Elements),
    ("json_element_texts", What::ElementTexts),
    ("json_keys", What::Keys),
    ("json_values", What::Values),
    ("json_value_texts", What::ValueTexts),
];

/// `jsonb_array_length`, `jsonb_typeof`, `jsonb_extract_path` and others. What is not JSON, or has no such part, gives NULL.
pub fn read_functions() -> Vec<ScalarUDF> {
    let of_text = |(name, what): &(&'static str, What)| {
        let signature = Signature::exact(vec![DataType::Utf8], Volatility::Immutable);
        ScalarUDF::from(Read { name, what: *what, signature })
    };
    let along = |(name, told)| {
        let signature = Signature::variadic(vec![DataType::Utf8], Volatility::Immutable);
        ScalarUDF::from(Along { name, told, signature })
    };
    let paths = [
        ("json_extract_path", As::Json),
        ("jsonb_extract_path", As::Json),
        ("json_extract_path_text", As::Text),
        ("jsonb_extract_path_text", As::Text),
    ];
    FUNCTIONS.iter().map(of_text).chain(paths.map(along)).collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Read {
    name: &'static str,
    what: What,
    signature: Signature,
}

impl ScalarUDFImpl for Read {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.what {
            What::Length => DataType::Int32,
            What::Kind | What::Pretty | What::WithoutNulls => DataType::Utf8,
            _ => list_of_texts(),
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [json] = args.args.as_slice() else {
            return Err(DataFusionError::Internal(format!("{} takes one argument", self.name)));
        };
        let out = self.read(&texts(json, args.number_rows)?)?;
        Ok(match json {
            ColumnarValue::Scalar(_) => ColumnarValue::Scalar(ScalarValue::try_from_array(&out, 0)?),
            ColumnarValue::Array(_) => ColumnarValue::Array(out),
        })
    }
}

fn element() -> Field {
    Field::new_list_field(DataType::Utf8, true)
}

/// The type of the parts of a value.
pub fn list_of_texts() -> DataType {
    DataType::List(Arc::new(element()))
}

impl Read {
    fn read(&self, texts: &StringArray) -> Result<ArrayRef> {
        let values = texts.iter().map(|text| serde_json::from_str::<Value>(text?).ok());
        match self.what {
            What::Length => {
                let length = |value: Option<Value>| i32::try_from(value?.as_array()?.len()).ok();
                Ok(Arc::new(values.map(length).collect::<Int32Array>()))
            }
            What::Kind => Ok(Arc::new(values.map(|value| Some(kind(&value?))).collect::<StringArray>())),
            What::Pretty => self.texts(values.map(|value| pretty(&value?))),
            What::WithoutNulls => self.texts(values.map(|value| Some(without_nulls(value?).to_string()))),
            _ => self.list(values),
        }
    }

    fn texts(&self, texts: impl Iterator<Item = Option<String>>) -> Result<ArrayRef> {
        let mut out = Bounded::new(self.name);
        for text in texts {
            out.push(text)?;
        }
        Ok(Arc::new(out.finish()))
    }

    /// A list of each value's parts; what has no such parts has no list.
    fn list(&self, values: impl Iterator<Item = Option<Value>>) -> Result<ArrayRef> {
        let (mut lengths, mut valid) = (Vec::new(), Vec::new());
        let mut out = Bounded::new(self.name);
        for value in values {
            let before = out.count;
            let is_there = match (self.what, &value) {
                (What::Keys, Some(Value::Object(object))) => {
                    object.keys().try_for_each(|key| out.push(Some(key.clone())))?;
                    true
                }
                (What::Values | What::ValueTexts, Some(Value::Object(object))) => {
                    object.values().try_for_each(|part| out.push(self.text(part)))?;
                    true
                }
                (What::Elements | What::ElementTexts, Some(Value::Array(array))) => {
                    array.iter().try_for_each(|part| out.push(self.text(part)))?;
                    true
                }
                _ => false,
            };
            lengths.push(out.count - before);
            valid.push(is_there);
        }
        let texts = Arc::new(out.finish());
        let offsets = OffsetBuffer::from_lengths(lengths);
        let valid = Some(NullBuffer::from(valid));
        Ok(Arc::new(ListArray::try_new(Arc::new(element()), offsets, texts, valid)?))
    }

    /// A part as JSON, or as text.
    fn text(&self, part: &Value) -> Option<String> {
        match part {
            _ if matches!(self.what, What::Elements | What::Values) => Some(part.to_string()),
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }
}

/// Texts up to the limit of one batch.
pub struct Bounded {
    name: &'static str,
    texts: StringBuilder,
    count: usize,
    bytes: usize,
}

impl Bounded {
    /// No texts yet, for the function of this name.
    pub fn new(name: &'static str) -> Self {
        Self { name, texts: StringBuilder::new(), count: 0, bytes: 0 }
    }

    /// Adds a text, or NULL.
    ///
    /// # Errors
    /// [`check_bytes`] for more than one batch may have.
    pub fn push(&mut self, text: Option<String>) -> Result<()> {
        self.count += 1;
        self.bytes += ELEMENT + text.as_ref().map_or(0, String::len);
        check_bytes(self.name, self.bytes as i128)?;
        self.texts.append_option(text);
        Ok(())
    }

    /// The texts.
    pub fn finish(mut self) -> StringArray {
        self.texts.finish()
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// With four spaces a level, as PostgreSQL has it.
fn pretty(value: &Value) -> Option<String> {
    let mut out = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut out, PrettyFormatter::with_indent(b"    "));
    value.serialize(&mut serializer).ok()?;
    String::from_utf8(out).ok()
}

/// Without the keys whose value is null; elements of arrays stay.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let kept = object.into_iter().filter(|(_, part)| !part.is_null());
            Value::Object(kept.map(|(key, part)| (key, without_nulls(part))).collect())
        }
        Value::Array(array) => Value::Array(array.into_iter().map(without_nulls).collect()),
        plain => plain,
    }
}

/// `jsonb_extract_path(json, 'a', '0')`: what lies behind the steps.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Along {
    name: &'static str,
    told: As,
    signature: Signature,
}

impl ScalarUDFImpl for Along {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_constant = |value: &ColumnarValue| matches!(value, ColumnarValue::Scalar(_));
        let all_constant = args.args.iter().all(is_constant);
        let rows = if all_constant { 1 } else { args.number_rows };
        let column = |value: &ColumnarValue| -> Result<(bool, StringArray)> {
            Ok((is_constant(value), texts(value, args.number_rows)?))
        };
        let columns: Vec<(bool, StringArray)> = args.args.iter().map(column).collect::<Result<_>>()?;
        let mut out = Bounded::new(self.name);
        for row in 0..rows {
            let cell = |(one, texts): &(bool, StringArray)| {
                let at = if *one { 0 } else { row };
                texts.is_valid(at).then(|| texts.value(at).to_owned())
            };
            let cells: Option<Vec<String>> = columns.iter().map(cell).collect();
            let found = cells.as_deref().and_then(|cells| {
                let (json, steps) = cells.split_first()?;
                look(json, &path(steps.iter().map(String::as_str)), self.told)
            });
            out.push(found)?;
        }
        let out: ArrayRef = Arc::new(out.finish());
        if all_constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&out, 0)?));
        }
        Ok(ColumnarValue::Array(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_and_written() {
        let value = |json: &str| serde_json::from_str::<Value>(json).unwrap();
        assert_eq!(kind(&value("[1]")), "array");
        assert_eq!(pretty(&value(r#"{"a":[1]}"#)).unwrap(), "{\n    \"a\": [\n        1\n    ]\n}");
        assert_eq!(
            without_nulls(value(r#"{"a":null,"b":[null,{"c":null}]}"#)).to_string(),
            r#"{"b":[null,{}]}"#
        );
    }
}
