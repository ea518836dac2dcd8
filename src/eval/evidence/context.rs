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
/// A passage that shares less than this part of what the nearest passage shares is beside the point, and is not read: true
/// answers came out lower for it. Shares are compared in ten-thousandths, as the program that learned the weights does.
const NEAR_SHARE: f64 = 0.5;

/// The sentences of all documents, in order, with what the features need of them.
pub struct Context<'a> {
    /// The sentences.
    pub sentences: Vec<&'a str>,
    pub(super) lengths: Vec<usize>,
    passages: Vec<usize>,
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
    /// `lengths` are in tokens, by sentence; `passages` are the numbers of the sentences' passages, from 0 on, in order.
    pub fn new(sentences: Vec<&'a str>, lengths: Vec<usize>, passages: Vec<usize>) -> Self {
        Self {
            passages,
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
    /// Of the passages only those count that share words enough with the question and the sentence, and the one that has the
    /// nearest sentence. If they are short they are the window; else it is their sentences that are nearest by
    /// [`Index::nearest`] and fit together.
    pub fn window(&self, sentence: &str, question: &str) -> Option<Passage> {
        let order = self.index.nearest(sentence);
        let best = *order.first()?;
        let near = self.near(question, sentence, best);
        let kept = |at: &usize| near[self.passages[*at]];
        let all: Vec<usize> = (0..self.sentences.len()).filter(kept).collect();
        if all.iter().map(|at| self.lengths[*at]).sum::<usize>() <= WINDOW_TOKENS {
            return Some(Passage { sentences: all, best });
        }
        let (mut chosen, mut total) = (Vec::new(), 0);
        for at in order.into_iter().filter(kept) {
            let fits = chosen.len() < WINDOW_SENTENCES && total + self.lengths[at] <= WINDOW_TOKENS;
            if chosen.is_empty() || fits {
                chosen.push(at);
                total += self.lengths[at];
            }
        }
        chosen.sort_unstable();
        Some(Passage { sentences: chosen, best })
    }

    /// By passage, whether it is near to question and sentence; that of the sentence `best` always is.
    fn near(&self, question: &str, sentence: &str, best: usize) -> Vec<bool> {
        if self.passages.last().is_none_or(|last| *last == 0) {
            return vec![true];
        }
        let rounded = |share: f64| (share * 1e4).round();
        let shared = self.index.shared(&format!("{question} {sentence}"), &self.passages);
        let mut near: Vec<bool> =
            shared.into_iter().map(|share| rounded(share) >= rounded(NEAR_SHARE)).collect();
        near[self.passages[best]] = true;
        near
    }

    /// The text of a window, to be read, without the marks of passages such as `[2]`. Rows of a table stand behind its first
    /// row, which names their columns, and spans of years have their length behind them (`with_spans`).
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
            parts.push(without_mark(self.sentences[at]));
        }
        with_spans(&parts.join(" ")).into_owned()
    }
}

/// Whether a passage begins here: a mark such as `[2]` or `[2]:`, and white space.
pub fn is_marked(line: &str) -> bool {
    mark(line).is_some()
}

/// The sentence without the mark of its passage before it.
fn without_mark(sentence: &str) -> &str {
    mark(sentence).map_or(sentence, str::trim_start)
}

/// What stands behind the mark at the beginning.
fn mark(text: &str) -> Option<&str> {
    let (number, rest) = text.strip_prefix('[')?.split_once(']')?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let is_number = (1..=3).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && rest.starts_with(char::is_whitespace)).then_some(rest)
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
        Context::new(sentences[..lengths.len()].to_vec(), lengths.to_vec(), vec![0; lengths.len()])
    }

    #[test]
    fn a_short_context_is_the_window() {
        let found = context(&[10, 10, 10]).window("Something about gamma.", "").unwrap();
        assert_eq!((found.sentences, found.best), (vec![0, 1, 2], 2));
        assert_eq!(context(&[]).window("x", ""), None);
    }

    #[test]
    fn rows_of_a_table_stand_behind_its_first_row() {
        let rows =
            ["Plans.", "| Plan | Price |", "| Basic | 4 |", "| Pro | 9 |", "Prices are a month.", "| Pro |"];
        let context = Context::new(rows.to_vec(), vec![10; 6], vec![0; 6]);
        assert_eq!(context.text(&[3]), "| Plan | Price | | Pro | 9 |");
        assert_eq!(context.text(&[0, 2, 3]), "Plans. | Plan | Price | | Basic | 4 | | Pro | 9 |");
        assert_eq!(context.text(&[1, 2, 5]), "| Plan | Price | | Basic | 4 | | Pro |");
        let long = Context::new(rows.to_vec(), vec![10, HEAD_TOKENS + 1, 10, 10, 10, 10], vec![0; 6]);
        assert_eq!(long.text(&[3]), "| Pro | 9 |");
    }

    #[test]
    fn of_a_long_context_the_best_sentences_that_fit_are_the_window() {
        let of = |lengths: &[usize]| context(lengths).window("Beta and zeta.", "").unwrap().sentences;
        assert_eq!(of(&[50, 60, 50, 50, 60, 60]), [1, 5]);
        assert_eq!(of(&[50, 60, 8, 50, 60, 60]), [1, 2, 5]);
        assert_eq!(of(&[50, 300, 8, 50, 60, 60]), [1]);
    }
    #[test]
    fn passages_that_are_beside_the_point_are_not_read() {
        let said = ["Gifts for Anna.", "Anna likes tea.", "Bo likes coffee.", "The shop is closed."];
        let context = Context::new(said.to_vec(), vec![10; 4], vec![0, 0, 1, 2]);
        let of = |text: &str, question: &str| context.window(text, question).unwrap().sentences;
        assert_eq!(of("Tea.", "What does Anna like?"), [0, 1]);
        assert_eq!(of("Anna likes tea.", "Is the shop closed?"), [0, 1, 3]);
        assert_eq!(of("Nothing of it.", ""), [0, 1, 2, 3]);
        assert_eq!(
            of("Coffee.", "Gifts for Anna, what tea?"),
            [0, 1, 2],
            "its nearest sentence is read in any case"
        );
    }

    #[test]
    fn marks_of_passages_are_not_read() {
        let marked = ["[1] Alpha one.", "Beta [2] two.", "[3]: Gamma.", "[4]Delta.", "[1234] x"];
        let context = Context::new(marked.to_vec(), vec![3; 5], vec![0; 5]);
        assert_eq!(context.text(&[0, 1, 2, 3, 4]), "Alpha one. Beta [2] two. Gamma. [4]Delta. [1234] x");
        assert!(is_marked("[1] Alpha") && !is_marked("[a] b") && !is_marked("[1]") && !is_marked("1 a"));
    }
}
