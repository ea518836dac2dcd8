//! The traces that runs name: which of them were made for the runs, and whose spans an archive may have.
//!
//! A trace that the lab gave to a run has an id that follows from the run, is marked, and counts in no number of production.
//! One of production is not put into an archive: where it was restored, sampling would draw from it and judge it again.

use crate::lab::cells;
use crate::lab::ids::trace_ids;
use arrow::array::RecordBatch;
use std::collections::BTreeSet;

/// Traces of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traces {
    /// Those that were made for them, by id.
    pub own: BTreeSet<String>,
    /// How many others the runs name.
    pub left_out: u64,
}

impl Traces {
    /// Those of `runs`, rows of the table.
    pub fn of(runs: &RecordBatch) -> Self {
        let (mut own, mut others) = (BTreeSet::new(), BTreeSet::new());
        for row in cells::rows(std::slice::from_ref(runs)) {
            let Some(trace) = row.may("trace_id") else { continue };
            let (given, _) = trace_ids(&row.text("run_id"), row.int("attempt").unwrap_or(1));
            if trace == given {
                own.insert(trace)
            } else {
                others.insert(trace)
            };
        }
        Self { own, left_out: others.len() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Int64Array, StringArray};
    use std::sync::Arc;

    #[test]
    fn only_the_trace_that_a_run_was_given_is_its_own() {
        let (first, second, other) = (trace_ids("r", 1).0, trace_ids("r", 2).0, trace_ids("other", 1).0);
        let production = "0af7651916cd43dd8448eb211c80319c".to_owned();
        let named = [&first, &second, &other, &production, &production].map(|id| Some(id.clone()));
        let named: StringArray = named.into_iter().chain([None]).collect();
        let columns: [(&str, ArrayRef); 3] = [
            ("run_id", Arc::new(StringArray::from(vec!["r"; 6]))),
            ("attempt", Arc::new(Int64Array::from(vec![1, 2, 3, 4, 5, 6]))),
            ("trace_id", Arc::new(named)),
        ];
        let traces = Traces::of(&RecordBatch::try_from_iter(columns).unwrap());
        assert_eq!(traces, Traces { own: BTreeSet::from([first, second]), left_out: 2 });
    }
}
