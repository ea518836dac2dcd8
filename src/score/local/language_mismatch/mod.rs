//! One language from question to answer.
//!
//! | file | what |
//! |---|---|
//! | `evaluator` | the evaluator `language_mismatch` |
//! | `identify` | which language a text is in, and how two texts stand to each other |

mod evaluator;
mod identify;

pub use evaluator::LanguageMismatch;
pub use identify::{Language, language_of};
