//! Regular expressions, with bounds on their size and on the time that they take.
//!
//! The engine's own functions let a pattern take ten megabytes, and hold a thread for as long as a batch of rows takes them.
//!
//! | file | what |
//! |---|---|
//! | `compiled` | a regular expression, and what a byte of text may cost it |
//! | `watch` | how much was done, and whether to go on |
//! | `guarded` | the engine's functions, a few rows at a time |
//! | `similar` | patterns of SIMILAR TO as regular expressions |
//! | `operators` | `~` and its like, and SIMILAR TO, as those functions |
//! | `lists` | `regexp_matches_list` and `regexp_split_to_array` |

mod compiled;
mod guarded;
mod lists;
mod operators;
mod similar;
mod watch;

pub use guarded::guard_patterns;
pub use lists::pattern_functions;
pub use similar::similar_to_escape;
