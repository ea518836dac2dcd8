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
        Some(',') => !is_comma_of_number_before(text, start),
        Some('.' | '-' | '/' | '=' | '+') => {
            // `1.5`, `A-12`, `/12/`: part of a number, an identifier, a path. A sign after white space is none.
            !before.next().is_some_and(|c| c.is_ascii_digit())
        }
        Some(_) => true,
    }
}

/// Whether the comma before the place is of a number (`1,234`, `0,25`): else it parts the cells of a row.
fn is_comma_of_number_before(text: &str, start: usize) -> bool {
    let bytes = text.as_bytes();
    let before = &bytes[..start - 1];
    let whole = before.iter().rev().take(4).take_while(|b| b.is_ascii_digit()).count();
    let group = bytes[start..].iter().take(4).take_while(|b| b.is_ascii_digit()).count();
    let goes_on = bytes.get(start + group).is_some_and(|b| b.is_ascii_alphabetic() || b"-_@".contains(b));
    let is_thousands = (1..=3).contains(&whole) && group == 3 && !goes_on;
    let is_fraction = whole == 1 && before.ends_with(b"0") && group > 0;
    is_thousands || is_fraction
}

/// Whether the value is written as an amount: groups of three digits behind a first one of up to three.
fn is_amount(value: &str) -> bool {
    let mut groups = value.split([' ', '.', ',']);
    let is_number = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len()) && is_number(first) && groups.all(|g| g.len() == 3 && is_number(g))
}

/// Whether nothing behind the value makes it the head of a longer token.
pub fn is_apart_behind(text: &str, start: usize, end: usize) -> bool {
    let mut behind = text[end..].chars();
    match behind.next() {
        None => true,
        Some(c) if is_word_char(c) => false,
        // Behind an amount it is a decimal comma; else it parts the cells of a row.
        Some(',') => !(is_amount(&text[start..end]) && behind.next().is_some_and(|c| c.is_ascii_digit())),
        Some('.' | '-' | '/' | '@') => !behind.next().is_some_and(|c| c.is_ascii_digit()),
        Some(_) => true,
    }
}
