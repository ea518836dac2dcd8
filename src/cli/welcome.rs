//! What `serve` says to people once it is ready: where the console is, and how an SDK sends its spans here.

use crate::app::Addresses;
use crate::net::Config;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The console's address and the variables of an OpenTelemetry SDK, a line each; addresses are those of this machine.
pub(super) fn text(server: &Config, at: Addresses) -> String {
    let scheme = if server.tls.is_on() { "https" } else { "http" };
    let public = server.public_url.trim_end_matches('/');
    let console = if public.is_empty() { format!("{scheme}://{}", here(at.http)) } else { public.to_owned() };
    let mut text = format!(
        "Console: {console}\n\
         An OpenTelemetry SDK sends its spans here with\n  \
         export OTEL_EXPORTER_OTLP_ENDPOINT={scheme}://{}\n  \
         export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf\n  \
         export OTEL_SERVICE_NAME=my-app\n",
        here(at.otlp_http)
    );
    if server.has_tokens() {
        text.push_str(
            "  export OTEL_EXPORTER_OTLP_HEADERS=\"authorization=Bearer TOKEN\"  # a token with the role ingest\n",
        );
    }
    text
}

/// Who listens on every address is reached on this machine by its loopback.
fn here(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn at(ip: &str) -> Addresses {
        let on = |port| SocketAddr::new(ip.parse().unwrap(), port);
        Addresses { grpc: on(1), otlp_http: on(2), http: on(3), pg: on(4) }
    }

    #[test]
    fn it_names_the_console_and_what_points_an_sdk_here() {
        assert_eq!(
            text(&Config::default(), at("127.0.0.1")),
            "Console: http://127.0.0.1:3\nAn OpenTelemetry SDK sends its spans here with\n  \
             export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:2\n  \
             export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf\n  export OTEL_SERVICE_NAME=my-app\n"
        );
    }

    #[test]
    fn it_follows_tls_tokens_names_and_addresses() {
        let mut server = Config { tokens_file: PathBuf::from("tokens.toml"), ..Config::default() };
        server.tls.cert = PathBuf::from("cert.pem");
        let told = text(&server, at("::"));
        for part in ["Console: https://[::1]:3\n", "=https://[::1]:2\n", "=\"authorization=Bearer TOKEN\""] {
            assert!(told.contains(part), "{part} in {told}");
        }
        server.public_url = "https://groundline.example/".to_owned();
        assert!(text(&server, at("0.0.0.0")).starts_with("Console: https://groundline.example\n"));
    }
}
