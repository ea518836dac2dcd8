//! What is done with the numbers of each token.

use super::super::lines::{LANES, PANEL};
use super::super::weights::{Norm, Steps, WIDTH};
use super::super::work::EPSILON;
use super::vector::{load, store, store_bytes, sum};
use std::arch::x86_64::{
    __m512, _mm512_add_ps, _mm512_fmadd_ps, _mm512_mul_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_sub_ps,
};

/// Vectors of a token.
const PARTS: usize = WIDTH / LANES;

/// Brings the numbers of a token to mean 0 and variance 1, then to the norm's own.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn normalise(row: &mut [f32; WIDTH], norm: &Norm) {
    let parts = row.as_chunks_mut::<LANES>().0;
    let mut values = [_mm512_setzero_ps(); PARTS];
    for (value, part) in values.iter_mut().zip(parts.iter()) {
        *value = load(part);
    }
    let mean = _mm512_set1_ps(sum(&values) / WIDTH as f32);
    let mut squares = _mm512_setzero_ps();
    for value in &mut values {
        *value = _mm512_sub_ps(*value, mean);
        squares = _mm512_fmadd_ps(*value, *value, squares);
    }
    let variance = sum(&[squares]) / WIDTH as f32;
    let by = _mm512_set1_ps(1.0 / (variance + EPSILON).sqrt());
    let (weights, biases) = (norm.weight.as_chunks::<LANES>().0, norm.bias.as_chunks::<LANES>().0);
    for (at, part) in parts.iter_mut().enumerate() {
        store(part, _mm512_fmadd_ps(_mm512_mul_ps(values[at], by), load(&weights[at]), load(&biases[at])));
    }
}

/// The bytes of some tokens, for the product that reads them.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn to_bytes(numbers: &[f32], steps: &Steps, bytes: &mut [u8]) {
    let factors = steps.factor.as_chunks::<LANES>().0;
    for (numbers, bytes) in numbers.as_chunks::<WIDTH>().0.iter().zip(bytes.as_chunks_mut::<WIDTH>().0) {
        let parts = numbers.as_chunks::<LANES>().0.iter().zip(bytes.as_chunks_mut::<LANES>().0);
        for ((numbers, bytes), factor) in parts.zip(factors) {
            store_bytes(bytes, load(numbers), load(factor), steps.zero);
        }
    }
}

/// The bytes of a panel.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn panel_to_bytes(to: &mut [u8], found: [__m512; 2], factors: &[f32], zero: i32) {
    let factors = factors.as_chunks::<LANES>().0;
    for ((to, found), factor) in to[..PANEL].as_chunks_mut::<LANES>().0.iter_mut().zip(found).zip(factors) {
        store_bytes(to, found, load(factor), zero);
    }
}

/// Puts a panel into its place.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn put(to: &mut [f32], at: usize, found: [__m512; 2]) {
    let to = to[at * PANEL..][..PANEL].as_chunks_mut::<LANES>().0;
    to.iter_mut().zip(found).for_each(|(to, found)| store(to, found));
}

/// Adds a panel to the numbers of a token.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn add(numbers: &mut [f32], row: usize, panel: usize, found: [__m512; 2]) {
    let to = numbers[row * WIDTH + panel * PANEL..][..PANEL].as_chunks_mut::<LANES>().0;
    to.iter_mut().zip(found).for_each(|(to, found)| store(to, _mm512_add_ps(load(to), found)));
}
