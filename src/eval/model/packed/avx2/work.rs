//! All work of the layers, as the way through them asks for it.

use super::super::attention::Room;
use super::super::lines::{LANES, Linear, PANEL};
use super::super::weights::{INNER, Norm, Steps, WIDTH};
use super::super::work::{OneHead, Work};
use super::vector::gelu;
use super::{attention, multiply, rows};
use std::ops::Range;

/// With AVX2 and FMA.
pub struct Avx2;

impl Avx2 {
    /// Whether this processor has the instructions.
    pub fn is_there() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
    }
}

impl Work for Avx2 {
    #[target_feature(enable = "avx2,fma")]
    unsafe fn normalise(numbers: &mut [f32], norm: &Norm) {
        numbers.as_chunks_mut::<WIDTH>().0.iter_mut().for_each(|row| rows::normalise(row, norm));
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn to_bytes(numbers: &[f32], steps: &Steps, bytes: &mut [u8]) {
        rows::to_bytes(numbers, steps, bytes);
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn by_head(bytes: &[u8], linear: &Linear, panels: Range<usize>, to: &mut [f32]) {
        let (tokens, first) = (bytes.len() / WIDTH, panels.start);
        multiply::multiply::<WIDTH>(bytes, linear, panels, |row, half, found| {
            let at = (half / 2 - first) * tokens + row;
            rows::put(&mut to[at * PANEL + half % 2 * LANES..], found);
        });
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn add<const DEPTH: usize>(bytes: &[u8], linear: &Linear, numbers: &mut [f32]) {
        multiply::multiply::<DEPTH>(bytes, linear, 0..linear.panels(), |row, half, found| {
            rows::add(&mut numbers[row * WIDTH + half * LANES..], found);
        });
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn activate(bytes: &[u8], linear: &Linear, steps: &Steps, wide: &mut [u8]) {
        multiply::multiply::<WIDTH>(bytes, linear, 0..linear.panels(), |row, half, found| {
            let to = &mut wide[row * INNER + half * LANES..];
            rows::half_to_bytes(to, found.map(|part| gelu(part)), &steps.factor[half * LANES..], steps.zero);
        });
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn attend(head: OneHead<'_>, room: &mut Room, to: &mut [u8]) {
        attention::attend(head.queries, head.keys, head.values, room, |row, half, mixed| {
            let to = &mut to[row * WIDTH + half * LANES..];
            rows::half_to_bytes(to, mixed, &head.factors[half * LANES..], head.zero);
        });
    }
}
