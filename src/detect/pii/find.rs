//! Runs the rules over a text: shape, check, context words.

use super::fold::Folded;
use super::rule::Rule;
use super::window::{DigitRange, windows};
use super::words::{Hit, Lexicon, WordSet, distance, has_any};
use super::{address, contact, documents, finance, national, national_more, national_world, phone};
use crate::detect::finding::{Finding, REPORTED, without_overlap};
use crate::detect::text::{is_apart_before, is_apart_behind};
use regex::{Regex, RegexSet};
use std::sync::LazyLock;

/// Candidates that are less sure than this are nothing.
const KEPT: f64 = 0.15;
/// A word that speaks against the kind must be nearer than this.
const DENIED_WITHIN: usize = 28;
/// What a word that speaks against the kind leaves of the confidence.
const DENIAL: f64 = 0.4;
/// No rule is satisfied with fewer digits.
const LEAST_DIGITS: usize = 2;

struct Compiled {
    rule: &'static Rule,
    shape: Regex,
    words: WordSet,
    denied_by: WordSet,
}

struct Engine {
    rules: Vec<Compiled>,
    /// All shapes in one automaton: one walk over a window tells which rules have a candidate there.
    shapes: RegexSet,
    lexicon: Lexicon,
}

/// Memory of an automaton that is built while it runs, bytes.
const DFA_BYTES: usize = 16 << 20;

#[expect(clippy::expect_used, reason = "constants that the tests compile")]
static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let tables = [
        contact::RULES,
        phone::RULES,
        finance::RULES,
        national::RULES,
        national_more::RULES,
        national_world::RULES,
        documents::RULES,
    ];
    let all: Vec<&'static Rule> = tables.into_iter().flatten().collect();
    let words = all.iter().flat_map(|rule| rule.words.iter().chain(rule.denied_by));
    let lexicon = Lexicon::new(words.copied());
    let shapes = regex::RegexSetBuilder::new(all.iter().map(|rule| rule.shape))
        .dfa_size_limit(DFA_BYTES)
        .build()
        .expect("the shapes are constants that the tests compile");
    let rules = all.into_iter().map(|rule| Compiled {
        rule,
        shape: Regex::new(rule.shape).expect("the shapes are constants that the tests compile"),
        words: lexicon.set(rule.words),
        denied_by: lexicon.set(rule.denied_by),
    });
    Engine { rules: rules.collect(), shapes, lexicon }
});

/// The personal values in `text`, in order, without overlap. Those with a confidence below 0.5 are guesses.
///
/// Digits of other scripts and separators that only look like ours are read as ours.
pub fn find(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    match Folded::of(text) {
        None => search(text, &mut found),
        Some(folded) => {
            search(folded.text(), &mut found);
            for finding in &mut found {
                (finding.start, finding.end) = folded.place(finding.start, finding.end);
            }
        }
    }
    without_overlap(found)
}

/// Every kind that there is.
pub fn kinds() -> Vec<&'static str> {
    ENGINE.rules.iter().map(|compiled| compiled.rule.kind).chain(address::KINDS).collect()
}

fn search(text: &str, found: &mut Vec<Finding>) {
    address::find(text, found);
    let windows = windows(text, LEAST_DIGITS);
    if windows.is_empty() {
        return;
    }
    let engine = &*ENGINE;
    for window in windows {
        engine.window(text, window, found);
    }
}

impl Engine {
    fn window(&self, text: &str, window: DigitRange, found: &mut Vec<Finding>) {
        let part = &text[window.start..window.end];
        let candidates = self.shapes.matches(part);
        if !candidates.matched_any() {
            return;
        }
        let hits = self.lexicon.hits(text, window.start, window.end);
        for at in candidates.iter() {
            let compiled = &self.rules[at];
            let is_possible = window.digits >= compiled.rule.min_digits
                && (!compiled.rule.needs_word || has_any(&hits, &compiled.words));
            if is_possible {
                compiled.search(text, window, &hits, found);
            }
        }
    }
}

impl Compiled {
    fn search(&self, text: &str, window: DigitRange, hits: &[Hit], found: &mut Vec<Finding>) {
        let part = &text[..window.end];
        let mut at = window.start;
        // Where the last value ended that words spoke for: they speak for the rest of a list too.
        let mut listed = None;
        while let Some(candidate) = self.shape.find_at(part, at) {
            let start = candidate.start();
            let is_apart = is_apart_before(text, start);
            let checked = if is_apart { (self.rule.check)(candidate.as_str()) } else { None };
            let judged = checked.and_then(|(length, alone)| {
                let is_listed = listed.is_some_and(|end| is_list_gap(&text[end..start]));
                let alone = if is_listed { self.rule.with_word.max(alone) } else { alone };
                self.judge(text, hits, start, start + length, alone)
            });
            listed = judged.as_ref().filter(|f| f.confidence >= REPORTED).map(|f| f.end).or(listed);
            // A refused candidate may hide another that begins inside it.
            at = judged.as_ref().map_or(start + 1, |f: &Finding| f.end);
            found.extend(judged);
        }
    }

    fn judge(&self, text: &str, hits: &[Hit], start: usize, end: usize, alone: f64) -> Option<Finding> {
        let kind = self.rule.kind;
        let is_part = match kind {
            "phone" => is_among_digits(text, start, end),
            "mac_address" => is_among_bytes(text, start, end),
            _ => false,
        };
        if is_part || !is_apart_behind(text, start, end) {
            return None;
        }
        let backed = distance(hits, &self.words, start, end);
        let denied = distance(hits, &self.denied_by, start, end).filter(|denied| *denied < DENIED_WITHIN);
        let confidence = match (backed, denied) {
            (Some(by), Some(against)) if against < by => alone * DENIAL,
            (Some(_), _) => alone.max(self.rule.with_word),
            (None, Some(_)) => alone * DENIAL,
            (None, None) => alone,
        };
        (confidence >= KEPT).then_some(Finding { kind, start, end, confidence })
    }
}

/// Whether only what parts the items of a list stands between two values.
fn is_list_gap(gap: &str) -> bool {
    let gap = gap.trim_matches([' ', ',', ';', '|', '/', '\n', '\t', '-', '•', '*']);
    ["", "and", "or", "und", "oder", "et", "ou", "y", "e", "i", "oraz", "lub"].contains(&gap)
}

/// Whether another group of digits stands one space away: then the groups are of a longer number.
fn is_among_digits(text: &str, start: usize, end: usize) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let before = text[..start].strip_suffix([' ', '-']);
    let behind = text[end..].strip_prefix([' ', '-']);
    before.is_some_and(|t| is_digit(t.chars().next_back()))
        || behind.is_some_and(|t| is_digit(t.chars().next()))
}

/// Whether pairs of hexadecimal digits go on beside the value: sixteen or twenty of them are a fingerprint.
fn is_among_bytes(text: &str, start: usize, end: usize) -> bool {
    let is_sign = |byte: Option<u8>| matches!(byte, Some(b':' | b'-'));
    let is_hex = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_hexdigit());
    let is_word = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric());
    // What stands so many places before the value: `mac:` ends with no pair.
    let before = |places: usize| start.checked_sub(places).map(|at| text.as_bytes()[at]);
    let behind = |places: usize| text.as_bytes().get(end + places).copied();
    is_sign(before(1)) && is_hex(before(2)) && is_hex(before(3)) && !is_word(before(4))
        || is_sign(behind(0)) && is_hex(behind(1)) && is_hex(behind(2)) && !is_word(behind(3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::tests::worked;

    #[test]
    fn every_shape_compiles_and_kinds_are_snake_case() {
        for rule in ENGINE.rules.iter().map(|c| c.rule) {
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
    fn values_in_the_rows_of_a_table_are_found() {
        let kinds = |text: &str| -> Vec<&str> {
            find(text).into_iter().filter(|f| f.confidence >= 0.5).map(|f| f.kind).collect()
        };
        for (kind, text) in [
            ("email", "1,jane.doe@example.org,42"),
            ("email", "7,jane@example.org,2024-01-31"),
            ("credit_card", "1001,4111111111111111,12/26,123"),
            ("credit_card", "[1,4111111111111111,2]"),
            ("us_ssn", "7,078-05-1120,2024"),
            ("iban", "3,DE89370400440532013000,5"),
            ("ip_address", "2026-01-31,86.231.85.193,200"),
            ("phone", "1,+15551234567,9"),
        ] {
            assert_eq!(kinds(text), [kind], "{text}");
            let found = find(text).into_iter().find(|f| f.kind == kind).expect("is found");
            let (before, behind) = (&text[..found.start], &text[found.end..]);
            assert!(before.ends_with(',') && behind.starts_with(','), "{text}: {found:?}");
        }
        for text in ["0,4111111111111111", "1,234,567,890", "phone 12 345 678,90", "12,345,678.90"] {
            assert_eq!(kinds(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn words_speak_for_a_whole_list() {
        let text = "Passports of the group: C01X00T47, C01X00T48; C01X00T49 and C01X00T50. Part C01X00T51";
        let found: Vec<Finding> = find(text).into_iter().filter(|f| f.confidence >= 0.5).collect();
        assert_eq!(found.len(), 4, "{found:?}");
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
            let begin = worked();
            let _ = find(&text);
            let took = worked() - begin;
            assert!(took.as_secs_f64() < 8.0, "{piece:?} took {took:?}");
        }
    }
}
