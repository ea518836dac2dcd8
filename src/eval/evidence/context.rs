//! A context cut into sentences, and the window of it that may support a sentence.

use super::index::Index;
use super::spans::with_spans;
use super::vocabulary::{bigrams, numbers, stems};
use std::collections::HashSet;

/// Tokens of a window. Wider ones, and more than one a sentence, cost several times as much; on held-out rows they
/// separate no better (AUROC 0.938 with four windows of up to 200 tokens, 0.935 with this one on BEGIN).
const WINDOW_TOKENS: usize = 128;
/// A longer first row of a table is not repeated before the rows of a window.
const HEAD_TOKENS: usize = 64;
/// Sentences that a window takes of a longer context at most.
const WINDOW_SENTENCES: usize = 8;

/// The sentences of all documents, in order, with what the features need of them.
pub struct Context<'a> {
    /// The sentences.
    pub sentences: Vec<&'a str>,
    pub(super) lengths: Vec<usize>,
    /// The first row of the table that a sentence is a further row of.
    heads: Vec<Option<usize>>,
    pub(super) index: Index,
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
}

impl<'a> Context<'a> {
    /// `lengths` are in tokens, by sentence.
    pub fn new(sentences: Vec<&'a str>, lengths: Vec<usize>) -> Self {
        Self {
            index: Index::new(&sentences),
            words: sentences.iter().flat_map(|text| stems(text)).collect(),
            bigrams: sentences.iter().flat_map(|text| bigrams(text)).collect(),
            numbers: sentences.iter().flat_map(|text| numbers(text)).collect(),
            heads: heads(&sentences),
            sentences,
            lengths,
        }
    }

    /// The window for a sentence; none if the context has no sentence.
    ///
    /// A short context is the window; of a longer one the sentences are that are nearest by [`Index::nearest`] and fit together.
    pub fn window(&self, sentence: &str) -> Option<Passage> {
        let order = self.index.nearest(sentence);
        let best = *order.first()?;
        if self.lengths.iter().sum::<usize>() <= WINDOW_TOKENS {
            return Some(Passage { sentences: (0..self.sentences.len()).collect(), best });
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
        Some(Passage { sentences: chosen, best })
    }

    /// The text of a window, to be read. Rows of a table stand behind its first row, which names their columns, and spans of
    /// years have their length behind them (`with_spans`).
    pub fn text(&self, window: &[usize]) -> String {
        let (mut parts, mut told) = (Vec::with_capacity(window.len()), None);
        for at in window.iter().copied() {
            let head = self.heads[at].filter(|head| {
                !window.contains(head) && told != Some(*head) && self.lengths[*head] <= HEAD_TOKENS
            });
            if let Some(head) = head {
                parts.push(self.sentences[head]);
                told = Some(head);
            }
            parts.push(self.sentences[at]);
        }
        with_spans(&parts.join(" ")).into_owned()
    }
}

/// For each sentence, the first of the rows of a Markdown table that it stands behind.
fn heads(sentences: &[&str]) -> Vec<Option<usize>> {
    let mut open = None;
    let head = |(at, text): (usize, &&str)| {
        if !text.starts_with('|') {
            open = None;
            return None;
        }
        let head = open;
        open = head.or(Some(at));
        head
    };
    sentences.iter().enumerate().map(head).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(lengths: &[usize]) -> Context<'static> {
        let sentences =
            ["Alpha one.", "Beta two.", "Gamma three.", "Delta four.", "Epsilon five.", "Zeta six."];
        Context::new(sentences[..lengths.len()].to_vec(), lengths.to_vec())
    }

    #[test]
    fn a_short_context_is_the_window() {
        let found = context(&[10, 10, 10]).window("Something about gamma.").unwrap();
        assert_eq!((found.sentences, found.best), (vec![0, 1, 2], 2));
        assert_eq!(context(&[]).window("x"), None);
    }

    #[test]
    fn rows_of_a_table_stand_behind_its_first_row() {
        let rows =
            ["Plans.", "| Plan | Price |", "| Basic | 4 |", "| Pro | 9 |", "Prices are a month.", "| Pro |"];
        let context = Context::new(rows.to_vec(), vec![10; 6]);
        assert_eq!(context.text(&[3]), "| Plan | Price | | Pro | 9 |");
        assert_eq!(context.text(&[0, 2, 3]), "Plans. | Plan | Price | | Basic | 4 | | Pro | 9 |");
        assert_eq!(context.text(&[1, 2, 5]), "| Plan | Price | | Basic | 4 | | Pro |");
        let long = Context::new(rows.to_vec(), vec![10, HEAD_TOKENS + 1, 10, 10, 10, 10]);
        assert_eq!(long.text(&[3]), "| Pro | 9 |");
    }

    #[test]
    fn of_a_long_context_the_best_sentences_that_fit_are_the_window() {
        let of = |lengths: &[usize]| context(lengths).window("Beta and zeta.").unwrap().sentences;
        assert_eq!(of(&[50, 60, 50, 50, 60, 60]), [1, 5]);
        assert_eq!(of(&[50, 60, 8, 50, 60, 60]), [1, 2, 5]);
        assert_eq!(of(&[50, 300, 8, 50, 60, 60]), [1]);
    }
}
