//! `document_recall`: were the expected documents retrieved?

use super::shared::measured;
use crate::domain::score::{Better, Score};
use crate::domain::trace::EvalInput;
use crate::eval::evaluator::{Evaluator, Metric};
use std::collections::BTreeSet;

static METRIC: Metric = Metric::new("document_recall", Better::Higher, Some(0.75));
/// No more missing documents than this are named.
const MAX_NAMED: usize = 10;

/// The share of the expected documents that were retrieved, from 0 to 1. A document is known by its URI or its id.
#[derive(Debug, Clone, Copy, Default)]
pub struct DocumentRecall;

impl Evaluator for DocumentRecall {
    fn id(&self) -> &str {
        &METRIC.name
    }

    fn version(&self) -> &str {
        "2"
    }

    fn metrics(&self) -> &[Metric] {
        std::slice::from_ref(&METRIC)
    }

    fn is_by_name_only(&self) -> bool {
        true
    }

    fn evaluate(&self, input: &EvalInput) -> Vec<Score> {
        let expected = named(input.expected_documents.iter());
        if expected.is_empty() {
            return vec![Score::skipped(&METRIC.name, "expected documents")];
        }
        let names = input.contexts.iter().flat_map(|document| [&document.uri, &document.id]);
        let found = named(names.flatten());
        if found.is_empty() && !input.contexts.is_empty() {
            return vec![Score::skipped(&METRIC.name, "uri or id of the contexts")];
        }
        let missing: Vec<&str> = expected.iter().filter(|uri| !found.contains(**uri)).copied().collect();
        let mut why = format!("{} of {} retrieved", expected.len() - missing.len(), expected.len());
        if !missing.is_empty() {
            let named: Vec<&str> = missing.iter().take(MAX_NAMED).copied().collect();
            why += &format!("; missing: {}", named.join(", "));
        }
        let share = 1.0 - missing.len() as f64 / expected.len() as f64;
        vec![measured(&METRIC, share).because(why)]
    }
}

/// The different names; a blank one names nothing.
fn named<'a>(names: impl Iterator<Item = &'a String>) -> BTreeSet<&'a str> {
    names.map(|name| name.trim()).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::document::Document;
    use crate::domain::score::ScoreStatus;

    fn judged(retrieved: &[&str], expected: &[&str]) -> Score {
        let document = |uri: &&str| Document { uri: Some((*uri).to_owned()), ..Document::default() };
        let input = EvalInput {
            contexts: retrieved.iter().map(document).collect(),
            expected_documents: expected.iter().map(|uri| (*uri).to_owned()).collect(),
            ..EvalInput::default()
        };
        DocumentRecall.evaluate(&input).remove(0)
    }

    #[test]
    fn the_share_that_was_retrieved() {
        let score = judged(&["a", "b", "b", "x"], &["a", "b", "c", "c"]);
        assert!((score.value.unwrap() - 2.0 / 3.0).abs() < 1e-12);
        assert!(score.rationale.unwrap().ends_with("missing: c"));
        assert_eq!(judged(&[], &["a"]).value, Some(0.0));
        assert_eq!(judged(&["a"], &[]).status, ScoreStatus::Skipped);
        assert_eq!(judged(&["a"], &["", " "]).status, ScoreStatus::Skipped);
        assert_eq!(judged(&["", "a"], &["a", ""]).value, Some(1.0));
        assert_eq!(judged(&[" "], &["a"]).status, ScoreStatus::Skipped);
        let unnamed = EvalInput {
            contexts: vec![Document::default()],
            expected_documents: vec!["a".to_owned()],
            ..EvalInput::default()
        };
        assert_eq!(DocumentRecall.evaluate(&unnamed)[0].status, ScoreStatus::Skipped);
    }
}
