//! An encoder that runs without padding, if this processor can.

use super::attention::MAX_TOKENS;
use super::avx2::Avx2;
use super::avx512::Avx512;
use super::forward::{Input, Scratch, forward};
use super::tensors::Tensors;
use super::weights::{Layer, WIDTH, Weights};
use crate::eval::model::error::ModelError;
use bytes::Bytes;

/// An encoder with its weights packed for [`forward`].
pub struct Packed {
    name: &'static str,
    weights: Weights,
    way: Way,
}

/// The instructions that are used.
#[derive(Clone, Copy)]
enum Way {
    Avx512,
    Avx2,
}

impl Way {
    /// The quicker one first.
    const ALL: [Self; 2] = [Self::Avx512, Self::Avx2];

    fn is_there(self) -> bool {
        match self {
            Self::Avx512 => Avx512::is_there(),
            Self::Avx2 => Avx2::is_there(),
        }
    }

    /// Whether its products of these weights are exact.
    fn is_exact(self, weights: &Weights) -> bool {
        match self {
            Self::Avx512 => true,
            Self::Avx2 => weights.layers.iter().all(Layer::is_seven_bits),
        }
    }
}

impl Packed {
    /// The encoder of an ONNX file; none where the processor lacks the instructions, or the file is no encoder of the
    /// shape that is written down here.
    pub fn open(name: &'static str, file: &Bytes) -> Option<Self> {
        Self::by(Way::ALL.into_iter().find(|way| way.is_there())?, name, file)
    }

    /// The encoder in each way that this processor has.
    #[cfg(test)]
    pub fn each(name: &'static str, file: &Bytes) -> Vec<Self> {
        let there = Way::ALL.into_iter().filter(|way| way.is_there());
        there.filter_map(|way| Self::by(way, name, file)).collect()
    }

    /// The caller has found the instructions.
    fn by(way: Way, name: &'static str, file: &Bytes) -> Option<Self> {
        let weights = Weights::new(&Tensors::read(file)?)?;
        way.is_exact(&weights).then_some(Self { name, weights, way })
    }

    /// Reads the table of words there, if it is the same, so that the file can go.
    pub fn share_words(&mut self, words: &'static [u8]) {
        if self.weights.words == words {
            self.weights.words = Bytes::from_static(words);
        }
    }

    /// How many numbers a token has; none where a head gives logits.
    pub fn numbers_a_token(&self) -> Option<usize> {
        self.weights.head.is_none().then_some(WIDTH)
    }

    /// For each text (its ids with the special tokens, and where a second text begins): the logits, or [`super::weights::WIDTH`]
    /// numbers of each token where the network has no head. What a text gets does not depend on the others.
    ///
    /// # Errors
    /// When a text has no token, or more than the network reads; then nothing is given.
    pub fn run(&self, texts: &[(&[i32], usize)], scratch: &mut Scratch) -> Result<Vec<Vec<f32>>, ModelError> {
        let most = self.weights.longest().min(MAX_TOKENS);
        if let Some((ids, _)) = texts.iter().find(|(ids, _)| ids.is_empty() || ids.len() > most) {
            let reason = format!("a text has {} tokens, from 1 to {most} are read", ids.len());
            return Err(ModelError::inference(self.name, reason));
        }
        let inputs: Vec<Input<'_>> =
            texts.iter().map(|(ids, second)| Input { ids, second: *second }).collect();
        // SAFETY: `open` and `each` found the instructions.
        Ok(unsafe {
            match self.way {
                Way::Avx512 => forward::<Avx512>(&self.weights, &inputs, scratch),
                Way::Avx2 => forward::<Avx2>(&self.weights, &inputs, scratch),
            }
        })
    }
}
