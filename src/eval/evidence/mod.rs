//! What in a context speaks for a sentence of an answer.
//!
//! | file | what |
//! |---|---|
//! | `vocabulary` | words, stems, numbers, names and negation, as they are compared |
//! | `courtesy` | sentences that are polite and claim nothing |
//! | `index` | which sentences of a context may speak of a sentence |
//! | `context` | a context cut into sentences, and the window of it that may support a sentence |
//! | `spans` | spans of years with their length behind them |
//! | `features` | what is measured of a sentence against its window |
//! | `combiner` | the features of a sentence as one probability, and the sentences of an answer as one |
//!
//! `training/entailment_features.py` is the same in Python; a test holds the two equal on stored cases.

mod combiner;
mod context;
mod courtesy;
mod features;
mod index;
mod spans;
mod vocabulary;

pub use combiner::{Combiner, Contribution, all_supported};
pub use context::{Context, Passage, is_marked};
pub use courtesy::is_courtesy;
pub use features::{Features, missing, sentence_features};
pub use index::Index;
pub use vocabulary::{content, share_missing, words};

#[cfg(test)]
mod tests;
