//! Settings of what leaves: `[emit]`, `[forward]` and `[forward_logs]` have the same keys.

use crate::units::{ByteSize, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// A smaller request would be mostly headers.
const LEAST_REQUEST: ByteSize = ByteSize::kib(4);
/// A longer wait for one answer would keep back what the limits are to let go.
const LONGEST_TIMEOUT: Duration = Duration::from_mins(5);

/// The two transports of OTLP, both with protobuf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// OTLP/HTTP.
    #[default]
    Http,
    /// OTLP/gRPC.
    Grpc,
}

/// How bodies are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// Every OTLP receiver understands it.
    #[default]
    Gzip,
    /// Not at all.
    None,
}

/// One backend, and what may wait for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The backend, without `/v1/…`; empty for nowhere.
    pub otlp_endpoint: String,
    /// The transport.
    pub protocol: Protocol,
    /// Headers of every request; they are not shown, but whoever reads this file reads them.
    pub headers: BTreeMap<String, String>,
    /// Headers whose values are the contents of files, read for every request.
    pub header_files: BTreeMap<String, PathBuf>,
    /// A file with a bearer token, read for every request.
    pub token_file: PathBuf,
    /// PEM file of the authorities that may vouch for the backend; empty for those that browsers trust.
    pub ca_file: PathBuf,
    /// PEM file of the certificate that is shown to the backend; empty for none.
    pub cert_file: PathBuf,
    /// PEM file of its key.
    pub key_file: PathBuf,
    /// How bodies are compressed.
    pub compression: Compression,
    /// The longest wait for an answer.
    #[serde(with = "Time")]
    pub timeout: Duration,
    /// The largest request before compression, unless a single span or record is larger.
    pub max_request_size: ByteSize,
    /// So much of the journal may wait for the backend; beyond it the oldest is left out.
    pub max_disk_size: ByteSize,
    /// What came longer ago is left out while the backend takes nothing.
    #[serde(with = "Time")]
    pub max_age: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            otlp_endpoint: String::new(),
            protocol: Protocol::Http,
            headers: BTreeMap::new(),
            header_files: BTreeMap::new(),
            token_file: PathBuf::new(),
            ca_file: PathBuf::new(),
            cert_file: PathBuf::new(),
            key_file: PathBuf::new(),
            compression: Compression::Gzip,
            timeout: Duration::from_secs(10),
            max_request_size: ByteSize::mib(4),
            max_disk_size: ByteSize::gib(2),
            max_age: Duration::from_hours(24),
        }
    }
}

impl Config {
    /// Whether the endpoint is the listening address `endpoint` of this machine.
    pub fn is_at(&self, endpoint: std::net::SocketAddr) -> bool {
        let Ok(url) = url::Url::parse(&self.otlp_endpoint) else { return false };
        let here = |ip: std::net::IpAddr| {
            ip == endpoint.ip() || (ip.is_loopback() && endpoint.ip().is_unspecified())
        };
        let is_here = match url.host() {
            Some(url::Host::Ipv4(ip)) => here(ip.into()),
            Some(url::Host::Ipv6(ip)) => here(ip.into()),
            Some(url::Host::Domain(name)) => {
                name == "localhost" && (endpoint.ip().is_loopback() || endpoint.ip().is_unspecified())
            }
            None => false,
        };
        is_here && endpoint.port() != 0 && url.port_or_known_default() == Some(endpoint.port())
    }

    /// Every fault of the section `section`, each with the key and what to do.
    pub fn faults(&self, section: &str) -> Vec<String> {
        let mut faults = Vec::new();
        let mut wrong = |text: String| faults.push(format!("{section}.{text}"));
        let is_web = |url: &url::Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        if !self.otlp_endpoint.is_empty()
            && !url::Url::parse(&self.otlp_endpoint).is_ok_and(|url| is_web(&url))
        {
            wrong("otlp_endpoint is not an address of the form http://host:4318".to_owned());
        }
        for (name, value) in &self.headers {
            if http::HeaderName::try_from(name.as_str()).is_err()
                || http::HeaderValue::try_from(value).is_err()
            {
                wrong(format!("headers.{name} is no HTTP header"));
            }
        }
        for name in self.header_files.keys() {
            if http::HeaderName::try_from(name.as_str()).is_err() {
                wrong(format!("header_files.{name} is no name of an HTTP header"));
            }
        }
        if self.cert_file.as_os_str().is_empty() != self.key_file.as_os_str().is_empty() {
            wrong("cert_file and key_file belong together: set both or none".to_owned());
        }
        let uses_tls = [&self.ca_file, &self.cert_file].iter().any(|file| !file.as_os_str().is_empty());
        if uses_tls && self.otlp_endpoint.starts_with("http://") {
            wrong("ca_file and cert_file are for https:// addresses, and otlp_endpoint is none".to_owned());
        }
        if self.timeout < Duration::from_millis(100) {
            wrong("timeout is below 100ms: no backend answers so soon".to_owned());
        }
        if self.timeout > LONGEST_TIMEOUT {
            wrong("timeout is above 5m: a backend that hangs would be noticed too late".to_owned());
        }
        if self.max_request_size < LEAST_REQUEST {
            wrong(format!("max_request_size is {}: set at least {LEAST_REQUEST}", self.max_request_size));
        }
        if self.max_age < Duration::from_secs(1) {
            wrong("max_age is below 1s: a short pause of the backend would already cost data".to_owned());
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_names_its_key() {
        let text = "otlp_endpoint = \"http://\"\nheaders = { \"a b\" = \"c\" }\nheader_files = { \"ä\" = \"/f\" }\n\
                    cert_file = \"/c\"\ntimeout = \"1ms\"\nmax_request_size = \"1kB\"\nmax_age = \"10ms\"";
        let faults = toml::from_str::<Config>(text).unwrap().faults("forward").join("\n");
        for key in [
            "otlp_endpoint",
            "headers.a b",
            "header_files.ä",
            "cert_file",
            "timeout",
            "max_request_size",
            "max_age",
        ] {
            assert!(faults.contains(&format!("forward.{key} ")), "{key} in {faults}");
        }
        assert_eq!(Config::default().faults("emit"), Vec::<String>::new());
    }

    #[test]
    fn the_own_door_is_known() {
        let at = |url: &str, endpoint: &str| {
            let config = Config { otlp_endpoint: url.to_owned(), ..Config::default() };
            config.is_at(endpoint.parse().unwrap())
        };
        assert!(
            at("http://127.0.0.1:4318", "127.0.0.1:4318") && at("http://localhost:4318/", "0.0.0.0:4318")
        );
        assert!(at("http://[::1]:4318", "[::]:4318"));
        assert!(
            !at("http://127.0.0.1:4319", "127.0.0.1:4318") && !at("http://collector:4318", "0.0.0.0:4318")
        );
    }

    #[test]
    fn certificates_for_an_address_without_tls_are_told() {
        let text = "otlp_endpoint = \"http://h:4318\"\nca_file = \"/ca.pem\"\ntimeout = \"1h\"";
        let faults = toml::from_str::<Config>(text).unwrap().faults("emit");
        assert!(faults[0].starts_with("emit.ca_file") && faults[1].starts_with("emit.timeout"), "{faults:?}");
    }
}
