//! Products with eight-bit weights, and of tiles of numbers.

use super::vector::LANES;
use std::arch::x86_64::{
    __m512, __m512i, _mm512_cvtepi32_ps, _mm512_dpbusd_epi32, _mm512_fmadd_ps, _mm512_load_si512,
    _mm512_loadu_ps, _mm512_loadu_si512, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps,
};
use std::ops::Range;

/// Columns that are computed together: two vectors. A head of the attention has as many.
pub(super) const PANEL: usize = 2 * LANES;

/// Rows that are computed together: with two vectors a row, 24 of the 32 registers hold sums.
const ROWS: usize = 12;

/// Sixteen columns by four rows of weights, a line of the cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([i8; 64]);

/// A linear layer with eight-bit weights, packed for [`multiply`]. It reads bytes that stand for numbers from `zero` on.
pub(super) struct Linear {
    lines: Vec<Line>,
    /// What the zero point adds to each sum, negative.
    start: Vec<i32>,
    scale: Vec<f32>,
    bias: Vec<f32>,
}

impl Linear {
    /// `weights` by row, one row an input; none where a length is another than the others say, or no multiple of a panel.
    pub(super) fn new(weights: &[i8], scale: &[f32], bias: &[f32], zero: u8) -> Option<Self> {
        let columns = scale.len();
        let depth = weights.len().checked_div(columns)?;
        if bias.len() != columns
            || depth * columns != weights.len()
            || !depth.is_multiple_of(4)
            || !columns.is_multiple_of(PANEL)
        {
            return None;
        }
        let mut lines = Vec::with_capacity(weights.len() / 64);
        for panel in 0..columns / PANEL {
            for row in (0..depth).step_by(4) {
                for first in [panel * PANEL, panel * PANEL + LANES] {
                    let place = |at: usize| weights[(row + at % 4) * columns + first + at / 4];
                    lines.push(Line(std::array::from_fn(place)));
                }
            }
        }
        let total =
            |column: usize| -> i32 { weights[column..].iter().step_by(columns).map(|w| i32::from(*w)).sum() };
        let start = (0..columns).map(|column| -i32::from(zero) * total(column)).collect();
        Some(Self { lines, start, scale: scale.to_vec(), bias: bias.to_vec() })
    }

    /// How many panels of [`PANEL`] columns it has.
    pub(super) fn panels(&self) -> usize {
        self.scale.len() / PANEL
    }
}

/// Gives `end` the row, the panel and the values of each row of `bytes`, which are `DEPTH` long, in these panels.
#[target_feature(enable = "avx512f,avx512vnni")]
#[inline]
pub(super) fn multiply<const DEPTH: usize>(
    bytes: &[u8],
    linear: &Linear,
    panels: Range<usize>,
    mut end: impl FnMut(usize, usize, [__m512; 2]),
) {
    let rows = bytes.as_chunks::<DEPTH>().0;
    for panel in panels {
        let lines = &linear.lines[panel * DEPTH / 2..][..DEPTH / 2];
        let columns = panel * PANEL..(panel + 1) * PANEL;
        let start = &linear.start[columns.clone()];
        let (scale, bias) = (halves(&linear.scale[columns.clone()]), halves(&linear.bias[columns]));
        let mut tell = |row: usize, sums: [__m512i; 2]| {
            let value =
                |half: usize| _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[half]), scale[half], bias[half]);
            end(row, panel, [value(0), value(1)]);
        };
        let mut at = 0;
        while let Some(tile) = rows.get(at..).and_then(|rest| rest.first_chunk::<ROWS>()) {
            for (row, sums) in products(tile, lines, start).into_iter().enumerate() {
                tell(at + row, sums);
            }
            at += ROWS;
        }
        while let Some(tile) = rows.get(at..).and_then(|rest| rest.first_chunk::<4>()) {
            for (row, sums) in products(tile, lines, start).into_iter().enumerate() {
                tell(at + row, sums);
            }
            at += 4;
        }
        for (row, one) in rows.iter().enumerate().skip(at) {
            let [sums] = products(std::array::from_ref(one), lines, start);
            tell(row, sums);
        }
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn halves(columns: &[f32]) -> [__m512; 2] {
    let columns = &columns[..PANEL];
    // SAFETY: there are two vectors of columns.
    unsafe { [_mm512_loadu_ps(columns.as_ptr()), _mm512_loadu_ps(columns.as_ptr().add(LANES))] }
}

#[target_feature(enable = "avx512f,avx512vnni")]
#[inline]
fn products<const R: usize, const DEPTH: usize>(
    rows: &[[u8; DEPTH]; R],
    lines: &[Line],
    start: &[i32],
) -> [[__m512i; 2]; R] {
    let start = &start[..PANEL];
    // SAFETY: there are two vectors of columns.
    let start = unsafe { [0, LANES].map(|at| _mm512_loadu_si512(start.as_ptr().add(at).cast())) };
    let mut sums = [start; R];
    for (four, pair) in lines.as_chunks::<2>().0[..DEPTH / 4].iter().enumerate() {
        // SAFETY: a line is 64 bytes and stands at a multiple of 64.
        let weights = unsafe { [0, 1].map(|half| _mm512_load_si512(pair[half].0.as_ptr().cast())) };
        for (row, sums) in rows.iter().zip(&mut sums) {
            // SAFETY: a row has four bytes for each pair of lines, and the read needs no alignment.
            let bytes = unsafe { row.as_ptr().add(4 * four).cast::<i32>().read_unaligned() };
            let bytes = _mm512_set1_epi32(bytes);
            for (sum, weights) in sums.iter_mut().zip(weights) {
                *sum = _mm512_dpbusd_epi32(*sum, bytes, weights);
            }
        }
    }
    sums
}

/// Two vectors of columns of the product of `R` rows of `left`, `stride` apart, with `depth` rows of `right`.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn tile<const R: usize, const STRIDE: usize>(
    left: &[f32],
    depth: usize,
    right: &[f32],
    right_stride: usize,
) -> [[__m512; 2]; R] {
    assert!(depth > 0 && left.len() >= (R - 1) * STRIDE + depth);
    assert!(right_stride >= PANEL && right.len() >= (depth - 1) * right_stride + PANEL);
    let mut sums = [[_mm512_setzero_ps(); 2]; R];
    for at in 0..depth {
        // SAFETY: the last row of `right` ends inside of it, by the second assertion.
        let line = unsafe { right.as_ptr().add(at * right_stride) };
        // SAFETY: as above.
        let line = unsafe { [_mm512_loadu_ps(line), _mm512_loadu_ps(line.add(LANES))] };
        for (row, sums) in sums.iter_mut().enumerate() {
            // SAFETY: the last row of `left` ends inside of it, by the first assertion.
            let value = _mm512_set1_ps(unsafe { *left.as_ptr().add(row * STRIDE + at) });
            for (sum, line) in sums.iter_mut().zip(line) {
                *sum = _mm512_fmadd_ps(value, line, *sum);
            }
        }
    }
    sums
}
