//! `jsonb_set(json, path, part[, create_if_missing])`: a value with another part at a path.

use super::keys::Paths;
use super::read::Bounded;
use super::texts::Texts;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use datafusion::scalar::ScalarValue;
use serde_json::Value;
use std::sync::Arc;

/// The function. A text that is not JSON gives NULL, as NULL does.
pub fn jsonb_set() -> ScalarUDF {
    let arities = vec![TypeSignature::Any(3), TypeSignature::Any(4)];
    ScalarUDF::from(Set { signature: Signature::one_of(arities, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Set {
    signature: Signature,
}

impl ScalarUDFImpl for Set {
    fn name(&self) -> &str {
        "jsonb_set"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [json, _, part, ..] if json.is_nested() || part.is_nested() => {
                Err(DataFusionError::Plan("jsonb_set takes JSON text, such as to_jsonb gives".to_owned()))
            }
            _ => Ok(DataType::Utf8),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [target, path, part, more @ ..] = args.args.as_slice() else {
            return Err(DataFusionError::Internal("jsonb_set takes three arguments".to_owned()));
        };
        let all_constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if all_constant { 1 } else { args.number_rows };
        let (targets, parts, paths) =
            (Texts::new(target, rows)?, Texts::new(part, rows)?, Paths::new(path, rows)?);
        let creates = match more.first() {
            Some(creates) => cast(&creates.to_array(rows)?, &DataType::Boolean)?,
            None => ScalarValue::from(true).to_array_of_size(rows)?,
        };
        let creates = creates.as_boolean();
        let json = |texts: &Texts, row: usize| serde_json::from_str::<Value>(texts.at(row)?).ok();
        let mut out = Bounded::new("jsonb_set");
        for row in 0..rows {
            let may_create = creates.is_valid(row).then(|| creates.value(row));
            let changed = match (json(&targets, row), paths.at(row)?, json(&parts, row), may_create) {
                (Some(target), Some(path), Some(part), Some(creates)) => {
                    Some(set(target, &path, part, creates)?)
                }
                _ => None,
            };
            out.push(changed.map(|value| value.to_string()))?;
        }
        let out: ArrayRef = Arc::new(out.finish());
        if all_constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&out, 0)?));
        }
        Ok(ColumnarValue::Array(out))
    }
}

/// `target` with `part` at `path`; where a part before the last is missing, as it is.
fn set(mut target: Value, path: &[String], part: Value, creates: bool) -> Result<Value> {
    if !target.is_object() && !target.is_array() {
        let why = "a jsonb value is plain: there is no path in it to set";
        return Err(DataFusionError::Execution(why.to_owned()));
    }
    put(&mut target, path, part, creates)?;
    Ok(target)
}

fn put(value: &mut Value, path: &[String], part: Value, creates: bool) -> Result<()> {
    let Some((key, rest)) = path.split_first() else { return Ok(()) };
    match value {
        Value::Object(object) => match object.get_mut(key) {
            Some(inner) if rest.is_empty() => *inner = part,
            Some(inner) => put(inner, rest, part, creates)?,
            None if rest.is_empty() && creates => {
                object.insert(key.clone(), part);
            }
            None => {}
        },
        Value::Array(elements) => {
            let place: i64 = key.trim().parse().map_err(|_| {
                DataFusionError::Execution(format!("a jsonb value is an array: {key:?} is no place in it"))
            })?;
            let length = elements.len();
            let at = usize::try_from(place).ok().or_else(|| {
                let back = usize::try_from(place.unsigned_abs()).ok()?;
                length.checked_sub(back)
            });
            match at.and_then(|at| elements.get_mut(at)) {
                Some(inner) if rest.is_empty() => *inner = part,
                Some(inner) => put(inner, rest, part, creates)?,
                // Beyond an end it becomes the first, or the last.
                None if rest.is_empty() && creates => {
                    elements.insert(if place < 0 { 0 } else { length }, part);
                }
                None => {}
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::functions::json::keys::keys;
    use serde_json::json;

    #[test]
    fn parts_are_put_as_in_postgresql() {
        for (target, path, creates, wanted) in [
            (json!({"a": 1}), "{a}", true, json!({"a": "new"})),
            (json!({"a": 1}), "{b}", true, json!({"a": 1, "b": "new"})),
            (json!({"a": 1}), "{b}", false, json!({"a": 1})),
            (json!({"a": {"b": [1, 2]}}), "{a,b,1}", true, json!({"a": {"b": [1, "new"]}})),
            (json!({"a": {}}), "{b,c}", true, json!({"a": {}})),
            (json!({"a": 1}), "{a,b}", true, json!({"a": 1})),
            (json!([1, 2]), "{-1}", true, json!([1, "new"])),
            (json!([1, 2]), "{7}", true, json!([1, 2, "new"])),
            (json!([1, 2]), "{-7}", true, json!(["new", 1, 2])),
            (json!([1, 2]), "{7}", false, json!([1, 2])),
            (json!([1, 2]), "{}", true, json!([1, 2])),
        ] {
            let shown = target.to_string();
            let found = set(target, &keys(path).unwrap().unwrap(), json!("new"), creates).unwrap();
            assert_eq!(found, wanted, "{shown} {path}");
        }
        let at = |path: &str| keys(path).unwrap().unwrap();
        assert!(set(json!([1]), &at("{a}"), json!(1), true).is_err());
        assert!(set(json!(1), &at("{a}"), json!(1), true).is_err());
    }
}
