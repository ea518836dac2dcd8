//! `bleu`: which word sequences of the answer does the expected answer have?
//!
//! Papineni et al. 2002, for one sentence and one reference, without smoothing, as `nltk.translate.bleu_score.sentence_bleu`
//! computes it.

use super::shared::{Compared, Comparison};
use crate::domain::score::Better;
use crate::eval::evaluator::Metric;
use crate::eval::text::{Word, words};
use std::collections::HashMap;

const fn metric(name: &'static str) -> Metric {
    Metric::new(name, Better::Higher, Some(0.75))
}

const METRICS: &[Metric] = &[metric("bleu_4"), metric("bleu_1"), metric("bleu_2"), metric("bleu_3")];
const ORDERS: [usize; 4] = [4, 1, 2, 3];
/// No more words than this of either text are compared.
const MAX_WORDS: usize = 50_000;

/// `bleu_n` is the geometric mean of the precisions of 1 to n words, times the brevity penalty; from 0 to 1.
///
/// Words are those of Unicode's word boundaries, in lower case. As in the reference, an order of which no sequence is
/// shared counts as the smallest positive number instead of zero, which makes the value practically 0.
pub fn bleu() -> Comparison {
    Comparison { id: "bleu", metrics: METRICS, compare }
}

fn compare(answer: &str, expected: &str) -> Compared {
    let (answer, expected) = (limited(answer), limited(expected));
    if answer.is_empty() {
        return Err("the answer has no words");
    }
    if expected.is_empty() {
        return Err("the expected answer has no words");
    }
    let parts: Vec<(f64, f64)> = (1..=4).map(|n| precision(&answer, &expected, n)).collect();
    let penalty = brevity_penalty(answer.len(), expected.len());
    let why = format!(
        "words of the answer and of the expected answer: {} and {}; shared runs of 1, 2, 3, 4 words: {}; brevity \
         penalty {penalty:.3}",
        answer.len(),
        expected.len(),
        parts.iter().map(|(shared, all)| format!("{shared} of {all}")).collect::<Vec<_>>().join(", "),
    );
    Ok((ORDERS.map(|order| geometric(&parts[..order], penalty)).to_vec(), why))
}

fn limited(text: &str) -> Vec<Word> {
    let mut found = words(text);
    found.truncate(MAX_WORDS);
    found
}

/// How many runs of `n` words the answer shares, each as often as the reference has it, and how many it has.
fn precision(answer: &[Word], expected: &[Word], n: usize) -> (f64, f64) {
    let (found, known) = (counts(answer, n), counts(expected, n));
    let shared: usize =
        found.iter().map(|(run, count)| (*count).min(known.get(run).copied().unwrap_or(0))).sum();
    (shared as f64, found.values().sum::<usize>().max(1) as f64)
}

fn counts(words: &[Word], n: usize) -> HashMap<Vec<&str>, usize> {
    let mut counts = HashMap::new();
    for run in words.windows(n) {
        *counts.entry(run.iter().map(|word| word.text.as_str()).collect()).or_insert(0) += 1;
    }
    counts
}

fn brevity_penalty(answer: usize, expected: usize) -> f64 {
    if answer > expected { 1.0 } else { (1.0 - expected as f64 / answer as f64).exp() }
}

fn geometric(parts: &[(f64, f64)], penalty: f64) -> f64 {
    if parts[0].0 == 0.0 {
        return 0.0;
    }
    let log =
        |(shared, all): &(f64, f64)| if *shared > 0.0 { (shared / all).ln() } else { f64::MIN_POSITIVE.ln() };
    penalty * (parts.iter().map(log).sum::<f64>() / parts.len() as f64).exp()
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
        tokens: Vec<String>,
        bleu: [f64; 4],
    }

    /// Values of NLTK (`training/reference_values.py`).
    #[test]
    fn bleu_agrees_with_the_reference_implementation() {
        let cases: Vec<Case> = serde_json::from_str(include_str!("reference_values.json")).unwrap();
        assert!(cases.len() >= 20);
        for case in cases {
            let told: Vec<String> = words(&case.answer).into_iter().map(|word| word.text).collect();
            assert_eq!(told, case.tokens, "the words of {:?}", case.answer);
            let input = EvalInput {
                answer: Some(case.answer.clone()),
                expected: Some(case.expected),
                ..EvalInput::default()
            };
            let scores = bleu().evaluate(&input);
            for (score, order) in scores.iter().zip(ORDERS) {
                let value = score.value.unwrap();
                assert!(
                    (value - case.bleu[order - 1]).abs() < 1e-6,
                    "{}: {value}, {:?}",
                    case.answer,
                    case.bleu
                );
            }
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let skipped = bleu().evaluate(&EvalInput { answer: Some("x".to_owned()), ..EvalInput::default() });
        assert_eq!(skipped.len(), 4);
        assert_eq!(skipped[0].error.as_deref(), Some("expected answer"));
        let empty = EvalInput {
            answer: Some("?!".to_owned()),
            expected: Some("x".to_owned()),
            ..EvalInput::default()
        };
        assert!(bleu().evaluate(&empty)[0].error.as_deref().unwrap().contains("no words"));
    }
}
