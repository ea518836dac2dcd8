use super::*;
use crate::net::{Entry, Role, TokenSet, digest_of};

fn config(edit: impl FnOnce(&mut Config)) -> Config {
    let mut config = Config::default();
    edit(&mut config);
    config
}

fn tokens() -> Access {
    let sha256 = hex::encode(digest_of(b"reader"));
    let entry =
        Entry { name: "reader".to_owned(), sha256, tenant: Some("a".to_owned()), roles: vec![Role::Query] };
    Access::tokens(TokenSet::parse(&entry.to_toml()).unwrap())
}

fn request(uri: &str, headers: &[(&str, &str)]) -> Request {
    let mut builder = Request::builder().method("POST").uri(uri);
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    builder.body(axum::body::Body::empty()).unwrap()
}

/// Whether a request with this Host and Origin is refused.
fn led(browsers: &Browsers, path: &str, host: &str, origin: Option<&str>) -> bool {
    let mut headers = vec![("host", host)];
    headers.extend(origin.map(|origin| ("origin", origin)));
    browsers.is_led_here(&request(path, &headers))
}

#[test]
fn without_tokens_the_loopback_is_reached_by_its_own_names_only() {
    let browsers = Browsers::new(Access::open("t"), &config(|_| {}));
    assert!(!led(&browsers, "/v1/sql", "127.0.0.1:4320", None));
    assert!(!led(&browsers, "/v1/sql", "localhost:4320", Some("http://localhost:3000")));
    for (host, origin) in [
        ("evil.example", None),
        ("groundline", None),
        ("127.0.0.1:4320", Some("https://evil.example")),
        ("127.0.0.1:4320", Some("null")),
    ] {
        assert!(led(&browsers, "/v1/sql", host, origin), "{host} {origin:?}");
        assert!(led(&browsers, "/metrics", host, origin), "{host} {origin:?}");
    }
}

#[test]
fn exposed_without_tokens_public_names_need_the_public_url() {
    let exposed = Browsers::new(Access::open("t"), &config(|c| c.allow_exposed = true));
    for host in ["127.0.0.1:4320", "groundline:4320", "groundline.ns.svc.cluster.local"] {
        assert!(!led(&exposed, "/v1/sql", host, None), "{host}");
    }
    assert!(led(&exposed, "/v1/sql", "evil.example", None));
    assert!(led(&exposed, "/", "groundline.example", None));
    for path in ["/metrics", "/health/ready"] {
        assert!(!led(&exposed, path, "groundline.example", None), "{path}: scrapers use any name");
    }
    let named = Browsers::new(
        Access::open("t"),
        &config(|c| {
            c.allow_exposed = true;
            c.public_url = "https://groundline.example".to_owned();
        }),
    );
    assert!(!led(&named, "/v1/sql", "Groundline.example", Some("https://groundline.example")));
    assert!(led(&named, "/v1/sql", "evil.example", None));
}

#[test]
fn with_tokens_any_name_will_do() {
    let browsers = Browsers::new(tokens(), &config(|_| {}));
    assert!(!led(&browsers, "/v1/sql", "evil.example", Some("https://evil.example")));
}

#[test]
fn pages_of_this_server_are_told_by_the_browser() {
    let plain = Browsers::new(tokens(), &config(|_| {}));
    let own = |browsers: &Browsers, headers: &[(&str, &str)]| browsers.is_own_page(&request("/", headers));
    let host = ("host", "h:4320");
    assert!(own(&plain, &[host, ("sec-fetch-site", "same-origin")]));
    assert!(own(&plain, &[host, ("origin", "http://h:4320")]));
    for wrong in [
        vec![host],
        vec![host, ("origin", "https://h:4320")],
        vec![host, ("origin", "http://h:4321")],
        vec![host, ("origin", "null")],
        vec![host, ("sec-fetch-site", "same-site"), ("origin", "http://h:4320")],
        vec![host, ("sec-fetch-site", "none")],
    ] {
        assert!(!own(&plain, &wrong), "{wrong:?}");
    }
    let proxied =
        Browsers::new(tokens(), &config(|c| c.public_url = "https://groundline.example/".to_owned()));
    assert!(own(&proxied, &[("host", "10.0.0.1:4320"), ("origin", "https://groundline.example")]));
    // Programs that say nothing are no foreign page, and no own one either.
    assert!(!plain.is_foreign(&request("/", &[host])));
    assert!(plain.is_foreign(&request("/", &[host, ("origin", "https://evil.example")])));
}

#[test]
fn the_cookie_is_as_narrow_as_the_connection_allows() {
    let set = |browsers: &Browsers| match browsers.log_in("reader", None) {
        Login::Begun(cookie) => cookie.to_str().unwrap().to_owned(),
        other => panic!("{other:?}"),
    };
    let plain = Browsers::new(tokens(), &config(|_| {}));
    let cookie = set(&plain);
    assert!(cookie.starts_with("groundline=") && !cookie.contains("Secure"), "{cookie}");
    let secure = Browsers::new(tokens(), &config(|c| c.tls.cert = "cert.pem".into()));
    let cookie = set(&secure);
    assert!(cookie.starts_with("__Host-groundline=") && cookie.ends_with("; Secure"), "{cookie}");
    for part in ["Path=/", "HttpOnly", "SameSite=Strict", "Max-Age=604800"] {
        assert!(cookie.contains(part), "{part}: {cookie}");
    }
    let value = cookie.split(['=', ';']).nth(1).unwrap();
    let mut headers = HeaderMap::new();
    headers.insert("cookie", format!("a=b; __Host-groundline={value}").parse().unwrap());
    let now = Instant::now();
    let session = |headers: &HeaderMap| secure.cookies(headers).find_map(|c| secure.0.access.session(c, now));
    assert_eq!(session(&headers), Some(digest_of(b"reader")));
    assert!(secure.log_out(&headers).unwrap().to_str().unwrap().contains("Max-Age=0"));
    assert_eq!(session(&headers), None);
}

#[test]
fn who_guesses_must_wait_and_others_need_not() {
    let browsers = Browsers::new(tokens(), &config(|_| {}));
    let [here, there] = [1, 2].map(|last| Some(Peer(IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)))));
    for _ in 0..10 {
        assert_eq!(browsers.log_in("guess", here), Login::Unknown);
    }
    assert!(matches!(browsers.log_in("reader", here), Login::Wait(_)));
    assert!(matches!(browsers.log_in("reader", there), Login::Begun(_)));
    let open = Browsers::new(Access::open("t"), &config(|_| {}));
    assert_eq!(open.log_in("anything", here), Login::NotNeeded);
}
