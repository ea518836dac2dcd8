//! Which language a text is in.
//!
//! | file | what |
//! |---|---|
//! | `script` | the writing system of a letter, and the languages that have one to themselves |
//! | `cues` | words that tell languages apart where letters cannot |
//! | `table` | the weights of n-grams that the program carries (`models/language/CARD.md`) |
//! | `identify` | a text as a guess, with the probability that it is right |
//!
//! The script decides first. Where several languages share it, every n-gram of one to five letters of every word, word
//! edges included, votes for and against each of them.

mod cues;
mod identify;
mod script;
mod table;
#[cfg(test)]
mod tests;

pub use identify::{Guess, foreign, identify};
pub use script::Script;
pub use table::LANGUAGE_VERSION;
