//! The OTLP receiver against the specification's words: one test a case, on gRPC, HTTP/protobuf and HTTP/JSON wherever
//! the case applies, and what receivers are known to get wrong.

mod answers;
pub mod client;
mod json;
mod overload;
mod probed;
mod sizes;
mod transport;
