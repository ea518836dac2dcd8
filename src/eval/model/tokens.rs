//! What turns texts into token ids for a network: the program's own word pieces, or a user's `tokenizer.json`.

use std::sync::Arc;

use super::network::Sequence;
use super::template::Template;
use super::tokenizer_file::TokenizerFile;
use super::wordpiece::{Part, WordPiece};

/// A tokenizer with how a network wants its texts.
pub(super) enum Tokens {
    /// The program's own: one text, or (first, second).
    Own {
        /// The word pieces.
        pieces: Arc<WordPiece>,
        /// Tokens that are read.
        limit: usize,
        /// What is kept of the second text of a pair.
        second: Part,
    },
    /// A user's, with the template of its input.
    File(Arc<TokenizerFile>, Template),
}

impl Tokens {
    /// One text.
    ///
    /// # Errors
    /// Where the user's tokenizer fails.
    pub(super) fn single(&self, text: &str) -> Result<Sequence, String> {
        match self {
            Self::Own { pieces, limit, .. } => Ok(Sequence::single(pieces.encode(text, *limit))),
            Self::File(file, template) => file.encode(template, text, None),
        }
    }

    /// A pair: of the first text the beginning that fits is kept, of the second one a part.
    ///
    /// # Errors
    /// Where the user's tokenizer fails.
    pub(super) fn pair(&self, first: &str, second: &str) -> Result<Sequence, String> {
        match self {
            Self::Own { pieces, limit, second: part } => {
                let (ids, second) = pieces.encode_pair(first, second, *limit, *part);
                Ok(Sequence { ids, second })
            }
            Self::File(file, template) => file.encode(template, first, Some(second)),
        }
    }

    /// How many tokens the text has, without special ones. One that the user's tokenizer cannot read has none.
    pub(super) fn count(&self, text: &str) -> usize {
        match self {
            Self::Own { pieces, .. } => pieces.count(text),
            Self::File(file, _) => file.count(text),
        }
    }

    /// How many tokens carry meaning: known ones with a letter or a digit. May stop counting at `enough`.
    pub(super) fn count_meaningful(&self, text: &str, enough: usize) -> usize {
        match self {
            Self::Own { pieces, .. } => pieces.count_meaningful(text, enough),
            Self::File(file, _) => file.count_meaningful(text),
        }
    }

    /// Tokens that the network reads at once, special ones included.
    pub(super) fn limit(&self) -> usize {
        match self {
            Self::Own { limit, .. } => *limit,
            Self::File(file, _) => file.limit(),
        }
    }
}
