//! How eight-bit weights lie in memory, for vectors and for tiles.

/// Numbers in half a panel: those of one 512-bit vector, or of two of 256 bits.
pub(super) const LANES: usize = 16;

/// Columns that are computed together. A head of the attention has as many.
pub(super) const PANEL: usize = 2 * LANES;

/// Sixteen columns by four rows of weights, a line of the cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Line(pub [i8; 64]);

/// A linear layer with eight-bit weights, packed for the products of bytes with them. It reads bytes that stand for numbers from `zero` on.
pub(super) struct Linear {
    pub lines: Vec<Line>,
    /// What the zero point adds to each sum, negative.
    pub start: Vec<i32>,
    pub scale: Vec<f32>,
    pub bias: Vec<f32>,
}

impl Linear {
    /// `weights` by row, one row an input; none where a length is another than the others say, or no multiple of a panel.
    pub(super) fn new(weights: &[i8], scale: &[f32], bias: &[f32], zero: u8) -> Option<Self> {
        let columns = scale.len();
        let depth = weights.len().checked_div(columns)?;
        if bias.len() != columns
            || depth * columns != weights.len()
            || !depth.is_multiple_of(4)
            || !columns.is_multiple_of(PANEL)
        {
            return None;
        }
        let mut lines = Vec::with_capacity(weights.len() / 64);
        for panel in 0..columns / PANEL {
            for row in (0..depth).step_by(4) {
                for first in [panel * PANEL, panel * PANEL + LANES] {
                    let place = |at: usize| weights[(row + at % 4) * columns + first + at / 4];
                    lines.push(Line(std::array::from_fn(place)));
                }
            }
        }
        let total =
            |column: usize| -> i32 { weights[column..].iter().step_by(columns).map(|w| i32::from(*w)).sum() };
        let start = (0..columns).map(|column| -i32::from(zero) * total(column)).collect();
        Some(Self { lines, start, scale: scale.to_vec(), bias: bias.to_vec() })
    }

    /// Whether two of the weights, each times 255, make a whole number of 16 bits.
    pub(super) fn is_seven_bits(&self) -> bool {
        self.lines.iter().all(|line| line.0.iter().all(|weight| (-64..=64).contains(weight)))
    }

    /// How many panels of [`PANEL`] columns it has.
    pub(super) fn panels(&self) -> usize {
        self.scale.len() / PANEL
    }
}
