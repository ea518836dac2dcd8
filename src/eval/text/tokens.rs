//! Words in lower case with their place, and n-grams of them.

use std::hash::{DefaultHasher, Hash, Hasher};
use unicode_segmentation::UnicodeSegmentation;

/// One word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word in lower case.
    pub text: String,
    /// Byte offset of its first character in the text.
    pub start: usize,
    /// Byte offset just behind its last character.
    pub end: usize,
}

/// The words of `text` by the Unicode word boundaries; punctuation is left out.
///
/// In scripts without spaces each ideograph is a word of its own.
pub fn words(text: &str) -> Vec<Word> {
    text.unicode_word_indices()
        .map(|(start, word)| Word { text: word.to_lowercase(), start, end: start + word.len() })
        .collect()
}

/// A hash of each run of `n` words: as many as `words` has, less `n - 1`; none if there are fewer words or `n` is 0.
///
/// Equal runs have equal hashes in one build of this program; hashes are not for storing.
pub fn ngram_hashes(words: &[Word], n: usize) -> Vec<u64> {
    if n == 0 {
        return Vec::new();
    }
    let hash = |run: &[Word]| {
        let mut hasher = DefaultHasher::new();
        for word in run {
            word.text.hash(&mut hasher);
        }
        hasher.finish()
    };
    words.windows(n).map(hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lower_case_with_their_place() {
        let text = "Ärger, it's 3.14!";
        let found = words(text);
        let told: Vec<&str> = found.iter().map(|w| w.text.as_str()).collect();
        assert_eq!(told, ["ärger", "it's", "3.14"]);
        assert_eq!(&text[found[1].start..found[1].end], "it's");
    }

    #[test]
    fn equal_runs_have_equal_hashes() {
        let found = words("The cat sat. THE CAT, sat!");
        let hashes = ngram_hashes(&found, 3);
        assert_eq!(hashes.len(), 4);
        assert_eq!(hashes[0], hashes[3]);
        assert_ne!(hashes[0], hashes[1]);
        assert!(ngram_hashes(&found, 0).is_empty());
        assert!(ngram_hashes(&found, 7).is_empty());
    }
}
