//! The aggregates of a run under the names that MLflow and Mosaic AI have for them. Evaluators that have no such name are
//! left out.

use super::summary::Aggregate;
use crate::eval::MlflowName;
use std::collections::BTreeMap;

/// The aggregates by their names.
pub(super) fn named<'a>(all: impl Iterator<Item = Aggregate<'a>>) -> BTreeMap<String, f64> {
    all.filter_map(|one| named_one(&one)).collect()
}

fn named_one(one: &Aggregate<'_>) -> Option<(String, f64)> {
    let name = MlflowName::of(one.evaluator, one.metric)?;
    let rating = one.passed.filter(|_| !one.has_threshold);
    Some((name.over_set(rating.is_some()), rating.or(one.mean)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_convention() {
        let one = |evaluator, metric, has_threshold, passed| Aggregate {
            evaluator,
            metric,
            has_threshold,
            mean: Some(0.25),
            passed,
        };
        let all = [
            one("chunk_relevance", "chunk_relevance", true, Some(0.5)),
            one("document_recall", "document_recall", true, Some(0.5)),
            one("safety", "safety", false, Some(0.75)),
            one("groundedness_judge", "groundedness_judge", false, Some(0.75)),
            one("groundedness", "groundedness", true, Some(0.5)),
            one("rouge", "rouge_l", true, Some(0.5)),
            one("gptscore_qa", "fluency", false, None),
            one("byop/tone", "byop/tone", false, Some(1.0)),
            Aggregate { mean: None, ..one("faithfulness", "faithfulness", true, None) },
        ];
        let named = named(all.into_iter());
        let wanted = [
            ("response/ground_truth/rouge/rouge_l/average", 0.25),
            ("response/llm_judged/byop/tone/rating/percentage", 1.0),
            ("response/llm_judged/gptscore_qa/fluency/average", 0.25),
            ("response/llm_judged/groundedness/rating/percentage", 0.75),
            ("response/llm_judged/safety/rating/average", 0.75),
            ("retrieval/ground_truth/document_recall/average", 0.25),
            ("retrieval/llm_judged/chunk_relevance/precision/average", 0.25),
        ];
        let named: Vec<(&str, f64)> = named.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        assert_eq!(named, wanted);
    }
}
