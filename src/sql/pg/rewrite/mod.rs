//! What clients write and the engine has no word for, in words that it has.
//!
//! | file | what |
//! |---|---|
//! | `build` | expressions from text |
//! | `columns` | the names that PostgreSQL gives to columns without one, and names that come twice |
//! | `types` | types and literals: JSON is text here |
//! | `formats` | `YYYY-MM-DD` as the engine writes it |
//! | `calls` | functions that go by other names, or are made of others |
//! | `commands` | FETCH, MOVE and COPY with words that the parser does not read |
//! | `composed` | functions that are made of several calls or of operators: `mode`, `json_object_agg`, `make_interval` |
//! | `exists` | `EXISTS (…)` among the columns |
//! | `explain` | `EXPLAIN (ANALYZE)` |
//! | `operators` | operators on values of `jsonb`, roots and absolute values |
//! | `spelled` | `TABLE t` and `(struct).*` |
//! | `whole` | whole rows as values, and series as rows |
//! | `laterals` | functions in FROM that give rows: `unnest`, `jsonb_array_elements`, `jsonb_each` |
//! | `numbers` | numbers of the catalogue, and functions, which have names here |
//! | `patterns` | `LIKE … ESCAPE`, `SIMILAR TO … ESCAPE` |
//! | `dialect` | from the text of a query to statements |

mod build;
mod calls;
mod columns;
mod commands;
mod composed;
mod dialect;
mod exists;
mod explain;
mod formats;
mod laterals;
mod numbers;
mod operators;
mod patterns;
mod spelled;
mod types;
mod whole;

pub use columns::shown;
pub use commands::{EVERY, MOVED};
pub use dialect::Dialect;
