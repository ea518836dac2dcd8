//! The names that MLflow and Mosaic AI have for judgements, so that results lie beside theirs.
//!
//! A name is the part of the application, the source of the judgement, and the judge:
//! `response/llm_judged/correctness`. Behind it stands what is told: `rating`, or over a set `rating/percentage`.

use super::ids::asks_judge;

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

/// The name of a metric there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MlflowName {
    /// The name.
    pub path: String,
    /// Whether it judges one chunk after the other.
    pub is_of_chunks: bool,
}

impl MlflowName {
    /// The name of a metric of an evaluator; none where there is no such name.
    pub fn of(evaluator: &str, metric: &str) -> Option<Self> {
        let own = match (evaluator, metric) {
            // The other name is that of the local evaluator.
            ("groundedness_judge", _) => "groundedness".to_owned(),
            _ if evaluator == metric => evaluator.to_owned(),
            _ => format!("{evaluator}/{metric}"),
        };
        let is_of_chunks = evaluator == "chunk_relevance" || evaluator.starts_with(OWN_RETRIEVAL);
        let part = match evaluator {
            _ if is_of_chunks || OF_RETRIEVAL.contains(&evaluator) || evaluator == "document_recall" => {
                "retrieval"
            }
            _ => "response",
        };
        let source = match evaluator {
            _ if asks_judge(evaluator) => "llm_judged",
            "document_recall" => "ground_truth",
            _ if OF_TRUTH.contains(&evaluator) => "ground_truth",
            _ => return None,
        };
        Some(Self { path: format!("{part}/{source}/{own}"), is_of_chunks })
    }

    /// The name over a set: of a judge that rates, the share of good ratings; else the mean.
    pub fn over_set(&self, is_rating: bool) -> String {
        let what = match (is_rating, self.is_of_chunks) {
            // The convention's own exception.
            (true, _) if self.path == "response/llm_judged/safety" => "rating/average",
            (true, _) => "rating/percentage",
            (false, true) => "precision/average",
            (false, false) => "average",
        };
        format!("{}/{what}", self.path)
    }
}
