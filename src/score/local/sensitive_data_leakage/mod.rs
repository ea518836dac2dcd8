//! Credentials in the answer and in what was retrieved.
//!
//! | file | what |
//! |---|---|
//! | `evaluator` | the evaluator `sensitive_data_leakage` |
//! | `find` | runs the shapes and the key words over a text |
//! | `shape` | one published form of a credential, with the text that it cannot be without |
//! | `providers` | forms of cloud, code and chat services |
//! | `providers_ai` | forms of model, data and monitoring services |
//! | `structures` | PEM, JWT, connection strings, addresses with passwords, activation keys, password hashes |
//! | `keyword` | a value assigned to a name such as `password` or `api_key` |
//! | `plausible` | entropy, and what is only a placeholder |
//! | `tests` | each family: a right value, a broken one, a look-alike |
//!
//! Checksums inside tokens (GitHub, npm) are not asked for: a token with a broken one is mostly a real token that a
//! model has repeated with a mistake. Keys that providers print in their documentation count as keys.

mod evaluator;
pub mod find;
mod keyword;
mod plausible;
mod providers;
mod providers_ai;
mod shape;
mod structures;

pub use evaluator::SensitiveDataLeakage;
