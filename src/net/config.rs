//! Settings of the process: its addresses, what a connection may do, and who may connect.

use super::names::origin_of;
use crate::units::{ByteSize, Time, words};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

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
    /// Where browsers reach the console, such as `https://groundline.example`, if that is another name than those of
    /// this machine; empty for none.
    pub public_url: String,
    /// The log filter, such as `info` or `info,groundline::ingest=debug`.
    pub log: String,
    /// The file of bearer tokens; empty for none, and then everybody who can connect may do everything.
    pub tokens_file: PathBuf,
    /// Whether `/metrics` is open to everybody although there are tokens.
    pub open_metrics: bool,
    /// How often the files of tokens and certificates are looked at. SIGHUP looks at once.
    #[serde(with = "Time")]
    pub reload_interval: Duration,
    /// Most open connections of each HTTP and gRPC address; one more is closed at once.
    pub max_connections: usize,
    /// How long a client may take for TLS, and for the head of a request.
    #[serde(with = "Time")]
    pub header_timeout: Duration,
    /// A connection without a request for this long is closed.
    #[serde(with = "Time")]
    pub idle_timeout: Duration,
    /// How long a body may take whatever its size; also how long a client may read nothing of an answer.
    #[serde(with = "Time")]
    pub body_grace: Duration,
    /// What a body must bring beyond that on average, each second.
    pub body_min_rate: ByteSize,
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

/// What a log filter may say of how much is logged.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

impl Default for Config {
    fn default() -> Self {
        Self {
            data_dir: PathBuf::from("data"),
            http_listen: SocketAddr::from(([127, 0, 0, 1], 4320)),
            pg_listen: SocketAddr::from(([127, 0, 0, 1], 5433)),
            allow_exposed: false,
            public_url: String::new(),
            log: "info".to_owned(),
            tokens_file: PathBuf::new(),
            open_metrics: false,
            reload_interval: Duration::from_secs(5),
            max_connections: 4_096,
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_mins(5),
            body_grace: Duration::from_secs(30),
            body_min_rate: ByteSize::kib(4),
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
        least("body_min_rate", self.body_min_rate.bytes(), 1, "a body could take for ever");
        least("max_streams", u64::from(self.max_streams), 1, "HTTP/2 could ask nothing");
        let mut at_least = |key: &str, value: Duration, least: Duration, why: &str| {
            if value < least {
                faults.push(format!("server.{key} is below {}: {why}", words(least)));
            }
        };
        let (instant, second) = (Duration::from_millis(100), Duration::from_secs(1));
        at_least("reload_interval", self.reload_interval, instant, "the files would be read all the time");
        at_least("header_timeout", self.header_timeout, instant, "no client is that quick");
        at_least("idle_timeout", self.idle_timeout, second, "connections would not be used again");
        at_least("body_grace", self.body_grace, instant, "no client is that quick");
        if !self.public_url.is_empty()
            && let Err(why) = origin_of(&self.public_url)
        {
            faults.push(format!("server.public_url {why}"));
        }
        faults.extend(self.log_fault());
        if self.tls.is_on() == self.tls.key.as_os_str().is_empty() {
            faults.push("server.tls.cert and server.tls.key belong together: set both or none".to_owned());
        }
        if self.tls.is_mutual() && !self.tls.is_on() {
            faults.push("server.tls.client_ca needs server.tls.cert and server.tls.key".to_owned());
        }
        faults
    }

    /// The first part of the log filter that would silence the log instead of what it means: a word that is no level is taken
    /// for a part of the program.
    fn log_fault(&self) -> Option<String> {
        // A filter may also number its levels, and say with nothing behind the equal sign that all is meant.
        let is_level = |word: &str| {
            LEVELS.contains(&word.to_ascii_lowercase().as_str())
                || word.parse::<usize>().is_ok_and(|number| number < LEVELS.len())
        };
        let parts = || self.log.split(',').map(str::trim).filter(|part| !part.is_empty());
        // What a word alone says beside another part is taken as it is meant there.
        let has_level = parts().any(|part| is_level(part) || part.contains('='));
        let is_wrong = |part: &&str| match part.rsplit_once('=') {
            // Fields of spans have equal signs of their own, and commas between them.
            _ if part.contains(['[', ']', '{', '}']) => false,
            Some((_, level)) => !(level.is_empty() || is_level(level)),
            None => !(has_level || part.contains("::") || part.starts_with("groundline")),
        };
        let part = parts().find(is_wrong)?;
        let levels = LEVELS.join(", ");
        Some(format!(
            "server.log: {part:?} has no level: write one of {levels}, such as info,groundline::ingest=debug"
        ))
    }

    /// Whether there are tokens.
    pub fn has_tokens(&self) -> bool {
        !self.tokens_file.as_os_str().is_empty()
    }
}
