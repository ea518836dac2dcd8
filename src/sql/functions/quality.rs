//! `quality_mean(value, inclusion_probability)` and `quality_rate(passed, inclusion_probability)`.

use crate::stats::{Estimate, Weighted};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Float64Type, Int64Type};
use datafusion::common::scalar::ScalarStructBuilder;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};
use datafusion::scalar::ScalarValue;
use std::sync::Arc;

/// Confidence level of the intervals.
pub const LEVEL: f64 = 0.95;

/// The numbers of a partial state besides the count, in the order of [`Weighted::parts`].
const STATE: [&str; 5] = ["weight", "mean", "square", "square_mean", "square_spread"];

/// `quality_mean(value, inclusion_probability)`: the weighted mean with its 95 % interval.
pub fn quality_mean() -> AggregateUDF {
    AggregateUDF::from(Quality::new(What::Mean))
}

/// `quality_rate(passed, inclusion_probability)`: the weighted share of true with its 95 % interval.
pub fn quality_rate() -> AggregateUDF {
    AggregateUDF::from(Quality::new(What::Rate))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Mean,
    Rate,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Quality {
    what: What,
    signature: Signature,
}

impl Quality {
    fn new(what: What) -> Self {
        let value = match what {
            What::Mean => DataType::Float64,
            What::Rate => DataType::Boolean,
        };
        Self { what, signature: Signature::exact(vec![value, DataType::Float64], Volatility::Immutable) }
    }
}

fn answer_fields() -> Fields {
    Fields::from(vec![
        Field::new("estimate", DataType::Float64, true),
        Field::new("lower", DataType::Float64, true),
        Field::new("upper", DataType::Float64, true),
        Field::new("n", DataType::Int64, true),
        Field::new("n_eff", DataType::Float64, true),
    ])
}

impl AggregateUDFImpl for Quality {
    fn name(&self) -> &str {
        match self.what {
            What::Mean => "quality_mean",
            What::Rate => "quality_rate",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arg_types: &[DataType]) -> Result<DataType> {
        Ok(DataType::Struct(answer_fields()))
    }

    fn accumulator(&self, _args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Collector { what: self.what, seen: Weighted::new() }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let name = |part: &str| format!("{}[{part}]", args.name);
        let mut fields = vec![Arc::new(Field::new(name("n"), DataType::Int64, false))];
        fields.extend(STATE.iter().map(|p| Arc::new(Field::new(name(p), DataType::Float64, false))));
        Ok(fields)
    }
}

#[derive(Debug)]
struct Collector {
    what: What,
    seen: Weighted,
}

impl Collector {
    fn push(&mut self, value: f64, pi: f64) -> Result<()> {
        if self.seen.push(value, pi) {
            return Ok(());
        }
        Err(DataFusionError::Execution(format!(
            "inclusion_probability must be above 0 and at most 1, but a row has {pi}"
        )))
    }

    fn answer(&self) -> Option<Estimate> {
        match self.what {
            What::Mean => self.seen.mean(LEVEL),
            What::Rate => self.seen.rate(LEVEL),
        }
    }
}

fn floats(array: &ArrayRef) -> Result<&Float64Array> {
    array.as_primitive_opt::<Float64Type>().ok_or_else(|| wrong_type(array))
}

fn booleans(array: &ArrayRef) -> Result<&BooleanArray> {
    array.as_boolean_opt().ok_or_else(|| wrong_type(array))
}

fn wrong_type(array: &ArrayRef) -> DataFusionError {
    DataFusionError::Internal(format!("quality function got {}", array.data_type()))
}

impl Accumulator for Collector {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let pi = floats(&values[1])?;
        let known = |i: &usize| values[0].is_valid(*i) && pi.is_valid(*i);
        match self.what {
            What::Mean => {
                let value = floats(&values[0])?;
                (0..pi.len()).filter(known).try_for_each(|i| self.push(value.value(i), pi.value(i)))
            }
            What::Rate => {
                let passed = booleans(&values[0])?;
                (0..pi.len())
                    .filter(known)
                    .try_for_each(|i| self.push(f64::from(u8::from(passed.value(i))), pi.value(i)))
            }
        }
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let fields = answer_fields();
        let Some(e) = self.answer() else {
            return ScalarValue::try_from(&DataType::Struct(fields));
        };
        let values = [
            ScalarValue::Float64(Some(e.estimate)),
            ScalarValue::Float64(e.lower),
            ScalarValue::Float64(e.upper),
            ScalarValue::Int64(i64::try_from(e.n).ok()),
            ScalarValue::Float64(Some(e.n_eff)),
        ];
        let filled = fields.iter().zip(values);
        filled.fold(ScalarStructBuilder::new(), |b, (f, v)| b.with_scalar(f.as_ref().clone(), v)).build()
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let (n, parts) = self.seen.parts();
        let mut state = vec![ScalarValue::Int64(Some(i64::try_from(n).unwrap_or(i64::MAX)))];
        state.extend(parts.map(|p| ScalarValue::Float64(Some(p))));
        Ok(state)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let n = states[0].as_primitive_opt::<Int64Type>().ok_or_else(|| wrong_type(&states[0]))?;
        let parts: Vec<&Float64Array> = states[1..].iter().map(floats).collect::<Result<_>>()?;
        for row in 0..n.len() {
            let mut numbers = [0.0; STATE.len()];
            for (number, part) in numbers.iter_mut().zip(&parts) {
                *number = part.value(row);
            }
            let count = u64::try_from(n.value(row)).unwrap_or_default();
            self.seen.merge(&Weighted::from_parts(count, numbers));
        }
        Ok(())
    }
}
