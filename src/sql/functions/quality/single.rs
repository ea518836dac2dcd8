//! One group at a time.

use super::answer::Answers;
use super::arguments::Asked;
use super::estimator::{Estimator, Loaded, Saved};
use arrow::array::ArrayRef;
use datafusion::error::Result;
use datafusion::logical_expr::Accumulator;
use datafusion::scalar::ScalarValue;
use std::sync::Arc;

/// The rows of one group.
#[derive(Debug)]
pub struct Single<E> {
    asked: Asked,
    seen: E,
}

impl<E: Estimator> Single<E> {
    /// Nothing seen yet.
    pub fn new(asked: Asked) -> Self {
        Self { asked, seen: E::default() }
    }
}

impl<E: Estimator> Accumulator for Single<E> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (batch, complete) = E::batch(values)?;
        let rows = values[0].len();
        match complete {
            None => (0..rows).try_for_each(|row| self.seen.push(&batch, row)),
            Some(complete) => complete.valid_indices().try_for_each(|row| self.seen.push(&batch, row)),
        }
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut answers = Answers::new(1);
        answers.push(self.seen.answer(&self.asked), &self.asked);
        Ok(ScalarValue::Struct(Arc::new(answers.finish()?)))
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let columns = Saved::columns(std::slice::from_ref(&self.seen));
        columns.iter().map(|column| ScalarValue::try_from_array(column, 0)).collect()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let mut loaded = Loaded::new::<E>(states)?;
        for row in 0..loaded.rows() {
            let state: E = loaded.state(row);
            self.seen.merge(&state);
        }
        Ok(())
    }
}
