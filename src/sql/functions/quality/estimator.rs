//! What a function needs of an estimator of `stats`, and its state as columns.

use super::arguments::Asked;
use super::columns::{floats, integers};
use crate::stats::Estimate;
use arrow::array::{Array, ArrayRef, Float64Array, Int64Array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::error::Result;
use std::fmt::Debug;
use std::sync::Arc;

/// An estimator whose state is a fixed number of counts and of other numbers.
pub trait Estimator: Default + Clone + Debug + Send + Sync + 'static {
    /// Names of the counts and of the numbers of a state.
    const STATE: (&'static [&'static str], &'static [&'static str]);

    /// The arguments of a batch.
    type Batch;

    /// Takes the arguments of a batch, and the rows of it that have no NULL where there must be none; none if all have.
    ///
    /// # Errors
    /// An internal error for a wrong type.
    fn batch(values: &[ArrayRef]) -> Result<(Self::Batch, Option<NullBuffer>)>;

    /// Adds a row.
    ///
    /// # Errors
    /// A probability or a value that cannot be, with the name of its argument.
    fn push(&mut self, batch: &Self::Batch, row: usize) -> Result<()>;

    /// Adds everything that `other` has seen.
    fn merge(&mut self, other: &Self);

    /// What is known; none without rows.
    fn answer(&self, asked: &Asked) -> Option<Estimate>;

    /// Writes the state.
    fn save(&self, to: &mut Saved);

    /// The state that was saved.
    fn load(from: &mut Loaded<'_>) -> Self;
}

/// The columns of the states of `E`, for the aggregate called `name`.
pub fn fields<E: Estimator>(name: &str) -> Vec<FieldRef> {
    let field = |part: &&str, kind| Arc::new(Field::new(format!("{name}[{part}]"), kind, false));
    let (counts, numbers) = E::STATE;
    let counts = counts.iter().map(|part| field(part, DataType::Int64));
    counts.chain(numbers.iter().map(|part| field(part, DataType::Float64))).collect()
}

/// States on their way into columns.
pub struct Saved {
    counts: Vec<Vec<i64>>,
    numbers: Vec<Vec<f64>>,
}

impl Saved {
    /// The states of all of `estimators`, as columns.
    pub fn columns<E: Estimator>(estimators: &[E]) -> Vec<ArrayRef> {
        let (counts, numbers) = E::STATE;
        let rows = estimators.len();
        let mut saved = Self {
            counts: counts.iter().map(|_| Vec::with_capacity(rows)).collect(),
            numbers: numbers.iter().map(|_| Vec::with_capacity(rows)).collect(),
        };
        estimators.iter().for_each(|estimator| estimator.save(&mut saved));
        let counts = saved.counts.into_iter().map(|column| Arc::new(Int64Array::from(column)) as ArrayRef);
        let numbers =
            saved.numbers.into_iter().map(|column| Arc::new(Float64Array::from(column)) as ArrayRef);
        counts.chain(numbers).collect()
    }

    /// Adds a state: its counts and numbers in the order of [`Estimator::STATE`].
    pub fn row(&mut self, counts: &[u64], numbers: impl IntoIterator<Item = f64>) {
        for (column, count) in self.counts.iter_mut().zip(counts) {
            column.push(i64::try_from(*count).unwrap_or(i64::MAX));
        }
        for (column, number) in self.numbers.iter_mut().zip(numbers) {
            column.push(number);
        }
    }
}

/// Columns of states, read row by row.
pub struct Loaded<'a> {
    counts: Vec<&'a Int64Array>,
    numbers: Vec<&'a Float64Array>,
    row: usize,
    count: usize,
    number: usize,
}

impl<'a> Loaded<'a> {
    /// The columns of states of `E`.
    ///
    /// # Errors
    /// An internal error for a wrong type.
    pub fn new<E: Estimator>(states: &'a [ArrayRef]) -> Result<Self> {
        let (counts, numbers) = states.split_at(E::STATE.0.len().min(states.len()));
        Ok(Self {
            counts: counts.iter().map(integers).collect::<Result<_>>()?,
            numbers: numbers.iter().map(floats).collect::<Result<_>>()?,
            row: 0,
            count: 0,
            number: 0,
        })
    }

    /// How many states there are.
    pub fn rows(&self) -> usize {
        self.counts.first().map_or(0, |column| column.len())
    }

    /// The state of a row.
    pub fn state<E: Estimator>(&mut self, row: usize) -> E {
        (self.row, self.count, self.number) = (row, 0, 0);
        E::load(self)
    }

    /// The next count of the row.
    pub fn count(&mut self) -> u64 {
        self.count += 1;
        let column = self.counts.get(self.count - 1);
        column.map_or(0, |column| u64::try_from(column.value(self.row)).unwrap_or_default())
    }

    /// The next numbers of the row.
    pub fn numbers<const N: usize>(&mut self) -> [f64; N] {
        let first = self.number;
        self.number += N;
        std::array::from_fn(|at| self.numbers.get(first + at).map_or(0.0, |column| column.value(self.row)))
    }
}
