//! OTLP as it came to spans and log records with their normalised fields.
//!
//! | file | what |
//! |---|---|
//! | `outcome` | what decoding gives: items, an exact count of rejections, a bounded list of reasons |
//! | `convert` | protobuf structures to domain values |
//! | `trace` | a trace request to spans, bad spans refused one by one |
//! | `log` | a log request to records |
//! | `metric` | a metrics request, checked and not built |
//! | `json` | OTLP/JSON text to the protobuf structures |
//! | `protobuf` | a protobuf message from its bytes, weighed first |
//! | `text` | texts of a protobuf body that are not UTF-8 |
//! | `wire` | protobuf's wire format, field by field |
//! | `rows` | rows of a trace request, cut into frames |
//! | `direct` | ordinary trace requests from the wire straight to rows |
//! | `traces` | a trace request as rows, by whichever way |
//! | `weigh` | how much memory a body will take, told before it is decoded |
//! | `walk` | the checked steps through a JSON tree that `json` takes |
//!
//! | promise | |
//! |---|---|
//! | one bad span costs one span | wrong ids, impossible times and too deep values are counted and named, the rest is kept |
//! | bytes that are not OTLP are an error | never an empty success |

mod convert;
mod direct;
mod json;
mod log;
mod metric;
mod outcome;
mod protobuf;
mod rows;
mod text;
mod trace;
mod traces;
mod walk;
mod weigh;
mod wire;

pub use json::{logs_from_json, metrics_from_json, traces_from_json};
pub use log::{logs, redacted_logs, redacted_logs_json};
pub use metric::metrics_from_protobuf;
pub use outcome::{DecodeError, Decoded};
pub use protobuf::{OtlpRequest, from_protobuf};
pub use rows::{Chunk, Traces};
pub use trace::spans;
