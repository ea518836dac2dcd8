//! The parts of a text that can hold a number: digits that stand close together, with what surrounds them.

/// Digits that are farther apart than this belong to different windows.
const GAP: usize = 16;
/// Letters of a value, and the sign or bracket before it, stand within this many bytes of its digits.
const MARGIN: usize = 24;

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DigitRange {
    /// Byte offset of its first character.
    pub start: usize,
    /// Byte offset behind its last character.
    pub end: usize,
    /// Digits in it.
    pub digits: usize,
}

/// Windows with at least `least` digits, in order; those that touch are one.
pub fn windows(text: &str, least: usize) -> Vec<DigitRange> {
    let bytes = text.as_bytes();
    let mut out: Vec<DigitRange> = Vec::new();
    let mut at = 0;
    while let Some(first) = bytes[at..].iter().position(u8::is_ascii_digit).map(|i| at + i) {
        let (mut last, mut digits, mut next) = (first, 1, first + 1);
        while next < bytes.len() && next - last <= GAP {
            if bytes[next].is_ascii_digit() {
                (last, digits) = (next, digits + 1);
            }
            next += 1;
        }
        at = last + 1;
        if digits < least {
            continue;
        }
        let (start, end) = (widen_left(text, first), widen_right(text, last + 1));
        match out.last_mut() {
            Some(before) if before.end >= start => {
                before.end = end;
                before.digits += digits;
            }
            _ => out.push(DigitRange { start, end, digits }),
        }
    }
    out
}

fn widen_left(text: &str, at: usize) -> usize {
    let mut at = at.saturating_sub(MARGIN);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn widen_right(text: &str, at: usize) -> usize {
    let mut at = (at + MARGIN).min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_stand_together_make_a_window() {
        let text = format!("1999 {} 4111 1111 1111 1111 {} 12", "word ".repeat(20), "é".repeat(40));
        let found = windows(&text, 4);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].start, found[0].digits, found[1].digits), (0, 4, 16));
        assert!(found.iter().all(|w| text.get(w.start..w.end).is_some()));
        assert!(windows("no digit", 1).is_empty());
    }
}
