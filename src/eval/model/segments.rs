//! A text as pieces that the encoder can read whole.

use crate::eval::text;

/// A piece is at most this many bytes; a longer sentence is cut at white space. About 200 tokens of English.
const MAX_PIECE: usize = 800;

/// The pieces of a text, up to a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segments<'a> {
    /// Sentences in order; a very long one as several pieces.
    pub pieces: Vec<&'a str>,
    /// How many pieces lie behind the limit.
    pub left_out: usize,
}

/// Cuts a text into sentences, and sentences that the encoder would cut off into pieces; keeps the first `limit`.
pub fn segments(text: &str, limit: usize) -> Segments<'_> {
    let mut pieces = Vec::new();
    for sentence in text::sentences(text) {
        let mut rest = sentence.text;
        while rest.len() > MAX_PIECE {
            let (piece, after) = rest.split_at(cut_before(rest, MAX_PIECE));
            pieces.push(piece.trim());
            rest = after.trim_start();
        }
        if !rest.is_empty() {
            pieces.push(rest);
        }
    }
    let left_out = pieces.len().saturating_sub(limit);
    pieces.truncate(limit);
    Segments { pieces, left_out }
}

/// The start of a text for a person to read, on one line.
pub fn excerpt(text: &str) -> String {
    const LENGTH: usize = 240;
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if one_line.len() <= LENGTH {
        return one_line;
    }
    format!("{}…", one_line[..cut_before(&one_line, LENGTH)].trim_end())
}

/// A place up to `limit`, above zero, where `text` may be cut: at white space if there is some.
fn cut_before(text: &str, limit: usize) -> usize {
    let end = text.floor_char_boundary(limit).max(1);
    let end = text.ceil_char_boundary(end);
    text[..end].rfind(char::is_whitespace).filter(|at| *at > 0).unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_is_cut_and_nothing_is_lost() {
        for text in ["word ".repeat(1_000), "字".repeat(3_000), "x".repeat(5_000)] {
            let found = segments(&text, 1_000);
            assert!(
                found.pieces.len() > 1 && found.pieces.iter().all(|p| p.len() <= MAX_PIECE && !p.is_empty())
            );
            let kept: usize =
                found.pieces.iter().map(|p| p.split_whitespace().map(str::len).sum::<usize>()).sum();
            assert_eq!(kept, text.split_whitespace().map(str::len).sum::<usize>());
        }
    }

    #[test]
    fn the_limit_is_told() {
        let text = "This is one sentence. ".repeat(30);
        let found = segments(&text, 10);
        assert_eq!((found.pieces.len(), found.left_out), (10, 20));
        assert_eq!(segments("  \n", 10).pieces.len(), 0);
    }

    #[test]
    fn an_excerpt_is_short_and_on_one_line() {
        assert_eq!(excerpt("a\n  b"), "a b");
        assert!(excerpt(&"字 ".repeat(500)).len() <= 244);
    }
}
