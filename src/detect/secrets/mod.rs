//! Credentials: published forms, and values beside a name such as `password`.
//!
//! | file | what |
//! |---|---|
//! | `find` | runs the shapes and the key words over a text |
//! | `shape` | one published form of a credential, with the text that it cannot be without |
//! | `providers` | forms of cloud, code and chat services |
//! | `providers_ai` | forms of model, data and monitoring services |
//! | `providers_more` | further services, and commands that take a password |
//! | `vendor` | keys without a form, beside the name of their service |
//! | `structures` | PEM, JWT, connection strings, addresses with passwords, activation keys, password hashes |
//! | `structures_more` | files and commands of systems, further password hashes |
//! | `keyword` | a value assigned to a name such as `password` or `api_key` |
//! | `plausible` | entropy, and what is only a placeholder |
//! | `tests` | each family: a right value, a broken one, a look-alike |
//!
//! Checksums inside tokens (GitHub, npm) are not asked for: a token with a broken one is mostly a real token that a
//! model has repeated with a mistake. Keys that providers print in their documentation count as keys.

mod find;
mod keyword;
mod plausible;
mod providers;
mod providers_ai;
mod providers_more;
mod shape;
mod structures;
mod structures_more;
mod vendor;

pub use find::{find as findings, kinds};
