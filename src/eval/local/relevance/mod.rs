//! Relevance of a text to a question.
//!
//! | file | what |
//! |---|---|
//! | `evaluators` | `context_relevance` and `answer_relevance` |
//! | `reader` | what is measured of a text and a question |
//! | `refusal` | how much a sentence reads like a refusal |
//! | `product` | the features as one probability |
//!
//! `training/relevance_features.py` is the same in Python; a test holds the two equal on stored cases.

mod evaluators;
mod product;
mod reader;
mod refusal;

pub use evaluators::{AnswerRelevance, ContextRelevance};

#[cfg(test)]
mod tests;
