//! The receiver: OTLP in, durable frames out.
//!
//! | file | what |
//! |---|---|
//! | `config` | addresses and limits |
//! | `grpc` | OTLP/gRPC |
//! | `http` | OTLP/HTTP, protobuf and JSON |
//! | `protocol` | what OTLP sends, and how it is written down |
//! | `receipt` | what becomes of a request |
//! | `memory` | how much memory requests may take, all together and each |
//! | `body` | a request's bytes: limits and compression |
//! | `dispatch` | from bytes to a receipt by signal, for both wires |
//! | `answer` | the responses to what was accepted |
//! | `status` | the wires' errors |
//! | `decode` | bytes to spans and log records |
//! | `redact` | what senders should not have sent is redacted before anything is stored |
//! | `dialect` | what each convention's attributes mean |
//! | `encode` | the way back: stored spans to OTLP |
//! | `admit` | the last step: what was accepted becomes one durable frame |
//!
//! The answer is sent after the journal's fsync (P1). A bad span costs only itself and is counted in the answer (P3).

pub mod decode;
pub mod dialect;
pub mod encode;

mod admit;
mod answer;
mod body;
mod config;
mod dispatch;
mod grpc;
mod http;
mod memory;
mod protocol;
mod receipt;
mod redact;
mod status;

pub use admit::Receiver;
pub use config::Config;
pub use grpc::grpc_router;
pub use http::http_router;
pub use receipt::{Receipt, Refusal};
pub use redact::{Config as RedactConfig, Redactor};
pub use status::retry_delay;
