//! Functions of eight numbers at a time, with the instructions of AVX2.

use std::arch::x86_64::{
    __m256, _CMP_LT_OQ, _MM_FROUND_NO_EXC, _MM_FROUND_TO_NEAREST_INT, _mm_add_ps, _mm_add_ss, _mm_cvtss_f32,
    _mm_max_ps, _mm_max_ss, _mm_movehdup_ps, _mm_movehl_ps, _mm_packus_epi16, _mm_storel_epi64,
    _mm256_add_epi32, _mm256_add_ps, _mm256_andnot_ps, _mm256_blendv_ps, _mm256_castps256_ps128,
    _mm256_castsi256_ps, _mm256_castsi256_si128, _mm256_cmp_ps, _mm256_cvtps_epi32, _mm256_div_ps,
    _mm256_extractf128_ps, _mm256_fmadd_ps, _mm256_fnmadd_ps, _mm256_loadu_ps, _mm256_max_epi32,
    _mm256_max_ps, _mm256_min_epi32, _mm256_mul_ps, _mm256_packs_epi32, _mm256_permute4x64_epi64,
    _mm256_round_ps, _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_ps, _mm256_slli_epi32,
    _mm256_storeu_ps, _mm256_sub_ps,
};

/// Numbers in a vector.
pub(super) const EIGHT: usize = 8;

/// The eight numbers.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn load(from: &[f32; EIGHT]) -> __m256 {
    // SAFETY: the array has as many numbers as are read.
    unsafe { _mm256_loadu_ps(from.as_ptr()) }
}

/// Writes the eight numbers.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn store(to: &mut [f32; EIGHT], value: __m256) {
    // SAFETY: the array has as many numbers as are written.
    unsafe { _mm256_storeu_ps(to.as_mut_ptr(), value) }
}

/// `value` times `factor` plus `zero`, rounded (a half to the even one), from 0 to 255.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn store_bytes(to: &mut [u8; EIGHT], value: __m256, factor: __m256, zero: i32) {
    let whole = _mm256_cvtps_epi32(_mm256_mul_ps(value, factor));
    let moved = _mm256_add_epi32(whole, _mm256_set1_epi32(zero));
    let inside = _mm256_min_epi32(_mm256_max_epi32(moved, _mm256_set1_epi32(0)), _mm256_set1_epi32(255));
    // Both halves of a vector are narrowed by themselves: the lower four of each stand at 0 and 2 then.
    let halves = _mm256_packs_epi32(inside, inside);
    let together = _mm256_castsi256_si128(_mm256_permute4x64_epi64::<0b1000>(halves));
    // SAFETY: the array has as many bytes as are written.
    unsafe { _mm_storel_epi64(to.as_mut_ptr().cast(), _mm_packus_epi16(together, together)) }
}

/// e to the power of each, of what is below -87 as of -87: numbers closer to 0 than that cost the processor many times as much.
/// Within 2 units of the last place (Cephes' polynomial) for what is at most 88.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn exp(x: __m256) -> __m256 {
    const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    const TERMS: [f32; 6] =
        [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_6e-1, 0.5];
    let x = _mm256_max_ps(x, _mm256_set1_ps(-87.0));
    let whole = _mm256_round_ps::<NEAREST>(_mm256_mul_ps(x, _mm256_set1_ps(std::f32::consts::LOG2_E)));
    // ln 2 in two parts: the first has so few bits that its product with a whole number is exact.
    let rest = _mm256_fnmadd_ps(whole, _mm256_set1_ps(0.693_359_4), x);
    let rest = _mm256_fnmadd_ps(whole, _mm256_set1_ps(-2.121_944_4e-4), rest);
    let mut sum = _mm256_set1_ps(TERMS[0]);
    for term in &TERMS[1..] {
        sum = _mm256_fmadd_ps(sum, rest, _mm256_set1_ps(*term));
    }
    let sum = _mm256_fmadd_ps(sum, _mm256_mul_ps(rest, rest), _mm256_add_ps(rest, _mm256_set1_ps(1.0)));
    // Two to the power of `whole`: its exponent, written where an f32 has it.
    let exponent = _mm256_add_epi32(_mm256_cvtps_epi32(whole), _mm256_set1_epi32(127));
    _mm256_mul_ps(sum, _mm256_castsi256_ps(_mm256_slli_epi32::<23>(exponent)))
}

/// x times the share of the normal distribution below x (Abramowitz and Stegun 7.1.26, within 2e-7 of x).
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn gelu(x: __m256) -> __m256 {
    const TERMS: [f32; 5] = [1.061_405_4, -1.453_152, 1.421_413_7, -0.284_496_75, 0.254_829_6];
    let size = _mm256_andnot_ps(_mm256_set1_ps(-0.0), x);
    let z = _mm256_mul_ps(size, _mm256_set1_ps(std::f32::consts::FRAC_1_SQRT_2));
    let one = _mm256_set1_ps(1.0);
    let t = _mm256_div_ps(one, _mm256_fmadd_ps(z, _mm256_set1_ps(0.327_591_1), one));
    let mut sum = _mm256_set1_ps(TERMS[0]);
    for term in &TERMS[1..] {
        sum = _mm256_fmadd_ps(sum, t, _mm256_set1_ps(*term));
    }
    let tail = exp(_mm256_sub_ps(_mm256_setzero_ps(), _mm256_mul_ps(z, z)));
    // Half of what lies beyond |x|, on both sides.
    let beyond = _mm256_mul_ps(_mm256_mul_ps(_mm256_mul_ps(sum, t), tail), _mm256_set1_ps(0.5));
    let is_positive = _mm256_cmp_ps::<_CMP_LT_OQ>(_mm256_setzero_ps(), x);
    _mm256_mul_ps(x, _mm256_blendv_ps(beyond, _mm256_sub_ps(one, beyond), is_positive))
}

/// The sum of all numbers.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn sum(values: &[__m256]) -> f32 {
    let mut total = _mm256_setzero_ps();
    for value in values {
        total = _mm256_add_ps(total, *value);
    }
    let four = _mm_add_ps(_mm256_castps256_ps128(total), _mm256_extractf128_ps::<1>(total));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
}

/// The greatest of the numbers.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn most(value: __m256) -> f32 {
    let four = _mm_max_ps(_mm256_castps256_ps128(value), _mm256_extractf128_ps::<1>(value));
    let two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)))
}

#[cfg(test)]
mod tests {
    use super::super::work::Avx2;
    use super::*;

    #[target_feature(enable = "avx2,fma")]
    fn each(values: [f32; EIGHT]) -> ([f32; EIGHT], [f32; EIGHT], [u8; EIGHT]) {
        let (mut powers, mut activated, mut bytes) = ([0.0; EIGHT], [0.0; EIGHT], [0; EIGHT]);
        store(&mut powers, exp(load(&values)));
        store(&mut activated, gelu(load(&values)));
        store_bytes(&mut bytes, load(&values), _mm256_set1_ps(2.0), 100);
        (powers, activated, bytes)
    }

    #[test]
    fn functions_are_near_to_what_they_stand_for() {
        if !Avx2::is_there() {
            return;
        }
        let values = [-87.0, -20.5, -1.25, -0.0, 0.25, 1.0, 3.5, 80.0];
        // SAFETY: the processor has the instructions.
        let (powers, activated, bytes) = unsafe { each(values) };
        for (value, found) in values.iter().zip(powers) {
            assert!((found / value.exp() - 1.0).abs() < 1e-6, "e to the power of {value} is not {found}");
        }
        // x times the share of the normal distribution below x, from a table.
        let table = [0.0, 0.0, -0.132_062, 0.0, 0.149_677, 0.841_345, 3.499_186, 80.0];
        for (found, expected) in activated.iter().zip(table) {
            assert!((found - expected).abs() < 1e-5, "{found} is not {expected}");
        }
        assert_eq!(bytes, [0, 59, 98, 100, 100, 102, 107, 255]);
    }

    #[target_feature(enable = "avx2,fma")]
    fn together(values: [f32; EIGHT]) -> (f32, f32) {
        (sum(&[load(&values), load(&values)]), most(load(&values)))
    }

    #[test]
    fn all_eight_are_counted() {
        if !Avx2::is_there() {
            return;
        }
        for place in 0..EIGHT {
            let mut values = [1.0; EIGHT];
            values[place] = 5.0;
            // SAFETY: the processor has the instructions.
            assert_eq!(unsafe { together(values) }, (24.0, 5.0));
        }
    }
}
