//! All work of the layers, as the way through them asks for it.

use super::super::attention::Room;
use super::super::lines::{Linear, PANEL};
use super::super::weights::{INNER, Norm, Steps, WIDTH};
use super::super::work::{OneHead, Work};
use super::vector::gelu;
use super::{attention, multiply, rows};
use std::ops::Range;

/// With AVX-512 and its eight-bit products.
pub struct Avx512;

impl Avx512 {
    /// Whether this processor has the instructions.
    pub fn is_there() -> bool {
        is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni")
    }
}

impl Work for Avx512 {
    #[target_feature(enable = "avx512f,avx512vnni")]
    unsafe fn normalise(numbers: &mut [f32], norm: &Norm) {
        numbers.as_chunks_mut::<WIDTH>().0.iter_mut().for_each(|row| rows::normalise(row, norm));
    }

    #[target_feature(enable = "avx512f,avx512vnni")]
    unsafe fn to_bytes(numbers: &[f32], steps: &Steps, bytes: &mut [u8]) {
        rows::to_bytes(numbers, steps, bytes);
    }

    #[target_feature(enable = "avx512f,avx512vnni")]
    unsafe fn by_head(bytes: &[u8], linear: &Linear, panels: Range<usize>, to: &mut [f32]) {
        let (tokens, first) = (bytes.len() / WIDTH, panels.start);
        multiply::multiply::<WIDTH>(bytes, linear, panels, |row, panel, found| {
            rows::put(to, (panel - first) * tokens + row, found);
        });
    }

    #[target_feature(enable = "avx512f,avx512vnni")]
    unsafe fn add<const DEPTH: usize>(bytes: &[u8], linear: &Linear, numbers: &mut [f32]) {
        multiply::multiply::<DEPTH>(bytes, linear, 0..linear.panels(), |row, panel, found| {
            rows::add(numbers, row, panel, found);
        });
    }

    #[target_feature(enable = "avx512f,avx512vnni")]
    unsafe fn activate(bytes: &[u8], linear: &Linear, steps: &Steps, wide: &mut [u8]) {
        multiply::multiply::<WIDTH>(bytes, linear, 0..linear.panels(), |row, panel, found| {
            let to = &mut wide[row * INNER + panel * PANEL..];
            rows::panel_to_bytes(
                to,
                found.map(|half| gelu(half)),
                &steps.factor[panel * PANEL..],
                steps.zero,
            );
        });
    }

    #[target_feature(enable = "avx512f,avx512vnni")]
    unsafe fn attend(head: OneHead<'_>, room: &mut Room, to: &mut [u8]) {
        attention::attend(head.queries, head.keys, head.values, room, |row, mixed| {
            rows::panel_to_bytes(&mut to[row * WIDTH..], mixed, head.factors, head.zero);
        });
    }
}
