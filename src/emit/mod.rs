//! What leaves for another OTLP backend: evaluation results as log events `gen_ai.evaluation.result`, and spans and log records
//! as they came.
//!
//! | file | what |
//! |---|---|
//! | `config` | `[emit]`, `[forward]` and `[forward_logs]` and their faults |
//! | `record` | scores to an OTLP request |
//! | `signal` | what the three loops differ in: whose rows, which request, which names |
//! | `load` | rows on their way, in pieces that one request takes |
//! | `verdict` | what an answer means for a request |
//! | `backend` | requests over HTTP and gRPC, with headers, TLS and compression |
//! | `run` | the loop that follows the journal and sends |
//!
//! Promises: every span, every log record and every production score with a result, is sent at least once, in the order in which it became
//! durable. A backend that is away costs disk up to `max_disk_size` of its section and never a request of a sender; what is left
//! out beyond that, or beyond `max_age`, is counted, and so is what the backend refuses.

mod backend;
mod config;
mod load;
mod record;
mod run;
mod signal;
mod verdict;

pub use config::{Compression, Config, Protocol};
pub use run::Emitter;
