//! What PostgreSQL's operators `||`, `-` and `=` do to values of `jsonb`; on texts they have another meaning.

use super::read::Bounded;
use super::texts::Texts;
use arrow::array::{Array, ArrayRef, AsArray, BooleanBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int64Type};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Joined,
    Without,
    Same,
    Other,
}

const FUNCTIONS: [(&str, What); 4] = [
    ("jsonb_concat", What::Joined),
    ("jsonb_delete", What::Without),
    ("jsonb_eq", What::Same),
    ("jsonb_ne", What::Other),
];

/// The functions behind the operators, by the names that PostgreSQL has for them. A text that is not JSON gives NULL.
pub fn change_functions() -> [ScalarUDF; 4] {
    FUNCTIONS.map(|(name, what)| {
        let signature = match what {
            What::Without => Signature::any(2, Volatility::Immutable),
            _ => Signature::exact(vec![DataType::Utf8, DataType::Utf8], Volatility::Immutable),
        };
        ScalarUDF::from(Change { name, what, signature })
    })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Change {
    name: &'static str,
    what: What,
    signature: Signature,
}

impl ScalarUDFImpl for Change {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match (self.what, types) {
            (What::Same | What::Other, _) => Ok(DataType::Boolean),
            (_, [json, _]) if json.is_nested() => {
                Err(DataFusionError::Plan(format!("{} takes JSON text, not {json}", self.name)))
            }
            _ => Ok(DataType::Utf8),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [left, right] = args.args.as_slice() else {
            return Err(DataFusionError::Internal(format!("{} takes two arguments", self.name)));
        };
        let is_constant = |value: &ColumnarValue| matches!(value, ColumnarValue::Scalar(_));
        let all_constant = is_constant(left) && is_constant(right);
        let rows = if all_constant { 1 } else { args.number_rows };
        let values = Texts::new(left, args.number_rows)?;
        let value = |row: usize| serde_json::from_str::<Value>(values.at(row)?).ok();
        let out: ArrayRef = match self.what {
            What::Without => {
                let gone = Gone::new(right, rows)?;
                let mut out = Bounded::new(self.name);
                for row in 0..rows {
                    let left = value(row).map(|value| gone.without(value, row)).transpose()?;
                    out.push(left.flatten().map(|value| value.to_string()))?;
                }
                Arc::new(out.finish())
            }
            What::Joined => {
                let others = Texts::new(right, args.number_rows)?;
                let mut out = Bounded::new(self.name);
                for row in 0..rows {
                    let other = others.at(row).and_then(|text| serde_json::from_str(text).ok());
                    let both = value(row).zip(other).map(|(left, right)| joined(left, right).to_string());
                    out.push(both)?;
                }
                Arc::new(out.finish())
            }
            What::Same | What::Other => {
                let others = Texts::new(right, args.number_rows)?;
                let mut out = BooleanBuilder::with_capacity(rows);
                for row in 0..rows {
                    let other = others.at(row).and_then(|text| serde_json::from_str::<Value>(text).ok());
                    let is_same = value(row).zip(other).map(|(left, right)| same(&left, &right));
                    out.append_option(is_same.map(|is_same| is_same == (self.what == What::Same)));
                }
                Arc::new(out.finish())
            }
        };
        if all_constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&out, 0)?));
        }
        Ok(ColumnarValue::Array(out))
    }
}

/// `left || right`: the keys of both, of which the right ones go before; else the elements of both.
fn joined(left: Value, right: Value) -> Value {
    match (left, right) {
        (Value::Object(mut left), Value::Object(right)) => {
            left.extend(right);
            Value::Object(left)
        }
        (left, right) => {
            let mut all = elements(left);
            all.extend(elements(right));
            Value::Array(all)
        }
    }
}

fn elements(value: Value) -> Vec<Value> {
    match value {
        Value::Array(elements) => elements,
        other => vec![other],
    }
}

/// Whether two values are the same, whatever the order of keys; `1` is `1.0`.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let is_in_right =
                |(key, value): (&String, &Value)| right.get(key).is_some_and(|other| same(value, other));
            left.len() == right.len() && left.iter().all(is_in_right)
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Number(left), Value::Number(right)) if left.is_f64() || right.is_f64() => {
            left.as_f64() == right.as_f64()
        }
        (left, right) => left == right,
    }
}

/// What is taken out of a value, row by row; a constant has one row.
enum Gone {
    /// A key of objects, and a text of arrays.
    Key(Texts),
    /// Several of them.
    Keys(bool, ArrayRef),
    /// A place in arrays, from the end if negative.
    Place(bool, ArrayRef),
}

impl Gone {
    fn new(value: &ColumnarValue, rows: usize) -> Result<Self> {
        let is_one = matches!(value, ColumnarValue::Scalar(_));
        let list = DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)));
        let array = |wanted: &DataType| -> Result<ArrayRef> {
            Ok(cast(&value.to_array(if is_one { 1 } else { rows })?, wanted)?)
        };
        Ok(match value.data_type() {
            kind if kind.is_integer() => Gone::Place(is_one, array(&DataType::Int64)?),
            kind if kind.is_nested() => Gone::Keys(is_one, array(&list)?),
            _ => Gone::Key(Texts::new(value, rows)?),
        })
    }

    /// The value without it; none if it is NULL.
    ///
    /// # Errors
    /// For a plain value, and for a place in an object.
    fn without(&self, mut value: Value, row: usize) -> Result<Option<Value>> {
        let wrong = |why: &str| Err(DataFusionError::Execution(why.to_owned()));
        let keys: HashSet<String> = match self {
            Gone::Place(is_one, places) => {
                let at = if *is_one { 0 } else { row };
                if places.is_null(at) {
                    return Ok(None);
                }
                let Value::Array(elements) = &mut value else {
                    return wrong("a jsonb value is no array, from which a place could be deleted");
                };
                let place = places.as_primitive::<Int64Type>().value(at);
                let length = i64::try_from(elements.len()).unwrap_or(i64::MAX);
                let place = if place < 0 { place.saturating_add(length) } else { place };
                if let Some(place) = usize::try_from(place).ok().filter(|place| *place < elements.len()) {
                    elements.remove(place);
                }
                return Ok(Some(value));
            }
            Gone::Key(texts) => match texts.at(row) {
                Some(key) => HashSet::from([key.to_owned()]),
                None => return Ok(None),
            },
            Gone::Keys(is_one, lists) => {
                let at = if *is_one { 0 } else { row };
                if lists.is_null(at) {
                    return Ok(None);
                }
                let keys = lists.as_list::<i32>().value(at);
                keys.as_string::<i32>().iter().flatten().map(str::to_owned).collect()
            }
        };
        match &mut value {
            Value::Object(object) => object.retain(|key, _| !keys.contains(key)),
            Value::Array(elements) => {
                elements.retain(|element| element.as_str().is_none_or(|text| !keys.contains(text)));
            }
            _ => return wrong("a jsonb value is plain: nothing can be deleted from it"),
        }
        Ok(Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_joined_as_in_postgresql() {
        for (left, right, both) in [
            (json!({"a": 1, "b": 2}), json!({"b": 3}), json!({"a": 1, "b": 3})),
            (json!([1]), json!([2]), json!([1, 2])),
            (json!([1]), json!({"a": 1}), json!([1, {"a": 1}])),
            (json!({"a": 1}), json!(2), json!([{"a": 1}, 2])),
            (json!("a"), json!("b"), json!(["a", "b"])),
        ] {
            assert_eq!(joined(left, right), both);
        }
    }

    #[test]
    fn values_are_the_same_whatever_their_spelling() {
        assert!(same(&json!({"a": 1, "b": [1.0]}), &json!({"b": [1], "a": 1})));
        for (left, right) in [
            (json!({"a": 1}), json!({"a": 1, "b": 1})),
            (json!({"a": null}), json!({"b": null})),
            (json!([1, 2]), json!([2, 1])),
            (json!("1"), json!(1)),
        ] {
            assert!(!same(&left, &right), "{left} {right}");
        }
    }

    #[test]
    fn keys_and_places_are_taken_out() {
        let text = |key: &str| ColumnarValue::Scalar(ScalarValue::from(key));
        let place = |place: i64| ColumnarValue::Scalar(ScalarValue::Int64(Some(place)));
        for (value, gone, left) in [
            (json!({"a": 1, "b": 2, "c": 3}), text("a"), json!({"b": 2, "c": 3})),
            (json!(["a", 1, "a"]), text("a"), json!([1])),
            (json!([1, 2, 3]), place(-1), json!([1, 2])),
            (json!([1]), place(7), json!([1])),
        ] {
            let gone = Gone::new(&gone, 1).unwrap();
            assert_eq!(gone.without(value, 0).unwrap(), Some(left));
        }
        assert!(Gone::new(&place(0), 1).unwrap().without(json!({}), 0).is_err());
        assert!(Gone::new(&text("a"), 1).unwrap().without(json!(1), 0).is_err());
    }
}
