//! A network that says something of a text, or of a pair of texts, in a few logits.

use std::sync::Arc;

use super::assets;
use super::cache::EmbeddingCache;
use super::error::ModelError;
use super::meaning::Meaning;
use super::network::{Lanes, Network, Sequence};
use super::tokens::Tokens;
use super::wordpiece::{Keep, WordPiece};

/// What lies behind this many tokens of an input is not read by the program's own models.
const MAX_INPUT_TOKENS: usize = 256;

/// Results that are kept: two evaluators ask for the same text, and answers repeat.
const CACHED: usize = 8_192;

/// A fine-tuned encoder with `logits` for each input.
pub struct Classifier {
    tokens: Tokens,
    network: Network,
    name: &'static str,
    logits: usize,
    /// What the logits of a user's model mean; those of the program's own are as they should be.
    meaning: Option<Meaning>,
    cache: EmbeddingCache,
}

/// What a classifier reads and gives.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// How many logits it gives.
    pub logits: usize,
    /// What is kept of the second text of a pair.
    pub second: Keep,
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
        pieces: Arc<WordPiece>,
        lanes: Lanes,
    ) -> Result<Self, ModelError> {
        let (whole, words) = assets::with_words(name, weights)?;
        let network = Network::open(name, whole, words, "logits", lanes)?;
        let tokens = Tokens::Own { pieces, limit: MAX_INPUT_TOKENS, second: shape.second };
        let cache = EmbeddingCache::new(CACHED);
        Ok(Self { tokens, network, name, logits: shape.logits, meaning: None, cache })
    }

    /// A file of the user.
    pub(super) fn of_file(name: &'static str, network: Network, tokens: Tokens, meaning: Meaning) -> Self {
        let (logits, cache) = (meaning.count(), EmbeddingCache::new(CACHED));
        Self { tokens, network, name, logits, meaning: Some(meaning), cache }
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
                sequences.push(self.tokens.single(text.as_ref()).map_err(|e| self.failed(e))?);
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
        let sequence = |(first, second): &(S, S)| self.tokens.pair(first.as_ref(), second.as_ref());
        let sequences: Result<Vec<Sequence>, String> = pairs.iter().map(sequence).collect();
        self.run(&sequences.map_err(|e| self.failed(e))?)
    }

    /// How many tokens a text has, without special ones.
    pub fn token_count(&self, text: &str) -> usize {
        self.tokens.count(text)
    }

    /// Tokens that are read at once, special ones included.
    pub fn max_tokens(&self) -> usize {
        self.tokens.limit()
    }

    /// Whether the model tells what stands at this place of its logits.
    pub(super) fn tells(&self, place: usize) -> bool {
        self.meaning.as_ref().is_none_or(|meaning| meaning.tells(place))
    }

    fn failed(&self, reason: String) -> ModelError {
        ModelError::inference(self.name, reason)
    }

    fn run(&self, sequences: &[Sequence]) -> Result<Vec<Arc<[f32]>>, ModelError> {
        self.network.run(sequences, |row, _| {
            let found = row.numbers;
            if found.len() != self.logits || found.iter().any(|logit| !logit.is_finite()) {
                return Err(ModelError::inference(self.name, "the logits are not what the model promises"));
            }
            Ok(self.meaning.as_ref().map_or_else(|| Arc::from(found), |own| own.read(found).into()))
        })
    }
}
