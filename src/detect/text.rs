//! Small questions about a place in a text.

use super::finding::is_word_char;

/// Whether an escaped line break or tab, as in JSON, ends before the place: its letter is no letter of a word.
pub fn is_escape(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    matches!(before, [.., b'\\', b'n' | b't' | b'r'])
}

/// Whether nothing before the place makes what follows the tail of a longer token.
pub fn is_apart_before(text: &str, start: usize) -> bool {
    let mut before = text[..start].chars().rev();
    match before.next() {
        None => true,
        Some(c) if is_word_char(c) => is_escape(text, start),
        Some('.' | '-' | '/' | ',' | '=' | '+') => {
            // `1.5`, `A-12`, `/12/`: part of a number, an identifier, a path. A sign after white space is none.
            !before.next().is_some_and(|c| c.is_ascii_digit())
        }
        Some(_) => true,
    }
}

/// Whether nothing behind the place makes what ends there the head of a longer token.
pub fn is_apart_behind(text: &str, end: usize) -> bool {
    let mut behind = text[end..].chars();
    match behind.next() {
        None => true,
        Some(c) if is_word_char(c) => false,
        Some('.' | '-' | '/' | ',' | '@') => !behind.next().is_some_and(|c| c.is_ascii_digit()),
        Some(_) => true,
    }
}
