//! `rouge`: which words of the two answers are the same?
//!
//! Lin 2004, as the Python package `rouge-score` computes it without stemming: the F1 of shared words, of shared pairs
//! of words, and of the longest common subsequence.

use super::shared::{Compared, Comparison};
use crate::domain::score::Better;
use crate::eval::evaluator::Metric;
use std::collections::HashMap;

const fn metric(name: &'static str) -> Metric {
    Metric::new(name, Better::Higher, Some(0.75))
}

const METRICS: &[Metric] = &[metric("rouge_l"), metric("rouge_1"), metric("rouge_2")];
/// No more words than this of either text are compared.
const MAX_WORDS: usize = 50_000;

/// F1 of the shared words (`rouge_1`), pairs (`rouge_2`) and of the longest common subsequence (`rouge_l`); 0 to 1.
///
/// As in the reference, a word is a run of a to z and digits in lower case: what is written in other scripts has none
/// and gives 0. A text of one word has no pair, and `rouge_2` is 0 there too, also where both texts are the same.
pub fn rouge() -> Comparison {
    Comparison { id: "rouge", metrics: METRICS, compare }
}

fn compare(answer: &str, expected: &str) -> Compared {
    let (answer, expected) = (tokens(answer), tokens(expected));
    let common = longest_common_subsequence(&answer, &expected);
    let values = vec![
        f1(common, answer.len(), expected.len()),
        shared_runs(&answer, &expected, 1),
        shared_runs(&answer, &expected, 2),
    ];
    let why = format!(
        "words of the answer and of the expected answer: {} and {}; in the longest common subsequence: {common}",
        answer.len(),
        expected.len()
    );
    Ok((values, why))
}

fn tokens(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.take(MAX_WORDS).map(str::to_owned).collect()
}

fn f1(shared: usize, answer: usize, expected: usize) -> f64 {
    if shared == 0 {
        return 0.0;
    }
    let (precision, recall) = (shared as f64 / answer as f64, shared as f64 / expected as f64);
    2.0 * precision * recall / (precision + recall)
}

fn shared_runs(answer: &[String], expected: &[String], n: usize) -> f64 {
    let counts = |words: &[String]| {
        let mut counts: HashMap<Vec<String>, usize> = HashMap::new();
        words.windows(n).for_each(|run| *counts.entry(run.to_vec()).or_insert(0) += 1);
        counts
    };
    let (found, known) = (counts(answer), counts(expected));
    let shared = found.iter().map(|(run, count)| (*count).min(known.get(run).copied().unwrap_or(0))).sum();
    f1(shared, found.values().sum(), known.values().sum())
}

/// The length of the longest common subsequence, 64 positions at a time (Hyyrö 2004): a set bit says that the length
/// does not grow there.
fn longest_common_subsequence(a: &[String], b: &[String]) -> usize {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, word) in a.iter().enumerate() {
        places.entry(word).or_default().push(at);
    }
    let mut row = vec![u64::MAX; a.len().div_ceil(64)];
    let mut matches = vec![0u64; row.len()];
    for word in b {
        let Some(places) = places.get(word.as_str()) else { continue };
        places.iter().for_each(|at| matches[at / 64] |= 1 << (at % 64));
        let mut carry = false;
        for (bits, matched) in row.iter_mut().zip(&matches) {
            let hit = *bits & matched;
            let (sum, over) = bits.overflowing_add(hit);
            let (sum, over_too) = sum.overflowing_add(u64::from(carry));
            carry = over || over_too;
            *bits = sum | (*bits & !matched);
        }
        places.iter().for_each(|at| matches[at / 64] = 0);
    }
    let zeros = |(word, bits): (usize, &u64)| {
        let used = (a.len() - word * 64).min(64);
        (!bits & (u64::MAX >> (64 - used))).count_ones() as usize
    };
    row.iter().enumerate().map(zeros).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::trace::EvalInput;
    use crate::eval::evaluator::Evaluator as _;

    #[derive(serde::Deserialize)]
    struct Case {
        answer: String,
        expected: String,
        rouge: [f64; 3],
    }

    fn scores(answer: &str, expected: &str) -> Vec<f64> {
        let input = EvalInput {
            answer: Some(answer.to_owned()),
            expected: Some(expected.to_owned()),
            ..EvalInput::default()
        };
        rouge().evaluate(&input).into_iter().map(|score| score.value.unwrap()).collect()
    }

    /// Values of `rouge-score` (`training/reference_values.py`).
    #[test]
    fn rouge_agrees_with_the_reference_implementation() {
        let cases: Vec<Case> = serde_json::from_str(include_str!("reference_values.json")).unwrap();
        for case in cases {
            let found = scores(&case.answer, &case.expected);
            for (found, expected) in [found[1], found[2], found[0]].into_iter().zip(case.rouge) {
                assert!((found - expected).abs() < 1e-6, "{}: {found}, not {expected}", case.answer);
            }
        }
    }

    /// The plain table of lengths.
    fn slow(a: &[String], b: &[String]) -> usize {
        let mut row = vec![0; a.len() + 1];
        for word in b {
            let mut before = 0;
            for (at, other) in a.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if word == other { before + 1 } else { row[at + 1].max(row[at]) };
                before = above;
            }
        }
        row[a.len()]
    }

    #[test]
    fn many_positions_at_a_time_give_the_same_length() {
        let mut state = 7u64;
        let mut word = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 40) % 9).to_string()
        };
        for lengths in [(0, 3), (1, 1), (63, 64), (64, 64), (65, 130), (200, 190)] {
            let a: Vec<String> = (0..lengths.0).map(|_| word()).collect();
            let b: Vec<String> = (0..lengths.1).map(|_| word()).collect();
            assert_eq!(longest_common_subsequence(&a, &b), slow(&a, &b), "{lengths:?}");
        }
    }

    #[test]
    fn a_blank_expected_answer_is_missing() {
        for expected in [None, Some(String::new()), Some(" \n".to_owned())] {
            let input = EvalInput { answer: Some("x".to_owned()), expected, ..EvalInput::default() };
            let scores = rouge().evaluate(&input);
            assert!(
                scores.iter().all(|s| s.value.is_none() && s.error.as_deref() == Some("expected answer"))
            );
        }
    }

    #[test]
    fn a_very_long_text_takes_no_square_of_its_length() {
        let text = "one two three four five ".repeat(20_000);
        assert!(scores(&text, &text)[0] > 0.999);
        assert_eq!(scores("你好", "你好"), [0.0; 3]);
    }
}
