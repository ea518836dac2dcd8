//! Who may ask a server that listens on the loopback: programs of this machine, not pages of a browser.
//!
//! A page of any site can make a browser send requests to 127.0.0.1, and with a name that resolves there even read the
//! answers. Such requests carry the site's name as Host or as Origin.

use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;

/// Refuses requests whose Host or Origin is a name other than `localhost`.
pub async fn loopback_only(request: Request, next: Next) -> Response {
    if is_local(request.headers(), request.uri()) {
        return next.run(request).await;
    }
    let why = "without tokens, requests must name this machine by address or as localhost; set server.tokens_file, \
               or behind a proxy that authenticates server.allow_exposed = true";
    let body = serde_json::json!({ "error": why }).to_string();
    (StatusCode::FORBIDDEN, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn is_local(headers: &HeaderMap, uri: &Uri) -> bool {
    let text = |name| headers.get(name).map(|value: &header::HeaderValue| value.to_str().unwrap_or("?"));
    let host = text(header::HOST).or_else(|| uri.authority().map(|a| a.as_str()));
    let origin = text(header::ORIGIN).map(|o| o.split_once("://").map_or(o, |(_, host)| host));
    [host, origin].into_iter().flatten().all(names_this_machine)
}

/// Whether `host`, with or without a port, is an address or `localhost`.
fn names_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_localhost_are_this_machine() {
        for host in ["127.0.0.1:4320", "localhost", "LOCALHOST:1", "[::1]:4320", "[::1]", "192.168.1.5:80"] {
            assert!(names_this_machine(host), "{host}");
        }
        for host in
            ["evil.example", "evil.example:4320", "127.0.0.1.evil.example", "", "null", "localhost.evil"]
        {
            assert!(!names_this_machine(host), "{host}");
        }
    }
}
