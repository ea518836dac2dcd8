//! What the way through the layers asks of a processor.

use super::attention::Room;
use super::lines::Linear;
use super::weights::{Norm, Steps};
use std::ops::Range;

/// As the models were trained.
pub(super) const EPSILON: f32 = 1e-12;

/// The work of the layers with the instructions of one make of processors.
///
/// # Safety
/// Of all functions: the processor has the instructions.
pub(super) trait Work {
    /// Brings the numbers of each token to mean 0 and variance 1, then to the norm's own.
    unsafe fn normalise(numbers: &mut [f32], norm: &Norm);

    /// The bytes of all tokens, for the product that reads them.
    unsafe fn to_bytes(numbers: &[f32], steps: &Steps, bytes: &mut [u8]);

    /// The products of each row of bytes with these panels, head by head in `to`.
    unsafe fn by_head(bytes: &[u8], linear: &Linear, panels: Range<usize>, to: &mut [f32]);

    /// Adds the products of rows of `DEPTH` bytes to the numbers of the tokens.
    unsafe fn add<const DEPTH: usize>(bytes: &[u8], linear: &Linear, numbers: &mut [f32]);

    /// The products of each row through the activation (GELU), as bytes.
    unsafe fn activate(bytes: &[u8], linear: &Linear, steps: &Steps, wide: &mut [u8]);

    /// One head over one text: each query's mixture of the values, as bytes. Those of the first query stand at the beginning of
    /// `to`, those of the next a token later.
    unsafe fn attend(head: OneHead<'_>, room: &mut Room, to: &mut [u8]);
}

/// One head of one text. All three have rows of [`super::lines::PANEL`] numbers.
#[derive(Clone, Copy)]
pub(super) struct OneHead<'a> {
    /// Scaled.
    pub queries: &'a [f32],
    /// As many as there are values, up to [`super::attention::MAX_TOKENS`].
    pub keys: &'a [f32],
    pub values: &'a [f32],
    /// How a mixture becomes bytes: what its numbers are multiplied by, and what is added then.
    pub factors: &'a [f32],
    pub zero: i32,
}
