//! Which evaluators a task's rows are given to, and which side of a label they should find.

/// One metric that is measured against the labels.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The evaluator.
    pub evaluator: &'static str,
    /// Its metric.
    pub metric: &'static str,
    /// True where label 1 is what the metric calls good, false where label 1 is the fault that it should find.
    pub one_is_good: bool,
    /// Whether it gets the answer as a summary of its context (`Row::summary`). Such a target reads a dozen pairs for each
    /// sentence, which takes many times as long as the others, so it is measured only where its evaluator is named.
    pub sums_up: bool,
}

const fn finds(evaluator: &'static str, metric: &'static str) -> Target {
    Target { evaluator, metric, one_is_good: false, sums_up: false }
}

const fn approves(evaluator: &'static str, metric: &'static str) -> Target {
    Target { evaluator, metric, one_is_good: true, sums_up: false }
}

const fn sums_up(metric: &'static str) -> Target {
    Target { evaluator: "summarization", metric, one_is_good: false, sums_up: true }
}

const GROUNDEDNESS: &[Target] = &[
    finds("groundedness", "groundedness"),
    finds("hallucination", "hallucination"),
    sums_up("faithfulness_conv"),
    sums_up("faithfulness_zs"),
];
const CONTEXT_RELEVANCE: &[Target] = &[
    approves("context_relevancy_soft", "recall_relevancy"),
    approves("context_relevance", "context_relevance"),
];
const ANSWER_RELEVANCE: &[Target] = &[
    approves("answer_relevancy_similarity", "answer_relevancy"),
    approves("answer_relevance", "answer_relevance"),
];
const TOXICITY: &[Target] = &[finds("toxicity", "toxicity"), finds("toxicity", "identity_attack")];
const BIAS: &[Target] = &[finds("fairness_bias", "fairness_bias")];
const MISMATCH: &[Target] = &[finds("language_mismatch", "same_language")];
const SECRETS: &[Target] = &[finds("sensitive_data_leakage", "sensitive_data_leakage")];

/// The metrics that are measured on a dataset; none where nothing here measures its labels.
pub fn targets(task: &str, dataset: &str) -> Vec<Target> {
    match (task, dataset) {
        ("groundedness", _) => GROUNDEDNESS.to_vec(),
        ("context_relevance", _) => CONTEXT_RELEVANCE.to_vec(),
        ("answer_relevance", _) => ANSWER_RELEVANCE.to_vec(),
        ("toxicity", _) => TOXICITY.to_vec(),
        ("bias", "crows_pairs") => BIAS.to_vec(),
        ("language", "xquad_mismatch") => MISMATCH.to_vec(),
        ("secrets", _) => SECRETS.to_vec(),
        _ => Vec::new(),
    }
}
