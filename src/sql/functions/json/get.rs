//! The operators `->`, `->>`, `#>` and `#>>` on columns of JSON text.

use crate::sql::functions::bounded::check_bytes;
use arrow::array::{Array, ArrayRef, AsArray, StringArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// What an operator takes, and what it gives.
const KINDS: [(&str, Accessor); 4] = [
    ("json_get", Accessor { path: false, told: As::Json }),
    ("json_get_text", Accessor { path: false, told: As::Text }),
    ("json_get_path", Accessor { path: true, told: As::Json }),
    ("json_get_path_text", Accessor { path: true, told: As::Text }),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Accessor {
    /// Whether the right side is a path such as `{a,0,b}`, not one key.
    path: bool,
    told: As,
}

/// How what was found is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum As {
    /// As JSON.
    Json,
    /// A string as it is, null as nothing, and all else as JSON.
    Text,
}

/// What the right side of an operator is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Right {
    /// A key of an object.
    Key,
    /// A place in an array.
    Place,
    /// A path such as `{a,0,b}`.
    Path,
}

/// The functions behind the operators: `json_get`, `json_get_text`, `json_get_path`, `json_get_path_text`.
pub fn json_functions() -> [ScalarUDF; 4] {
    KINDS.map(|(name, kind)| {
        let signature = Signature::any(2, Volatility::Immutable);
        ScalarUDF::from(JsonGet { name, kind, signature })
    })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct JsonGet {
    name: &'static str,
    kind: Accessor,
    signature: Signature,
}

impl ScalarUDFImpl for JsonGet {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [json, _] if json.is_nested() => {
                Err(DataFusionError::Plan(format!("{} takes JSON text, not {json}", self.name)))
            }
            [_, key] if key.is_nested() => {
                Err(DataFusionError::Plan(format!("{} takes a key as text, not {key}", self.name)))
            }
            _ => Ok(DataType::Utf8),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [json, key] = args.args.as_slice() else {
            return Err(DataFusionError::Internal(format!("{} takes two arguments", self.name)));
        };
        let constant = |value: &ColumnarValue| matches!(value, ColumnarValue::Scalar(_));
        let right = match (self.kind.path, key.data_type().is_integer()) {
            (true, _) => Right::Path,
            (false, true) => Right::Place,
            (false, false) => Right::Key,
        };
        let (one_json, one_key) = (constant(json), constant(key));
        let (json, key) = (texts(json, args.number_rows)?, texts(key, args.number_rows)?);
        let rows = if one_json && one_key { 1 } else { args.number_rows };
        let steps = |row: usize| {
            let at = if one_key { 0 } else { row };
            (!key.is_null(at)).then(|| steps(key.value(at), right))
        };
        let fixed = if one_key { steps(0) } else { None };
        let mut out = StringBuilder::new();
        let mut bytes = 0i128;
        for row in 0..rows {
            let at = if one_json { 0 } else { row };
            let own = if one_key { None } else { steps(row) };
            let found = match (json.is_null(at), fixed.as_ref().or(own.as_ref())) {
                (false, Some(steps)) => look(json.value(at), steps, self.kind.told),
                _ => None,
            };
            bytes += found.as_ref().map_or(0, String::len) as i128;
            check_bytes(self.name, bytes)?;
            out.append_option(found);
        }
        let out: ArrayRef = Arc::new(out.finish());
        if one_json && one_key {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&out, 0)?));
        }
        Ok(ColumnarValue::Array(out))
    }
}

/// The texts of a column; a constant is one row.
///
/// # Errors
/// For a value that has no text.
pub fn texts(value: &ColumnarValue, rows: usize) -> Result<StringArray> {
    let rows = if matches!(value, ColumnarValue::Scalar(_)) { 1 } else { rows };
    let array = cast(&value.to_array(rows)?, &DataType::Utf8)?;
    Ok(array.as_string::<i32>().clone())
}

/// The texts of an argument, row by row; a constant has one row.
pub struct Texts {
    is_one: bool,
    texts: StringArray,
}

impl Texts {
    /// The texts of `value`, which has `rows` rows if it is no constant.
    ///
    /// # Errors
    /// As [`texts`].
    pub fn new(value: &ColumnarValue, rows: usize) -> Result<Self> {
        Ok(Self { is_one: matches!(value, ColumnarValue::Scalar(_)), texts: texts(value, rows)? })
    }

    /// The text of a row; none if it is NULL.
    pub fn at(&self, row: usize) -> Option<&str> {
        let at = if self.is_one { 0 } else { row };
        self.texts.is_valid(at).then(|| self.texts.value(at))
    }
}

/// One step into a value.
#[derive(Debug, PartialEq)]
pub struct Step {
    key: String,
    /// The place in an array, from its end if negative.
    index: Option<i64>,
    /// Whether the step is a number, which is no key.
    only_index: bool,
}

fn steps(key: &str, right: Right) -> Vec<Step> {
    match right {
        Right::Key => return vec![Step { key: key.to_owned(), index: None, only_index: false }],
        Right::Place => return vec![Step { key: key.to_owned(), index: key.parse().ok(), only_index: true }],
        Right::Path => {}
    }
    let inner = key.trim().trim_start_matches('{').trim_end_matches('}');
    if inner.is_empty() {
        return vec![];
    }
    path(inner.split(',').map(|part| part.trim().trim_matches('"')))
}

/// The steps of a path: a number is a place in an array, and a key of an object.
pub fn path<'a>(parts: impl Iterator<Item = &'a str>) -> Vec<Step> {
    let step = |key: &str| Step { key: key.to_owned(), index: key.parse().ok(), only_index: false };
    parts.map(step).collect()
}

/// What lies behind `steps`; none if nothing does, or the text is not JSON.
pub fn look(json: &str, steps: &[Step], told: As) -> Option<String> {
    let mut parser = serde_json::Deserializer::from_str(json);
    let found = Behind(steps).deserialize(&mut parser).ok().flatten()?;
    match found {
        Value::Null if told == As::Text => None,
        Value::String(inner) if told == As::Text => Some(inner),
        other => Some(other.to_string()),
    }
}

/// Reads what lies behind the steps, and skips all else.
struct Behind<'a>(&'a [Step]);

impl<'de> DeserializeSeed<'de> for Behind<'_> {
    type Value = Option<Value>;

    fn deserialize<D: serde::Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        match self.0 {
            [] => serde::Deserialize::deserialize(parser).map(Some),
            _ => parser.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Behind<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        let (step, rest) = self.0.split_first().ok_or_else(|| A::Error::custom("no step"))?;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == step.key && !step.only_index {
                found = map.next_value_seed(Behind(rest))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let (step, rest) = self.0.split_first().ok_or_else(|| A::Error::custom("no step"))?;
        let Some(index) = step.index else {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(None);
        };
        let Ok(from_start) = usize::try_from(index) else {
            return from_end(list, index, rest);
        };
        let mut at = 0;
        let mut found = None;
        loop {
            if at == from_start {
                match list.next_element_seed(Behind(rest))? {
                    Some(value) => found = value,
                    None => return Ok(None),
                }
            } else if list.next_element::<IgnoredAny>()?.is_none() {
                return Ok(found);
            }
            at += 1;
        }
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// How many elements a list has is known only at its end.
fn from_end<'de, A: SeqAccess<'de>>(
    mut list: A,
    index: i64,
    rest: &[Step],
) -> Result<Option<Value>, A::Error> {
    let mut all: Vec<Value> = Vec::new();
    while let Some(value) = list.next_element()? {
        all.push(value);
    }
    let back = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
    let Some(at) = all.len().checked_sub(back) else { return Ok(None) };
    Behind(rest).deserialize(all.swap_remove(at)).map_err(A::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(json: &str, key: &str) -> Option<String> {
        look(json, &steps(key, Right::Key), As::Json)
    }

    fn text(json: &str, key: &str) -> Option<String> {
        look(json, &steps(key, Right::Key), As::Text)
    }

    fn down(json: &str, key: &str) -> Option<String> {
        look(json, &steps(key, Right::Path), As::Text)
    }

    fn at(json: &str, key: &str) -> Option<String> {
        look(json, &steps(key, Right::Place), As::Text)
    }

    #[test]
    fn keys_give_json_or_text() {
        let json = r#"{"a":"x","n":5.0,"o":{"b":[1,"two",null]},"no":null,"a.b":true}"#;
        assert_eq!(get(json, "a").as_deref(), Some("\"x\""));
        assert_eq!(text(json, "a").as_deref(), Some("x"));
        assert_eq!(text(json, "n").as_deref(), Some("5.0"));
        assert_eq!(get(json, "o").as_deref(), Some(r#"{"b":[1,"two",null]}"#));
        assert_eq!((get(json, "no").as_deref(), text(json, "no")), (Some("null"), None));
        assert_eq!(text(json, "a.b").as_deref(), Some("true"));
        assert_eq!(text(json, "missing"), None);
        assert_eq!(text("not JSON", "a"), None);
        assert_eq!(text("5", "a"), None);
    }

    #[test]
    fn numbers_are_places() {
        let json = r#"["zero",1,{"k":"v"}]"#;
        assert_eq!(at(json, "0").as_deref(), Some("zero"));
        assert_eq!(at(json, "-1").as_deref(), Some(r#"{"k":"v"}"#));
        assert_eq!(at(json, "-9"), None);
        assert_eq!(at(json, "3"), None);
        assert_eq!(text(json, "0"), None, "a text is a key, not a place");
        assert_eq!(at(r#"{"0":"x"}"#, "0"), None, "a number is a place, not a key");
    }

    #[test]
    fn paths_go_down() {
        let json = r#"{"a":[{"b":"deep"},{"1":"key"}]}"#;
        assert_eq!(down(json, "{a,0,b}").as_deref(), Some("deep"));
        assert_eq!(down(json, "{a,1,1}").as_deref(), Some("key"));
        assert_eq!(down(json, "{a,-2,b}").as_deref(), Some("deep"));
        assert_eq!(down(json, "{}").as_deref(), Some(json));
        assert_eq!(down(json, "{a,7}"), None);
    }
}
