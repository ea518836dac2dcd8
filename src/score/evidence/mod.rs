//! What in a context speaks for a sentence of an answer.
//!
//! | file | what |
//! |---|---|
//! | `vocabulary` | words, stems, numbers, names and negation, as they are compared |
//! | `context` | a context cut into sentences, and the windows of it that may support a sentence |
//! | `features` | what is measured of a sentence against its windows, and of an answer against its sentences |
//! | `combiner` | the features of an answer as one probability |
//!
//! `training/entailment_features.py` is the same in Python; a test holds the two equal on stored cases.

mod combiner;
mod context;
mod features;
mod vocabulary;

pub use combiner::{Combiner, Part};
pub use context::{Context, Windows};
pub use features::{Features, Response, missing, sentence_features};
pub use vocabulary::{content, share_missing, words};

#[cfg(test)]
mod tests;
