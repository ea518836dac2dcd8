//! Citation marks, which name a source and are no part of what a sentence says.

use std::borrow::Cow;

/// `text` with a blank in place of each mark such as `[1]`, `[2, 3]` or `[4–6]`, of numbers of one to three digits.
pub fn without_citations(text: &str) -> Cow<'_, str> {
    let (mut kept, mut done) = (String::new(), 0);
    for (at, _) in text.match_indices('[') {
        if let Some(length) = citation(&text[at..]) {
            kept.push_str(&text[done..at]);
            kept.push(' ');
            done = at + length;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(&text[done..]);
    Cow::Owned(kept)
}

/// The length of a mark at the beginning.
fn citation(text: &str) -> Option<usize> {
    let mut rest = text.strip_prefix('[')?;
    loop {
        let digits = rest.bytes().take(4).take_while(u8::is_ascii_digit).count();
        if !(1..=3).contains(&digits) {
            return None;
        }
        rest = &rest[digits..];
        if let Some(after) = rest.strip_prefix(']') {
            return Some(text.len() - after.len());
        }
        rest = rest.strip_prefix(' ').unwrap_or(rest).strip_prefix([',', ';', '-', '–'])?;
        rest = rest.strip_prefix(' ').unwrap_or(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_sources_are_left_out() {
        for (text, expected) in [
            ("It costs 12 euros [1].", "It costs 12 euros  ."),
            ("It opens at 9.[2][13]", "It opens at 9.  "),
            ("[1, 2] [3,4; 5] [6 – 8] [9-10]", "       "),
            ("[[7]]", "[ ]"),
        ] {
            assert_eq!(without_citations(text), expected, "{text}");
        }
        for text in
            ["", "12", "[2020]", "[]", "[1", "[1,]", "[a1]", "[-1]", "[1.5]", "[1 2]", "(1)", "[1,,2]"]
        {
            assert!(matches!(without_citations(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
