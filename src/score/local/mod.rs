//! Evaluators that run in the process, one file each. No network, no judge.
//!
//! | file | asks |
//! |---|---|
//! | `groundedness` | is every sentence of the answer near something in the context? |
//! | `answer_relevancy_similarity` | is the answer about the question? |
//! | `context_relevancy_soft` | is the context about the question? |
//! | `toxicity` | is the answer toxic, in six ways? |
//! | `pii_leakage` | does the answer tell personal data? |
//! | `sensitive_data_leakage` | does the answer tell keys and secrets? |
//! | `prompt_leakage` | does the answer repeat the system prompt? |
//! | `language_mismatch` | is the answer in the question's language? |
//! | `looping` | does the answer repeat itself? |
//! | `tokens_presence` | does the answer hold what it must? |

mod leakage;
mod numbers;

mod answer_relevancy_similarity;
mod context_relevancy_soft;
mod groundedness;
mod language_mismatch;
mod looping;
mod pii_leakage;
mod prompt_leakage;
mod sensitive_data_leakage;
mod tokens_presence;
mod toxicity;

pub use answer_relevancy_similarity::AnswerRelevancySimilarity;
pub use context_relevancy_soft::ContextRelevancySoft;
pub use groundedness::Groundedness;
pub use language_mismatch::LanguageMismatch;
pub use looping::Looping;
pub use pii_leakage::PiiLeakage;
pub use prompt_leakage::PromptLeakage;
pub use sensitive_data_leakage::SensitiveDataLeakage;
pub use tokens_presence::TokensPresence;
pub use toxicity::Toxicity;
