//! All groups of a GROUP BY in one array: DataFusion then makes no object and no array a group.

use super::answer::Answers;
use super::arguments::Asked;
use super::estimator::{Estimator, Loaded, Saved};
use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::buffer::NullBuffer;
use datafusion::error::Result;
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};
use std::sync::Arc;

/// The rows of all groups.
#[derive(Debug)]
pub struct Groups<E> {
    asked: Asked,
    seen: Vec<E>,
}

impl<E: Estimator> Groups<E> {
    /// No groups yet.
    pub fn new(asked: Asked) -> Self {
        Self { asked, seen: Vec::new() }
    }
}

/// The rows that have no NULL and that the filter lets pass; none if all do.
fn counted(complete: Option<NullBuffer>, filter: Option<&BooleanArray>) -> Option<NullBuffer> {
    // A filter that is NULL lets nothing pass.
    let passed = filter.map(|filter| match filter.nulls() {
        Some(nulls) => NullBuffer::new(filter.values() & nulls.inner()),
        None => NullBuffer::new(filter.values().clone()),
    });
    NullBuffer::union(complete.as_ref(), passed.as_ref())
}

impl<E: Estimator> GroupsAccumulator for Groups<E> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.seen.resize(total_num_groups, E::default());
        let (batch, complete) = E::batch(values)?;
        let rows = group_indices.iter().enumerate();
        match counted(complete, opt_filter) {
            None => {
                for (row, group) in rows {
                    self.seen[*group].push(&batch, row)?;
                }
            }
            Some(counted) => {
                for (row, group) in rows {
                    if counted.is_valid(row) {
                        self.seen[*group].push(&batch, row)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let emitted = emit_to.take_needed(&mut self.seen);
        let mut answers = Answers::new(emitted.len());
        emitted.iter().for_each(|seen| answers.push(seen.answer(&self.asked), &self.asked));
        Ok(Arc::new(answers.finish()?))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(Saved::columns(&emit_to.take_needed(&mut self.seen)))
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.seen.resize(total_num_groups, E::default());
        let mut loaded = Loaded::new::<E>(values)?;
        for (row, group) in group_indices.iter().enumerate() {
            let state: E = loaded.state(row);
            self.seen[*group].merge(&state);
        }
        Ok(())
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let (batch, complete) = E::batch(values)?;
        let counted = counted(complete, opt_filter);
        let mut states = vec![E::default(); values[0].len()];
        for (row, state) in states.iter_mut().enumerate() {
            if counted.as_ref().is_none_or(|counted| counted.is_valid(row)) {
                state.push(&batch, row)?;
            }
        }
        Ok(Saved::columns(&states))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.seen.capacity() * size_of::<E>()
    }
}
