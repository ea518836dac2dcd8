//! A network that says something of a text, or of a pair of texts, in a few logits.

use std::sync::Arc;

use super::assets;
use super::cache::EmbeddingCache;
use super::error::ModelError;
use super::network::{Lanes, Network, Sequence};
use super::wordpiece::{Part, WordPiece};

/// What lies behind this many tokens of an input is not read.
const MAX_INPUT_TOKENS: usize = 256;

/// Results that are kept: two evaluators ask for the same text, and answers repeat.
const CACHED: usize = 8_192;

/// A fine-tuned encoder with `logits` for each input.
pub struct Classifier {
    tokenizer: Arc<WordPiece>,
    network: Network,
    name: &'static str,
    shape: Shape,
    cache: EmbeddingCache,
}

/// What a classifier reads and gives.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// How many logits it gives.
    pub logits: usize,
    /// What is kept of the second text of a pair.
    pub second: Part,
}

impl Classifier {
    /// Opens weights of the program that share the word table of the sentence encoder.
    ///
    /// # Errors
    /// When the weights are damaged.
    pub(super) fn embedded(
        name: &'static str,
        weights: &'static [u8],
        shape: Shape,
        tokenizer: Arc<WordPiece>,
        lanes: Lanes,
    ) -> Result<Self, ModelError> {
        let (whole, words) = assets::with_words(name, weights)?;
        let network = Network::open(name, whole, words, "logits", lanes)?;
        Ok(Self { tokenizer, network, name, shape, cache: EmbeddingCache::new(CACHED) })
    }

    /// The logits of each text, in order. Blocks while the model runs.
    ///
    /// # Errors
    /// When the network fails; then nothing is given.
    pub fn of_texts<S: AsRef<str>>(&self, texts: &[S]) -> Result<Vec<Arc<[f32]>>, ModelError> {
        let mut found: Vec<Option<Arc<[f32]>>> = Vec::with_capacity(texts.len());
        let (mut new, mut sequences) = (Vec::new(), Vec::new());
        for (at, text) in texts.iter().enumerate() {
            let key = self.cache.key(text.as_ref());
            let known = self.cache.get(key);
            if known.is_none() {
                new.push((at, key));
                sequences.push(Sequence::single(self.tokenizer.encode(text.as_ref(), MAX_INPUT_TOKENS)));
            }
            found.push(known);
        }
        for ((at, key), logits) in new.into_iter().zip(self.run(&sequences)?) {
            self.cache.put(key, logits.clone());
            found[at] = Some(logits);
        }
        let lost = || ModelError::inference(self.name, "a text was lost");
        found.into_iter().map(|logits| logits.ok_or_else(lost)).collect()
    }

    /// The logits of each pair, in order. Blocks while the model runs.
    ///
    /// # Errors
    /// When the network fails; then nothing is given.
    pub fn of_pairs<S: AsRef<str>>(&self, pairs: &[(S, S)]) -> Result<Vec<Arc<[f32]>>, ModelError> {
        let sequence = |(first, second): &(S, S)| {
            let (first, second) = (first.as_ref(), second.as_ref());
            let (ids, second) =
                self.tokenizer.encode_pair(first, second, MAX_INPUT_TOKENS, self.shape.second);
            Sequence { ids, second }
        };
        self.run(&pairs.iter().map(sequence).collect::<Vec<_>>())
    }

    fn run(&self, sequences: &[Sequence]) -> Result<Vec<Arc<[f32]>>, ModelError> {
        self.network.run(sequences, |row, _| {
            let found: Arc<[f32]> = Arc::from(row);
            if found.len() != self.shape.logits || found.iter().any(|logit| !logit.is_finite()) {
                return Err(ModelError::inference(self.name, "the logits are not what the model promises"));
            }
            Ok(found)
        })
    }
}
