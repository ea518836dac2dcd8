//! Which codings of content a client takes.

use axum::http::{HeaderMap, header};

/// Whether Accept-Encoding allows `coding`, such as `gzip`. Without that header none is allowed.
pub fn takes_coding(headers: &HeaderMap, coding: &str) -> bool {
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut any = None;
    for item in lines.flat_map(|line| line.split(',')) {
        let mut parts = item.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let weight = |part: &str| part.strip_prefix(['q', 'Q'])?.strip_prefix('=')?.parse::<f32>().ok();
        let weight = parts.find_map(weight).unwrap_or(1.0);
        if name.eq_ignore_ascii_case(coding) {
            return weight > 0.0;
        }
        if name == "*" {
            any = Some(weight > 0.0);
        }
    }
    any.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(accept: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, accept.parse().unwrap());
        headers
    }

    #[test]
    fn what_a_client_takes_is_read_from_its_header() {
        let both = |accept: &str| (takes_coding(&sent(accept), "br"), takes_coding(&sent(accept), "gzip"));
        assert_eq!(both("gzip, deflate, br"), (true, true));
        assert_eq!(both("gzip;q=0.5, br;q=0"), (false, true));
        assert_eq!(both("gzip;Q=0, br"), (true, false));
        assert_eq!(both("*"), (true, true));
        assert_eq!(both("identity, *;q=0"), (false, false));
        assert_eq!(both("brotli, x-gzip"), (false, false));
        assert!(!takes_coding(&HeaderMap::new(), "br"));
    }
}
