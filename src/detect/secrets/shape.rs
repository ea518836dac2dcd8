//! One published form of a credential, with the text that it cannot be without.

use super::plausible;
use crate::detect::finding::{Finding, floor_boundary, is_word_char};
use crate::detect::text::is_escape;
use regex::Regex;

/// A form, as it stands in the tables.
pub struct Shape {
    /// The kind that a finding gets.
    pub kind: &'static str,
    /// A text without any of these (case does not count) has no such credential: the expression is tried only there.
    pub hints: &'static [&'static str],
    /// How many bytes before the hint the expression may begin. With 0 it begins with the hint.
    pub before: usize,
    /// How many bytes behind the hint it ends at most; of no meaning where it begins with the hint.
    pub after: usize,
    /// The expression; the first group is the secret where there is one, else the whole match.
    pub regex: &'static str,
    /// A last look at the secret.
    pub check: fn(&str) -> bool,
}

/// A form whose prefix is proof enough, if the rest is not a filler.
pub const fn prefixed(kind: &'static str, hints: &'static [&'static str], regex: &'static str) -> Shape {
    Shape { kind, hints, before: 0, after: 0, regex, check: plausible::is_varied }
}

/// A form without digits is a word (`sk-learn-something`, `key-value-store`).
pub const fn with_digit(kind: &'static str, hints: &'static [&'static str], regex: &'static str) -> Shape {
    let check = |secret: &str| plausible::is_varied(secret) && plausible::has_digit(secret);
    Shape { kind, hints, before: 0, after: 0, regex, check }
}

/// A form whose prefix and signs stand in names and addresses too, which are words in a row.
pub const fn generated(kind: &'static str, hints: &'static [&'static str], regex: &'static str) -> Shape {
    let check = |secret: &str| plausible::is_varied(secret) && plausible::has_generated_piece(secret);
    Shape { kind, hints, before: 0, after: 0, regex, check }
}

/// A form that begins some bytes before its hint and ends some bytes behind it, at most.
pub const fn around(
    kind: &'static str,
    hints: &'static [&'static str],
    (before, after): (usize, usize),
    regex: &'static str,
) -> Shape {
    Shape { kind, hints, before, after, regex, check: plausible::is_varied }
}

/// How sure a form is.
const CONFIDENCE: f64 = 0.95;
/// A refused candidate of up to this many bytes is searched again.
const MAX_RETRIED: usize = 512;
/// A form of one piece is no longer.
const MAX_FORM: usize = 64 << 10;

/// A shape with its expression.
pub struct Compiled {
    /// The shape.
    pub shape: &'static Shape,
    regex: Regex,
}

impl Compiled {
    /// Compiles the expression; one that begins with its hint is tried at the hint only.
    pub fn new(shape: &'static Shape) -> Result<Self, regex::Error> {
        let regex = if shape.before == 0 {
            Regex::new(&format!(r"\A(?:{})", shape.regex))
        } else {
            Regex::new(shape.regex)
        };
        Ok(Self { shape, regex: regex? })
    }

    /// Looks around the hint between the two places, from `done` on; gives how far the text is done with.
    pub fn look(
        &self,
        text: &str,
        (start, end): (usize, usize),
        done: usize,
        found: &mut Vec<Finding>,
    ) -> usize {
        if self.shape.before == 0 {
            return if start < done { done } else { self.at(text, start, found).unwrap_or(done) };
        }
        let from = floor_boundary(text, start.saturating_sub(self.shape.before).max(done));
        let to = floor_boundary(text, end + self.shape.after);
        let mut at = from;
        while let Some(groups) = self.regex.captures_at(&text[..to], at) {
            let Some(whole) = groups.get(0) else { break };
            if whole.start() > end {
                break;
            }
            let secret = groups.get(1).unwrap_or(whole);
            if is_inside(text, whole.start()) || !(self.shape.check)(secret.as_str()) {
                at = if whole.len() > MAX_RETRIED {
                    whole.end()
                } else {
                    whole.start() + text[whole.start()..].chars().next().map_or(1, char::len_utf8)
                };
                continue;
            }
            let (start, end) = (secret.start(), secret.end());
            found.push(Finding { kind: self.shape.kind, start, end, confidence: CONFIDENCE });
            return whole.end();
        }
        done
    }

    fn at(&self, text: &str, start: usize, found: &mut Vec<Finding>) -> Option<usize> {
        if is_inside(text, start) {
            return None;
        }
        let rest = &text[start..floor_boundary(text, start + MAX_FORM)];
        let groups = self.regex.captures(rest)?;
        let whole = groups.get(0)?;
        let secret = groups.get(1).unwrap_or(whole);
        if !(self.shape.check)(secret.as_str()) {
            // The prefix may stand again inside what was refused; a long one is passed, to keep the cost linear.
            return (whole.len() > MAX_RETRIED).then_some(start + whole.end());
        }
        let place = (start + secret.start(), start + secret.end());
        found.push(Finding { kind: self.shape.kind, start: place.0, end: place.1, confidence: CONFIDENCE });
        Some(start + whole.end())
    }
}

/// Whether what stands before makes the match part of a longer token: a word, a file name, base64.
fn is_inside(text: &str, start: usize) -> bool {
    let mut chars = text[..start].chars().rev();
    match chars.next() {
        Some('.') => chars.next().is_some_and(char::is_alphanumeric),
        Some('+') => true,
        Some(c) => is_word_char(c) && !is_escape(text, start),
        None => false,
    }
}
