//! What an operator sees: metrics, health, and the quality rates as gauges.
//!
//! | file | what |
//! |---|---|
//! | `config` | settings and their faults |
//! | `names` | every metric with its unit and meaning |
//! | `exporter` | the Prometheus exporter |
//! | `guard` | keeps web pages away from a server on the loopback |
//! | `health` | is the server alive, is it ready |
//! | `grpc` | health and reflection over gRPC |
//! | `quality` | the loop that keeps the quality gauges fresh |
//! | `http` | `/metrics`, `/health/…` and the console |

mod config;
mod exporter;
mod grpc;
mod guard;
mod health;
mod http;
mod names;
mod quality;

pub use config::Config;
pub use exporter::install;
pub use grpc::grpc_routes;
pub use guard::loopback_only;
pub use health::Health;
pub use http::router;
pub use names::{METRICS, MetricKind, MetricName};
pub use quality::Quality;
