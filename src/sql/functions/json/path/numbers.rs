//! Arithmetic and order of numbers and other values. Integers are exact up to 64 bits; all else are floats of 64 bits.

use super::fault::{Fault, wrong};
use super::tree::{Comparison, Operator};
use serde_json::{Number, Value};
use std::cmp::Ordering;

/// Integers up to here are exact as floats.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The integer that a number is; none for a float.
fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn real(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

fn of_real(value: f64) -> Result<Number, Fault> {
    let number = Number::from_f64(value);
    number.ok_or_else(|| Fault::Value("a number of the jsonpath expression is out of range".to_owned()))
}

/// An integer as a number; a float if it has more than 64 bits.
fn of_whole(value: i128) -> Result<Number, Fault> {
    if let Ok(value) = i64::try_from(value) {
        return Ok(Number::from(value));
    }
    match u64::try_from(value) {
        Ok(value) => Ok(Number::from(value)),
        Err(_) => of_real(value as f64),
    }
}

/// A float as an integer, if it is one.
///
/// # Errors
/// For what is no number, or an endless one.
pub fn shortened(value: f64) -> Result<Number, Fault> {
    if value.fract() == 0.0 && value.abs() <= EXACT {
        return Ok(Number::from(value as i64));
    }
    of_real(value)
}

/// `-number`.
///
/// # Errors
/// None are expected; the type is that of arithmetic.
pub fn negated(number: &Number) -> Result<Number, Fault> {
    match whole(number) {
        Some(value) => of_whole(-value),
        None => of_real(-real(number)),
    }
}

/// `number.abs()`.
///
/// # Errors
/// As [`negated`].
pub fn absolute(number: &Number) -> Result<Number, Fault> {
    match whole(number) {
        Some(value) => of_whole(value.abs()),
        None => of_real(real(number).abs()),
    }
}

/// The number after `round`, which an integer does not need.
///
/// # Errors
/// As [`shortened`].
pub fn rounded(number: &Number, round: impl Fn(f64) -> f64) -> Result<Number, Fault> {
    if number.is_f64() { shortened(round(real(number))) } else { Ok(number.clone()) }
}

/// The integer that a number is near to, halves away from zero.
pub fn nearest(number: &Number) -> Option<i64> {
    match whole(number) {
        Some(value) => i64::try_from(value).ok(),
        None => Some(real(number).round()).filter(|value| value.abs() <= EXACT).map(|value| value as i64),
    }
}

/// The integer that is left of a number without its fraction.
pub fn cut(number: &Number) -> Option<i64> {
    match whole(number) {
        Some(value) => i64::try_from(value).ok(),
        None => Some(real(number).trunc()).filter(|value| value.abs() <= EXACT).map(|value| value as i64),
    }
}

/// `left operator right`.
///
/// # Errors
/// For a division by zero, and what is out of range.
pub fn calculated(operator: Operator, left: &Number, right: &Number) -> Result<Number, Fault> {
    if matches!(operator, Operator::Over | Operator::Rest) && real(right) == 0.0 {
        return wrong("division by zero");
    }
    let exact = whole(left).zip(whole(right)).and_then(|(left, right)| match operator {
        Operator::Plus => left.checked_add(right),
        Operator::Minus => left.checked_sub(right),
        Operator::Times => left.checked_mul(right),
        Operator::Over => (left % right == 0).then(|| left / right),
        Operator::Rest => Some(left % right),
    });
    if let Some(exact) = exact {
        return of_whole(exact);
    }
    let (left, right) = (real(left), real(right));
    of_real(match operator {
        Operator::Plus => left + right,
        Operator::Minus => left - right,
        Operator::Times => left * right,
        Operator::Over => left / right,
        Operator::Rest => left % right,
    })
}

/// Whether two values compare so; none if they cannot be compared.
pub fn compared(comparison: Comparison, left: &Value, right: &Value) -> Option<bool> {
    let order = match (left, right) {
        (Value::Array(_) | Value::Object(_), _) | (_, Value::Array(_) | Value::Object(_)) => return None,
        (Value::Null, Value::Null) => Ordering::Equal,
        // Null differs from all else, and is neither before nor behind it.
        (Value::Null, _) | (_, Value::Null) => return Some(comparison == Comparison::NotEqual),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Number(left), Value::Number(right)) => match whole(left).zip(whole(right)) {
            Some((left, right)) => left.cmp(&right),
            None => real(left).partial_cmp(&real(right))?,
        },
        _ => return None,
    };
    Some(match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn number(value: &Value) -> Number {
        value.as_number().unwrap().clone()
    }

    #[test]
    fn integers_are_exact_and_floats_finite() {
        for (left, operator, right, result) in [
            (json!(7), Operator::Over, json!(2), json!(3.5)),
            (json!(6), Operator::Over, json!(2), json!(3)),
            (json!(-7), Operator::Rest, json!(3), json!(-1)),
            (json!(i64::MAX), Operator::Plus, json!(1), json!(9_223_372_036_854_775_808_u64)),
            (json!(0.5), Operator::Times, json!(3), json!(1.5)),
            (json!(u64::MAX), Operator::Times, json!(u64::MAX), json!(u64::MAX as f64 * u64::MAX as f64)),
        ] {
            let found = calculated(operator, &number(&left), &number(&right)).unwrap();
            assert_eq!(Value::Number(found), result, "{left} {operator:?} {right}");
        }
        let huge = number(&json!(1e308));
        assert!(calculated(Operator::Times, &huge, &huge).is_err());
        for zero in [json!(0), json!(0.0)] {
            assert_eq!(calculated(Operator::Over, &huge, &number(&zero)), wrong("division by zero"));
        }
        assert_eq!(
            negated(&number(&json!(i64::MIN))).unwrap(),
            number(&json!(9_223_372_036_854_775_808_u64))
        );
        assert_eq!(rounded(&number(&json!(1.5)), f64::floor).unwrap(), number(&json!(1)));
        assert_eq!((nearest(&number(&json!(2.5))), cut(&number(&json!(-2.5)))), (Some(3), Some(-2)));
    }

    #[test]
    fn values_of_one_kind_are_in_order() {
        use Comparison::{Equal, Greater, Less, NotEqual};
        for (left, comparison, right, is) in [
            (json!(1), Equal, json!(1.0), Some(true)),
            (json!("a"), Less, json!("b"), Some(true)),
            (json!(null), Equal, json!(null), Some(true)),
            (json!(null), NotEqual, json!(1), Some(true)),
            (json!(null), Less, json!(1), Some(false)),
            (json!(true), Greater, json!(false), Some(true)),
            (json!("1"), Equal, json!(1), None),
            (json!([1]), Equal, json!([1]), None),
        ] {
            assert_eq!(compared(comparison, &left, &right), is, "{left} {comparison:?} {right}");
        }
    }
}
