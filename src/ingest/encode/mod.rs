//! Stored spans to OTLP: the way back, so that data can leave for another collector.
//!
//! | file | what |
//! |---|---|
//! | `request` | rows of the table `spans` to a trace request |
//! | `json` | a trace request as OTLP/JSON text |
//!
//! What went in comes out, field by field, except for what the table has no column for: the counts of attributes that
//! were dropped from a resource or a scope, references to entities, and which of the two schema URLs was given. A NaN
//! comes out as the plain NaN, an attribute without a value as one with an empty value, and a kind or status that OTLP
//! does not know as unspecified.

mod json;
mod request;

pub use json::traces_to_json;
pub use request::{COLUMNS, EncodeError, spans_to_request};
