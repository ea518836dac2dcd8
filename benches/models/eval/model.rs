//! The tokenizers of the embedded models and of causal ones.

/// What their tests read: cargo builds a harness of its own as a test.
#[cfg(test)]
mod assets {
    pub(super) static MINILM_VOCABULARY: &str = include_str!("../../../models/minilm-l6-v2/vocab.txt");
}
#[path = "../../../src/eval/model/byte_pairs.rs"]
#[expect(dead_code, reason = "the harness only encodes")]
mod byte_pairs;
#[path = "../../../src/eval/model/error.rs"]
#[expect(dead_code, reason = "only what opening says is asked for")]
mod error;
#[path = "../../../src/eval/model/normalize.rs"]
mod normalize;
#[path = "../../../src/eval/model/wordpiece.rs"]
#[expect(dead_code, unused_imports, reason = "the harness only encodes, and runs no tests")]
mod wordpiece;

use crate::Failed;
use std::path::Path;

/// The tokenizer of the embedded models.
pub struct WordPiece(wordpiece::WordPiece);

impl WordPiece {
    /// Of a vocabulary, one token a line.
    pub fn new(vocabulary: &str) -> Result<Self, Failed> {
        Ok(Self(wordpiece::WordPiece::new(vocabulary)?))
    }

    /// All ids of a text, special ones too.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        self.0.encode(text, usize::MAX).into_iter().map(i32::unsigned_abs).collect()
    }
}

/// The tokenizer of causal models.
pub struct BytePairs(byte_pairs::BytePairs);

impl BytePairs {
    /// Of a `tokenizer.json`.
    pub fn open(path: &Path) -> Result<Self, Failed> {
        Ok(Self(byte_pairs::BytePairs::open(path)?))
    }

    /// All ids of a text.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, Failed> {
        Ok(self.0.encode(text, usize::MAX)?.ids)
    }
}
