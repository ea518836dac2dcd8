//! The door: OTLP in, durable frames out.
//!
//! | file | what |
//! |---|---|
//! | `config` | addresses and limits |
//! | `grpc` | OTLP/gRPC |
//! | `http` | OTLP/HTTP, protobuf and JSON |
//! | `protocol` | what OTLP sends, and how it is written down |
//! | `body` | a request's bytes: limits, memory and compression |
//! | `answer` | the responses to what was accepted |
//! | `status` | the wires' errors |
//! | `decode` | bytes to spans and log records |
//! | `redact` | what senders should not have sent is put out before anything is stored |
//! | `dialect` | what each convention's attributes mean |
//! | `encode` | the way back: stored spans to OTLP |
//! | `annotations` | human judgements over HTTP |
//! | `drain` | when a client that is refused should come back |
//! | `admit` | the last step: what was accepted becomes one durable frame |
//!
//! The answer is sent after the journal's fsync (P1). A bad span costs only itself and is counted in the answer (P3).

pub mod decode;
pub mod dialect;
pub mod encode;

mod admit;
mod annotations;
mod answer;
mod body;
mod config;
mod drain;
mod grpc;
mod http;
mod protocol;
mod redact;
mod status;

pub use admit::{Door, Receipt, Refusal};
pub use annotations::annotations_router;
pub use config::Config;
pub use grpc::grpc_router;
pub use http::http_router;
pub use redact::{Config as RedactConfig, Redactor};
