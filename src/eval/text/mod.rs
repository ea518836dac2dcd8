//! Text cut into the pieces that evaluators compare.
//!
//! | file | what |
//! |---|---|
//! | `sentences` | sentences with their place in the text |
//! | `lines` | which line breaks end a sentence; list markers, headings, tables, fenced code |
//! | `boundary` | whether a stop inside a block ends a sentence |
//! | `abbreviations` | words whose full stop is part of the word |
//! | `citations` | texts without marks such as `[1]` |
//! | `numbers` | numbers in one spelling, and number words |
//! | `tokens` | words in lower case with their place, and n-grams of them |
//!
//! Every function here costs time in proportion to the text, and gives places as byte offsets into it.

mod abbreviations;
mod boundary;
mod citations;
mod lines;
mod numbers;
mod sentences;
mod tokens;

pub use citations::without_citations;
pub use numbers::{digits, number_word};
pub use sentences::{Sentence, sentences};
pub use tokens::{Word, ngram_hashes, words};
