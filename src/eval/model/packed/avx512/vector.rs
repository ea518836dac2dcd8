//! Functions of sixteen numbers at a time, with the instructions of AVX-512.

use super::super::lines::LANES;
use std::arch::x86_64::{
    __m512, _CMP_LT_OQ, _mm_storeu_si128, _mm512_abs_ps, _mm512_add_epi32, _mm512_add_ps, _mm512_cmp_ps_mask,
    _mm512_cvtepi32_epi8, _mm512_cvtps_epi32, _mm512_div_ps, _mm512_fmadd_ps, _mm512_fnmadd_ps,
    _mm512_loadu_ps, _mm512_mask_sub_ps, _mm512_max_epi32, _mm512_max_ps, _mm512_min_epi32, _mm512_mul_ps,
    _mm512_reduce_add_ps, _mm512_roundscale_ps, _mm512_scalef_ps, _mm512_set1_epi32, _mm512_set1_ps,
    _mm512_setzero_ps, _mm512_storeu_ps, _mm512_sub_ps,
};

/// The sixteen numbers.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn load(from: &[f32; LANES]) -> __m512 {
    // SAFETY: the array has as many numbers as are read.
    unsafe { _mm512_loadu_ps(from.as_ptr()) }
}

/// Writes the sixteen numbers.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn store(to: &mut [f32; LANES], value: __m512) {
    // SAFETY: the array has as many numbers as are written.
    unsafe { _mm512_storeu_ps(to.as_mut_ptr(), value) }
}

/// `value` times `factor` plus `zero`, rounded (a half to the even one), from 0 to 255.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn store_bytes(to: &mut [u8; LANES], value: __m512, factor: __m512, zero: i32) {
    let whole = _mm512_cvtps_epi32(_mm512_mul_ps(value, factor));
    let moved = _mm512_add_epi32(whole, _mm512_set1_epi32(zero));
    let inside = _mm512_min_epi32(_mm512_max_epi32(moved, _mm512_set1_epi32(0)), _mm512_set1_epi32(255));
    // SAFETY: the array has as many bytes as are written.
    unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(inside)) }
}

/// e to the power of each, of what is below -87 as of -87: numbers closer to 0 than that cost the processor many times as much.
/// Within 2 units of the last place (Cephes' polynomial).
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn exp(x: __m512) -> __m512 {
    const TERMS: [f32; 6] =
        [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_6e-1, 0.5];
    let x = _mm512_max_ps(x, _mm512_set1_ps(-87.0));
    let whole = _mm512_roundscale_ps::<8>(_mm512_mul_ps(x, _mm512_set1_ps(std::f32::consts::LOG2_E)));
    // ln 2 in two parts: the first has so few bits that its product with a whole number is exact.
    let rest = _mm512_fnmadd_ps(whole, _mm512_set1_ps(0.693_359_4), x);
    let rest = _mm512_fnmadd_ps(whole, _mm512_set1_ps(-2.121_944_4e-4), rest);
    let mut sum = _mm512_set1_ps(TERMS[0]);
    for term in &TERMS[1..] {
        sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(*term));
    }
    let sum = _mm512_fmadd_ps(sum, _mm512_mul_ps(rest, rest), _mm512_add_ps(rest, _mm512_set1_ps(1.0)));
    _mm512_scalef_ps(sum, whole)
}

/// x times the share of the normal distribution below x (Abramowitz and Stegun 7.1.26, within 2e-7 of x).
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn gelu(x: __m512) -> __m512 {
    const TERMS: [f32; 5] = [1.061_405_4, -1.453_152, 1.421_413_7, -0.284_496_75, 0.254_829_6];
    let z = _mm512_mul_ps(_mm512_abs_ps(x), _mm512_set1_ps(std::f32::consts::FRAC_1_SQRT_2));
    let one = _mm512_set1_ps(1.0);
    let t = _mm512_div_ps(one, _mm512_fmadd_ps(z, _mm512_set1_ps(0.327_591_1), one));
    let mut sum = _mm512_set1_ps(TERMS[0]);
    for term in &TERMS[1..] {
        sum = _mm512_fmadd_ps(sum, t, _mm512_set1_ps(*term));
    }
    let tail = exp(_mm512_sub_ps(_mm512_setzero_ps(), _mm512_mul_ps(z, z)));
    // Half of what lies beyond |x|, on both sides.
    let beyond = _mm512_mul_ps(_mm512_mul_ps(_mm512_mul_ps(sum, t), tail), _mm512_set1_ps(0.5));
    let is_positive = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(_mm512_setzero_ps(), x);
    _mm512_mul_ps(x, _mm512_mask_sub_ps(beyond, is_positive, one, beyond))
}

/// The sum of all numbers.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn sum<const N: usize>(values: &[__m512; N]) -> f32 {
    let mut total = _mm512_setzero_ps();
    for value in values {
        total = _mm512_add_ps(total, *value);
    }
    _mm512_reduce_add_ps(total)
}
