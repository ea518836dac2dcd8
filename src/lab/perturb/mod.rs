//! Items that ask the same in other letters or words: does the application answer as before? A copy, which changes nothing,
//! tells how much answers vary by themselves.
//!
//! | file | what |
//! |---|---|
//! | `random` | numbers that are the same each time |
//! | `method` | what is done to a text |
//! | `items` | items of a dataset, changed |
//! | `written` | texts that a judge writes for them |
//! | `http` | the route that makes such a dataset |

mod http;
mod items;
mod method;
mod random;
mod written;

pub use http::{PerturbEndpoint, perturb_router};
pub use items::Wanted;
