//! Products with eight-bit weights, and of tiles of numbers.

use super::super::lines::{LANES, Line, Linear, PANEL};
use super::vector::EIGHT;
use std::arch::x86_64::{
    __m256, __m256i, _mm256_add_epi32, _mm256_cvtepi32_ps, _mm256_fmadd_ps, _mm256_load_si256,
    _mm256_loadu_ps, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set1_epi16,
    _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_ps,
};
use std::ops::Range;

/// Rows that are computed together: with two vectors a row, eight of the sixteen registers hold sums. With more of them the
/// products on their way have no room.
const ROWS: usize = 4;

/// Two vectors of numbers: half of a panel.
pub(super) type Half = [__m256; 2];

/// Half of a panel's columns, ready for products.
struct Columns<'a> {
    /// Every second line from the first on.
    lines: &'a [Line],
    start: [__m256i; 2],
    scale: Half,
    bias: Half,
}

impl<'a> Columns<'a> {
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn new<const DEPTH: usize>(linear: &'a Linear, panel: usize, half: usize) -> Self {
        let first = panel * PANEL + half * LANES;
        let start = &linear.start[first..first + LANES];
        Self {
            lines: &linear.lines[panel * DEPTH / 2..(panel + 1) * DEPTH / 2][half..],
            // SAFETY: there are two vectors of columns.
            start: unsafe { [0, EIGHT].map(|at| _mm256_loadu_si256(start.as_ptr().add(at).cast())) },
            scale: two(&linear.scale[first..]),
            bias: two(&linear.bias[first..]),
        }
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn values(&self, sums: [__m256i; 2]) -> Half {
        let value = |at: usize| _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[at]), self.scale[at], self.bias[at]);
        [value(0), value(1)]
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn products<const R: usize, const DEPTH: usize>(&self, rows: &[[u8; DEPTH]; R]) -> [[__m256i; 2]; R] {
        let mut sums = [self.start; R];
        let ones = _mm256_set1_epi16(1);
        for (four, line) in self.lines.iter().step_by(2).take(DEPTH / 4).enumerate() {
            // SAFETY: a line is 64 bytes and stands at a multiple of 64.
            let weights = unsafe { [0, 32].map(|at| _mm256_load_si256(line.0.as_ptr().add(at).cast())) };
            for (row, sums) in rows.iter().zip(&mut sums) {
                // SAFETY: a row has four bytes for each line, and the read needs no alignment.
                let bytes = unsafe { row.as_ptr().add(4 * four).cast::<i32>().read_unaligned() };
                let bytes = _mm256_set1_epi32(bytes);
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    let pairs = _mm256_maddubs_epi16(bytes, weights);
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, ones));
                }
            }
        }
        sums
    }
}

/// Gives `end` the row, the half panel and the values of each row of `bytes`, which are `DEPTH` long, in these panels.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn multiply<const DEPTH: usize>(
    bytes: &[u8],
    linear: &Linear,
    panels: Range<usize>,
    mut end: impl FnMut(usize, usize, Half),
) {
    let rows = bytes.as_chunks::<DEPTH>().0;
    for half in 2 * panels.start..2 * panels.end {
        let columns = Columns::new::<DEPTH>(linear, half / 2, half % 2);
        let mut at = 0;
        while let Some(tile) = rows.get(at..).and_then(|rest| rest.first_chunk::<ROWS>()) {
            for (row, sums) in columns.products(tile).into_iter().enumerate() {
                end(at + row, half, columns.values(sums));
            }
            at += ROWS;
        }
        for (row, one) in rows.iter().enumerate().skip(at) {
            let [sums] = columns.products(std::array::from_ref(one));
            end(row, half, columns.values(sums));
        }
    }
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn two(columns: &[f32]) -> Half {
    let columns = &columns[..LANES];
    // SAFETY: there are two vectors of columns.
    unsafe { [_mm256_loadu_ps(columns.as_ptr()), _mm256_loadu_ps(columns.as_ptr().add(EIGHT))] }
}

/// Two vectors of columns of the product of `R` rows of `left`, `stride` apart, with `depth` rows of `right`.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn tile<const R: usize, const STRIDE: usize>(
    left: &[f32],
    depth: usize,
    right: &[f32],
    right_stride: usize,
) -> [Half; R] {
    assert!(depth > 0 && left.len() >= (R - 1) * STRIDE + depth);
    assert!(right_stride >= LANES && right.len() >= (depth - 1) * right_stride + LANES);
    let mut sums = [[_mm256_setzero_ps(); 2]; R];
    for at in 0..depth {
        // SAFETY: the last row of `right` ends inside of it, by the second assertion.
        let line = unsafe { right.as_ptr().add(at * right_stride) };
        // SAFETY: as above.
        let line = unsafe { [_mm256_loadu_ps(line), _mm256_loadu_ps(line.add(EIGHT))] };
        for (row, sums) in sums.iter_mut().enumerate() {
            // SAFETY: the last row of `left` ends inside of it, by the first assertion.
            let value = _mm256_set1_ps(unsafe { *left.as_ptr().add(row * STRIDE + at) });
            for (sum, line) in sums.iter_mut().zip(line) {
                *sum = _mm256_fmadd_ps(value, line, *sum);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::vector::store;
    use super::super::work::Avx2;
    use super::*;

    /// Numbers that look random, the same in each run.
    fn scattered(count: usize) -> impl Iterator<Item = u8> {
        let mut state = 7_u32;
        (0..count).map(move |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        })
    }

    #[target_feature(enable = "avx2,fma")]
    fn products<const DEPTH: usize>(bytes: &[u8], linear: &Linear, columns: usize) -> Vec<f32> {
        let mut found = vec![f32::NAN; bytes.len() / DEPTH * columns];
        multiply::<DEPTH>(bytes, linear, 0..linear.panels(), |row, half, values| {
            for (at, value) in values.into_iter().enumerate() {
                let to = row * columns + half * LANES + at * EIGHT;
                store(found[to..].first_chunk_mut().unwrap(), value);
            }
        });
        found
    }

    /// Sums of whole numbers are exact, also with the largest bytes and weights.
    #[test]
    fn products_are_those_of_whole_numbers() {
        const DEPTH: usize = 384;
        if !Avx2::is_there() {
            return;
        }
        let columns = 2 * PANEL;
        let largest = |place: usize| place.is_multiple_of(3);
        let weight =
            |(place, byte): (usize, u8)| if largest(place) { 64 } else { (byte >> 1).cast_signed() - 64 };
        let weights: Vec<i8> = scattered(DEPTH * columns).enumerate().map(weight).collect();
        let linear = Linear::new(&weights, &vec![1.0; columns], &vec![0.0; columns], 119).unwrap();
        assert!(linear.is_seven_bits());
        for count in [1, 3, 4, 9] {
            let byte = |(place, byte): (usize, u8)| if place < 2 * DEPTH { 255 } else { byte };
            let bytes: Vec<u8> = scattered(count * DEPTH).enumerate().map(byte).collect();
            // SAFETY: the processor has the instructions.
            let found = unsafe { products::<DEPTH>(&bytes, &linear, columns) };
            for (row, found) in bytes.as_chunks::<DEPTH>().0.iter().zip(found.chunks(columns)) {
                for (column, found) in found.iter().enumerate() {
                    let term = |(at, byte): (usize, &u8)| {
                        (i32::from(*byte) - 119) * i32::from(weights[at * columns + column])
                    };
                    let expected: i32 = row.iter().enumerate().map(term).sum();
                    assert_eq!(*found, expected as f32, "column {column} of {count} rows");
                }
            }
        }
    }

    #[test]
    fn weights_of_eight_bits_are_told() {
        let linear = |weight: i8| Linear::new(&[weight; 4 * PANEL], &[1.0; PANEL], &[0.0; PANEL], 0).unwrap();
        assert!(linear(64).is_seven_bits() && linear(-64).is_seven_bits());
        assert!(!linear(65).is_seven_bits() && !linear(-65).is_seven_bits());
    }
}
