//! Addresses and limits of the receiver.

use super::redact;
use crate::units::{ByteSize, Time};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::time::Duration;

/// Settings of the OTLP receiver.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where OTLP/gRPC listens.
    pub grpc_listen: SocketAddr,
    /// Where OTLP/HTTP listens.
    pub http_listen: SocketAddr,
    /// Largest request, before and after decompression.
    pub max_request_size: ByteSize,
    /// Most request bytes that are being worked on at once, received or decoded; more is answered "come back later".
    pub max_in_flight_size: ByteSize,
    /// Largest response; the message of a longer one is shortened.
    pub max_response_size: ByteSize,
    /// How long a client is told to wait then at least.
    #[serde(with = "Time")]
    pub retry_after: Duration,
    /// How long it is told to wait at most. Between the two it is what is in front of it at the rate of
    /// the last seconds.
    #[serde(with = "Time")]
    pub retry_after_max: Duration,
    /// The tenant of everything that is received while there are no tokens.
    pub default_tenant: String,
    /// What is redacted in spans and log records before they are stored.
    pub redact: redact::Config,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            grpc_listen: SocketAddr::from(([127, 0, 0, 1], 4317)),
            http_listen: SocketAddr::from(([127, 0, 0, 1], 4318)),
            max_request_size: ByteSize::mib(64),
            max_in_flight_size: ByteSize::mib(256),
            max_response_size: ByteSize::mib(4),
            retry_after: Duration::from_secs(1),
            retry_after_max: Duration::from_secs(30),
            default_tenant: "default".to_owned(),
            redact: redact::Config::default(),
        }
    }
}

impl Config {
    /// Every fault, each with the key and what to do.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.max_request_size < ByteSize::kib(1) {
            faults.push("ingest.max_request_size is below 1KiB: no request would fit".to_owned());
        }
        if self.max_in_flight_size < self.max_request_size {
            faults.push(
                "ingest.max_in_flight_size is below ingest.max_request_size: raise it, or the largest request \
                 can never be admitted"
                    .to_owned(),
            );
        }
        if self.max_response_size < ByteSize::kib(1) {
            faults.push("ingest.max_response_size is below 1KiB: no reason would fit".to_owned());
        }
        if self.retry_after_max < self.retry_after {
            faults.push("ingest.retry_after_max is below ingest.retry_after: raise it".to_owned());
        }
        if self.default_tenant.is_empty() {
            faults.push("ingest.default_tenant is empty: name one".to_owned());
        }
        faults.extend(self.redact.faults());
        faults
    }
}
