//! The memory of attention.

use super::lines::{LANES, PANEL};

/// Tokens of a text at most.
pub(super) const MAX_TOKENS: usize = 512;

/// The weights of a query's tokens stand in rows of this length: no power of two, so that rows do not meet in one set of the cache.
pub(super) const STRIDE: usize = MAX_TOKENS + LANES;

/// Queries that are computed together at most.
pub(super) const MOST_ROWS: usize = 12;

/// Memory of one head's work.
pub(super) struct Room {
    /// The keys, one dimension a row.
    pub keys: Vec<f32>,
    /// What each query takes of each value.
    pub weights: Vec<f32>,
}

impl Default for Room {
    /// For texts of up to [`MAX_TOKENS`].
    fn default() -> Self {
        Self { keys: vec![0.0; PANEL * MAX_TOKENS], weights: vec![0.0; MOST_ROWS * STRIDE] }
    }
}

impl Room {
    /// Lays the keys of a head so that each dimension is a row of `width` numbers.
    pub(super) fn turn(&mut self, keys: &[f32], width: usize) {
        assert!(width <= MAX_TOKENS && keys.len() <= width * PANEL);
        for (token, key) in keys.as_chunks::<PANEL>().0.iter().enumerate() {
            for (dimension, value) in key.iter().enumerate() {
                self.keys[dimension * width + token] = *value;
            }
        }
    }
}
