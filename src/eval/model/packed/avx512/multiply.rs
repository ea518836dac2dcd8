//! Products with eight-bit weights, and of tiles of numbers.

use super::super::lines::{LANES, Line, Linear, PANEL};
use super::tiles::{self, PAIR, Sums, Tiles};
use std::arch::x86_64::{
    __m512, __m512i, _mm512_add_epi32, _mm512_cvtepi32_ps, _mm512_dpbusd_epi32, _mm512_fmadd_ps,
    _mm512_load_si512, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_set1_epi32, _mm512_set1_ps,
    _mm512_setzero_ps,
};
use std::ops::Range;

/// Rows that are computed together: with two vectors a row, 24 of the 32 registers hold sums.
const ROWS: usize = 12;

/// Some columns of a linear layer, ready for products.
struct Panel<'a> {
    at: usize,
    lines: &'a [Line],
    start: &'a [i32],
    scale: [__m512; 2],
    bias: [__m512; 2],
}

impl<'a> Panel<'a> {
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn new<const DEPTH: usize>(linear: &'a Linear, at: usize) -> Self {
        let columns = at * PANEL..(at + 1) * PANEL;
        Self {
            at,
            lines: &linear.lines[at * DEPTH / 2..][..DEPTH / 2],
            start: &linear.start[columns.clone()],
            scale: halves(&linear.scale[columns.clone()]),
            bias: halves(&linear.bias[columns]),
        }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn values(&self, sums: [__m512i; 2]) -> [__m512; 2] {
        let value =
            |half: usize| _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[half]), self.scale[half], self.bias[half]);
        [value(0), value(1)]
    }
}

/// Gives `end` the row, the panel and the values of each row of `bytes`, which are `DEPTH` long, in these panels.
#[target_feature(enable = "avx512f,avx512vnni")]
#[inline]
pub(super) fn multiply<const DEPTH: usize>(
    bytes: &[u8],
    linear: &Linear,
    panels: Range<usize>,
    end: impl FnMut(usize, usize, [__m512; 2]),
) {
    let rows = bytes.as_chunks::<DEPTH>().0;
    if tiles::are_there() {
        in_tiles(rows, linear, panels, end);
    } else {
        in_vectors(rows, linear, panels, end);
    }
}

/// Whole pairs of tiles first, then the rows that are left, in tiles that are as high as these; in vectors where this thread
/// gets no tiles.
#[target_feature(enable = "avx512f,avx512vnni")]
#[inline]
fn in_tiles<const DEPTH: usize>(
    rows: &[[u8; DEPTH]],
    linear: &Linear,
    panels: Range<usize>,
    mut end: impl FnMut(usize, usize, [__m512; 2]),
) {
    let whole = rows.len() - rows.len() % PAIR;
    let mut sums = Sums::default();
    for (from, part, height) in [(0, &rows[..whole], PAIR), (whole, &rows[whole..], rows.len() - whole)] {
        if part.is_empty() {
            continue;
        }
        let Some(tiles) = Tiles::of(height) else {
            in_vectors(part, linear, panels.clone(), |row, panel, found| end(from + row, panel, found));
            continue;
        };
        for panel in panels.clone() {
            let panel = Panel::new::<DEPTH>(linear, panel);
            let start = starts(panel.start);
            for (at, rows) in part.chunks_exact(height).enumerate() {
                tiles.products(rows, panel.lines, &mut sums);
                for (row, sums) in sums.0[..height].iter().enumerate() {
                    let found = starts(sums);
                    let sums = [0, 1].map(|half| _mm512_add_epi32(start[half], found[half]));
                    end(from + at * height + row, panel.at, panel.values(sums));
                }
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512vnni")]
#[inline]
fn in_vectors<const DEPTH: usize>(
    rows: &[[u8; DEPTH]],
    linear: &Linear,
    panels: Range<usize>,
    mut end: impl FnMut(usize, usize, [__m512; 2]),
) {
    for panel in panels {
        let panel = Panel::new::<DEPTH>(linear, panel);
        let mut at = 0;
        while let Some(tile) = rows.get(at..).and_then(|rest| rest.first_chunk::<ROWS>()) {
            for (row, sums) in products(tile, panel.lines, panel.start).into_iter().enumerate() {
                end(at + row, panel.at, panel.values(sums));
            }
            at += ROWS;
        }
        while let Some(tile) = rows.get(at..).and_then(|rest| rest.first_chunk::<4>()) {
            for (row, sums) in products(tile, panel.lines, panel.start).into_iter().enumerate() {
                end(at + row, panel.at, panel.values(sums));
            }
            at += 4;
        }
        for (row, one) in rows.iter().enumerate().skip(at) {
            let [sums] = products(std::array::from_ref(one), panel.lines, panel.start);
            end(row, panel.at, panel.values(sums));
        }
    }
}

/// The whole numbers of a panel's columns.
#[target_feature(enable = "avx512f")]
#[inline]
fn starts(columns: &[i32]) -> [__m512i; 2] {
    let columns = &columns[..PANEL];
    // SAFETY: there are two vectors of columns.
    unsafe { [0, LANES].map(|at| _mm512_loadu_si512(columns.as_ptr().add(at).cast())) }
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
    let mut sums = [starts(start); R];
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random, the same in each run.
    fn scattered(count: usize) -> impl Iterator<Item = u8> {
        let mut state = 7_u32;
        (0..count).map(move |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        })
    }

    #[target_feature(enable = "avx512f,avx512vnni")]
    fn agree<const DEPTH: usize>(count: usize) {
        let columns = 3 * PANEL;
        let weights: Vec<i8> = scattered(DEPTH * columns).map(u8::cast_signed).collect();
        let scale: Vec<f32> = (0..columns).map(|at| 0.001 + at as f32 / 1000.0).collect();
        let linear = Linear::new(&weights, &scale, &vec![0.5; columns], 119).unwrap();
        let bytes: Vec<u8> = scattered(count * DEPTH).collect();
        let rows = bytes.as_chunks::<DEPTH>().0;
        let (mut tiles, mut vectors) = (vec![f32::NAN; count * columns], vec![f32::NAN; count * columns]);
        let put = |to: &mut Vec<f32>, row: usize, panel: usize, found: [__m512; 2]| {
            for (half, found) in found.into_iter().enumerate() {
                let at = row * columns + panel * PANEL + half * LANES;
                super::super::vector::store(to[at..].first_chunk_mut().unwrap(), found);
            }
        };
        in_tiles(rows, &linear, 0..3, |row, panel, found| put(&mut tiles, row, panel, found));
        in_vectors(rows, &linear, 0..3, |row, panel, found| put(&mut vectors, row, panel, found));
        assert!(vectors.iter().all(|value| value.is_finite()));
        assert_eq!(tiles, vectors, "{count} rows of {DEPTH}");
    }

    /// Where the processor has no tiles there is nothing to compare.
    #[test]
    fn tiles_give_the_same_numbers_as_vectors() {
        if !tiles::are_there() || !is_x86_feature_detected!("avx512vnni") {
            return;
        }
        for count in [1, 3, 15, 16, 17, 31, 32, 33, 48, 63, 64, 75, 100] {
            // SAFETY: the processor has the instructions.
            unsafe {
                agree::<384>(count);
                agree::<1536>(count);
            }
        }
    }

    /// A thread has one set of tiles: who asks for another one goes on in vectors, and leaves the first as it was.
    #[test]
    fn a_thread_has_one_set_of_tiles() {
        if !tiles::are_there() || !is_x86_feature_detected!("avx512vnni") {
            return;
        }
        let held = Tiles::of(3).unwrap();
        assert!(Tiles::of(PAIR).is_none());
        assert!(
            std::thread::spawn(|| Tiles::of(PAIR).is_some()).join().unwrap(),
            "another thread has its own"
        );
        // SAFETY: the processor has the instructions.
        unsafe { agree::<384>(75) };
        let (rows, lines, mut sums) = ([[1_u8; 64]; 3], [Line([1; 64]); 32], Sums::default());
        held.products::<64>(&rows, &lines, &mut sums);
        assert_eq!((sums.0[2], sums.0[3]), ([64; PANEL], [0; PANEL]));
        drop(held);
        assert!(Tiles::of(PAIR).is_some());
    }
}
