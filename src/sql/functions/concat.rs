//! The operator `||` on texts, with a bound.

use super::bounded::check_bytes;
use arrow::array::{AsArray, StringArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::DFSchema;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;
use datafusion::sql::sqlparser::ast::BinaryOperator;
use std::sync::Arc;

/// Plans `a || b` on texts as a function with a bound on its output.
///
/// The operator of DataFusion has none, so that thirty steps of `x || x` ask for more memory than there is.
#[derive(Debug)]
pub struct ConcatPlanner {
    function: Arc<ScalarUDF>,
}

impl ConcatPlanner {
    /// The planner with its function.
    pub fn new() -> Self {
        let signature = Signature::any(2, Volatility::Immutable);
        Self { function: Arc::new(ScalarUDF::from(Concat { signature })) }
    }
}

impl ExprPlanner for ConcatPlanner {
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        if expr.op != BinaryOperator::StringConcat {
            return Ok(PlannerResult::Original(expr));
        }
        let plain = |e: &Expr| e.get_type(schema).is_ok_and(|t| !t.is_nested());
        if !plain(&expr.left) || !plain(&expr.right) {
            // Lists have a meaning of their own for this operator.
            return Ok(PlannerResult::Original(expr));
        }
        Ok(PlannerResult::Planned(self.function.call(vec![expr.left, expr.right])))
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Concat {
    signature: Signature,
}

impl ScalarUDFImpl for Concat {
    fn name(&self) -> &str {
        "textcat"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arg_types: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [left, right] = args.args.as_slice() else {
            return Err(DataFusionError::Internal("|| takes two arguments".to_owned()));
        };
        let all_scalar = matches!((left, right), (ColumnarValue::Scalar(_), ColumnarValue::Scalar(_)));
        let rows = if all_scalar { 1 } else { args.number_rows };
        let left = texts(left, rows)?;
        let right = texts(right, rows)?;
        check_bytes("||", (left.value_data().len() + right.value_data().len()) as i128)?;
        let mut out = StringBuilder::new();
        let mut text = String::new();
        for (a, b) in left.iter().zip(right.iter()) {
            match a.zip(b) {
                Some((a, b)) => {
                    text.clear();
                    text.push_str(a);
                    text.push_str(b);
                    out.append_value(&text);
                }
                None => out.append_null(),
            }
        }
        let out = out.finish();
        if all_scalar {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&out, 0)?));
        }
        Ok(ColumnarValue::Array(Arc::new(out)))
    }
}

fn texts(value: &ColumnarValue, rows: usize) -> Result<StringArray> {
    if let ColumnarValue::Scalar(scalar) = value {
        let bytes = scalar.try_as_str().flatten().map_or(0, str::len) as i128;
        check_bytes("||", bytes * rows as i128)?;
    }
    let array = cast(&value.to_array(rows)?, &DataType::Utf8)?;
    Ok(array.as_string::<i32>().clone())
}
