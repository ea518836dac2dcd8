//! `quality_quantile`, whose state is a list.

use super::answer::Answers;
use super::arguments::Asked;
use super::columns::{booleans, complete, finite, floats, improbable, integers, numbers};
use crate::stats::Quantiles;
use crate::stats::quantile::Point;
use crate::stats::rate::Class;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::Accumulator;
use datafusion::scalar::ScalarValue;
use std::sync::Arc;

/// The columns of a state besides the mark whether values were put together.
const LISTS: [(&str, DataType); 4] = [
    ("values", DataType::Float64),
    ("counts", DataType::Int64),
    ("weights", DataType::Float64),
    ("squares", DataType::Float64),
];

/// The columns of the states, for the aggregate called `name`.
pub fn fields(name: &str) -> Vec<FieldRef> {
    let mut fields = vec![Arc::new(Field::new(format!("{name}[clustered]"), DataType::Boolean, false))];
    fields.extend(LISTS.map(|(part, kind)| {
        let kind = DataType::List(Arc::new(item(kind)));
        Arc::new(Field::new(format!("{name}[{part}]"), kind, false))
    }));
    fields
}

fn item(kind: DataType) -> Field {
    Field::new("item", kind, false)
}

/// The values of one group.
#[derive(Debug)]
pub struct Quantile {
    asked: Asked,
    seen: Quantiles,
}

impl Quantile {
    /// Nothing seen yet.
    pub fn new(asked: Asked) -> Self {
        Self { asked, seen: Quantiles::new() }
    }

    fn push(&mut self, value: f64, pi: f64) -> Result<()> {
        let value = finite("value", value)?;
        if self.seen.push(value, pi) { Ok(()) } else { Err(improbable("inclusion_probability", pi)) }
    }
}

impl Accumulator for Quantile {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (value, pi) = (numbers(&values[0])?, floats(&values[2])?);
        let known = complete([&value as &dyn Array, pi]);
        for row in 0..value.len() {
            if known.as_ref().is_none_or(|known| known.is_valid(row)) {
                self.push(value.value(row), pi.value(row))?;
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut answers = Answers::new(1);
        answers.push(self.seen.estimate(self.asked.q, self.asked.level), &self.asked);
        Ok(ScalarValue::Struct(Arc::new(answers.finish()?)))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.seen.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let (points, clustered) = self.seen.parts();
        let floats = |of: fn(&Point) -> f64| -> ArrayRef {
            Arc::new(points.iter().map(of).collect::<Vec<f64>>().into_iter().collect::<Float64Array>())
        };
        let counts = points.iter().map(|point| i64::try_from(point.items.n).unwrap_or(i64::MAX));
        let columns: [ArrayRef; 4] = [
            floats(|point| point.value),
            Arc::new(Int64Array::from_iter_values(counts)),
            floats(|point| point.items.weight),
            floats(|point| point.items.square),
        ];
        let mut state = vec![ScalarValue::Boolean(Some(clustered))];
        for (column, (_, kind)) in columns.into_iter().zip(LISTS) {
            let offsets = OffsetBuffer::from_lengths([column.len()]);
            let list = ListArray::try_new(Arc::new(item(kind)), offsets, column, None)?;
            state.push(ScalarValue::List(Arc::new(list)));
        }
        Ok(state)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let clustered: &BooleanArray = booleans(&states[0])?;
        let lists: Vec<&ListArray> = states[1..]
            .iter()
            .map(|array| array.as_list_opt::<i32>())
            .collect::<Option<_>>()
            .ok_or_else(|| DataFusionError::Internal("quality_quantile got no lists".to_owned()))?;
        for row in 0..clustered.len() {
            let parts: Vec<ArrayRef> = lists.iter().map(|list| list.value(row)).collect();
            let (values, counts) = (floats(&parts[0])?, integers(&parts[1])?);
            let (weights, squares) = (floats(&parts[2])?, floats(&parts[3])?);
            let point = |at: usize| Point {
                value: values.value(at),
                items: Class {
                    n: u64::try_from(counts.value(at)).unwrap_or_default(),
                    weight: weights.value(at),
                    square: squares.value(at),
                },
            };
            self.seen.merge((0..values.len()).map(point), clustered.value(row));
        }
        Ok(())
    }
}
