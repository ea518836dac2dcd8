//! The struct estimate, lower, upper, n, n_eff.

use super::arguments::Asked;
use crate::stats::Estimate;
use arrow::array::{ArrayRef, Float64Builder, Int64Builder, NullBufferBuilder, StructArray};
use arrow::datatypes::{DataType, Field, Fields};
use datafusion::error::Result;
use std::sync::Arc;

/// Thirty items of one weight are thirty effective ones, and by their sums less by so much at most.
const ROUNDING: f64 = 1e-9;

/// The fields of an answer.
pub fn fields() -> Fields {
    Fields::from(vec![
        Field::new("estimate", DataType::Float64, true),
        Field::new("lower", DataType::Float64, true),
        Field::new("upper", DataType::Float64, true),
        Field::new("n", DataType::Int64, true),
        Field::new("n_eff", DataType::Float64, true),
    ])
}

/// Collects the answers of many groups.
pub struct Answers {
    bounds: [Float64Builder; 3],
    n: Int64Builder,
    n_eff: Float64Builder,
    known: NullBufferBuilder,
}

impl Answers {
    /// Room for `groups` answers.
    pub fn new(groups: usize) -> Self {
        let floats = || Float64Builder::with_capacity(groups);
        Self {
            bounds: [floats(), floats(), floats()],
            n: Int64Builder::with_capacity(groups),
            n_eff: floats(),
            known: NullBufferBuilder::new(groups),
        }
    }

    /// Adds the answer of a group: NULL without rows; without estimate and bounds below the effective size that was asked
    /// for.
    pub fn push(&mut self, found: Option<Estimate>, asked: &Asked) {
        let shown = found.filter(|e| e.n_eff >= asked.min_n_eff * (1.0 - ROUNDING));
        let [estimate, lower, upper] = &mut self.bounds;
        estimate.append_option(shown.map(|e| e.estimate));
        lower.append_option(shown.and_then(|e| e.lower));
        upper.append_option(shown.and_then(|e| e.upper));
        self.n.append_option(found.and_then(|e| i64::try_from(e.n).ok()));
        self.n_eff.append_option(found.map(|e| e.n_eff));
        self.known.append(found.is_some());
    }

    /// The answers as a column.
    ///
    /// # Errors
    /// None are expected; the type is that of the array.
    pub fn finish(mut self) -> Result<StructArray> {
        let [estimate, lower, upper] = &mut self.bounds;
        let columns: Vec<ArrayRef> = vec![
            Arc::new(estimate.finish()),
            Arc::new(lower.finish()),
            Arc::new(upper.finish()),
            Arc::new(self.n.finish()),
            Arc::new(self.n_eff.finish()),
        ];
        Ok(StructArray::try_new(fields(), columns, self.known.finish())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Rate;
    use arrow::array::Array;

    #[test]
    fn thirty_items_of_one_weight_are_enough_where_thirty_are_asked_for() {
        let asked = Asked { level: 0.95, min_n_eff: 30.0, q: 0.5, verdicts: true };
        let (mut rate, mut answers) = (Rate::new(), Answers::new(2));
        for n in 1..=30 {
            assert!(rate.push(true, 0.3));
            if n >= 29 {
                answers.push(rate.estimate(asked.level), &asked);
            }
        }
        assert!(rate.n_eff() < 30.0, "by rounding");
        let answers = answers.finish().unwrap();
        let estimates = answers.column_by_name("estimate").unwrap();
        assert!(estimates.is_null(0) && estimates.is_valid(1));
    }
}
