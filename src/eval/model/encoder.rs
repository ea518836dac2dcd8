//! Texts as unit vectors.

use std::collections::HashMap;
use std::sync::Arc;

use super::assets;
use super::cache::{EmbeddingCache, TextKey};
use super::error::ModelError;
use super::lazy::Lazy;
use super::network::{Lanes, Network, Sequence};
use super::wordpiece::WordPiece;

/// How many numbers an embedding has.
pub const EMBEDDING_DIM: usize = 384;

/// What lies behind this many tokens of a text is not read, as the model was trained.
pub const MAX_TOKENS: usize = 256;

/// Embeddings that are kept, about 1.6 KiB each.
const CACHED: usize = 20_000;

const NAME: &str = "minilm-l6-v2";

/// The sentence encoder all-MiniLM-L6-v2. Made for English.
pub struct Encoder {
    tokenizer: Arc<WordPiece>,
    lanes: Lanes,
    network: Lazy<Network>,
    cache: EmbeddingCache,
}

impl Encoder {
    /// The model that the program carries. Its weights are opened for the first text.
    pub(super) fn embedded(tokenizer: Arc<WordPiece>, lanes: Lanes) -> Self {
        Self { tokenizer, lanes, network: Lazy::default(), cache: EmbeddingCache::new(CACHED) }
    }

    fn network(&self) -> Result<Arc<Network>, ModelError> {
        let open = || Network::open_static(NAME, assets::MINILM, "last_hidden_state", self.lanes.clone());
        self.network.get(open)
    }

    /// The unit vector of each text, in the order of the texts. Blocks while the model runs.
    ///
    /// A text behind [`MAX_TOKENS`] tokens is cut; an empty text has a vector too, which means nothing.
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
                sequences.push(Sequence::single(self.tokenizer.encode(text.as_ref(), MAX_TOKENS)));
            }
            known.insert(*key, cached);
        }
        // What is all known needs no network.
        let vectors = if new.is_empty() { Vec::new() } else { self.network()?.run(&sequences, pool)? };
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
        self.tokenizer.count(text)
    }

    /// How many tokens carry meaning: known ones with a letter or a digit. Stops counting at `enough`.
    pub fn meaningful_tokens(&self, text: &str, enough: usize) -> usize {
        self.tokenizer.count_meaningful(text, enough)
    }
}

/// The mean of the tokens' vectors, brought to length one.
fn pool(hidden: &[f32], tokens: usize) -> Result<Arc<[f32]>, ModelError> {
    let hidden = hidden.as_chunks::<EMBEDDING_DIM>().0;
    let Some(hidden) = hidden.get(..tokens) else {
        return Err(ModelError::inference(NAME, format!("a row has {} of {tokens} tokens", hidden.len())));
    };
    let mut sum = vec![0f32; EMBEDDING_DIM];
    for token in hidden {
        for (total, value) in sum.iter_mut().zip(token) {
            *total += value;
        }
    }
    let length = sum.iter().map(|v| v * v).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    Ok(sum.iter().map(|v| v / length).collect())
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
