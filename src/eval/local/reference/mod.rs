//! Evaluators that compare with what was expected: an answer, a label, documents.
//!
//! | file | asks |
//! |---|---|
//! | `shared` | what they share: the two answers, a value with its verdict, the evaluator around a comparison of words |
//! | `bleu` | which word sequences of the answer does the expected answer have? |
//! | `rouge` | which words of the two answers are the same? |
//! | `semantic_similarity` | do the two answers mean the same? |
//! | `classification` | is the answer the expected label? |
//! | `document_recall` | were the expected documents retrieved? |

mod bleu;
mod classification;
mod document_recall;
mod rouge;
mod semantic_similarity;
mod shared;

pub use bleu::bleu;
pub use classification::Classification;
pub use document_recall::DocumentRecall;
pub use rouge::rouge;
pub use semantic_similarity::AnswerSemanticSimilarity;
