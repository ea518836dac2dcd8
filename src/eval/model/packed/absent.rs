//! Processors without the instructions: no encoder runs so.

use crate::eval::model::error::ModelError;
use std::convert::Infallible;

/// Memory of one run; here none.
#[derive(Default)]
pub struct Scratch;

/// An encoder of which there is none.
pub struct Packed(Infallible);

impl Packed {
    /// None.
    pub fn open(_name: &'static str, _file: &bytes::Bytes) -> Option<Self> {
        None
    }

    /// None.
    #[cfg(test)]
    pub fn each(_name: &'static str, _file: &bytes::Bytes) -> Vec<Self> {
        Vec::new()
    }

    /// Never called.
    pub fn share_words(&mut self, _words: &'static [u8]) {
        match self.0 {}
    }

    /// Never called.
    pub fn numbers_a_token(&self) -> Option<usize> {
        match self.0 {}
    }

    /// Never called.
    ///
    /// # Errors
    /// Never.
    pub fn run(
        &self,
        _texts: &[(&[i32], usize)],
        _scratch: &mut Scratch,
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        match self.0 {}
    }
}
