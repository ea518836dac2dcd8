//! `nearest(number)`: the whole number that is nearest, which a cast to whole numbers gives in PostgreSQL. The engine's own cuts off
//! what is behind the point.

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Float32Type, Float64Type};
use datafusion::common::DFSchema;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
};
use std::sync::Arc;

/// The name of the function.
const NAME: &str = "nearest";

/// The function, for floats, of which halves go to the even neighbour, and decimals, of which they go away from nought. Its results are
/// named after its argument.
pub fn nearest() -> ScalarUDF {
    ScalarUDF::from(Nearest { signature: Signature::any(1, Volatility::Immutable) })
}

/// Whether a cast cuts off what is behind a point.
pub fn cuts_off(cast: &Cast, schema: &DFSchema) -> bool {
    let is_whole = || matches!(&*cast.expr, Expr::ScalarFunction(call) if call.func.name() == NAME);
    let has_point = || {
        matches!(
            cast.expr.get_type(schema),
            Ok(DataType::Float32 | DataType::Float64 | DataType::Decimal128(..))
        )
    };
    cast.field.data_type().is_integer() && !is_whole() && has_point()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Nearest {
    signature: Signature,
}

impl ScalarUDFImpl for Nearest {
    fn name(&self) -> &str {
        NAME
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        let [number] = args else { return Err(other_arguments()) };
        Ok(number.schema_name().to_string())
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [DataType::Decimal128(..)] => Ok(DataType::Decimal128(38, 0)),
            // The planner puts NULL without a type for a column, to see what becomes of a condition.
            [other] => Ok(other.clone()),
            _ => Err(other_arguments()),
        }
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let types: Vec<DataType> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(NAME, self.return_type(&types)?, nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [numbers] = args.args.as_slice() else { return Err(other_arguments()) };
        let numbers = numbers.to_array(args.number_rows)?;
        let nearest: ArrayRef = match numbers.data_type() {
            DataType::Float32 => {
                let numbers = numbers.as_primitive::<Float32Type>();
                Arc::new(numbers.unary::<_, Float32Type>(f32::round_ties_even))
            }
            DataType::Float64 => {
                let numbers = numbers.as_primitive::<Float64Type>();
                Arc::new(numbers.unary::<_, Float64Type>(f64::round_ties_even))
            }
            DataType::Decimal128(..) => cast(&numbers, &DataType::Decimal128(38, 0))?,
            DataType::Null => Arc::clone(&numbers),
            _ => return Err(other_arguments()),
        };
        Ok(ColumnarValue::Array(nearest))
    }
}

fn other_arguments() -> DataFusionError {
    DataFusionError::Internal("nearest takes a number with a point".to_owned())
}
