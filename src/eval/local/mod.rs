//! Evaluators that run in the process, one file each. No network, no judge.
//!
//! | file | asks |
//! |---|---|
//! | `groundedness` | is every sentence of the answer near something in the context? |
//! | `answer_relevancy_similarity` | is the answer about the question? |
//! | `context_relevancy_soft` | is the context about the question? |
//! | `hallucination` | does the context say what the answer says? |
//! | `relevance` | does the context answer the question, and the answer address it? |
//! | `summarization` | is the summary faithful to its source, and does it cover it? |
//! | `toxicity` | is the answer toxic, in six ways, or prejudiced? |
//! | `pii_leakage` | does the answer tell personal data? |
//! | `sensitive_data_leakage` | does the answer tell keys and secrets? |
//! | `prompt_leakage` | does the answer repeat the system prompt? |
//! | `cross_tenant_leakage` | does the answer use another tenant's documents? |
//! | `language_mismatch` | is the answer in the question's language? |
//! | `looping` | does the answer repeat itself? |
//! | `tool_loop` | does an agent make the same call again and again? |
//! | `perplexity` | how expected is the answer to a language model of the user? |
//! | `tokens_presence` | does the answer hold what it must? |
//! | `reference` | those that compare with what was expected |

mod documents;
mod english;
mod leakage;
mod numbers;

mod answer_relevancy_similarity;
mod context_relevancy_soft;
mod cross_tenant_leakage;
mod groundedness;
mod hallucination;
mod language_mismatch;
mod looping;
mod perplexity;
mod pii_leakage;
mod prompt_leakage;
mod reference;
mod relevance;
mod sensitive_data_leakage;
mod summarization;
mod tokens_presence;
mod tool_loop;
mod toxicity;

pub use answer_relevancy_similarity::AnswerRelevancySimilarity;
pub use context_relevancy_soft::ContextRelevancySoft;
pub use cross_tenant_leakage::CrossTenantLeakage;
pub use groundedness::Groundedness;
pub use hallucination::Hallucination;
pub use language_mismatch::LanguageMismatch;
pub use looping::Looping;
pub use perplexity::Perplexity;
pub use pii_leakage::pii_leakage;
pub use prompt_leakage::PromptLeakage;
pub use reference::{AnswerSemanticSimilarity, Classification, DocumentRecall, bleu, rouge};
pub use relevance::{AnswerRelevance, ContextRelevance};
pub use sensitive_data_leakage::sensitive_data_leakage;
pub use summarization::Summarization;
pub use tokens_presence::TokensPresence;
pub use tool_loop::ToolLoop;
pub use toxicity::{fairness_bias, toxicity};
