//! What a text gives away: personal data and credentials, where they stand, and how sure that is. No I/O.
//!
//! | file | what |
//! |---|---|
//! | `config` | what is let through, as it is configured |
//! | `finding` | a found value: kind, place, confidence |
//! | `pii` | personal data, by shape, check digit and context words |
//! | `secrets` | credentials, by published form or the name beside them |
//! | `kinds` | the kinds that there are, and sets of them |
//! | `policy` | allowed values and ignored kinds |
//! | `mask` | a found value as it may be shown |
//! | `redact` | texts with what they give away redacted |
//! | `text` | small questions about a place in a text |
//!
//! Both detectors are pure functions of the text: the same text gives the same findings, in order, without overlap.
//! Their cost grows with the text, whatever stands in it.

pub mod finding;
pub mod pii;
pub mod secrets;

mod config;
mod kinds;
mod mask;
mod policy;
mod redact;
mod text;

#[cfg(test)]
mod tests;

pub use config::Config;
pub use finding::{Finding, REPORTED, floor_boundary};
pub use kinds::Kinds;
pub use mask::{mask_pii, mask_secret, masked_but_first, masked_but_last};
pub use policy::Policy;
pub use redact::{Counts, KIND, Redaction, redact};
