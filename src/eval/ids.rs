//! The ids of the evaluators.

/// Every evaluator's id, in the order of the table in docs/evaluators.md.
pub const IDS: &[&str] = &[
    "hallucination",
    "groundedness",
    "answer_relevance",
    "answer_relevancy_similarity",
    "context_relevance",
    "context_relevancy_soft",
    "toxicity",
    "fairness_bias",
    "pii_leakage",
    "sensitive_data_leakage",
    "prompt_leakage",
    "cross_tenant_leakage",
    "language_mismatch",
    "looping",
    "perplexity",
    "tokens_presence",
    "summarization",
    "answer_semantic_similarity",
    "bleu",
    "rouge",
    "classification",
    "document_recall",
];
