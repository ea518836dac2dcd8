//! Context words: where they stand, and how far from a candidate.

use crate::detect::finding::{FIRST_WITHOUT_BLANKS, floor_boundary};
use crate::detect::text::is_escape;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::collections::BTreeMap;

/// Bytes before a candidate in which a context word counts.
pub const BEFORE: usize = 56;
/// Bytes behind it.
pub const BEHIND: usize = 24;
/// Words up to this length are not inflected: `dl` is none in `dlatego`.
const MAX_WHOLE: usize = 3;

/// A set of words of a [`Lexicon`].
pub type WordSet = [u64; 12];

/// Every context word of every rule.
pub struct Lexicon {
    search: AhoCorasick,
    /// The number of each pattern's word; a word may have a second pattern in capitals.
    word_of: Vec<usize>,
    numbers: BTreeMap<&'static str, usize>,
}

/// A context word in a text.
#[derive(Debug, Clone, Copy)]
pub struct Hit {
    start: usize,
    end: usize,
    word: usize,
}

impl Lexicon {
    /// Of these words, each in lower case.
    #[expect(clippy::expect_used, reason = "constants that the tests compile")]
    pub fn new(words: impl Iterator<Item = &'static str>) -> Self {
        let mut numbers = BTreeMap::new();
        let (mut patterns, mut word_of) = (Vec::new(), Vec::new());
        for word in words {
            let next = numbers.len();
            if numbers.contains_key(word) {
                continue;
            }
            numbers.insert(word, next);
            patterns.push(word.to_owned());
            word_of.push(next);
            if !word.is_ascii() && word.to_uppercase() != word {
                patterns.push(word.to_uppercase());
                word_of.push(next);
            }
        }
        let search = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(patterns)
            .expect("the words are constants that the tests build");
        Self { search, word_of, numbers }
    }

    /// The set of these words.
    pub fn set(&self, words: &[&str]) -> WordSet {
        let mut set = [0; 12];
        for word in words {
            let number = self.numbers[word];
            set[number / 64] |= 1 << (number % 64);
        }
        set
    }

    /// The words from `BEFORE` bytes before `start` to `BEHIND` bytes behind `end`, in order of their ends. No letter
    /// stands before them, and none behind a short one.
    pub fn hits(&self, text: &str, start: usize, end: usize) -> Vec<Hit> {
        let from = floor_boundary(text, start.saturating_sub(BEFORE));
        let to = floor_boundary(text, end.saturating_add(BEHIND));
        let part = &text[from..to];
        let mut hits = Vec::new();
        for found in self.search.find_overlapping_iter(part) {
            let (start, end) = (from + found.start(), from + found.end());
            let is_tail = text[..start].chars().next_back().is_some_and(is_letter);
            let is_inflected = text[end..].chars().next().is_some_and(is_letter);
            let is_part = is_tail && !is_escape(text, start) || found.len() <= MAX_WHOLE && is_inflected;
            if !is_part {
                hits.push(Hit { start, end, word: self.word_of[found.pattern().as_usize()] });
            }
        }
        hits
    }
}

/// A letter of a script that parts its words.
fn is_letter(c: char) -> bool {
    c.is_alphabetic() && c < FIRST_WITHOUT_BLANKS
}

/// Whether one of the hits is of the set.
pub fn has_any(hits: &[Hit], set: &WordSet) -> bool {
    hits.iter().any(|hit| is_in(set, hit.word))
}

fn is_in(set: &WordSet, word: usize) -> bool {
    set[word / 64] >> (word % 64) & 1 == 1
}

/// How many bytes away the nearest word of the set is; a word behind the value counts as farther than one before it.
pub fn distance(hits: &[Hit], set: &WordSet, start: usize, end: usize) -> Option<usize> {
    let from = hits.partition_point(|hit| hit.end + BEFORE < start);
    let near = hits[from..].iter().take_while(|hit| hit.end <= end + BEHIND);
    near.filter(|hit| is_in(set, hit.word))
        .filter_map(|hit| match () {
            () if hit.end <= start && hit.start + BEFORE >= start => Some(start - hit.end),
            () if hit.start >= end => Some(BEFORE + hit.start - end),
            () => None,
        })
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_or_inflected() {
        let lexicon = Lexicon::new(["tel", "führerschein", "card"].into_iter());
        let count = |text: &str| lexicon.hits(text, 0, text.len()).len();
        assert_eq!(count("tel: cards FÜHRERSCHEIN"), 3);
        assert_eq!(count("tell hotel discard"), 0);
        assert_eq!(count("a\\ntel 1"), 1);
        let text = "card 1234 tel";
        let hits = lexicon.hits(text, 5, 9);
        assert_eq!(distance(&hits, &lexicon.set(&["card"]), 5, 9), Some(1));
        assert_eq!(distance(&hits, &lexicon.set(&["tel"]), 5, 9), Some(57));
        assert!(!has_any(&hits, &lexicon.set(&["führerschein"])));
    }
}
