//! Stored spans and log records to OTLP: the way back, so that data can leave for another collector.
//!
//! | file | what |
//! |---|---|
//! | `request` | rows of the table `spans` to a trace request |
//! | `json` | a trace request as OTLP/JSON text |
//! | `logs` | rows of the table `log_records` to a log request |
//!
//! What went in comes out, field by field, except for what the table has no column for: the counts of attributes that
//! were dropped from a resource or a scope, references to entities, and which of the two schema URLs was given. A NaN
//! comes out as the plain NaN, an attribute without a value as one with an empty value, and a kind or status that OTLP
//! does not know as unspecified. A log record loses more of its scope than a span: all but the name. Its time of observation is when
//! it came here.

mod json;
mod logs;
mod request;

pub use json::traces_to_json;
pub use logs::logs_to_request;
pub use request::{COLUMNS, EncodeError, spans_to_request};
