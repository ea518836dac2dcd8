//! SQL/JSON paths, as `jsonb_path_query` and the operators `@?` and `@@` take them.
//!
//! | file | what |
//! |---|---|
//! | `pattern` | regular expressions, and what they may cost |
//! | `tree` | a path that has been read |
//! | `tokens` | its words and signs |
//! | `parse` | from text to a tree, within limits |
//! | `numbers` | arithmetic and order |
//! | `methods` | `.size()`, `.double()` and other methods |
//! | `fault` | what can go wrong with a value, and how much may be done |
//! | `items` | what a path finds |
//! | `evaluate` | follows a path through a value |
//! | `functions` | the functions of SQL |

mod evaluate;
#[cfg(test)]
mod evaluate_tests;
mod fault;
mod functions;
mod items;
mod methods;
mod numbers;
mod parse;
#[cfg(test)]
mod parse_tests;
mod pattern;
mod tokens;
mod tree;

pub use functions::{path_functions, path_operators};
