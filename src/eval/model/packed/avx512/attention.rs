//! Attention of one head over one text.

use super::super::attention::{MAX_TOKENS, MOST_ROWS, Room, STRIDE};
use super::super::lines::{LANES, PANEL};
use super::multiply::tile;
use super::vector::{exp, load, store, sum};
use std::arch::x86_64::{
    __m512, _mm512_add_ps, _mm512_max_ps, _mm512_mul_ps, _mm512_reduce_max_ps, _mm512_set1_ps,
    _mm512_setzero_ps, _mm512_sub_ps,
};

/// Queries that are computed together.
const ROWS: usize = MOST_ROWS;

/// Gives `end` each query's row and its mixture of the values. Queries are scaled, and all three have rows of [`PANEL`]
/// numbers; keys and values as many, up to [`MAX_TOKENS`].
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn attend(
    queries: &[f32],
    keys: &[f32],
    values: &[f32],
    room: &mut Room,
    mut end: impl FnMut(usize, [__m512; 2]),
) {
    let tokens = keys.len() / PANEL;
    let width = tokens.next_multiple_of(PANEL);
    assert!(tokens > 0 && width <= MAX_TOKENS && values.len() == keys.len());
    room.turn(keys, width);
    let count = queries.len() / PANEL;
    let mut at = 0;
    while at < count {
        let rest = &queries[at * PANEL..];
        let mut tell = |row: usize, mixed: [__m512; 2]| end(at + row, mixed);
        at += match count - at {
            ROWS.. => rows::<ROWS>(rest, values, tokens, room, &mut tell),
            4.. => rows::<4>(rest, values, tokens, room, &mut tell),
            _ => rows::<1>(rest, values, tokens, room, &mut tell),
        };
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn rows<const R: usize>(
    queries: &[f32],
    values: &[f32],
    tokens: usize,
    room: &mut Room,
    end: &mut impl FnMut(usize, [__m512; 2]),
) -> usize {
    let width = tokens.next_multiple_of(PANEL);
    for first in (0..width).step_by(PANEL) {
        let found = tile::<R, PANEL>(queries, PANEL, &room.keys[first..], width);
        for (row, found) in found.iter().enumerate() {
            let to = &mut room.weights[row * STRIDE + first..][..PANEL];
            for (to, found) in to.as_chunks_mut::<LANES>().0.iter_mut().zip(found) {
                store(to, *found);
            }
        }
    }
    let mut totals = [0.0; R];
    for (row, total) in totals.iter_mut().enumerate() {
        *total = weigh(&mut room.weights[row * STRIDE..][..width], tokens);
    }
    let mixed = tile::<R, STRIDE>(&room.weights, tokens, values, PANEL);
    for (row, mixed) in mixed.into_iter().enumerate() {
        let share = _mm512_set1_ps(1.0 / totals[row]);
        end(row, mixed.map(|half| _mm512_mul_ps(half, share)));
    }
    R
}

/// Products become weights, of which the sum is given; what lies behind `tokens` has none.
#[target_feature(enable = "avx512f")]
#[inline]
fn weigh(row: &mut [f32], tokens: usize) -> f32 {
    row[tokens..].fill(f32::NEG_INFINITY);
    let row = row.as_chunks_mut::<LANES>().0;
    let mut most = _mm512_set1_ps(f32::MIN);
    for part in row.iter() {
        most = _mm512_max_ps(most, load(part));
    }
    let most = _mm512_set1_ps(_mm512_reduce_max_ps(most));
    let mut total = _mm512_setzero_ps();
    for part in row.iter_mut() {
        let weight = exp(_mm512_sub_ps(load(part), most));
        total = _mm512_add_ps(total, weight);
        store(part, weight);
    }
    sum(&[total])
}
