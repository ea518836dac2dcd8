//! Runs the rules over a text: shape, check, context words.

use super::{contact, documents, finance, national};
use crate::score::local::leakage::{Finding, floor_boundary, is_word_char, without_overlap};
use regex::Regex;
use std::sync::LazyLock;

/// Bytes before a candidate in which a context word counts.
const BEFORE: usize = 56;
/// Bytes behind it.
const BEHIND: usize = 24;
/// Candidates that are less sure than this are nothing.
const KEPT: f64 = 0.15;
/// A word that speaks against the kind must be nearer than this.
const DENIED_WITHIN: usize = 28;
/// What a word that speaks against the kind leaves of the confidence.
const DENIAL: f64 = 0.4;

/// What the check of a candidate gives: how much of it belongs to the value, and how sure the shape alone is.
pub type Verdict = Option<(usize, f64)>;

/// One kind of value in one shape.
pub struct Rule {
    /// The kind that a finding gets.
    pub kind: &'static str,
    /// The regular expression of candidates; each begins with an ASCII character.
    pub shape: &'static str,
    /// Digits that a text needs to have any; a cheap test that spares the expression.
    pub min_digits: usize,
    /// Looks at a candidate.
    pub check: fn(&str) -> Verdict,
    /// Words that speak for the kind when they stand near, in lower case.
    pub words: &'static [&'static str],
    /// The confidence with such a word.
    pub with_word: f64,
    /// Words that speak against it when none of `words` is there.
    pub denied_by: &'static [&'static str],
}

static RULES: LazyLock<Vec<(&'static Rule, Regex)>> = LazyLock::new(|| {
    let all = contact::RULES.iter().chain(finance::RULES).chain(national::RULES).chain(documents::RULES);
    all.map(|rule| (rule, Regex::new(rule.shape).expect("the shapes are constants that the tests compile")))
        .collect()
});

/// The personal values in `text`, in order, without overlap. Those with a confidence below 0.5 are guesses.
pub fn find(text: &str) -> Vec<Finding> {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let mut found = Vec::new();
    for (rule, shape) in RULES.iter() {
        if digits >= rule.min_digits && (rule.kind != "email" || text.contains('@')) {
            search(text, rule, shape, &mut found);
        }
    }
    without_overlap(found)
}

fn search(text: &str, rule: &Rule, shape: &Regex, found: &mut Vec<Finding>) {
    let mut at = 0;
    while let Some(candidate) = shape.find_at(text, at) {
        let start = candidate.start();
        let checked = if is_apart_before(text, start) { (rule.check)(candidate.as_str()) } else { None };
        let judged = checked.and_then(|(length, alone)| judge(text, rule, start, start + length, alone));
        // A refused candidate may hide another that begins inside it.
        at = judged.as_ref().map_or(start + 1, |f: &Finding| f.end);
        found.extend(judged);
    }
}

fn judge(text: &str, rule: &Rule, start: usize, end: usize, alone: f64) -> Option<Finding> {
    if !is_apart_behind(text, end) || (rule.kind == "phone" && is_among_digits(text, start, end)) {
        return None;
    }
    let before = text[floor_boundary(text, start.saturating_sub(BEFORE))..start].to_lowercase();
    let behind = text[end..floor_boundary(text, end + BEHIND)].to_lowercase();
    let backed = distance(&before, &behind, rule.words);
    let denied = distance(&before, &behind, rule.denied_by).filter(|denied| *denied < DENIED_WITHIN);
    let confidence = match (backed, denied) {
        (Some(by), Some(against)) if against < by => alone * DENIAL,
        (Some(_), _) => alone.max(rule.with_word),
        (None, Some(_)) => alone * DENIAL,
        (None, None) => alone,
    };
    (confidence >= KEPT).then_some(Finding { kind: rule.kind, start, end, confidence })
}

/// How many bytes away the nearest of `words` is; a word behind the value counts as farther than one before it.
fn distance(before: &str, behind: &str, words: &[&str]) -> Option<usize> {
    let ahead =
        words.iter().filter_map(|w| places(before, w).last().map(|i| before.len() - i - w.len())).min();
    ahead.or_else(|| words.iter().filter_map(|w| places(behind, w).next().map(|i| BEFORE + i)).min())
}

/// Where `word` begins in `text` and no letter stands before it. Only words of over three letters may be inflected.
fn places(text: &str, word: &str) -> impl Iterator<Item = usize> {
    text.match_indices(word).map(|(i, _)| i).filter(move |i| {
        let is_whole_needed = word.len() <= 3;
        let behind = text[i + word.len()..].chars().next();
        let is_tail = text[..*i].chars().next_back().is_some_and(char::is_alphanumeric);
        let is_inflected = behind.is_some_and(char::is_alphabetic);
        !is_tail && (!is_whole_needed || !is_inflected)
    })
}

/// Whether nothing before the place makes what follows the tail of a longer token.
fn is_apart_before(text: &str, start: usize) -> bool {
    let mut before = text[..start].chars().rev();
    match before.next() {
        None => true,
        Some(c) if is_word_char(c) => false,
        Some('.' | '-' | '/' | ',' | '=' | '+') => {
            // `1.5`, `A-12`, `/12/`: part of a number, an identifier, a path. A sign after white space is none.
            !before.next().is_some_and(|c| c.is_ascii_digit())
        }
        Some(_) => true,
    }
}

fn is_apart_behind(text: &str, end: usize) -> bool {
    let mut behind = text[end..].chars();
    match behind.next() {
        None => true,
        Some(c) if is_word_char(c) => false,
        Some('.' | '-' | '/' | ',' | '@') => !behind.next().is_some_and(|c| c.is_ascii_digit()),
        Some(_) => true,
    }
}

/// Whether another group of digits stands one space away: then the groups are of a longer number.
fn is_among_digits(text: &str, start: usize, end: usize) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let before = text[..start].strip_suffix([' ', '-']);
    let behind = text[end..].strip_prefix([' ', '-']);
    before.is_some_and(|t| is_digit(t.chars().next_back()))
        || behind.is_some_and(|t| is_digit(t.chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_compiles_and_kinds_are_snake_case() {
        for (rule, _) in RULES.iter() {
            assert!(rule.kind.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{}", rule.kind);
            assert!(rule.words.iter().all(|w| *w == w.to_lowercase()), "{}", rule.kind);
        }
    }

    #[test]
    fn a_value_inside_a_longer_token_is_none() {
        assert!(find("id 94111111111111111112").is_empty());
        assert!(find("x4111111111111111").is_empty());
        assert_eq!(find("12 4111 1111 1111 1111")[0].start, 3);
    }

    #[test]
    fn plain_text_has_none() {
        let text = "In 2024 sales grew by 12.5 % to 1,234,567 units (order 2024-0012345, version 10.2.3.4).\n\
            See commit 9fceb02d0ae598e95dc970b74767f19372d61af8 from 2024-05-17T12:30:45Z, ISBN 978-3-16-148410-0.\n\
            trace 4bf92f3577b34da6a3ce929d0e0e4736, 6ba7b810-9dad-11d1-80b4-00c04fd430c8";
        let found: Vec<Finding> = find(text).into_iter().filter(|f| f.confidence >= 0.5).collect();
        assert_eq!(found, Vec::new());
    }

    #[test]
    fn cost_is_linear_on_hostile_text() {
        for piece in ["1", "1 ", "a@", "1-", "0:", "a.", "4111 ", "+1", "(", "A1"] {
            let text = piece.repeat(50_000 / piece.len());
            let begin = std::time::Instant::now();
            let _ = find(&text);
            assert!(begin.elapsed().as_secs_f64() < 8.0, "{piece:?} took {:?}", begin.elapsed());
        }
    }
}
