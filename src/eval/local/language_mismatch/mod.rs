//! One language from question to answer.
//!
//! | file | what |
//! |---|---|
//! | `evaluator` | the evaluator `language_mismatch` |
//! | `relate` | how the languages of two texts stand to each other |

mod evaluator;
mod relate;

pub use evaluator::LanguageMismatch;
