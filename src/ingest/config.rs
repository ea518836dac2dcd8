//! Addresses and limits of the door.

use super::redact;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// Settings of the OTLP receiver.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where OTLP/gRPC listens.
    pub grpc_listen: SocketAddr,
    /// Where OTLP/HTTP listens.
    pub http_listen: SocketAddr,
    /// Largest request, before and after decompression, bytes.
    pub max_request_bytes: usize,
    /// Most request bytes that are being worked on at once, received or decoded; more is answered "come back later".
    pub max_in_flight_bytes: usize,
    /// Largest response; the message of a longer one is shortened, bytes.
    pub max_response_bytes: usize,
    /// How long a client is told to wait then at least, milliseconds.
    pub retry_after_ms: u64,
    /// How long it is told to wait at most, milliseconds. Between the two it is what is in front of it at the rate of
    /// the last seconds.
    pub retry_after_max_ms: u64,
    /// The tenant of everything that is received while there are no tokens.
    pub default_tenant: String,
    /// What is put out of spans and log records before they are stored.
    pub redact: redact::Config,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            grpc_listen: SocketAddr::from(([127, 0, 0, 1], 4317)),
            http_listen: SocketAddr::from(([127, 0, 0, 1], 4318)),
            max_request_bytes: 64 << 20,
            max_in_flight_bytes: 256 << 20,
            max_response_bytes: 4 << 20,
            retry_after_ms: 1_000,
            retry_after_max_ms: 30_000,
            default_tenant: "default".to_owned(),
            redact: redact::Config::default(),
        }
    }
}

impl Config {
    /// Every fault, each with the key and what to do.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.max_request_bytes < 1024 {
            faults.push("ingest.max_request_bytes is below 1024: no request would fit".to_owned());
        }
        if self.max_in_flight_bytes < self.max_request_bytes {
            faults.push(
                "ingest.max_in_flight_bytes is below ingest.max_request_bytes: raise it, or the largest request \
                 can never be admitted"
                    .to_owned(),
            );
        }
        if self.max_response_bytes < 1024 {
            faults.push("ingest.max_response_bytes is below 1024: no reason would fit".to_owned());
        }
        if self.retry_after_max_ms < self.retry_after_ms {
            faults.push("ingest.retry_after_max_ms is below ingest.retry_after_ms: raise it".to_owned());
        }
        if self.default_tenant.is_empty() {
            faults.push("ingest.default_tenant is empty: name one".to_owned());
        }
        faults.extend(self.redact.faults());
        faults
    }
}
