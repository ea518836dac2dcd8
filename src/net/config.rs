//! Settings of the process: its addresses, what a connection may do, and who may connect.

use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Settings of the process and of its connections.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where journal and tables live.
    pub data_dir: PathBuf,
    /// Where SQL over HTTP, metrics, health and the console listen.
    pub http_listen: SocketAddr,
    /// Where the PostgreSQL wire protocol listens.
    pub pg_listen: SocketAddr,
    /// Allow addresses that other machines can reach without tokens: something in front authenticates.
    pub allow_exposed: bool,
    /// The log filter, such as `info` or `info,groundline::ingest=debug`.
    pub log: String,
    /// The file of bearer tokens; empty for none, and then everybody who can connect may do everything.
    pub tokens_file: PathBuf,
    /// Whether `/metrics` is open to everybody although there are tokens.
    pub open_metrics: bool,
    /// How often the files of tokens and certificates are looked at, milliseconds. SIGHUP looks at once.
    pub reload_ms: u64,
    /// Most open connections of each HTTP and gRPC address; one more is closed at once.
    pub max_connections: usize,
    /// How long a client may take for TLS, and for the head of a request, milliseconds.
    pub header_timeout_ms: u64,
    /// A connection without a request for this long is closed, milliseconds.
    pub idle_timeout_ms: u64,
    /// How long a body may take whatever its size, milliseconds; also how long a client may read nothing of an answer.
    pub body_grace_ms: u64,
    /// What a body must bring beyond that on average, bytes a second.
    pub body_min_rate: u64,
    /// Most requests at once on one HTTP/2 connection.
    pub max_streams: u32,
    /// Certificates.
    pub tls: TlsFiles,
}

/// The files of TLS, in PEM. They hold for every address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TlsFiles {
    /// The certificate and those between it and its root; empty for no TLS.
    pub cert: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Clients must show a certificate of one of these roots; empty for clients without certificates.
    pub client_ca: PathBuf,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data_dir: PathBuf::from("data"),
            http_listen: SocketAddr::from(([127, 0, 0, 1], 4320)),
            pg_listen: SocketAddr::from(([127, 0, 0, 1], 5433)),
            allow_exposed: false,
            log: "info".to_owned(),
            tokens_file: PathBuf::new(),
            open_metrics: false,
            reload_ms: 5_000,
            max_connections: 4_096,
            header_timeout_ms: 10_000,
            idle_timeout_ms: 300_000,
            body_grace_ms: 30_000,
            body_min_rate: 4_096,
            max_streams: 256,
            tls: TlsFiles::default(),
        }
    }
}

impl TlsFiles {
    /// Whether connections are encrypted.
    pub fn is_on(&self) -> bool {
        !self.cert.as_os_str().is_empty()
    }

    /// Whether clients must show a certificate.
    pub fn is_mutual(&self) -> bool {
        !self.client_ca.as_os_str().is_empty()
    }
}

impl Config {
    /// Every fault, each with the key and what to do.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut least = |key: &str, value: u64, least: u64, why: &str| {
            if value < least {
                faults.push(format!("server.{key} is below {least}: {why}"));
            }
        };
        let connections = u64::try_from(self.max_connections).unwrap_or(u64::MAX);
        least("max_connections", connections, 1, "nobody could connect");
        least("reload_ms", self.reload_ms, 100, "the files would be read all the time");
        least("header_timeout_ms", self.header_timeout_ms, 100, "no client is that quick");
        least("idle_timeout_ms", self.idle_timeout_ms, 1_000, "connections would not be used again");
        least("body_grace_ms", self.body_grace_ms, 100, "no client is that quick");
        least("body_min_rate", self.body_min_rate, 1, "a body could take for ever");
        least("max_streams", u64::from(self.max_streams), 1, "HTTP/2 could ask nothing");
        if self.tls.is_on() == self.tls.key.as_os_str().is_empty() {
            faults.push("server.tls.cert and server.tls.key belong together: set both or none".to_owned());
        }
        if self.tls.is_mutual() && !self.tls.is_on() {
            faults.push("server.tls.client_ca needs server.tls.cert and server.tls.key".to_owned());
        }
        faults
    }

    /// Whether there are tokens.
    pub fn has_tokens(&self) -> bool {
        !self.tokens_file.as_os_str().is_empty()
    }
}
