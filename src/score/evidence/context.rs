//! A context cut into sentences, and the windows of it that may support a sentence.

use super::vocabulary::{bigrams, content, numbers, stems};
use crate::score::model::unit_cosine;
use std::collections::HashSet;

/// Tokens of a window that grows around one sentence, and of the one that joins the best.
const WINDOW_TOKENS: usize = 160;
const JOINED_TOKENS: usize = 200;
/// Windows that grow around one sentence.
const WINDOWS: usize = 3;
/// Sentences that the joined window takes at most.
const JOINED_SENTENCES: usize = 4;

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
pub struct Windows {
    /// Indices of the context's sentences, window by window; at least one.
    pub windows: Vec<Vec<usize>>,
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

    /// The windows for a sentence with this vector; none if the context has no sentence.
    ///
    /// A sentence of the context ranks by the greater of its cosine similarity and of the share of the wanted content
    /// words that it has. A short context is one window. In a longer one the highest sentences each grow into a window
    /// with their neighbours, unless they are in one already, and the highest of all are joined in one more.
    pub fn windows(&self, sentence: &str, vector: &[f32]) -> Option<Windows> {
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
            return Some(Windows { windows: vec![(0..self.sentences.len()).collect()], best, cosine });
        }
        let mut windows: Vec<Vec<usize>> = Vec::new();
        for at in &order {
            if windows.len() == WINDOWS {
                break;
            }
            if !windows.iter().any(|window| window.contains(at)) {
                windows.push(self.grown(*at));
            }
        }
        let (mut joined, mut total) = (Vec::new(), 0);
        for at in order.iter().take(JOINED_SENTENCES) {
            if joined.is_empty() || total + self.lengths[*at] <= JOINED_TOKENS {
                joined.push(*at);
                total += self.lengths[*at];
            }
        }
        joined.sort_unstable();
        if !windows.iter().any(|window| joined.iter().all(|at| window.contains(at))) {
            windows.push(joined);
        }
        Some(Windows { windows, best, cosine })
    }

    /// The text of a window.
    pub fn text(&self, window: &[usize]) -> String {
        window.iter().map(|at| self.sentences[*at]).collect::<Vec<_>>().join(" ")
    }

    /// The sentences around one: the next, then the one before, and so on, while they fit.
    fn grown(&self, centre: usize) -> Vec<usize> {
        let (mut first, mut last, mut total) = (centre, centre, self.lengths[centre]);
        loop {
            let before = total;
            if last + 1 < self.lengths.len() && total + self.lengths[last + 1] <= WINDOW_TOKENS {
                last += 1;
                total += self.lengths[last];
            }
            if first > 0 && total + self.lengths[first - 1] <= WINDOW_TOKENS {
                first -= 1;
                total += self.lengths[first];
            }
            if total == before {
                return (first..=last).collect();
            }
        }
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
    fn a_short_context_is_one_window() {
        let found = context(&[10, 10, 10])
            .windows("Something about gamma.", &[0.0, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
            .unwrap();
        assert_eq!((found.windows, found.best), (vec![vec![0, 1, 2]], 2));
        assert!((found.cosine - 0.3).abs() < 1e-6);
        assert_eq!(context(&[]).windows("x", &[]), None);
    }

    #[test]
    fn a_long_context_has_windows_around_the_best_and_one_that_joins_them() {
        let found = context(&[90, 60, 90, 90, 60, 90]).windows("Beta and zeta.", &[0.0; 8]).unwrap();
        assert_eq!(found.windows[0], [1, 2]);
        assert_eq!(found.windows[1], [4, 5]);
        assert_eq!(found.windows[2], [0, 1]);
        assert_eq!(found.windows[3], [1, 5]);
    }
}
