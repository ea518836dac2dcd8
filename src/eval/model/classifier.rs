//! A network that says something of a text, or of a pair of texts, in a few logits.

use std::sync::Arc;

use super::cache::EmbeddingCache;
use super::error::ModelError;
use super::meaning::Meaning;
use super::network::{Lanes, Network, Sequence};
use super::stored::opened;
use super::tokens::Tokens;
use super::wordpiece::{Keep, WordPiece};

/// What lies behind this many tokens of an input is not read by the program's own models.
const MAX_INPUT_TOKENS: usize = 256;

/// Results that are kept: two evaluators ask for the same text, and answers repeat.
const CACHED: usize = 8_192;

/// Fine-tuned encoders with `logits` for each input, which are the mean of theirs, by share.
pub struct Classifier {
    tokens: Tokens,
    /// What each counts, and the network; the shares are 1 in all.
    networks: Vec<(f32, Network)>,
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
    /// Opens stored weights of the program, each with what its logits count.
    ///
    /// # Errors
    /// When the weights are damaged.
    pub(super) fn embedded(
        name: &'static str,
        weights: &[(f32, &'static [u8])],
        shape: Shape,
        pieces: Arc<WordPiece>,
        lanes: &Lanes,
    ) -> Result<Self, ModelError> {
        let open = |&(share, stored): &(f32, &'static [u8])| {
            let (whole, words) = opened(name, stored)?;
            Ok((share, Network::open(name, whole, words, "logits", lanes.clone())?))
        };
        let networks = weights.iter().map(open).collect::<Result<_, _>>()?;
        let tokens = Tokens::Own { pieces, limit: MAX_INPUT_TOKENS, second: shape.second };
        let cache = EmbeddingCache::new(CACHED);
        Ok(Self { tokens, networks, name, logits: shape.logits, meaning: None, cache })
    }

    /// A file of the user.
    pub(super) fn of_file(name: &'static str, network: Network, tokens: Tokens, meaning: Meaning) -> Self {
        let (logits, cache) = (meaning.count(), EmbeddingCache::new(CACHED));
        Self { tokens, networks: vec![(1.0, network)], name, logits, meaning: Some(meaning), cache }
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
        let mut found = vec![vec![0.0; self.logits]; sequences.len()];
        for (share, network) in &self.networks {
            let logits = network.run(sequences, |row, _| self.checked(row.numbers))?;
            for (mean, more) in found.iter_mut().zip(logits) {
                mean.iter_mut().zip(more).for_each(|(mean, more)| *mean += share * more);
            }
        }
        let meant = |logits: Vec<f32>| -> Arc<[f32]> {
            match &self.meaning {
                Some(own) => own.read(&logits).into(),
                None => logits.into(),
            }
        };
        Ok(found.into_iter().map(meant).collect())
    }

    fn checked(&self, found: &[f32]) -> Result<Vec<f32>, ModelError> {
        if found.len() != self.logits || found.iter().any(|logit| !logit.is_finite()) {
            return Err(ModelError::inference(self.name, "the logits are not what the model promises"));
        }
        Ok(found.to_vec())
    }
}
