//! One published form of a credential, with the text that it cannot be without.

use super::plausible;
use crate::score::local::leakage::{Finding, is_word_char};
use regex::Regex;

/// A form, as it stands in the tables.
pub struct Shape {
    /// The kind that a finding gets.
    pub kind: &'static str,
    /// A text without any of these (case counts) has no such credential; spares the expression.
    pub hints: &'static [&'static str],
    /// The expression; the first group is the secret where there is one, else the whole match.
    pub regex: &'static str,
    /// A last look at the secret.
    pub check: fn(&str) -> bool,
}

/// A form whose prefix is proof enough, if the rest is not a filler.
pub const fn prefixed(kind: &'static str, hints: &'static [&'static str], regex: &'static str) -> Shape {
    Shape { kind, hints, regex, check: plausible::is_varied }
}

/// A form without digits is a word (`sk-learn-something`, `key-value-store`).
pub const fn with_digit(kind: &'static str, hints: &'static [&'static str], regex: &'static str) -> Shape {
    Shape { kind, hints, regex, check: |secret| plausible::is_varied(secret) && plausible::has_digit(secret) }
}

/// How sure a form is.
const CONFIDENCE: f64 = 0.95;
/// A refused candidate of up to this many bytes is searched again.
const MAX_RETRIED: usize = 512;

impl Shape {
    /// The secrets of this form in `text`; `regex` is the compiled expression.
    pub fn search(&self, regex: &Regex, text: &str, found: &mut Vec<Finding>) {
        if !self.hints.is_empty() && !self.hints.iter().any(|hint| text.contains(hint)) {
            return;
        }
        let mut at = 0;
        while let Some(groups) = regex.captures_at(text, at) {
            let Some(whole) = groups.get(0) else { return };
            let secret = groups.get(1).unwrap_or(whole);
            let is_inside = is_inside(&text[..whole.start()]);
            if is_inside || !(self.check)(secret.as_str()) {
                // The prefix may stand again inside what was refused; a long one is passed, to keep the cost linear.
                let step = text[whole.start()..].chars().next().map_or(1, char::len_utf8);
                at = if whole.len() > MAX_RETRIED { whole.end() } else { whole.start() + step };
                continue;
            }
            let (start, end) = (secret.start(), secret.end());
            found.push(Finding { kind: self.kind, start, end, confidence: CONFIDENCE });
            at = whole.end().max(whole.start() + 1);
        }
    }
}

/// Whether what stands before makes the match part of a longer token: a word, a file name, base64.
fn is_inside(before: &str) -> bool {
    let mut chars = before.chars().rev();
    match chars.next() {
        Some('.') => chars.next().is_some_and(char::is_alphanumeric),
        Some('+') => true,
        Some(c) => is_word_char(c),
        None => false,
    }
}
