//! Rows on their way, in pieces that one request takes.

use arrow::array::RecordBatch;

/// Rows of one or more frames.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Load(Vec<RecordBatch>);

impl Load {
    /// The rows of `batches`, which take `bytes` in the journal, cut into loads of about `most` bytes.
    pub(super) fn cut(batches: Vec<RecordBatch>, bytes: usize, most: usize) -> Vec<Load> {
        let whole = Load(batches);
        let rows = whole.len();
        let pieces = bytes.div_ceil(most.max(1)).clamp(1, rows.max(1));
        let size = rows.div_ceil(pieces).max(1);
        (0..rows.div_ceil(size)).map(|piece| whole.slice(piece * size, size)).collect()
    }

    /// Both halves; none of a single row.
    pub(super) fn halves(&self) -> Option<[Load; 2]> {
        let half = self.len() / 2;
        (half > 0).then(|| [self.slice(0, half), self.slice(half, self.len() - half)])
    }

    /// The rows.
    pub(super) fn rows(&self) -> &[RecordBatch] {
        &self.0
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(RecordBatch::num_rows).sum()
    }

    /// Rows from `from` on, as many as there are up to `count`. Nothing is copied.
    fn slice(&self, mut from: usize, mut count: usize) -> Load {
        let mut batches = Vec::new();
        for batch in &self.0 {
            let rows = batch.num_rows();
            if from < rows && count > 0 {
                let taken = count.min(rows - from);
                batches.push(batch.slice(from, taken));
                count -= taken;
            }
            from = from.saturating_sub(rows);
        }
        Load(batches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, AsArray, Int64Array};
    use arrow::datatypes::Int64Type;
    use std::sync::Arc;

    fn batch(from: i64, to: i64) -> RecordBatch {
        let column: ArrayRef = Arc::new((from..to).collect::<Int64Array>());
        RecordBatch::try_from_iter([("n", column)]).unwrap()
    }

    fn numbers(load: &Load) -> Vec<i64> {
        let column = |batch: &RecordBatch| batch.column(0).as_primitive::<Int64Type>().values().to_vec();
        load.rows().iter().flat_map(column).collect()
    }

    #[test]
    fn every_row_is_in_one_piece_in_its_place() {
        let batches = vec![batch(0, 3), batch(3, 3), batch(3, 10)];
        for most in [1, 7, 30, 99, 100, 1_000] {
            let pieces = Load::cut(batches.clone(), 100, most);
            let all: Vec<i64> = pieces.iter().flat_map(numbers).collect();
            assert_eq!(all, (0..10).collect::<Vec<_>>(), "{most}");
            assert!(pieces.iter().all(|piece| piece.len() > 0), "{most}");
        }
        assert_eq!(Load::cut(batches.clone(), 100, 50).iter().map(Load::len).collect::<Vec<_>>(), [5, 5]);
        assert_eq!(Load::cut(batches, 100, 100).len(), 1);
        assert!(Load::cut(Vec::new(), 100, 10).is_empty());
    }

    #[test]
    fn halves_end_at_a_single_row() {
        let load = Load(vec![batch(0, 2), batch(2, 5)]);
        let [first, second] = load.halves().unwrap();
        assert_eq!((numbers(&first), numbers(&second)), (vec![0, 1], vec![2, 3, 4]));
        assert_eq!(first.halves().unwrap()[0].halves(), None);
    }
}
