//! The operators `->`, `->>`, `#>` and `#>>` on columns of JSON text.

use super::keys::Paths;
use super::texts::{Texts, texts};
use crate::sql::functions::bounded::check_bytes;
use arrow::array::{Array, ArrayRef, StringBuilder};
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

/// The right side of an operator, row by row; a constant has one row.
#[derive(Debug)]
enum Right {
    /// A key of an object.
    Key(Texts),
    /// A place in an array.
    Place(Texts),
    /// A path such as `{a,0,b}`, or a list of keys.
    Path(Paths),
}

impl Right {
    fn new(value: &ColumnarValue, is_path: bool, rows: usize) -> Result<Self> {
        Ok(match (is_path, value.data_type().is_integer()) {
            (true, _) => Right::Path(Paths::new(value, rows)?),
            (false, true) => Right::Place(Texts::new(value, rows)?),
            (false, false) => Right::Key(Texts::new(value, rows)?),
        })
    }

    /// The steps of a row; none if it is NULL.
    ///
    /// # Errors
    /// For a text that is no path.
    fn steps(&self, row: usize) -> Result<Option<Vec<Step>>> {
        let key = |key: &str| vec![Step { key: key.to_owned(), index: None, only_index: false }];
        let place = |at: &str| vec![Step { key: at.to_owned(), index: at.parse().ok(), only_index: true }];
        Ok(match self {
            Right::Key(keys) => keys.at(row).map(key),
            Right::Place(places) => places.at(row).map(place),
            Right::Path(paths) => paths.at(row)?.map(|keys| path(keys.iter().map(String::as_str))),
        })
    }
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
            [_, key] if key.is_nested() && !(self.kind.path && is_list(key)) => {
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
        let (one_json, one_key) = (constant(json), constant(key));
        let json = texts(json, args.number_rows)?;
        let right = Right::new(key, self.kind.path, args.number_rows)?;
        let rows = if one_json && one_key { 1 } else { args.number_rows };
        let fixed = if one_key { right.steps(0)? } else { None };
        let mut out = StringBuilder::new();
        let mut bytes = 0i128;
        for row in 0..rows {
            let at = if one_json { 0 } else { row };
            let own = if one_key { None } else { right.steps(row)? };
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

/// One step into a value.
#[derive(Debug, PartialEq)]
pub struct Step {
    key: String,
    /// The place in an array, from its end if negative.
    index: Option<i64>,
    /// Whether the step is a number, which is no key.
    only_index: bool,
}

/// Whether values of a type are lists.
pub fn is_list(kind: &DataType) -> bool {
    matches!(kind, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..))
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
    use arrow::util::display::array_value_to_string;
    use datafusion::prelude::SessionContext;

    fn found(json: &str, right: ScalarValue, is_path: bool, told: As) -> Option<String> {
        let right = Right::new(&ColumnarValue::Scalar(right), is_path, 1).unwrap();
        look(json, &right.steps(0).unwrap().unwrap(), told)
    }

    fn get(json: &str, key: &str) -> Option<String> {
        found(json, ScalarValue::from(key), false, As::Json)
    }

    fn text(json: &str, key: &str) -> Option<String> {
        found(json, ScalarValue::from(key), false, As::Text)
    }

    fn down(json: &str, path: &str) -> Option<String> {
        found(json, ScalarValue::from(path), true, As::Text)
    }

    fn at(json: &str, place: i64) -> Option<String> {
        found(json, ScalarValue::Int64(Some(place)), false, As::Text)
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
        assert_eq!(at(json, 0).as_deref(), Some("zero"));
        assert_eq!(at(json, -1).as_deref(), Some(r#"{"k":"v"}"#));
        assert_eq!(at(json, -9), None);
        assert_eq!(at(json, 3), None);
        assert_eq!(text(json, "0"), None, "a text is a key, not a place");
        assert_eq!(at(r#"{"0":"x"}"#, 0), None, "a number is a place, not a key");
    }

    #[test]
    fn paths_go_down() {
        let json = r#"{"a":[{"b":"deep"},{"1":"key"}]}"#;
        assert_eq!(down(json, "{a,0,b}").as_deref(), Some("deep"));
        assert_eq!(down(json, "{a,1,1}").as_deref(), Some("key"));
        assert_eq!(down(json, "{a,-2,b}").as_deref(), Some("deep"));
        assert_eq!(down(json, "{}").as_deref(), Some(json));
        assert_eq!(down(json, "{a,7}"), None);
        let json = r#"{"a,b":{" c":[1,2]},"d e":3}"#;
        assert_eq!(down(json, r#"{ "a,b" ," c",-1}"#).as_deref(), Some("2"));
        assert_eq!(down(json, r"{a\,b,\ c,0}").as_deref(), Some("1"));
        assert_eq!(down(json, "{ d e }").as_deref(), Some("3"));
        let wrong = Right::new(&ColumnarValue::Scalar(ScalarValue::from("d e")), true, 1).unwrap();
        assert!(wrong.steps(0).is_err(), "a path has braces");
    }

    #[tokio::test]
    async fn lists_are_paths_too() {
        let context = SessionContext::new();
        json_functions().into_iter().for_each(|function| context.register_udf(function));
        for (call, told) in [
            (r#"json_get_path('{"a":[1,{"b":2}]}', make_array('a', '1', 'b'))"#, "2"),
            (r#"json_get_path_text('{"a":{"b c":"x"}}', '{a,"b c"}')"#, "x"),
            (r#"json_get_path('{"a":1}', make_array('a', NULL))"#, ""),
            (r#"json_get_path('{"a":1}', '{a,null}')"#, ""),
        ] {
            let batches = context.sql(&format!("SELECT {call}")).await.unwrap().collect().await.unwrap();
            assert_eq!(array_value_to_string(batches[0].column(0), 0).unwrap(), told, "{call}");
        }
        let key = context.sql("SELECT json_get('{}', make_array('a'))").await.map(|_| ());
        assert!(key.is_err(), "a list is no key");
    }
}
