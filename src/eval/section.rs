//! `[evaluator.<id>]`: what one evaluator does otherwise.

use serde::{Deserialize, Serialize};

/// `[evaluator.<id>]`: what one evaluator does otherwise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EvaluatorConfig {
    /// The threshold of its first metric, and of each other one that has a threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric_threshold: Option<f64>,
    /// How `answer_semantic_similarity` compares; embeddings if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<SimilarityMethod>,
}

/// How two answers are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SimilarityMethod {
    /// The cosine of their embeddings.
    #[default]
    Embeddings,
    /// The model of `[models.similarity]` reads both together.
    CrossEncoder,
}
