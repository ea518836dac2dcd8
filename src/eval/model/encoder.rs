//! Texts as unit vectors.

use std::collections::HashMap;
use std::sync::Arc;

use rten_tensor::TensorView;
use rten_tensor::prelude::*;

use super::assets;
use super::cache::{EmbeddingCache, TextKey};
use super::error::ModelError;
use super::lazy::Lazy;
use super::network::{Lanes, Network};
use super::settings::Pooling;
use super::tokens::Tokens;
use super::wordpiece::{Part, WordPiece};

/// How many numbers an embedding by the program's own encoder has.
pub const EMBEDDING_DIM: usize = 384;

/// What lies behind this many tokens of a text is not read, as the program's own model was trained.
const MAX_TOKENS: usize = 256;

/// Embeddings that are kept, about 1.6 KiB each.
const CACHED: usize = 20_000;

const NAME: &str = "the sentence encoder";

/// A sentence encoder: all-MiniLM-L6-v2, made for English, or a file of the user.
pub struct Encoder {
    tokens: Tokens,
    source: Source,
    pooling: Pooling,
    cache: EmbeddingCache,
}

enum Source {
    /// The weights of the program, opened for the first text.
    Own(Lanes, Lazy<Network>),
    /// A file.
    File(Arc<Network>),
}

impl Encoder {
    /// The model that the program carries. Its weights are opened for the first text.
    pub(super) fn embedded(pieces: Arc<WordPiece>, lanes: Lanes) -> Self {
        let tokens = Tokens::Own { pieces, limit: MAX_TOKENS, second: Part::Beginning(0) };
        let source = Source::Own(lanes, Lazy::default());
        Self { tokens, source, pooling: Pooling::Mean, cache: EmbeddingCache::new(CACHED) }
    }

    /// A file of the user.
    pub(super) fn of_file(network: Network, tokens: Tokens, pooling: Pooling) -> Self {
        let source = Source::File(Arc::new(network));
        Self { tokens, source, pooling, cache: EmbeddingCache::new(CACHED) }
    }

    fn network(&self) -> Result<Arc<Network>, ModelError> {
        match &self.source {
            Source::File(network) => Ok(network.clone()),
            Source::Own(lanes, network) => {
                network.get(|| Network::open_static(NAME, assets::MINILM, "last_hidden_state", lanes.clone()))
            }
        }
    }

    /// The unit vector of each text, in the order of the texts. Blocks while the model runs.
    ///
    /// A text behind [`Encoder::max_tokens`] is cut; an empty text has a vector too, which means nothing.
    ///
    /// # Errors
    /// When the weights are damaged or the network fails; then no vector is given.
    pub fn embed<S: AsRef<str>>(&self, texts: &[S]) -> Result<Vec<Vec<f32>>, ModelError> {
        let keys: Vec<TextKey> = texts.iter().map(|text| self.cache.key(text.as_ref())).collect();
        let mut known: HashMap<TextKey, Option<Arc<[f32]>>> = HashMap::new();
        let (mut new, mut sequences) = (Vec::new(), Vec::new());
        for (key, text) in keys.iter().zip(texts) {
            if known.contains_key(key) {
                continue;
            }
            let cached = self.cache.get(*key);
            if cached.is_none() {
                new.push(*key);
                let ids = self.tokens.single(text.as_ref());
                sequences.push(ids.map_err(|reason| ModelError::inference(NAME, reason))?);
            }
            known.insert(*key, cached);
        }
        // What is all known needs no network.
        let vectors = if new.is_empty() {
            Vec::new()
        } else {
            self.network()?.run(&sequences, |row, tokens| pool(row, tokens, self.pooling))?
        };
        for (key, vector) in new.into_iter().zip(vectors) {
            self.cache.put(key, vector.clone());
            known.insert(key, Some(vector));
        }
        let lost = || ModelError::inference(NAME, "a text was lost");
        keys.iter()
            .map(|key| known.get(key).and_then(Clone::clone).map(|v| v.to_vec()).ok_or_else(lost))
            .collect()
    }

    /// How many tokens the whole text has, without the two that frame it.
    pub fn token_count(&self, text: &str) -> usize {
        self.tokens.count(text)
    }

    /// How many tokens carry meaning: known ones with a letter or a digit. Stops counting at `enough`.
    pub fn meaningful_tokens(&self, text: &str, enough: usize) -> usize {
        self.tokens.count_meaningful(text, enough)
    }

    /// What lies behind this many tokens of a text, the two that frame it included, is not read.
    pub fn max_tokens(&self) -> usize {
        self.tokens.limit()
    }
}

/// One vector of length one: of the tokens' vectors, or of the one that the network gives for the text.
fn pool(row: TensorView<'_, f32>, tokens: usize, pooling: Pooling) -> Result<Arc<[f32]>, ModelError> {
    let mut sum: Vec<f32> = match (row.shape(), pooling) {
        ([_], _) => row.iter().copied().collect(),
        ([tokens, _], Pooling::First) if *tokens > 0 => row.nd_view::<2>().slice(0).iter().copied().collect(),
        ([_, size], Pooling::Mean) => {
            let (hidden, mut sum) = (row.nd_view::<2>(), vec![0f32; *size]);
            for token in 0..tokens {
                sum.iter_mut().zip(hidden.slice(token).iter()).for_each(|(total, value)| *total += value);
            }
            sum
        }
        (shape, _) => {
            return Err(ModelError::inference(NAME, format!("a text's row has the shape {shape:?}")));
        }
    };
    let length = sum.iter().map(|v| v * v).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    sum.iter_mut().for_each(|v| *v /= length);
    Ok(sum.into())
}

/// The mean of vectors of one length, brought to length one; empty if there is none.
pub fn unit_mean<V: AsRef<[f32]>>(vectors: &[V]) -> Vec<f32> {
    let mut sum = vec![0f32; vectors.first().map_or(0, |vector| vector.as_ref().len())];
    for vector in vectors {
        sum.iter_mut().zip(vector.as_ref()).for_each(|(total, value)| *total += value);
    }
    let length = sum.iter().map(|v| v * v).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    sum.into_iter().map(|v| v / length).collect()
}

/// The cosine of the angle between two vectors, from -1 to 1; 0 where one of them is zero.
#[cfg(test)]
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { (dot(a, b) / lengths).clamp(-1.0, 1.0) } else { 0.0 }
}

/// [`cosine`] of two vectors of length one, as [`Encoder::embed`] gives them; a third of the work.
pub fn unit_cosine(a: &[f32], b: &[f32]) -> f32 {
    dot(a, b).clamp(-1.0, 1.0)
}

/// Eight sums side by side, because the compiler may not reorder one sum of floats into vector instructions.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0f32; 8];
    for (x, y) in a.iter().zip(b) {
        for (sum, (p, q)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += p * q;
        }
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(p, q)| p * q).sum::<f32>()
}

#[cfg(test)]
mod tests;
