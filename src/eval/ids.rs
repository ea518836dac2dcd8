//! The ids of the evaluators: local ones, those that ask a judge, and plug-ins.

/// Every local evaluator's id, in the order of the table in docs/evaluators.md.
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
    "tool_loop",
    "perplexity",
    "tokens_presence",
    "summarization",
    "answer_semantic_similarity",
    "bleu",
    "rouge",
    "classification",
    "document_recall",
];

/// Every id of an evaluator that asks an LLM judge, in the order of their table in docs/evaluators.md.
pub const JUDGE_IDS: &[&str] = &[
    "faithfulness",
    "answer_correctness",
    "answer_relevancy",
    "context_precision",
    "context_recall",
    "context_relevancy",
    "ragas",
    "rag_hallucination",
    "rag_context_recall",
    "rag_context_precision",
    "correctness",
    "relevance_to_query",
    "groundedness_judge",
    "safety",
    "chunk_relevance",
    "context_sufficiency",
    "accuracy",
    "facts_compare",
    "pairwise",
    "sql_eval",
    "contact_information",
    "language_mismatch_judge",
    "sexism",
    "stereotypes",
    "summarization_judge",
    "user_frustration",
    "task_completion",
    "knowledge_retention",
    "tool_choice",
    "tool_arguments",
    "goal_reached",
    "gptscore_translation",
    "gptscore_qa",
    "gptscore_summarization_ref",
    "gptscore_summarization",
];

/// Whether `id` is that of an evaluator that asks a judge, one of the user's own included.
pub fn asks_judge(id: &str) -> bool {
    let prefixes = ["custom_answer/", "custom_retrieval/", "byop/"];
    let is_custom = id == "byop" || prefixes.iter().any(|prefix| id.starts_with(prefix));
    is_custom || JUDGE_IDS.contains(&id)
}

/// What the error of a row says where no reply of a judge could be read as a verdict.
pub const NO_VERDICT: &str = "are no verdict";

/// Those whose label tells of a fail whether it came from the retrieved text or is the model's own.
const TELL_ORIGIN: [&str; 5] =
    ["contact_information", "language_mismatch_judge", "sexism", "stereotypes", "summarization_judge"];

/// Whether the label of `id` tells where a fail came from: `retrieval` or `generation`.
pub fn tells_origin(id: &str) -> bool {
    TELL_ORIGIN.contains(&id) || id == "byop" || id.starts_with("byop/")
}

/// What stands before the name of a plug-in.
const PLUGIN: &str = "plugin/";

/// The id of the plug-in called `name`.
pub fn plugin_id(name: &str) -> String {
    format!("{PLUGIN}{name}")
}

/// Whether `id` is that of a plug-in.
pub fn is_plugin(id: &str) -> bool {
    id.starts_with(PLUGIN)
}

/// Whether `id` is that of an evaluator that waits for others: a judge, or a plug-in.
pub fn asks_others(id: &str) -> bool {
    asks_judge(id) || is_plugin(id)
}
