//! What an operator sees: metrics, health, and the quality rates as gauges.
//!
//! | file | what |
//! |---|---|
//! | `config` | settings and their faults |
//! | `names` | every metric with its unit and meaning |
//! | `exporter` | the Prometheus exporter |
//! | `disk` | how full the disk is, and how long it lasts |
//! | `health` | is the server alive, is it ready |
//! | `grpc` | health and reflection over gRPC |
//! | `quality` | the loop that keeps the quality gauges fresh |
//! | `anchors` | the loop that scores frozen items again |
//! | `watermarks` | the loop that tells up to when the numbers are final |
//! | `http` | `/metrics` and `/health/…` |
//! | `samples` | what the exporter has counted, read back |
//! | `status` | `/v1/status`: the server in one JSON |

mod anchors;
mod config;
mod disk;
mod exporter;
mod grpc;
mod health;
mod http;
mod names;
mod quality;
mod samples;
mod status;
mod watermarks;

pub use anchors::AnchorLoop;
pub use config::Config;
pub use disk::Disk;
pub use exporter::install;
pub use grpc::grpc_routes;
pub use health::Health;
pub use http::router;
pub use names::{METRICS, MetricKind, MetricName};
pub use quality::Quality;
pub use status::{Facts, StatusEndpoint, status_router};
pub use watermarks::{Finality, Stages};
