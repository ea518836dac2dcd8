//! How eight-bit weights lie in memory, for vectors and for tiles.

use super::vector::LANES;

/// Columns that are computed together: two vectors. A head of the attention has as many.
pub(super) const PANEL: usize = 2 * LANES;

/// Sixteen columns by four rows of weights, a line of the cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Line(pub [i8; 64]);
