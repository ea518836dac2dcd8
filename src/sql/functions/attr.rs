//! `attr(json, key)`: the text of one attribute in a JSON object.

use arrow::array::{Array, ArrayRef, AsArray, StringArray, StringBuilder};
use arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// `attr(attributes, 'gen_ai.request.model')`: a string as it is, anything else as JSON text.
///
/// The key is taken literally, dots included. NULL where the object has no such key, where the value is null and where
/// the text is not a JSON object.
pub fn attr() -> ScalarUDF {
    ScalarUDF::from(Attr {
        signature: Signature::exact(vec![DataType::Utf8, DataType::Utf8], Volatility::Immutable),
    })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Attr {
    signature: Signature,
}

impl ScalarUDFImpl for Attr {
    fn name(&self) -> &str {
        "attr"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arg_types: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [json, key] = args.args.as_slice() else {
            return Err(DataFusionError::Internal("attr takes two arguments".to_owned()));
        };
        let all_scalar = matches!((json, key), (ColumnarValue::Scalar(_), ColumnarValue::Scalar(_)));
        let rows = if all_scalar { 1 } else { args.number_rows };
        let out = match key {
            ColumnarValue::Scalar(ScalarValue::Utf8(Some(key))) => {
                let needle = Needle::new(key);
                let json = json.to_array(rows)?;
                texts(&json)?.iter().map(|text| text.and_then(|t| needle.find(t))).collect()
            }
            ColumnarValue::Array(keys) if matches!(json, ColumnarValue::Scalar(_)) => {
                // One text for all rows is not copied.
                let json = json.to_array(1)?;
                let text = texts(&json)?.iter().next().flatten();
                texts(keys)?.iter().map(|key| Needle::new(key?).find(text?)).collect()
            }
            ColumnarValue::Scalar(_) => StringArray::new_null(rows),
            ColumnarValue::Array(keys) => by_row(&json.to_array(rows)?, keys)?,
        };
        if all_scalar {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&out, 0)?));
        }
        Ok(ColumnarValue::Array(Arc::new(out)))
    }
}

fn texts(array: &ArrayRef) -> Result<&StringArray> {
    array
        .as_string_opt::<i32>()
        .ok_or_else(|| DataFusionError::Internal(format!("attr got {}", array.data_type())))
}

fn by_row(json: &ArrayRef, keys: &ArrayRef) -> Result<StringArray> {
    let mut out = StringBuilder::new();
    for (text, key) in texts(json)?.iter().zip(texts(keys)?) {
        out.append_option(text.zip(key).and_then(|(t, k)| Needle::new(k).find(t)));
    }
    Ok(out.finish())
}

/// A key together with its JSON spelling.
///
/// Most rows lack most keys; looking for the spelling first spares them the parser.
struct Needle<'a> {
    key: Cow<'a, str>,
    spelled: Option<String>,
}

impl<'a> Needle<'a> {
    fn new(key: &'a str) -> Self {
        // Stored objects mark typed values by keys with one `$`, so a sender's own `$` is doubled.
        let key = if key.starts_with('$') { Cow::Owned(format!("${key}")) } else { Cow::Borrowed(key) };
        // A key with escapes can be spelled in several ways: then only the parser can tell.
        let plain =
            key.chars().all(|c| c.is_ascii() && !c.is_ascii_control() && !matches!(c, '"' | '\\' | '/'));
        let spelled = plain.then(|| format!("\"{key}\""));
        Self { key, spelled }
    }

    fn find(&self, json: &str) -> Option<String> {
        let escaped = || json.contains("\\u");
        if self.spelled.as_ref().is_some_and(|s| !json.contains(s.as_str())) && !escaped() {
            return None;
        }
        let mut parser = serde_json::Deserializer::from_str(json);
        match self.deserialize(&mut parser).ok().flatten()? {
            Value::Null => None,
            Value::String(text) => Some(text),
            Value::Object(object) => {
                Some(typed_text(&object).unwrap_or_else(|| Value::Object(object).to_string()))
            }
            other => Some(other.to_string()),
        }
    }
}

/// The text of `{"$bytes": "<base64>"}` and `{"$double": "NaN"}`.
fn typed_text(object: &serde_json::Map<String, Value>) -> Option<String> {
    let (key, value) = object.iter().next()?;
    let typed = object.len() == 1 && matches!(key.as_str(), "$bytes" | "$double");
    if typed { value.as_str().map(str::to_owned) } else { None }
}

impl<'de> DeserializeSeed<'de> for &Needle<'_> {
    type Value = Option<Value>;

    fn deserialize<D: serde::Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        parser.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &Needle<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == self.key {
                found = Some(map.next_value().map_err(A::Error::custom)?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(json: &str, key: &str) -> Option<String> {
        Needle::new(key).find(json)
    }

    #[test]
    fn finds_literal_keys() {
        let json =
            r#"{"a":"x","gen_ai.usage.input_tokens":12,"list":[1,"2"],"no":null,"o":{"a":"inner"},"t":true}"#;
        assert_eq!(find(json, "a").as_deref(), Some("x"));
        assert_eq!(find(json, "gen_ai.usage.input_tokens").as_deref(), Some("12"));
        assert_eq!(find(json, "list").as_deref(), Some(r#"[1,"2"]"#));
        assert_eq!(find(json, "o").as_deref(), Some(r#"{"a":"inner"}"#));
        assert_eq!(find(json, "t").as_deref(), Some("true"));
        assert_eq!(find(r#"{"b":{"$bytes":"aGk="}}"#, "b").as_deref(), Some("aGk="));
        assert_eq!(find(r#"{"$$x":{"$double":"NaN"}}"#, "$x").as_deref(), Some("NaN"));
        assert_eq!(find(json, "no"), None);
        assert_eq!(find(json, "gen_ai"), None);
        assert_eq!(find(json, "inner"), None);
    }

    #[test]
    fn escapes_and_broken_text() {
        assert_eq!(find(r#"{"\u0061":"x"}"#, "a").as_deref(), Some("x"));
        assert_eq!(find(r#"{"q\"":"x"}"#, "q\"").as_deref(), Some("x"));
        assert_eq!(find(r#"{"é":1}"#, "é").as_deref(), Some("1"));
        assert_eq!(find(r#"{"a":"x""#, "a"), None);
        assert_eq!(find(r#"["a"]"#, "a"), None);
        assert_eq!(find("", "a"), None);
    }
}
