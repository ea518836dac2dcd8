//! One field of each object in an array as a list: the columns of `jsonb_to_recordset`.

use super::get::{As, look, path};
use super::read::{Bounded, list_of_texts};
use super::texts::Texts;
use arrow::array::{ArrayRef, ListArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;
use serde_json::value::RawValue;
use std::sync::Arc;

/// `json_fields(json, key)` as JSON, and `json_field_texts(json, key)` as text: a list of the field of each element of an
/// array, or of the one object. What has no such field gives NULL in it; what is no JSON, or plain, has no list.
pub fn field_functions() -> [ScalarUDF; 2] {
    [("json_fields", As::Json), ("json_field_texts", As::Text)].map(|(name, told)| {
        let signature = Signature::exact(vec![DataType::Utf8, DataType::Utf8], Volatility::Immutable);
        ScalarUDF::from(Fields { name, told, signature })
    })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Fields {
    name: &'static str,
    told: As,
    signature: Signature,
}

impl ScalarUDFImpl for Fields {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(list_of_texts())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [json, key] = args.args.as_slice() else {
            return Err(DataFusionError::Internal(format!("{} takes two arguments", self.name)));
        };
        let is_constant = |value: &ColumnarValue| matches!(value, ColumnarValue::Scalar(_));
        let all_constant = is_constant(json) && is_constant(key);
        let rows = if all_constant { 1 } else { args.number_rows };
        let (json, keys) = (Texts::new(json, args.number_rows)?, Texts::new(key, args.number_rows)?);
        let (mut lengths, mut valid) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let mut out = Bounded::new(self.name);
        for row in 0..rows {
            let found = json.at(row).zip(keys.at(row)).and_then(|(json, key)| fields(json, key, self.told));
            valid.push(found.is_some());
            let found = found.unwrap_or_default();
            lengths.push(found.len());
            found.into_iter().try_for_each(|text| out.push(text))?;
        }
        let element = Arc::new(Field::new_list_field(DataType::Utf8, true));
        let (offsets, valid) = (OffsetBuffer::from_lengths(lengths), Some(NullBuffer::from(valid)));
        let out: ArrayRef = Arc::new(ListArray::try_new(element, offsets, Arc::new(out.finish()), valid)?);
        if all_constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&out, 0)?));
        }
        Ok(ColumnarValue::Array(out))
    }
}

fn fields(json: &str, key: &str, told: As) -> Option<Vec<Option<String>>> {
    let steps = path(std::iter::once(key));
    match json.trim_start().as_bytes().first()? {
        b'{' => {
            serde_json::from_str::<&RawValue>(json).ok()?;
            Some(vec![look(json, &steps, told)])
        }
        b'[' => {
            let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
            Some(elements.into_iter().map(|element| look(element.get(), &steps, told)).collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_has_its_field() {
        let all = |json| fields(json, "a", As::Text);
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            all(r#" [{"a":1},{"b":2},{"a":null},{"a":"x"},7] "#),
            Some(vec![text("1"), None, None, text("x"), None])
        );
        assert_eq!(all(r#"{"a":{"b":1}}"#), Some(vec![text(r#"{"b":1}"#)]));
        assert_eq!((all("7"), all("[1,"), all("{\"a\":")), (None, None, None));
        assert_eq!(fields(r#"[{"a":"x"}]"#, "a", As::Json), Some(vec![text("\"x\"")]));
    }
}
