//! What things are: the nouns that every room shares.
//!
//! | file | what |
//! |---|---|
//! | `id` | trace and span ids, fixed width, lower-case hex outside |
//! | `time` | nanoseconds since 1970 and the clock that tells them |
//! | `value` | an attribute value as OTLP sends it, and its JSON text |
//! | `value_json` | that text read back |
//! | `message` | chat messages in the OpenTelemetry GenAI shape |
//! | `document` | one retrieved document |
//! | `span` | a span with the fields that every convention is brought to |
//! | `log` | a log record that belongs to a span |
//! | `merge` | joins what log records say to the span that they belong to |
//! | `weight` | how much memory the content of a log record, or a document, takes |
//! | `trace` | what an evaluator is given, put together from the spans of a trace |
//! | `prompt` | the prompt template that an answer was made with |
//! | `score` | what an evaluator answers, and the row that is stored |
//! | `decision` | whether a trace is judged, by which rule, with which probability |
//! | `promise` | the named guarantees that code and tests cite |
//!
//! No I/O, nothing asynchronous.

pub mod decision;
pub mod document;
pub mod id;
pub mod log;
pub mod merge;
pub mod message;
pub mod promise;
pub mod prompt;
pub mod score;
pub mod span;
pub mod time;
pub mod trace;
pub mod value;
pub mod value_json;
pub mod weight;
