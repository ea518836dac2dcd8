//! Names under which a browser reaches this server, and pages that are its own.
//!
//! A page of any site can make a browser send requests to 127.0.0.1, and with a name that resolves there even read the
//! answers. Such requests carry the site's name as Host or as Origin.

use axum::http::{HeaderMap, Uri, header};
use std::net::IpAddr;

/// What `text` of `server.public_url` means: scheme and host, in lower case, without a slash at the end.
///
/// # Errors
/// What it must be instead.
pub(super) fn origin_of(text: &str) -> Result<String, String> {
    const WRONG: &str = "must be an address such as https://groundline.example, without a path";
    let url = url::Url::parse(text).map_err(|_| WRONG.to_owned())?;
    let is_plain = matches!(url.path(), "" | "/") && url.query().is_none() && url.fragment().is_none();
    let has_user = !url.username().is_empty() || url.password().is_some();
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !is_plain || has_user {
        return Err(WRONG.to_owned());
    }
    Ok(url.origin().ascii_serialization())
}

/// The name and port that a request was sent to.
pub(super) fn host_of<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
    let text = |value: &'a header::HeaderValue| value.to_str().unwrap_or("?");
    headers.get(header::HOST).map(text).or_else(|| uri.authority().map(|a| a.as_str()))
}

/// The page that a request comes from, where the browser says it.
pub(super) fn origin_sent(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::ORIGIN).map(|value| value.to_str().unwrap_or("?"))
}

/// What stands behind the scheme; all of it where there is none.
pub(super) fn behind_scheme(origin: &str) -> &str {
    origin.split_once("://").map_or(origin, |(_, host)| host)
}

fn name_of(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    }
}

/// Whether `host`, with or without a port, is an address or `localhost`.
pub(super) fn names_this_machine(host: &str) -> bool {
    let name = name_of(host);
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

/// Whether nobody outside can have the name of `host`: it has no dot, as that of a container, or ends in a word that is
/// kept for networks of one's own. A site on the internet cannot make such a name lead here.
pub(super) fn is_private(host: &str) -> bool {
    let name = name_of(host).to_ascii_lowercase();
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let kept = [".localhost", ".local", ".internal", ".home.arpa"];
    !name.is_empty()
        && name != "null"
        && name.chars().all(is_word)
        && (!name.contains('.') || kept.iter().any(|end| name.ends_with(end)))
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

    #[test]
    fn names_of_containers_and_own_networks_are_private() {
        for host in
            ["groundline", "groundline:4320", "a.ns.svc.cluster.local:4320", "x.localhost", "h.internal"]
        {
            assert!(is_private(host), "{host}");
        }
        for host in ["evil.example", "local.evil.com:4320", "", "null", "a b", "evil.com.", "[::1]"] {
            assert!(!is_private(host), "{host}");
        }
    }

    #[test]
    fn a_public_url_is_an_origin() {
        assert_eq!(origin_of("https://Groundline.example/"), Ok("https://groundline.example".to_owned()));
        assert_eq!(origin_of("http://box:8080"), Ok("http://box:8080".to_owned()));
        for wrong in ["groundline.example", "ftp://x", "https://x/path", "https://me:pw@x", "https://x?y", ""]
        {
            assert!(origin_of(wrong).is_err(), "{wrong}");
        }
    }
}
