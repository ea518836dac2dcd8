//! `calibrated(evaluator, evaluator_version, metric, value)` and `abstains(…)`: what a score means as a probability.

use crate::stats::calibration::Calibrated;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, StringArray};
use arrow::datatypes::{DataType, Float64Type};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use parking_lot::RwLock;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The curves that the functions know. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Calibrations(Arc<RwLock<Arc<Vec<Calibrated>>>>);

impl Calibrations {
    /// From now on the functions know these.
    pub fn set(&self, known: Vec<Calibrated>) {
        *self.0.write() = Arc::new(known);
    }

    /// Those that the functions know now.
    pub fn all(&self) -> Arc<Vec<Calibrated>> {
        self.0.read().clone()
    }
}

/// What a function tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Tells {
    /// The probability that a person passes it.
    Probability,
    /// Whether that lies in the band in which the evaluator abstains.
    Abstains,
}

/// `calibrated`, a probability, and `abstains`, a boolean. Both are NULL for a NULL value, and where there is no curve of
/// that metric of that version of the evaluator.
pub fn calibrated(known: &Calibrations) -> Vec<ScalarUDF> {
    let texts = [DataType::Utf8, DataType::Utf8, DataType::Utf8, DataType::Float64];
    let one = |tells| {
        let signature = Signature::exact(texts.to_vec(), Volatility::Stable);
        ScalarUDF::from(Function { tells, known: known.clone(), signature })
    };
    [Tells::Probability, Tells::Abstains].map(one).into()
}

#[derive(Debug)]
struct Function {
    tells: Tells,
    known: Calibrations,
    signature: Signature,
}

// Two functions of one engine are the same if they tell the same.
impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.tells == other.tells
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.tells.hash(state);
    }
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        match self.tells {
            Tells::Probability => "calibrated",
            Tells::Abstains => "abstains",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.tells {
            Tells::Probability => DataType::Float64,
            Tells::Abstains => DataType::Boolean,
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let known = self.known.0.read().clone();
        let arrays =
            args.args.iter().map(|arg| arg.to_array(args.number_rows)).collect::<Result<Vec<_>>>()?;
        let [evaluators, versions, metrics, values] = arrays.as_slice() else {
            return Err(DataFusionError::Internal(format!("{} takes four arguments", self.name())));
        };
        let (evaluators, versions, metrics) = (texts(evaluators)?, texts(versions)?, texts(metrics)?);
        let values = values
            .as_primitive_opt::<Float64Type>()
            .ok_or_else(|| DataFusionError::Internal(format!("{} got no number", self.name())))?;
        let at = |row: usize| {
            let is_null = [evaluators, versions, metrics].iter().any(|column| column.is_null(row));
            if is_null || values.is_null(row) {
                return None;
            }
            let (evaluator, version) = (evaluators.value(row), versions.value(row));
            let curve = known.iter().find(|one| one.is_of(evaluator, version, metrics.value(row)))?;
            Some((curve, curve.curve.probability(values.value(row))))
        };
        let rows = 0..args.number_rows;
        Ok(ColumnarValue::Array(match self.tells {
            Tells::Probability => Arc::new(rows.map(|row| Some(at(row)?.1)).collect::<Float64Array>()),
            Tells::Abstains => {
                let abstains = |row| at(row).map(|(curve, probability)| curve.abstains(probability));
                Arc::new(rows.map(abstains).collect::<BooleanArray>())
            }
        }))
    }
}

fn texts(array: &ArrayRef) -> Result<&StringArray> {
    array
        .as_string_opt::<i32>()
        .ok_or_else(|| DataFusionError::Internal(format!("got {}", array.data_type())))
}
