//! Items that ask the same in other letters: does the application answer as before? A copy, which changes nothing, tells how
//! much answers vary by themselves.
//!
//! | file | what |
//! |---|---|
//! | `random` | numbers that are the same each time |
//! | `method` | what is done to a text |
//! | `items` | items of a dataset, changed |

mod items;
mod method;
mod random;

pub use items::{Wanted, perturbed};
pub use method::{Intensity, Method};
