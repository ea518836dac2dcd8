//! What is done with the numbers of each token.

use super::super::lines::LANES;
use super::super::weights::{Norm, Steps, WIDTH};
use super::super::work::EPSILON;
use super::multiply::Half;
use super::vector::{EIGHT, load, store, store_bytes, sum};
use std::arch::x86_64::{
    _mm256_add_ps, _mm256_fmadd_ps, _mm256_mul_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_sub_ps,
};

/// Brings the numbers of a token to mean 0 and variance 1, then to the norm's own.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn normalise(row: &mut [f32; WIDTH], norm: &Norm) {
    let parts = row.as_chunks_mut::<EIGHT>().0;
    let mut total = _mm256_setzero_ps();
    for part in parts.iter() {
        total = _mm256_add_ps(total, load(part));
    }
    let mean = _mm256_set1_ps(sum(&[total]) / WIDTH as f32);
    let mut squares = _mm256_setzero_ps();
    for part in parts.iter() {
        let value = _mm256_sub_ps(load(part), mean);
        squares = _mm256_fmadd_ps(value, value, squares);
    }
    let variance = sum(&[squares]) / WIDTH as f32;
    let by = _mm256_set1_ps(1.0 / (variance + EPSILON).sqrt());
    let (weights, biases) = (norm.weight.as_chunks::<EIGHT>().0, norm.bias.as_chunks::<EIGHT>().0);
    for (part, (weight, bias)) in parts.iter_mut().zip(weights.iter().zip(biases)) {
        let value = _mm256_mul_ps(_mm256_sub_ps(load(part), mean), by);
        store(part, _mm256_fmadd_ps(value, load(weight), load(bias)));
    }
}

/// The bytes of some tokens, for the product that reads them.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn to_bytes(numbers: &[f32], steps: &Steps, bytes: &mut [u8]) {
    let factors = steps.factor.as_chunks::<EIGHT>().0;
    for (numbers, bytes) in numbers.as_chunks::<WIDTH>().0.iter().zip(bytes.as_chunks_mut::<WIDTH>().0) {
        let parts = numbers.as_chunks::<EIGHT>().0.iter().zip(bytes.as_chunks_mut::<EIGHT>().0);
        for ((numbers, bytes), factor) in parts.zip(factors) {
            store_bytes(bytes, load(numbers), load(factor), steps.zero);
        }
    }
}

/// The bytes of half a panel.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn half_to_bytes(to: &mut [u8], found: Half, factors: &[f32], zero: i32) {
    let factors = factors.as_chunks::<EIGHT>().0;
    for ((to, found), factor) in to[..LANES].as_chunks_mut::<EIGHT>().0.iter_mut().zip(found).zip(factors) {
        store_bytes(to, found, load(factor), zero);
    }
}

/// Puts half a panel to where `to` begins.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn put(to: &mut [f32], found: Half) {
    to[..LANES].as_chunks_mut::<EIGHT>().0.iter_mut().zip(found).for_each(|(to, found)| store(to, found));
}

/// Adds half a panel to the numbers that `to` begins with.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn add(to: &mut [f32], found: Half) {
    let to = to[..LANES].as_chunks_mut::<EIGHT>().0;
    to.iter_mut().zip(found).for_each(|(to, found)| store(to, _mm256_add_ps(load(to), found)));
}
