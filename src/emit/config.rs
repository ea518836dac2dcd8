//! Settings of what leaves.

use crate::units::{ByteSize, Time};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// Settings of what leaves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where results are sent over OTLP/HTTP, without `/v1/logs`; empty for nowhere.
    pub otlp_endpoint: String,
    /// A file with a bearer token for it.
    pub token_file: PathBuf,
    /// The longest wait for an answer.
    #[serde(with = "Time")]
    pub timeout: Duration,
    /// While the backend is away the journal may grow to this size; beyond it, results are left out.
    pub max_disk_size: ByteSize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            otlp_endpoint: String::new(),
            token_file: PathBuf::new(),
            timeout: Duration::from_secs(10),
            max_disk_size: ByteSize::gib(2),
        }
    }
}

impl Config {
    /// Every fault, each with the key and what to do.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let is_web = |url: &url::Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        if !self.otlp_endpoint.is_empty()
            && !url::Url::parse(&self.otlp_endpoint).is_ok_and(|url| is_web(&url))
        {
            faults.push("emit.otlp_endpoint is not an address of the form http://host:4318".to_owned());
        }
        if self.timeout < Duration::from_millis(100) {
            faults.push("emit.timeout is below 100ms: no backend answers so soon".to_owned());
        }
        faults
    }
}
