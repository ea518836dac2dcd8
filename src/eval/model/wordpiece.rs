//! Text as the token ids of a WordPiece vocabulary.

use std::collections::HashMap;

use super::error::ModelError;
use super::normalize::Normalizer;

/// A longer word is one unknown token, whatever it is made of.
const MAX_WORD_CHARS: usize = 100;

/// Where the end of a text is wanted, no more tokens than this are read.
const MAX_READ: usize = 16_384;

/// What is kept of a text that is too long, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Its beginning.
    Beginning(usize),
    /// Its end.
    End(usize),
}

/// A WordPiece vocabulary of an uncased BERT model.
///
/// Names of special tokens inside a text (`[SEP]`) are plain text here: a sender cannot end the input early.
pub(super) struct WordPiece {
    normalizer: Normalizer,
    starts: HashMap<Box<str>, i32>,
    continuations: HashMap<Box<str>, i32>,
    unknown: i32,
    first: i32,
    last: i32,
}

impl WordPiece {
    /// Reads a vocabulary, one token a line.
    pub(super) fn new(vocabulary: &str) -> Result<Self, ModelError> {
        let (mut starts, mut continuations) = (HashMap::new(), HashMap::new());
        for (id, token) in (0..).zip(vocabulary.lines()) {
            match token.strip_prefix("##").filter(|rest| !rest.is_empty()) {
                Some(rest) => continuations.insert(Box::from(rest), id),
                None => starts.insert(Box::from(token), id),
            };
        }
        let special = |token: &str| {
            let missing = || ModelError::open("tokenizer", format!("the vocabulary lacks {token}"));
            starts.get(token).copied().ok_or_else(missing)
        };
        let (unknown, first, last) = (special("[UNK]")?, special("[CLS]")?, special("[SEP]")?);
        Ok(Self { normalizer: Normalizer::new()?, starts, continuations, unknown, first, last })
    }

    /// The ids with the special tokens around them, at most `limit` in all.
    pub(super) fn encode(&self, text: &str, limit: usize) -> Vec<i32> {
        let mut ids = vec![self.first];
        let room = limit.saturating_sub(1);
        self.normalizer.words(text, |word| {
            self.push_word(word, &mut ids);
            ids.len() < room
        });
        ids.truncate(room.max(1));
        ids.push(self.last);
        ids
    }

    /// The ids of two texts with the special tokens around and between them, at most `limit` in all, and where the
    /// second one begins. Of the second text `part` is kept, of the first one the beginning that fits.
    pub(super) fn encode_pair(
        &self,
        first: &str,
        second: &str,
        limit: usize,
        part: Keep,
    ) -> (Vec<i32>, usize) {
        let room = limit.saturating_sub(3);
        let second = match part {
            Keep::Beginning(tokens) => self.plain(second, tokens.min(room)),
            Keep::End(tokens) => {
                let all = self.plain(second, MAX_READ);
                all[all.len().saturating_sub(tokens.min(room))..].to_vec()
            }
        };
        let mut ids = vec![self.first];
        ids.extend(self.plain(first, limit.saturating_sub(3 + second.len())));
        ids.push(self.last);
        let begin = ids.len();
        ids.extend(second);
        ids.push(self.last);
        (ids, begin)
    }

    /// The ids without special tokens, at most `limit`.
    fn plain(&self, text: &str, limit: usize) -> Vec<i32> {
        let mut ids = Vec::new();
        if limit > 0 {
            self.normalizer.words(text, |word| {
                self.push_word(word, &mut ids);
                ids.len() < limit
            });
        }
        ids.truncate(limit);
        ids
    }

    /// How many tokens the text has, without the special ones.
    pub(super) fn count(&self, text: &str) -> usize {
        let (mut ids, mut count) = (Vec::new(), 0);
        self.normalizer.words(text, |word| {
            ids.clear();
            self.push_word(word, &mut ids);
            count += ids.len();
            true
        });
        count
    }

    /// How many tokens carry meaning: known ones with a letter or a digit. Stops counting at `enough`.
    pub(super) fn count_meaningful(&self, text: &str, enough: usize) -> usize {
        let (mut ids, mut count) = (Vec::new(), 0);
        self.normalizer.words(text, |word| {
            if word.chars().any(char::is_alphanumeric) {
                ids.clear();
                self.push_word(word, &mut ids);
                count += ids.iter().filter(|id| **id != self.unknown).count();
            }
            count < enough
        });
        count
    }

    /// The longest known piece, again and again; one unknown token if the word cannot be covered.
    fn push_word(&self, word: &str, ids: &mut Vec<i32>) {
        let before = ids.len();
        let mut rest = if word.chars().count() > MAX_WORD_CHARS { None } else { Some(word) };
        let mut known = &self.starts;
        while let Some(text) = rest.filter(|text| !text.is_empty()) {
            let ends = text.char_indices().map(|(at, ch)| at + ch.len_utf8()).rev();
            rest = ends.filter_map(|end| Some((end, *known.get(&text[..end])?))).next().map(|(end, id)| {
                ids.push(id);
                &text[end..]
            });
            known = &self.continuations;
        }
        if rest.is_none() {
            ids.truncate(before);
            ids.push(self.unknown);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::assets::MINILM_VOCABULARY;
    use super::*;

    /// Texts and ids of the tokenizer that the model was published with.
    #[test]
    fn agrees_with_the_reference_tokenizer() {
        let reference: Vec<(String, Vec<i32>)> =
            serde_json::from_str(include_str!("wordpiece/reference_ids.json")).unwrap();
        assert!(reference.len() >= 100);
        let pieces = WordPiece::new(MINILM_VOCABULARY).unwrap();
        for (text, ids) in reference {
            assert_eq!(pieces.encode(&text, 256), ids, "{text:?}");
        }
    }

    #[test]
    fn limits_hold_and_special_names_are_plain_text() {
        let pieces = WordPiece::new(MINILM_VOCABULARY).unwrap();
        assert_eq!(pieces.encode("", 256), [101, 102]);
        assert_eq!(pieces.encode("the [SEP] end", 256).iter().filter(|id| **id == 102).count(), 1);
        let long = pieces.encode(&"word ".repeat(10_000), 256);
        assert_eq!((long.len(), long[0], long[255]), (256, 101, 102));
        assert_eq!(pieces.count(&"word ".repeat(10_000)), 10_000);
        assert_eq!(pieces.encode(&"a".repeat(101), 256), [101, 100, 102]);
    }

    #[test]
    fn meaning_is_not_punctuation_or_the_unknown() {
        let pieces = WordPiece::new(MINILM_VOCABULARY).unwrap();
        assert_eq!(pieces.count_meaningful("... !!! \u{1f600}", 9), 0);
        assert_eq!(pieces.count_meaningful("Yes.", 9), 1);
        assert_eq!(pieces.count_meaningful("30 days, no fee", 9), 4);
        assert_eq!(pieces.count_meaningful("30 days, no fee", 2), 2);
    }

    #[test]
    fn a_vocabulary_without_special_tokens_is_refused() {
        assert!(WordPiece::new("the\nend").is_err());
    }
}
