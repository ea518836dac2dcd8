//! Values as JSON text.

use super::texts::texts;
use crate::sql::format::json_texts;
use crate::sql::functions::bounded::check_bytes;
use arrow::array::{Array, ArrayRef, AsArray, StringArray, StringBuilder};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use datafusion::scalar::ScalarValue;
use serde_json::Value;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Cast,
    Value,
    Object,
    Array,
}

const FUNCTIONS: [(&str, What); 8] = [
    ("as_json", What::Cast),
    ("to_json", What::Value),
    ("to_jsonb", What::Value),
    ("row_to_json", What::Value),
    ("json_build_object", What::Object),
    ("jsonb_build_object", What::Object),
    ("json_build_array", What::Array),
    ("jsonb_build_array", What::Array),
];

/// `to_jsonb`, `row_to_json`, `jsonb_build_object`, `jsonb_build_array`, and the same of `json`. A text becomes a string, also
/// one that is JSON; `as_json`, which is the cast to `jsonb`, takes it for JSON.
pub fn make_functions() -> [ScalarUDF; 8] {
    FUNCTIONS.map(|(name, what)| {
        let takes = match what {
            What::Cast | What::Value => TypeSignature::Any(1),
            _ => TypeSignature::OneOf(vec![TypeSignature::Nullary, TypeSignature::VariadicAny]),
        };
        ScalarUDF::from(Make { name, what, signature: Signature::new(takes, Volatility::Immutable) })
    })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Make {
    name: &'static str,
    what: What,
    signature: Signature,
}

impl ScalarUDFImpl for Make {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        if self.what == What::Object && types.len() % 2 == 1 {
            let why = format!("{} takes keys and values in turn: an even number of arguments", self.name);
            return Err(DataFusionError::Plan(why));
        }
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_constant = |value: &ColumnarValue| matches!(value, ColumnarValue::Scalar(_));
        let all_constant = args.args.iter().all(is_constant);
        let rows = if all_constant { 1 } else { args.number_rows };
        let mut columns = Vec::new();
        for (place, (value, field)) in args.args.iter().zip(&args.arg_fields).enumerate() {
            let as_text = match self.what {
                What::Cast => !field.data_type().is_nested(),
                What::Object => place % 2 == 0,
                What::Value | What::Array => false,
            };
            columns.push(Column::new(value, field, rows, as_text)?);
        }
        let (mut out, mut bytes) = (StringBuilder::new(), 0i128);
        for row in 0..rows {
            let text = self.row(&columns, row)?;
            bytes += text.as_ref().map_or(0, String::len) as i128;
            check_bytes(self.name, bytes)?;
            out.append_option(text);
        }
        let out: ArrayRef = Arc::new(out.finish());
        if all_constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&out, 0)?));
        }
        Ok(ColumnarValue::Array(out))
    }
}

impl Make {
    fn row(&self, columns: &[Column], row: usize) -> Result<Option<String>> {
        let written = |column: &Column| column.text(row).unwrap_or("null").to_owned();
        match self.what {
            What::Cast | What::Value => {
                Ok(columns.first().and_then(|column| column.text(row)).map(str::to_owned))
            }
            What::Array => {
                Ok(Some(format!("[{}]", columns.iter().map(written).collect::<Vec<_>>().join(","))))
            }
            What::Object => {
                let mut parts = Vec::new();
                for pair in columns.chunks_exact(2) {
                    let key = pair[0].text(row).ok_or_else(|| {
                        DataFusionError::Execution(format!("a key of {} is NULL", self.name))
                    })?;
                    parts.push(format!("{}:{}", Value::from(key), written(&pair[1])));
                }
                Ok(Some(format!("{{{}}}", parts.join(","))))
            }
        }
    }
}

/// The texts of an argument; a constant has one row.
struct Column {
    one: bool,
    texts: StringArray,
}

impl Column {
    fn new(value: &ColumnarValue, field: &FieldRef, rows: usize, as_text: bool) -> Result<Self> {
        let one = matches!(value, ColumnarValue::Scalar(_));
        if as_text {
            return Ok(Self { one, texts: texts(value, rows)? });
        }
        let array = value.to_array(if one { 1 } else { rows })?;
        if array.data_type().is_null() {
            return Ok(Self { one, texts: StringArray::new_null(array.len()) });
        }
        let written = json_texts(field, &array).map_err(|why| DataFusionError::External(Box::new(why)))?;
        Ok(Self { one, texts: written.as_string::<i32>().clone() })
    }

    fn text(&self, row: usize) -> Option<&str> {
        let at = if self.one { 0 } else { row };
        self.texts.is_valid(at).then(|| self.texts.value(at))
    }
}
