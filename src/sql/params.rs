//! Values for the `$1`, `$2` … of a query. They are put into its plan, so that no value can become text of the query.

use super::error::SqlError;
use datafusion::common::{ParamValues, ScalarValue};
use datafusion::logical_expr::LogicalPlan;
use serde_json::Value;

/// Most values of one query.
const MAX_PARAMS: usize = 1_000;

/// JSON as values: text, a number (an integer if it is written as one), true, false or NULL.
///
/// # Errors
/// [`SqlError::Wrong`] for an array or object, [`SqlError::Limit`] for too many values.
pub fn values(params: Vec<Value>) -> Result<Vec<ScalarValue>, SqlError> {
    if params.len() > MAX_PARAMS {
        let count = params.len();
        return Err(SqlError::Limit(format!("params has {count} values, at most {MAX_PARAMS}")));
    }
    let value = |(at, param): (usize, Value)| match param {
        Value::Null => Ok(ScalarValue::Null),
        Value::Bool(is) => Ok(ScalarValue::Boolean(Some(is))),
        Value::String(text) => Ok(ScalarValue::Utf8(Some(text))),
        Value::Number(number) => Ok(match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => ScalarValue::Int64(Some(integer)),
            (None, Some(integer)) => ScalarValue::UInt64(Some(integer)),
            (None, None) => ScalarValue::Float64(number.as_f64()),
        }),
        Value::Array(_) | Value::Object(_) => {
            let number = at + 1;
            let why = format!("params: the value for ${number} must be text, a number, true, false or null");
            Err(SqlError::Wrong(why))
        }
    };
    params.into_iter().enumerate().map(value).collect()
}

/// The plan with `values` in the place of its parameters. Values that it does not name are left out.
///
/// # Errors
/// [`SqlError::Wrong`] for a parameter without a value, and for a value whose type does not fit.
pub fn bind(plan: LogicalPlan, values: Vec<ScalarValue>) -> Result<LogicalPlan, SqlError> {
    let mut names: Vec<String> = plan.get_parameter_names()?.into_iter().collect();
    if names.is_empty() {
        return Ok(plan);
    }
    names.sort();
    for name in names {
        let number = name.strip_prefix('$').and_then(|digits| digits.parse::<usize>().ok());
        match number {
            Some(number) if (1..=values.len()).contains(&number) => {}
            Some(_) => {
                let count = values.len();
                return Err(SqlError::Wrong(format!(
                    "the query names {name}, and params has {count} values"
                )));
            }
            None => {
                let why = format!("the query names {name}: parameters are numbered, $1, $2 …");
                return Err(SqlError::Wrong(why));
            }
        }
    }
    Ok(plan.replace_params_with_values(&ParamValues::from(values))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_becomes_the_value_that_it_is() {
        let json = vec![json!(null), json!(true), json!("1"), json!(1), json!(-2.5), json!(u64::MAX)];
        let wanted = vec![
            ScalarValue::Null,
            ScalarValue::Boolean(Some(true)),
            ScalarValue::Utf8(Some("1".to_owned())),
            ScalarValue::Int64(Some(1)),
            ScalarValue::Float64(Some(-2.5)),
            ScalarValue::UInt64(Some(u64::MAX)),
        ];
        assert_eq!(values(json), Ok(wanted));
        let error = values(vec![json!(1), json!([1])]).unwrap_err().to_string();
        assert!(error.contains("$2"), "{error}");
        assert!(matches!(values(vec![json!(1); 1_001]), Err(SqlError::Limit(_))));
    }
}
