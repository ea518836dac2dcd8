//! The evaluator `looping`: does the answer say the same again and again?

use crate::domain::score::{Better, Score};
use crate::domain::trace::EvalInput;
use crate::eval::evaluator::{Evaluator, Metric};
use crate::eval::text::sentences;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::collections::{HashMap, HashSet};
use std::io::Write as _;

const UNIQUE: &str = "unique_sentences";
const REPEATED: &str = "longest_repeated_substring";
const RATIO: &str = "compression_ratio";
const THRESHOLD: f64 = 0.75;
const METRICS: &[Metric] = &[
    Metric::new(UNIQUE, Better::Higher, Some(THRESHOLD)),
    Metric::new(REPEATED, Better::Lower, Some(THRESHOLD)),
    Metric::new(RATIO, Better::Higher, Some(THRESHOLD)),
];
/// Shorter sentences ("Yes.", "Of course.") may repeat.
const MIN_SENTENCE: usize = 10;
/// The search for repeats looks at no more characters than this.
const MAX_CHARS: usize = 20_000;
/// A rationale quotes no more characters than this.
const MAX_QUOTE: usize = 60;

/// Three measures of repetition, each by a fixed formula.
///
/// - `unique_sentences`: different sentences over all sentences, those under 10 characters left out.
/// - `longest_repeated_substring`: length × frequency over the length of the text, in characters. The substring is
///   the longest that occurs twice without overlap (the first such in the text); its frequency is the number of its
///   occurrences without overlap from the left. A text that is one loop has nearly 1. Only the first 20,000
///   characters are searched.
/// - `compression_ratio`: bytes after zlib at level 9 over bytes before. Texts of a few words have more than 1, and
///   plain prose of some hundred words has less than 0.75 without any loop: compare it between texts of one length.
#[derive(Debug, Clone, Copy, Default)]
pub struct Looping;

impl Looping {
    /// With the thresholds of the catalogue.
    pub fn new() -> Self {
        Self
    }
}

impl Evaluator for Looping {
    fn id(&self) -> &str {
        "looping"
    }

    fn version(&self) -> &str {
        "1"
    }

    fn metrics(&self) -> &[Metric] {
        METRICS
    }

    fn evaluate(&self, input: &EvalInput) -> Vec<Score> {
        match input.answer.as_deref().map(str::trim).filter(|answer| !answer.is_empty()) {
            Some(answer) => vec![unique_sentences(answer), repeated(answer), compression_ratio(answer)],
            None => METRICS.iter().map(|metric| Score::skipped(&metric.name, "answer")).collect(),
        }
    }
}

fn unique_sentences(answer: &str) -> Score {
    let all: Vec<&str> =
        sentences(answer).into_iter().map(|s| s.text).filter(|s| s.chars().count() >= MIN_SENTENCE).collect();
    if all.is_empty() {
        return Score::skipped(UNIQUE, "sentence of 10 characters or more");
    }
    let different: HashSet<&str> = all.iter().copied().collect();
    let value = different.len() as f64 / all.len() as f64;
    Score::measured(UNIQUE, value, THRESHOLD, Better::Higher).because(format!(
        "{} different of {} sentences",
        different.len(),
        all.len()
    ))
}

fn repeated(answer: &str) -> Score {
    let chars: Vec<char> = answer.chars().take(MAX_CHARS).collect();
    let cut = if answer.len() > chars.len() && answer.chars().nth(MAX_CHARS).is_some() {
        format!(" (of the first {MAX_CHARS} characters)")
    } else {
        String::new()
    };
    let Some((start, length)) = longest_repeat(&chars) else {
        return Score::measured(REPEATED, 0.0, THRESHOLD, Better::Lower)
            .because(format!("nothing repeats{cut}"));
    };
    let pattern = &chars[start..start + length];
    let frequency = count(&chars, pattern);
    let value = (length * frequency) as f64 / chars.len() as f64;
    let quote: String = pattern.iter().take(MAX_QUOTE).collect();
    let more = if length > MAX_QUOTE { "…" } else { "" };
    Score::measured(REPEATED, value, THRESHOLD, Better::Lower)
        .because(format!("{length} characters occur {frequency} times{cut}: {quote:?}{more}"))
}

/// Where the longest substring that occurs twice without overlap begins, and its length.
///
/// If a substring of some length occurs twice so does one of each smaller length; that lets the length be halved.
fn longest_repeat(chars: &[char]) -> Option<(usize, usize)> {
    let (mut low, mut high) = (0, chars.len() / 2);
    let mut best = None;
    while low < high {
        let length = (low + high).div_ceil(2);
        match repeat_of(chars, length) {
            Some(start) => {
                best = Some((start, length));
                low = length;
            }
            None => high = length - 1,
        }
    }
    best
}

/// Base and modulus of the rolling hash; a prime, so that collisions are rare, and small enough to multiply in 64 bits.
const BASE: u64 = 1_000_003;
const MODULUS: u64 = (1 << 31) - 1;

/// The first substring of that length which occurs again behind itself.
fn repeat_of(chars: &[char], length: usize) -> Option<usize> {
    let mut first_seen: HashMap<u64, usize> = HashMap::with_capacity(chars.len());
    let top = (1..length).fold(1, |power, _| power * BASE % MODULUS);
    let mut hash = 0;
    for (i, c) in chars.iter().enumerate() {
        if i >= length {
            let leaving = u64::from(chars[i - length] as u32) % MODULUS * top % MODULUS;
            hash = (hash + MODULUS - leaving) % MODULUS;
        }
        hash = (hash * BASE + u64::from(*c as u32)) % MODULUS;
        if i + 1 < length {
            continue;
        }
        let start = i + 1 - length;
        let first = *first_seen.entry(hash).or_insert(start);
        if first + length <= start && chars[first..first + length] == chars[start..=i] {
            return Some(first);
        }
    }
    None
}

/// Occurrences without overlap, from the left.
fn count(chars: &[char], pattern: &[char]) -> usize {
    let (mut at, mut found) = (0, 0);
    while at + pattern.len() <= chars.len() {
        if chars[at..].starts_with(pattern) {
            found += 1;
            at += pattern.len();
        } else {
            at += 1;
        }
    }
    found
}

fn compression_ratio(answer: &str) -> Score {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(9));
    let written = encoder.write_all(answer.as_bytes()).and_then(|()| encoder.finish());
    match written {
        Ok(bytes) => {
            let value = bytes.len() as f64 / answer.len() as f64;
            Score::measured(RATIO, value, THRESHOLD, Better::Higher).because(format!(
                "{} of {} bytes; texts of a few words have more than 1, prose of some hundred words less than 0.75",
                bytes.len(),
                answer.len()
            ))
        }
        Err(error) => Score::failed(RATIO, &error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::score::ScoreStatus;

    fn values(answer: &str) -> Vec<Option<f64>> {
        let input = EvalInput { answer: Some(answer.to_owned()), ..EvalInput::default() };
        Looping::new().evaluate(&input).into_iter().map(|score| score.value).collect()
    }

    #[test]
    fn unique_sentences_by_the_formula() {
        let text = "The sky is blue. Yes. The sky is blue. The grass is green. Yes.";
        assert_eq!(values(text)[0], Some(2.0 / 3.0));
        assert_eq!(values("Yes. No.")[0], None);
    }

    #[test]
    fn the_longest_repeat_by_the_formula() {
        assert_eq!(values("abcabc")[1], Some(1.0));
        assert_eq!(values("abc")[1], Some(0.0));
        assert_eq!(values("XabcdYabcdZ")[1], Some(8.0 / 11.0));
        assert_eq!(values("aaa")[1], Some(1.0), "one character, three times");
        assert_eq!(values("ababa")[1], Some(4.0 / 5.0));
    }

    #[test]
    fn the_search_agrees_with_trying_everything() {
        let mut state = 7u32;
        for _ in 0..200 {
            let text: Vec<char> = (0..24)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    if state >> 30 == 0 { 'a' } else { 'b' }
                })
                .collect();
            let twice = |length: usize| {
                (0..=text.len() - length).any(|i| {
                    (i + length..=text.len() - length).any(|j| text[i..i + length] == text[j..j + length])
                })
            };
            let want = (1..=12).rev().find(|length| twice(*length));
            assert_eq!(longest_repeat(&text).map(|(_, length)| length), want, "{text:?}");
        }
    }

    #[test]
    fn compression_by_the_formula() {
        let loop_ratio = values(&"again and ".repeat(100))[2].unwrap_or(1.0);
        assert!(loop_ratio < 0.1, "{loop_ratio}");
        assert!(values("Hi.")[2].is_some_and(|ratio| ratio > 1.0));
    }

    #[test]
    fn long_texts_are_cut_and_it_is_said() {
        let input = EvalInput { answer: Some("0123456789 ".repeat(5_000)), ..EvalInput::default() };
        let scores = Looping::new().evaluate(&input);
        assert!(scores[1].rationale.as_deref().is_some_and(|why| why.contains("first 20000")));
        assert!(scores[1].value.is_some_and(|value| value > 0.99));
    }

    #[test]
    fn no_answer_is_skipped_for_each_metric() {
        let scores = Looping::new().evaluate(&EvalInput::default());
        assert_eq!(scores.len(), 3);
        assert!(scores.iter().all(|score| score.status == ScoreStatus::Skipped));
    }
}
