//! `rogan_gladen(called, n, found, positives, spared, negatives [, level])`: a rate behind an evaluator whose sensitivity and
//! specificity were measured elsewhere.

use super::answer::{Answers, fields};
use super::arguments::{Asked, LEVEL};
use crate::stats::prevalence::{Share, corrected};
use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Float64Type};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use std::sync::Arc;

/// Counts of a call, without the level.
const COUNTS: usize = 6;

/// The function: `called` of `n` items are failures to the evaluator, which found `found` of the `positives` labelled failures and
/// spared `spared` of the `negatives` labelled good items. NULL for counts that cannot be, and where sensitivity and specificity
/// together do not exceed 1.
pub fn rogan_gladen() -> ScalarUDF {
    let numbers = |count| TypeSignature::Exact(vec![DataType::Float64; count]);
    let either = TypeSignature::OneOf(vec![numbers(COUNTS), numbers(COUNTS + 1)]);
    ScalarUDF::from(RoganGladen { signature: Signature::new(either, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct RoganGladen {
    signature: Signature,
}

impl ScalarUDFImpl for RoganGladen {
    fn name(&self) -> &str {
        "rogan_gladen"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Struct(fields()))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let columns =
            args.args.iter().map(|arg| arg.to_array(args.number_rows)).collect::<Result<Vec<_>>>()?;
        let number = |at: usize, row: usize| {
            let column = columns.get(at)?.as_primitive_opt::<Float64Type>()?;
            (!column.is_null(row)).then(|| column.value(row))
        };
        let asked = Asked { level: LEVEL, min_n_eff: 0.0, q: 0.5, verdicts: true };
        let mut answers = Answers::new(args.number_rows);
        for row in 0..args.number_rows {
            let share = |at: usize| Some(Share { hits: number(at, row)?, of: number(at + 1, row)? });
            let level = if columns.len() > COUNTS { number(COUNTS, row) } else { Some(LEVEL) };
            if level.is_some_and(|level| !(level > 0.0 && level < 1.0)) {
                let why = "rogan_gladen: level must be between 0 and 1, such as 0.95".to_owned();
                return Err(DataFusionError::Execution(why));
            }
            let all = share(0).zip(share(2)).zip(share(4)).zip(level);
            let found = all.and_then(|(((called, se), sp), level)| corrected(called, se, sp, level));
            answers.push(found, &asked);
        }
        Ok(ColumnarValue::Array(Arc::new(answers.finish()?)))
    }
}
