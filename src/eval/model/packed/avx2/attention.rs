//! Attention of one head over one text.

use super::super::attention::{MAX_TOKENS, Room, STRIDE};
use super::super::lines::{LANES, PANEL};
use super::multiply::{Half, tile};
use super::vector::{EIGHT, exp, load, most, store, sum};
use std::arch::x86_64::{
    _mm256_add_ps, _mm256_max_ps, _mm256_mul_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_sub_ps,
};

/// Queries that are computed together: with two vectors each, twelve of the sixteen registers hold sums.
const ROWS: usize = 6;

/// Gives `end` each query's row, and each half of its mixture of the values. Queries are scaled, and all three have rows of
/// [`PANEL`] numbers; keys and values as many, up to [`MAX_TOKENS`].
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn attend(
    queries: &[f32],
    keys: &[f32],
    values: &[f32],
    room: &mut Room,
    mut end: impl FnMut(usize, usize, Half),
) {
    let tokens = keys.len() / PANEL;
    let width = tokens.next_multiple_of(LANES);
    assert!(tokens > 0 && width <= MAX_TOKENS && values.len() == keys.len());
    room.turn(keys, width);
    let count = queries.len() / PANEL;
    let mut at = 0;
    while at < count {
        let rest = &queries[at * PANEL..];
        let mut tell = |row: usize, half: usize, mixed: Half| end(at + row, half, mixed);
        at += match count - at {
            ROWS.. => rows::<ROWS>(rest, values, tokens, room, &mut tell),
            3.. => rows::<3>(rest, values, tokens, room, &mut tell),
            _ => rows::<1>(rest, values, tokens, room, &mut tell),
        };
    }
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn rows<const R: usize>(
    queries: &[f32],
    values: &[f32],
    tokens: usize,
    room: &mut Room,
    end: &mut impl FnMut(usize, usize, Half),
) -> usize {
    let width = tokens.next_multiple_of(LANES);
    for first in (0..width).step_by(LANES) {
        let found = tile::<R, PANEL>(queries, PANEL, &room.keys[first..], width);
        for (row, found) in found.iter().enumerate() {
            let to = &mut room.weights[row * STRIDE + first..][..LANES];
            for (to, found) in to.as_chunks_mut::<EIGHT>().0.iter_mut().zip(found) {
                store(to, *found);
            }
        }
    }
    let mut totals = [0.0; R];
    for (row, total) in totals.iter_mut().enumerate() {
        *total = weigh(&mut room.weights[row * STRIDE..][..width], tokens);
    }
    for half in 0..2 {
        let mixed = tile::<R, STRIDE>(&room.weights, tokens, &values[half * LANES..], PANEL);
        for (row, mixed) in mixed.into_iter().enumerate() {
            let share = _mm256_set1_ps(1.0 / totals[row]);
            end(row, half, mixed.map(|part| _mm256_mul_ps(part, share)));
        }
    }
    R
}

/// Products become weights, of which the sum is given; what lies behind `tokens` has none.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn weigh(row: &mut [f32], tokens: usize) -> f32 {
    row[tokens..].fill(f32::NEG_INFINITY);
    let row = row.as_chunks_mut::<EIGHT>().0;
    let mut highest = _mm256_set1_ps(f32::MIN);
    for part in row.iter() {
        highest = _mm256_max_ps(highest, load(part));
    }
    let highest = _mm256_set1_ps(most(highest));
    let mut total = _mm256_setzero_ps();
    for part in row.iter_mut() {
        let weight = exp(_mm256_sub_ps(load(part), highest));
        total = _mm256_add_ps(total, weight);
        store(part, weight);
    }
    sum(&[total])
}
