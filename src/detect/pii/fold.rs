//! Digits of other scripts and separators that look like ours, read as ours.
//!
//! So are the letters of escaped line breaks. Only beside a digit: the rest of a text in another script stays as it is.

use std::borrow::Cow;

/// A text that was folded, and where each part of it stands in the original.
pub struct Folded<'a> {
    text: Cow<'a, str>,
    /// (offset in the folded text, offset in the original) wherever their difference changes, in order.
    steps: Vec<(usize, usize)>,
}

impl<'a> Folded<'a> {
    /// None if there is nothing to fold, which is most often so.
    pub fn of(text: &'a str) -> Option<Self> {
        if !has_escape(text) && (text.is_ascii() || !is_needed(text)) {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut steps = vec![(0, 0)];
        let mut before = None;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let is_beside = before.is_some_and(is_digit) || chars.peek().is_some_and(|(_, c)| is_digit(*c));
            let is_escape = before == Some('\\') && matches!(c, 'n' | 'r' | 't');
            let folded = match c.is_ascii() {
                true if is_escape && is_beside => Fold::Always(' '),
                true => Fold::Keep,
                false => fold(c),
            };
            match folded {
                Fold::Always(digit) => out.push(digit),
                Fold::To(other) if is_beside => out.push(other),
                Fold::Nothing => {}
                Fold::Keep | Fold::To(_) => out.push(c),
            }
            if folded != Fold::Nothing {
                before = Some(c);
            }
            let behind = at + c.len_utf8();
            if steps.last().is_none_or(|(f, o)| behind.wrapping_sub(*o) != out.len().wrapping_sub(*f)) {
                steps.push((out.len(), behind));
            }
        }
        Some(Self { text: Cow::Owned(out), steps })
    }

    /// The folded text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where a part of the folded text stands in the original.
    pub fn place(&self, start: usize, end: usize) -> (usize, usize) {
        // What was left out before the start is outside of the value.
        let first = self.steps.partition_point(|(folded, _)| *folded <= start);
        let last = self.steps.partition_point(|(folded, _)| *folded < end);
        let behind = match self.steps.get(last) {
            Some((folded, original)) if *folded == end => *original,
            _ => self.shifted(last, end),
        };
        (self.shifted(first, start), behind)
    }

    fn shifted(&self, step: usize, at: usize) -> usize {
        let (folded, original) = self.steps[step.max(1) - 1];
        original + (at - folded)
    }
}

/// Whether a digit follows an escaped line break or tab, as in JSON that was cut off.
fn has_escape(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.match_indices('\\').any(|(at, _)| {
        matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't'))
            && bytes.get(at + 2).is_some_and(u8::is_ascii_digit)
    })
}

/// Whether there is a digit of another script, or beside a digit something to fold.
fn is_needed(text: &str) -> bool {
    let mut before = ' ';
    let mut is_open = false;
    for c in text.chars() {
        if is_open && c.is_ascii_digit() {
            return true;
        }
        is_open = false;
        if !c.is_ascii() {
            match fold(c) {
                Fold::Always(_) => return true,
                Fold::To(_) | Fold::Nothing if before.is_ascii_digit() => return true,
                Fold::To(_) | Fold::Nothing => is_open = true,
                Fold::Keep => {}
            }
        }
        before = c;
    }
    false
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fold {
    Keep,
    /// Wherever it stands.
    Always(char),
    /// Beside a digit only.
    To(char),
    Nothing,
}

/// The zeros of the decimal digits that people write numbers with.
const ZEROS: [u32; 8] = [0x0660, 0x06F0, 0x0966, 0x09E6, 0x0E50, 0xFF10, 0x1D7CE, 0x1D7F6];

fn fold(c: char) -> Fold {
    let code = u32::from(c);
    if let Some(zero) = ZEROS.iter().find(|zero| (**zero..**zero + 10).contains(&code)) {
        return char::from_digit(code - zero, 10).map_or(Fold::Keep, Fold::Always);
    }
    match c {
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{202a}'..='\u{202e}' => {
            Fold::Nothing
        }
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => Fold::To(' '),
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{ff0d}' => Fold::To('-'),
        '\u{b7}' | '\u{2022}' | '\u{2024}' | '\u{ff0e}' => Fold::To('.'),
        '\u{ff0b}' => Fold::To('+'),
        '\u{ff20}' => Fold::Always('@'),
        _ => Fold::Keep,
    }
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || matches!(fold(c), Fold::Always(_) | Fold::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lead_back_to_the_original() {
        let text = "é card\u{a0}４１１１\u{200b}1111–1111 \u{2019}x";
        let folded = Folded::of(text).expect("there is something to fold");
        assert_eq!(folded.text(), "é card 41111111-1111 \u{2019}x");
        let start = folded.text().find("4111").expect("is there");
        let end = folded.text().find(" \u{2019}").expect("is there");
        let (from, to) = folded.place(start, end);
        assert_eq!(&text[from..to], "４１１１\u{200b}1111–1111");
        assert!(Folded::of("plain – text, é").is_none());
        assert!(Folded::of("naïve café").is_none());
    }
}
