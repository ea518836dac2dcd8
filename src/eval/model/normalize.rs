//! Text brought to what the vocabulary knows, as BERT's uncased models were trained on it.

use regex::Regex;
use rten_text::normalizers::{Bert, BertOptions, Normalizer as _};

use super::error::ModelError;

/// Cuts text into words of lower case without accents, punctuation marks and Chinese characters on their own.
pub(super) struct Normalizer {
    fold: Bert,
    removed: Regex,
    punctuation: Regex,
}

impl Normalizer {
    /// Builds the tables; an error would be a fault of this program.
    pub(super) fn new() -> Result<Self, ModelError> {
        let class = |pattern| Regex::new(pattern).map_err(|e| ModelError::open("tokenizer", e));
        Ok(Self {
            fold: Bert::new(BertOptions { lowercase: true, strip_accents: true }),
            removed: class(r"[\p{Cc}\p{Cf}\p{Co}]")?,
            punctuation: class(r"\p{P}")?,
        })
    }

    /// Calls `on_word` with every word in order, until it answers false.
    pub(super) fn words(&self, text: &str, mut on_word: impl FnMut(&str) -> bool) {
        let mut word = String::new();
        for ch in text.chars() {
            if self.is_removed(ch) {
                continue;
            }
            if !ch.is_whitespace() && !is_chinese(ch) {
                word.push(ch);
                continue;
            }
            if !self.pieces(&std::mem::take(&mut word), &mut on_word) {
                return;
            }
            if is_chinese(ch) && !self.pieces(ch.encode_utf8(&mut [0; 4]), &mut on_word) {
                return;
            }
        }
        self.pieces(&word, &mut on_word);
    }

    /// One run of characters without white space: folded, then cut at punctuation.
    fn pieces(&self, raw: &str, on_word: &mut impl FnMut(&str) -> bool) -> bool {
        let folded = if raw.is_ascii() {
            raw.to_ascii_lowercase()
        } else {
            self.fold.normalize(raw).map_or_else(|_| raw.to_lowercase(), |(folded, _)| folded)
        };
        let mut rest = folded.as_str();
        while let Some(ch) = rest.chars().next() {
            let end = if self.is_punctuation(ch) {
                ch.len_utf8()
            } else {
                rest.find(|c| self.is_punctuation(c)).unwrap_or(rest.len())
            };
            let (word, after) = rest.split_at(end);
            if !on_word(word) {
                return false;
            }
            rest = after;
        }
        true
    }

    fn is_removed(&self, ch: char) -> bool {
        match ch {
            '\t' | '\n' | '\r' => false,
            '\u{fffd}' => true,
            _ if ch.is_ascii() => ch.is_ascii_control(),
            _ => matches(&self.removed, ch),
        }
    }

    fn is_punctuation(&self, ch: char) -> bool {
        if ch.is_ascii() { ch.is_ascii_punctuation() } else { matches(&self.punctuation, ch) }
    }
}

fn matches(class: &Regex, ch: char) -> bool {
    !ch.is_alphanumeric() && class.is_match(ch.encode_utf8(&mut [0; 4]))
}

/// The blocks that BERT cuts into single characters.
fn is_chinese(ch: char) -> bool {
    matches!(u32::from(ch),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x2A6DF | 0x2A700..=0x2B73F | 0x2B740..=0x2B81F
        | 0x2B920..=0x2CEAF | 0xF900..=0xFAFF | 0x2F800..=0x2FA1F)
}
