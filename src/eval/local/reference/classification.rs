//! `classification`: is the answer the expected label?

use super::shared::both;
use crate::domain::score::{Better, Score};
use crate::domain::trace::EvalInput;
use crate::eval::evaluator::{Evaluator, Metric};

static METRIC: Metric = Metric::new("accuracy", Better::Higher, None);
/// A longer text is no label, characters.
const MAX_LABEL: usize = 200;

/// One item's part of the accuracy: 1 if the answer is the expected label, 0 if not, with the label `expected -> answer`.
///
/// Case, surrounding space and quotes, and a full stop at the end do not count. Precision, recall, F1 and the confusion
/// matrix are facts of a dataset: `groundline score` prints them behind its rows, and SQL has them by the labels.
#[derive(Debug, Clone, Copy, Default)]
pub struct Classification;

impl Evaluator for Classification {
    fn id(&self) -> &str {
        "classification"
    }

    fn version(&self) -> &str {
        "1"
    }

    fn metrics(&self) -> &[Metric] {
        std::slice::from_ref(&METRIC)
    }

    fn is_by_name_only(&self) -> bool {
        true
    }

    fn evaluate(&self, input: &EvalInput) -> Vec<Score> {
        let (answer, expected) = match both(input, self.metrics()) {
            Ok(both) => both,
            Err(skipped) => return skipped,
        };
        let (answer, expected) = (label(answer), label(expected));
        if expected.is_empty() {
            return vec![Score::skipped(&METRIC.name, "expected label")];
        }
        let is_same = answer == expected;
        vec![Score::verdict(&METRIC.name, is_same).labelled(format!("{expected} -> {answer}"))]
    }
}

fn label(text: &str) -> String {
    let short: String = text.trim().chars().take(MAX_LABEL).collect();
    short.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '.')).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(answer: &str, expected: &str) -> Score {
        let input = EvalInput {
            answer: Some(answer.to_owned()),
            expected: Some(expected.to_owned()),
            ..EvalInput::default()
        };
        Classification.evaluate(&input).remove(0)
    }

    #[test]
    fn spelling_does_not_count_and_the_label_tells_both() {
        let same = judged(" \"Positive\".\n", "positive");
        assert_eq!((same.value, same.label.as_deref()), (Some(1.0), Some("positive -> positive")));
        let other = judged("negative", "positive");
        assert_eq!((other.passed, other.label.as_deref()), (Some(false), Some("positive -> negative")));
        assert_eq!(judged("x", " ").error.as_deref(), Some("expected label"));
        assert!(judged(&"x".repeat(1_000_000), "y").label.unwrap().len() < 300);
    }
}
