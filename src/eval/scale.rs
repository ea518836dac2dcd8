//! The scale of each metric: the range of its values, and the default threshold that H2O Eval Studio has for it.
//!
//! Those thresholds are what that system's page of evaluators says ("Default threshold", per metric); the table of
//! docs/evaluators.md names the section of each, and a test holds it against this one.

/// The scale of metrics that have the same one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// The evaluator.
    pub evaluator: &'static str,
    /// Its metrics, as `scores.metric` has them.
    pub metrics: &'static [&'static str],
    /// The lowest value that there is.
    pub least: f64,
    /// The highest; infinite where there is none.
    pub most: f64,
    /// The default threshold of H2O Eval Studio; infinite where every value passes there, none where it has no such metric.
    pub h2o: Option<f64>,
}

/// From 0 to 1.
const SHARE: (f64, f64) = (0.0, 1.0);
/// From 0 to any number.
const POSITIVE: (f64, f64) = (0.0, f64::INFINITY);
/// What H2O asks of a mean.
const MEAN: Option<f64> = Some(0.75);
/// What H2O asks of a share of passes.
const PASSES: Option<f64> = Some(0.5);
/// What H2O asks of likelihoods: nothing.
const ANY: Option<f64> = Some(f64::INFINITY);

const fn scale(
    evaluator: &'static str,
    metrics: &'static [&'static str],
    (least, most): (f64, f64),
    h2o: Option<f64>,
) -> Scale {
    Scale { evaluator, metrics, least, most, h2o }
}

/// The scale of a metric; none for those of plug-ins, which tell no range.
pub fn scale_of(evaluator: &str, metric: &str) -> Option<&'static Scale> {
    if evaluator == metric {
        let own = OF_OWN.iter().find(|one| {
            evaluator.strip_prefix(one.evaluator).is_some_and(|name| name.is_empty() || name.starts_with('/'))
        });
        if own.is_some() {
            return own;
        }
    }
    SCALES.iter().find(|one| one.evaluator == evaluator && one.metrics.contains(&metric))
}

/// Of the user's own questions, whose metric has their name.
const OF_OWN: &[Scale] = &[
    scale("custom_answer", &[], SHARE, None),
    scale("custom_retrieval", &[], SHARE, None),
    scale("byop", &[], SHARE, PASSES),
];

/// In the order of the tables of docs/evaluators.md.
pub const SCALES: &[Scale] = &[
    scale("hallucination", &["hallucination"], SHARE, MEAN),
    scale("groundedness", &["groundedness"], SHARE, MEAN),
    scale("answer_relevance", &["answer_relevance"], SHARE, None),
    scale("answer_relevancy_similarity", &["answer_relevancy"], SHARE, MEAN),
    scale("context_relevance", &["context_relevance", "context_relevance_mean"], SHARE, None),
    scale("context_relevancy_soft", &["recall_relevancy", "precision_relevancy"], SHARE, MEAN),
    scale(
        "toxicity",
        &["toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack"],
        SHARE,
        MEAN,
    ),
    scale("fairness_bias", &["fairness_bias"], SHARE, MEAN),
    scale("pii_leakage", &["pii_leakage"], SHARE, PASSES),
    scale("sensitive_data_leakage", &["sensitive_data_leakage"], SHARE, PASSES),
    scale("prompt_leakage", &["prompt_leakage"], SHARE, None),
    scale("cross_tenant_leakage", &["cross_tenant_leakage"], SHARE, None),
    scale("language_mismatch", &["same_language"], SHARE, PASSES),
    scale("looping", &["unique_sentences", "longest_repeated_substring"], SHARE, MEAN),
    // The frame of zlib makes a text of a few words longer.
    scale("looping", &["compression_ratio"], POSITIVE, MEAN),
    scale("tool_loop", &["tool_loop"], SHARE, None),
    scale("perplexity", &["perplexity"], (1.0, f64::INFINITY), PASSES),
    scale("tokens_presence", &["tokens_presence"], SHARE, PASSES),
    scale("summarization", &["faithfulness_conv", "faithfulness_zs", "completeness"], SHARE, MEAN),
    scale("answer_semantic_similarity", &["answer_similarity"], SHARE, MEAN),
    scale("bleu", &["bleu_1", "bleu_2", "bleu_3", "bleu_4"], SHARE, MEAN),
    scale("rouge", &["rouge_1", "rouge_2", "rouge_l"], SHARE, MEAN),
    scale("classification", &["accuracy"], SHARE, MEAN),
    scale("document_recall", &["document_recall"], SHARE, None),
    scale("faithfulness", &["faithfulness"], SHARE, MEAN),
    scale("answer_correctness", &["answer_correctness"], SHARE, MEAN),
    scale("answer_relevancy", &["answer_relevancy"], SHARE, MEAN),
    scale("context_precision", &["context_precision"], SHARE, MEAN),
    scale("context_recall", &["context_recall"], SHARE, MEAN),
    scale("context_relevancy", &["context_relevancy"], SHARE, MEAN),
    scale(
        "ragas",
        &["ragas", "faithfulness", "answer_relevancy", "context_precision", "context_recall"],
        SHARE,
        MEAN,
    ),
    scale("rag_hallucination", &["rag_hallucination"], SHARE, None),
    scale("rag_context_recall", &["rag_context_recall"], SHARE, None),
    scale("rag_context_precision", &["rag_context_precision"], SHARE, None),
    scale("correctness", &["correctness"], SHARE, None),
    scale("relevance_to_query", &["relevance_to_query"], SHARE, None),
    scale("groundedness_judge", &["groundedness_judge"], SHARE, None),
    scale("safety", &["safety"], SHARE, None),
    scale("chunk_relevance", &["chunk_relevance"], SHARE, None),
    scale("context_sufficiency", &["context_sufficiency"], SHARE, None),
    scale("accuracy", &["accuracy"], SHARE, None),
    scale("facts_compare", &["facts_compare"], SHARE, None),
    scale("pairwise", &["pairwise", "position_consistency", "repeat_agreement"], SHARE, None),
    scale("sql_eval", &["sql_eval"], SHARE, None),
    scale("contact_information", &["contact_information"], SHARE, PASSES),
    scale("language_mismatch_judge", &["language_mismatch_judge"], SHARE, PASSES),
    scale("sexism", &["sexism"], SHARE, PASSES),
    scale("stereotypes", &["stereotypes"], SHARE, PASSES),
    scale("summarization_judge", &["summarization_judge"], SHARE, PASSES),
    scale("user_frustration", &["user_frustration"], SHARE, None),
    scale("task_completion", &["task_completion"], SHARE, None),
    scale("knowledge_retention", &["knowledge_retention"], SHARE, None),
    scale("tool_choice", &["tool_choice"], SHARE, None),
    scale("tool_arguments", &["tool_arguments"], SHARE, None),
    scale("goal_reached", &["goal_reached"], SHARE, None),
    scale("gptscore_translation", &["accuracy", "fluency", "mqm"], POSITIVE, ANY),
    scale(
        "gptscore_qa",
        &[
            "interest",
            "engagement",
            "understandability",
            "relevance",
            "specific",
            "correctness",
            "semantically_appropriate",
            "fluency",
        ],
        POSITIVE,
        ANY,
    ),
    scale(
        "gptscore_summarization_ref",
        &["semantic_coverage", "factuality", "informativeness", "coherence", "relevance", "fluency"],
        POSITIVE,
        ANY,
    ),
    scale(
        "gptscore_summarization",
        &[
            "semantic_coverage",
            "factuality",
            "consistency",
            "informativeness",
            "coherence",
            "relevance",
            "fluency",
        ],
        POSITIVE,
        ANY,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{Config, IDS, JUDGE_IDS, Registry};
    use std::collections::{BTreeMap, BTreeSet};

    const PAGE: &str = include_str!("../../docs/evaluators.md");

    #[test]
    fn every_metric_has_its_scale() {
        let registry = Registry::new(&Config::default(), 1).unwrap();
        for evaluator in registry.select(&registry.ids()).unwrap() {
            let told: BTreeSet<&str> = evaluator.metrics().iter().map(|metric| &*metric.name).collect();
            let known = SCALES.iter().filter(|one| one.evaluator == evaluator.id());
            let known: BTreeSet<&str> = known.flat_map(|one| one.metrics).copied().collect();
            assert_eq!(told, known, "{}", evaluator.id());
        }
        let mut ids: Vec<&str> = SCALES.iter().map(|one| one.evaluator).collect();
        ids.dedup();
        assert_eq!(ids, [IDS, JUDGE_IDS].concat());
        assert_eq!(scale_of("byop/tone", "byop/tone").unwrap().h2o, Some(0.5));
        assert!(scale_of("byopia", "byopia").is_none() && scale_of("plugin/x", "plugin/x").is_none());
    }

    /// The table of the documents: section of H2O's page, evaluator, metrics, threshold.
    #[test]
    fn the_thresholds_of_h2o_are_those_of_the_documents() {
        let (_, section) = PAGE.split_once("## Thresholds of H2O Eval Studio").unwrap();
        let section = section.split("\n## ").next().unwrap();
        let mut told: BTreeMap<String, (BTreeSet<String>, f64)> = BTreeMap::new();
        for line in section.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [_, id, metrics, threshold]: [&str; 4] = cells.try_into().unwrap();
            let metrics = metrics.split(", ").map(|metric| metric.trim_matches('`').to_owned()).collect();
            let threshold: f64 = threshold.replace('∞', "inf").parse().unwrap();
            told.insert(id.trim_matches('`').to_owned(), (metrics, threshold));
        }
        let mut known: BTreeMap<String, (BTreeSet<String>, f64)> = BTreeMap::new();
        for one in SCALES {
            let Some(threshold) = one.h2o else { continue };
            let entry = known.entry(one.evaluator.to_owned()).or_insert((BTreeSet::new(), threshold));
            entry.0.extend(one.metrics.iter().map(|metric| (*metric).to_owned()));
            assert_eq!(entry.1, threshold, "{}", one.evaluator);
        }
        known.insert("byop".to_owned(), (BTreeSet::from(["byop".to_owned()]), 0.5));
        assert_eq!(told, known);
    }
}
