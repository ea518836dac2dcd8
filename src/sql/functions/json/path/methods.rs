//! Methods of a value, such as `.size()`.

use super::fault::{Fault, wrong};
use super::numbers::{absolute, nearest, rounded, shortened};
use super::tree::Method;
use serde_json::{Number, Value};

/// What `method` makes of a value; `.keyvalue()` is no concern of it.
///
/// # Errors
/// For a value of another kind.
pub fn made(method: Method, value: &Value) -> Result<Value, Fault> {
    let numeric = || match value {
        Value::Number(number) => Ok(number),
        _ => {
            wrong(format!("jsonpath item method .{}() can only be applied to a numeric value", method.name()))
        }
    };
    Ok(match method {
        Method::Type => Value::from(kind(value)),
        Method::Size => Value::from(value.as_array().map_or(1, Vec::len)),
        Method::Abs => Value::Number(absolute(numeric()?)?),
        Method::Ceiling => Value::Number(rounded(numeric()?, f64::ceil)?),
        Method::Floor => Value::Number(rounded(numeric()?, f64::floor)?),
        Method::Double | Method::Number => Value::Number(number(method, value)?),
        Method::Integer => integer(method, value, i64::from(i32::MIN), i64::from(i32::MAX))?,
        Method::Bigint => integer(method, value, i64::MIN, i64::MAX)?,
        Method::Boolean => Value::Bool(truth(value)?),
        Method::Text => match value {
            Value::String(_) => value.clone(),
            Value::Bool(_) | Value::Number(_) => Value::from(value.to_string()),
            _ => {
                return wrong(
                    "jsonpath item method .string() can only be applied to a boolean, string, numeric, or datetime value",
                );
            }
        },
        Method::Keyvalue => {
            return wrong("jsonpath item method .keyvalue() can only be applied to an object");
        }
    })
}

/// What a value is, in the words of JSON paths.
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

fn number(method: Method, value: &Value) -> Result<Number, Fault> {
    let name = method.name();
    match value {
        Value::Number(number) => Ok(number.clone()),
        Value::String(text) => {
            let spelled = text.trim();
            if let Ok(whole) = spelled.parse::<i64>() {
                return Ok(Number::from(whole));
            }
            match spelled.parse::<f64>().ok().filter(|value| value.is_finite()) {
                Some(real) => shortened(real),
                None => wrong(format!("argument \"{text}\" of jsonpath item method .{name}() is invalid")),
            }
        }
        _ => {
            wrong(format!("jsonpath item method .{name}() can only be applied to a string or numeric value"))
        }
    }
}

fn integer(method: Method, value: &Value, least: i64, most: i64) -> Result<Value, Fault> {
    let name = method.name();
    // A text must be an integer, a number is rounded to one.
    let whole = match value {
        Value::Number(number) => nearest(number),
        Value::String(text) => text.trim().parse().ok(),
        _ => {
            let why =
                format!("jsonpath item method .{name}() can only be applied to a string or numeric value");
            return wrong(why);
        }
    };
    match whole.filter(|whole| (least..=most).contains(whole)) {
        Some(whole) => Ok(Value::from(whole)),
        None => wrong(format!("argument {value} of jsonpath item method .{name}() is invalid")),
    }
}

fn truth(value: &Value) -> Result<bool, Fault> {
    let known = match value {
        Value::Bool(known) => Some(*known),
        Value::Number(number) => number.as_i64().map(|number| number != 0),
        Value::String(text) => match text.trim().to_lowercase().as_str() {
            "t" | "true" | "y" | "yes" | "on" | "1" => Some(true),
            "f" | "false" | "n" | "no" | "off" | "0" => Some(false),
            _ => None,
        },
        _ => {
            return wrong(
                "jsonpath item method .boolean() can only be applied to a boolean, string, or numeric value",
            );
        }
    };
    match known {
        Some(known) => Ok(known),
        None => wrong(format!("argument {value} of jsonpath item method .boolean() is invalid")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn methods_make_values() {
        for (value, method, result) in [
            (json!([1, 2]), Method::Size, json!(2)),
            (json!("x"), Method::Size, json!(1)),
            (json!({}), Method::Type, json!("object")),
            (json!(-1.5), Method::Abs, json!(1.5)),
            (json!(-1.5), Method::Ceiling, json!(-1)),
            (json!(" 1.50 "), Method::Double, json!(1.5)),
            (json!("9007199254740993"), Method::Number, json!(9_007_199_254_740_993_i64)),
            (json!(1.5), Method::Integer, json!(2)),
            (json!("yes"), Method::Boolean, json!(true)),
            (json!(1.5), Method::Text, json!("1.5")),
        ] {
            assert_eq!(made(method, &value).unwrap(), result, "{value} {method:?}");
        }
        for (value, method) in [
            (json!("1"), Method::Abs),
            (json!("x"), Method::Double),
            (json!("inf"), Method::Double),
            (json!("1.5"), Method::Integer),
            (json!(3_000_000_000_u64), Method::Integer),
            (json!(null), Method::Boolean),
            (json!([]), Method::Text),
            (json!([]), Method::Keyvalue),
        ] {
            assert!(made(method, &value).is_err(), "{value} {method:?}");
        }
    }
}
