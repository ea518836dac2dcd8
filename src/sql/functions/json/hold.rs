//! The operators `@>`, `<@`, `?`, `?|` and `?&`: whether a JSON value holds another, or a key.

use super::texts::texts;
use crate::sql::error::SqlError;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, ListArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;
use serde_json::{Number, Value};
use std::sync::Arc;

/// Comparisons that one call may make for one batch of rows: lists are compared each with each.
const MAX_STEPS: u64 = 100_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Holds,
    Held,
    Key,
    AnyKey,
    AllKeys,
}

const FUNCTIONS: [(&str, What); 5] = [
    ("jsonb_contains", What::Holds),
    ("jsonb_contained", What::Held),
    ("jsonb_exists", What::Key),
    ("jsonb_exists_any", What::AnyKey),
    ("jsonb_exists_all", What::AllKeys),
];

/// The functions behind the operators, by the names that PostgreSQL has for them. A text that is not JSON holds nothing: the
/// answer is NULL.
pub fn hold_functions() -> [ScalarUDF; 5] {
    FUNCTIONS.map(|(name, what)| {
        let right = match what {
            What::AnyKey | What::AllKeys => list_of_texts(),
            _ => DataType::Utf8,
        };
        let signature = Signature::exact(vec![DataType::Utf8, right], Volatility::Immutable);
        ScalarUDF::from(Hold { name, what, signature })
    })
}

fn list_of_texts() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Hold {
    name: &'static str,
    what: What,
    signature: Signature,
}

impl ScalarUDFImpl for Hold {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [left, right] = args.args.as_slice() else {
            return Err(DataFusionError::Internal(format!("{} takes two arguments", self.name)));
        };
        let constant = |value: &ColumnarValue| matches!(value, ColumnarValue::Scalar(_));
        let (one_left, one_right) = (constant(left), constant(right));
        let rows = if one_left && one_right { 1 } else { args.number_rows };
        let left = Side { one: one_left, texts: texts(left, args.number_rows)? };
        let mut steps = Steps::default();
        let found: BooleanArray = match self.what {
            What::Holds | What::Held => {
                let right = Side { one: one_right, texts: texts(right, args.number_rows)? };
                self.compared(&left, &right, rows, &mut steps)
            }
            What::Key => {
                let right = Side { one: one_right, texts: texts(right, args.number_rows)? };
                (0..rows).map(|row| Some(has_key(&left.value(row)?, right.text(row)?))).collect()
            }
            What::AnyKey | What::AllKeys => {
                let keys = lists(right, if one_right { 1 } else { rows })?;
                let of = |row: usize| self.keys(&left, &keys, row, if one_right { 0 } else { row });
                (0..rows).map(of).collect()
            }
        };
        steps.check(self.name)?;
        let found: ArrayRef = Arc::new(found);
        if one_left && one_right {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&found, 0)?));
        }
        Ok(ColumnarValue::Array(found))
    }
}

impl Hold {
    fn compared(&self, left: &Side, right: &Side, rows: usize, steps: &mut Steps) -> BooleanArray {
        // Mostly one side is a constant, which is parsed once.
        let fixed = (left.constant(), right.constant());
        let mut out = Vec::with_capacity(rows);
        for row in 0..rows {
            let own = (left.own(row), right.own(row));
            let (left, right) = (fixed.0.as_ref().or(own.0.as_ref()), fixed.1.as_ref().or(own.1.as_ref()));
            let answer = left.zip(right).map(|(left, right)| match self.what {
                What::Held => holds_all(right, left, steps),
                _ => holds_all(left, right, steps),
            });
            out.push(answer);
        }
        BooleanArray::from(out)
    }

    fn keys(&self, left: &Side, keys: &ListArray, row: usize, at: usize) -> Option<bool> {
        let value = left.value(row)?;
        let keys = keys.is_valid(at).then(|| keys.value(at))?;
        let keys = keys.as_string::<i32>();
        let mut keys = keys.iter().flatten();
        Some(match self.what {
            What::AnyKey => keys.any(|key| has_key(&value, key)),
            _ => keys.all(|key| has_key(&value, key)),
        })
    }
}

/// One side of an operator; a constant has one row.
struct Side {
    one: bool,
    texts: StringArray,
}

impl Side {
    fn text(&self, row: usize) -> Option<&str> {
        let at = if self.one { 0 } else { row };
        self.texts.is_valid(at).then(|| self.texts.value(at))
    }

    fn value(&self, row: usize) -> Option<Value> {
        serde_json::from_str(self.text(row)?).ok()
    }

    /// The value of all rows.
    fn constant(&self) -> Option<Value> {
        if self.one { self.value(0) } else { None }
    }

    /// The value of one row, if it is not that of all.
    fn own(&self, row: usize) -> Option<Value> {
        if self.one { None } else { self.value(row) }
    }
}

fn lists(value: &ColumnarValue, rows: usize) -> Result<ListArray> {
    let array = cast(&value.to_array(rows)?, &list_of_texts())?;
    Ok(array.as_list::<i32>().clone())
}

#[derive(Default)]
struct Steps(u64);

impl Steps {
    /// Whether one more may be taken.
    fn take(&mut self) -> bool {
        self.0 += 1;
        self.0 <= MAX_STEPS
    }

    fn check(&self, name: &str) -> Result<()> {
        if self.0 <= MAX_STEPS {
            return Ok(());
        }
        let why = format!("{name} would take more than {MAX_STEPS} steps for one batch of rows");
        Err(DataFusionError::External(Box::new(SqlError::Limit(why))))
    }
}

/// Whether `outer` holds `inner`: an array holds a plain value of its own too, but only at the top.
fn holds_all(outer: &Value, inner: &Value, steps: &mut Steps) -> bool {
    match (outer, inner) {
        (Value::Array(outer), plain) if !plain.is_array() && !plain.is_object() => {
            outer.iter().any(|element| holds(element, plain, steps))
        }
        _ => holds(outer, inner, steps),
    }
}

fn holds(outer: &Value, inner: &Value, steps: &mut Steps) -> bool {
    if !steps.take() {
        return false;
    }
    match (outer, inner) {
        (Value::Object(outer), Value::Object(inner)) => {
            inner.iter().all(|(key, value)| outer.get(key).is_some_and(|own| holds(own, value, steps)))
        }
        (Value::Array(outer), Value::Array(inner)) => {
            inner.iter().all(|value| outer.iter().any(|own| holds(own, value, steps)))
        }
        (Value::Number(outer), Value::Number(inner)) => is_same(outer, inner),
        (outer, inner) => outer == inner,
    }
}

/// `5` is `5.0`.
fn is_same(left: &Number, right: &Number) -> bool {
    if left.is_f64() || right.is_f64() { left.as_f64() == right.as_f64() } else { left == right }
}

/// Whether an object has the key, or an array the text, or the value is that text.
fn has_key(value: &Value, key: &str) -> bool {
    match value {
        Value::Object(object) => object.contains_key(key),
        Value::Array(array) => array.iter().any(|element| element.as_str() == Some(key)),
        other => other.as_str() == Some(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(outer: &str, inner: &str) -> bool {
        let value = |json: &str| serde_json::from_str(json).unwrap();
        holds_all(&value(outer), &value(inner), &mut Steps::default())
    }

    #[test]
    fn a_value_holds_its_parts() {
        for (outer, inner) in [
            (r#"{"a":1,"b":{"c":[1,2]}}"#, r#"{"b":{"c":[2]}}"#),
            (r#"{"a":1}"#, r#"{"a":1.0}"#),
            ("[1,2,3]", "[3,1]"),
            ("[1,2]", "2"),
            ("[[1,2]]", "[[1]]"),
            (r#"{"a":1}"#, "{}"),
            ("\"x\"", "\"x\""),
        ] {
            assert!(holds(outer, inner), "{outer} @> {inner}");
        }
        for (outer, inner) in [
            (r#"{"a":1}"#, r#"{"a":"1"}"#),
            (r#"{"a":{"b":1}}"#, r#"{"b":1}"#),
            (r#"{"a":[1]}"#, r#"{"a":1}"#),
            ("2", "[2]"),
            ("[1,2]", "[[1]]"),
        ] {
            assert!(!holds(outer, inner), "{outer} @> {inner}");
        }
    }

    #[test]
    fn keys_are_texts_of_arrays_too() {
        let has = |json: &str, key| has_key(&serde_json::from_str(json).unwrap(), key);
        assert!(has(r#"{"a":1}"#, "a") && has(r#"["a"]"#, "a") && has("\"a\"", "a"));
        assert!(!has(r#"{"b":"a"}"#, "a") && !has("[1]", "1"));
    }

    #[test]
    fn steps_are_bounded() {
        let mut steps = Steps(MAX_STEPS);
        assert!(!holds_all(&Value::Null, &Value::Null, &mut steps));
        assert!(steps.check("x").is_err());
    }
}
