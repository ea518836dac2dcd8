//! Up to when the rows of a table are final: who runs the loops tells it, queries and `watermarks` show it.

use crate::schema::batch::{Watermark, watermarks_to_batch};
use crate::schema::columns::Table;
use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use parking_lot::RwLock;
use std::sync::Arc;

/// The watermarks of now. Clones share them; without somebody who sets them there are none.
#[derive(Clone, Default)]
pub struct Watermarks(Arc<RwLock<Vec<Watermark>>>);

impl Watermarks {
    /// From now on these hold.
    pub fn set(&self, marks: Vec<Watermark>) {
        *self.0.write() = marks;
    }

    /// Those that hold now.
    pub fn all(&self) -> Vec<Watermark> {
        self.0.read().clone()
    }

    /// As rows of the table `watermarks`.
    pub(super) fn rows(&self) -> Result<RecordBatch, ArrowError> {
        watermarks_to_batch(&self.0.read())
    }
}

/// Up to when what was read of `tables` is final, microseconds since 1970: the earliest of `marks`, which must have been
/// taken before the tables were read. None if nothing is known of any of them.
pub(super) fn final_until(marks: &[Watermark], tables: &[Table]) -> Option<i64> {
    let read = marks.iter().filter(|mark| tables.contains(&mark.table));
    read.map(|mark| mark.until).collect::<Option<Vec<_>>>()?.into_iter().map(|until| until.micros()).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::UnixNanos;

    #[test]
    fn a_result_is_as_final_as_the_least_final_table_that_it_reads() {
        let mark = |table, until: Option<i64>| {
            let until = until.map(|seconds| UnixNanos(seconds * 1_000_000_000));
            Watermark { table, time: "t", until, at: UnixNanos(0), waits_for: None }
        };
        let marks = [mark(Table::Spans, Some(9)), mark(Table::Scores, Some(5)), mark(Table::Alerts, None)];
        let until = |tables: &[Table]| final_until(&marks, tables);
        assert_eq!(until(&[Table::Spans]), Some(9_000_000));
        assert_eq!(until(&[Table::Spans, Table::Scores, Table::Annotations]), Some(5_000_000));
        assert_eq!(
            (until(&[Table::Alerts, Table::Spans]), until(&[Table::Annotations]), until(&[])),
            (None, None, None)
        );
    }
}
