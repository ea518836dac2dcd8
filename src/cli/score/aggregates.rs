//! The aggregates of a run under the names that MLflow and Mosaic AI have for them, so that results lie beside theirs.
//!
//! A name is the part of the application, the source of the judgement, the judge and what is aggregated:
//! `response/llm_judged/correctness/rating/percentage`. Evaluators that have no such name are left out.

use super::summary::Aggregate;
use crate::eval::asks_judge;
use std::collections::BTreeMap;

/// Judges of what was retrieved; the others judge the answer.
const OF_RETRIEVAL: [&str; 6] = [
    "chunk_relevance",
    "context_precision",
    "context_recall",
    "context_relevancy",
    "context_sufficiency",
    "rag_context_precision",
];
/// What stands before the name of a user's own question about chunks.
const OWN_RETRIEVAL: &str = "custom_retrieval/";
/// Local evaluators that compare with what was expected.
const OF_TRUTH: [&str; 4] = ["answer_semantic_similarity", "bleu", "rouge", "classification"];

/// The aggregates by their names.
pub(super) fn named<'a>(all: impl Iterator<Item = Aggregate<'a>>) -> BTreeMap<String, f64> {
    all.filter_map(|one| named_one(&one)).collect()
}

fn named_one(one: &Aggregate<'_>) -> Option<(String, f64)> {
    let (evaluator, metric) = (one.evaluator, one.metric);
    let own = match (evaluator, metric) {
        // The other name is that of the local evaluator.
        ("groundedness_judge", _) => "groundedness".to_owned(),
        _ if evaluator == metric => evaluator.to_owned(),
        _ => format!("{evaluator}/{metric}"),
    };
    let of_chunks = evaluator == "chunk_relevance" || evaluator.starts_with(OWN_RETRIEVAL);
    let part = match evaluator {
        _ if of_chunks || OF_RETRIEVAL.contains(&evaluator) || evaluator == "document_recall" => "retrieval",
        _ => "response",
    };
    let source = match evaluator {
        _ if asks_judge(evaluator) => "llm_judged",
        "document_recall" => "ground_truth",
        _ if OF_TRUTH.contains(&evaluator) => "ground_truth",
        _ => return None,
    };
    let (what, value) = match one.passed {
        Some(share) if !one.has_threshold => ("rating/percentage", share),
        _ if of_chunks => ("precision/average", one.mean?),
        _ => ("average", one.mean?),
    };
    Some((format!("{part}/{source}/{own}/{what}"), value))
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
            ("response/llm_judged/safety/rating/percentage", 0.75),
            ("retrieval/ground_truth/document_recall/average", 0.25),
            ("retrieval/llm_judged/chunk_relevance/precision/average", 0.25),
        ];
        let named: Vec<(&str, f64)> = named.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        assert_eq!(named, wanted);
    }
}
