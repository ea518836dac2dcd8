//! A context cut into sentences, and the window of it that may support a sentence.

use super::vocabulary::{bigrams, content, numbers, stems};
use crate::eval::model::unit_cosine;
use std::collections::HashSet;

/// Tokens of a window. Wider ones, and more than one a sentence, cost several times as much; on held-out rows they
/// separate no better (AUROC 0.938 with four windows of up to 200 tokens, 0.935 with this one on BEGIN).
const WINDOW_TOKENS: usize = 128;
/// Sentences that a window takes of a longer context at most.
const WINDOW_SENTENCES: usize = 8;

/// The sentences of all documents, in order, with what the features need of them.
pub struct Context<'a> {
    /// The sentences.
    pub sentences: Vec<&'a str>,
    pub(super) lengths: Vec<usize>,
    pub(super) vectors: Vec<Vec<f32>>,
    pub(super) contents: Vec<HashSet<String>>,
    pub(super) content: HashSet<String>,
    pub(super) words: HashSet<String>,
    pub(super) bigrams: HashSet<(String, String)>,
    pub(super) numbers: HashSet<String>,
}

/// Where a sentence may find its evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// Indices of the context's sentences, in order; at least one.
    pub sentences: Vec<usize>,
    /// The sentence of the highest rank.
    pub best: usize,
    /// The greatest cosine similarity to any sentence, 0 or more.
    pub cosine: f64,
}

impl<'a> Context<'a> {
    /// `lengths` are in tokens, `vectors` have length one; both are by sentence.
    pub fn new(sentences: Vec<&'a str>, lengths: Vec<usize>, vectors: Vec<Vec<f32>>) -> Self {
        let contents: Vec<HashSet<String>> = sentences.iter().map(|text| content(text)).collect();
        Self {
            content: contents.iter().flatten().cloned().collect(),
            words: sentences.iter().flat_map(|text| stems(text)).collect(),
            bigrams: sentences.iter().flat_map(|text| bigrams(text)).collect(),
            numbers: sentences.iter().flat_map(|text| numbers(text)).collect(),
            sentences,
            lengths,
            vectors,
            contents,
        }
    }

    /// The window for a sentence with this vector; none if the context has no sentence.
    ///
    /// A sentence of the context ranks by the greater of its cosine similarity and of the share of the wanted content
    /// words that it has. A short context is the window; of a longer one the highest sentences that fit together are.
    pub fn window(&self, sentence: &str, vector: &[f32]) -> Option<Passage> {
        let wanted = content(sentence);
        let cosines: Vec<f64> =
            self.vectors.iter().map(|other| f64::from(unit_cosine(vector, other)).max(0.0)).collect();
        let rank = |at: usize| {
            let share = wanted.intersection(&self.contents[at]).count() as f64 / wanted.len().max(1) as f64;
            (cosines[at].max(share) * 1e4).round() as i64
        };
        let ranks: Vec<i64> = (0..self.sentences.len()).map(rank).collect();
        let mut order: Vec<usize> = (0..self.sentences.len()).collect();
        order.sort_by_key(|at| (-ranks[*at], *at));
        let (best, cosine) = (*order.first()?, cosines.iter().copied().fold(0.0, f64::max));
        if self.lengths.iter().sum::<usize>() <= WINDOW_TOKENS {
            return Some(Passage { sentences: (0..self.sentences.len()).collect(), best, cosine });
        }
        let (mut chosen, mut total) = (Vec::new(), 0);
        for at in order {
            let fits = chosen.len() < WINDOW_SENTENCES && total + self.lengths[at] <= WINDOW_TOKENS;
            if chosen.is_empty() || fits {
                chosen.push(at);
                total += self.lengths[at];
            }
        }
        chosen.sort_unstable();
        Some(Passage { sentences: chosen, best, cosine })
    }

    /// The text of a window.
    pub fn text(&self, window: &[usize]) -> String {
        window.iter().map(|at| self.sentences[*at]).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(lengths: &[usize]) -> Context<'static> {
        let sentences =
            ["Alpha one.", "Beta two.", "Gamma three.", "Delta four.", "Epsilon five.", "Zeta six."];
        let vectors = (0..lengths.len()).map(|at| (0..8).map(|i| f32::from(u8::from(i == at))).collect());
        Context::new(sentences[..lengths.len()].to_vec(), lengths.to_vec(), vectors.collect())
    }

    #[test]
    fn a_short_context_is_the_window() {
        let found = context(&[10, 10, 10])
            .window("Something about gamma.", &[0.0, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
            .unwrap();
        assert_eq!((found.sentences, found.best), (vec![0, 1, 2], 2));
        assert!((found.cosine - 0.3).abs() < 1e-6);
        assert_eq!(context(&[]).window("x", &[]), None);
    }

    #[test]
    fn of_a_long_context_the_best_sentences_that_fit_are_the_window() {
        let of = |lengths: &[usize]| context(lengths).window("Beta and zeta.", &[0.0; 8]).unwrap().sentences;
        assert_eq!(of(&[50, 60, 50, 50, 60, 60]), [1, 5]);
        assert_eq!(of(&[50, 60, 8, 50, 60, 60]), [1, 2, 5]);
        assert_eq!(of(&[50, 300, 8, 50, 60, 60]), [1]);
    }
}
