//! What is asked of browsers beside a token: the name that they reach the server by, and pages of its own behind a cookie.

use super::access::{Access, SignedIn};
use super::attempts::Attempts;
use super::config::Config;
use super::names::{behind_scheme, host_of, is_private, names_this_machine, origin_of, origin_sent};
use super::serve::Peer;
use super::sessions::LONGEST;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most cookies of our name that are tried; others on the same machine may set some as well.
const MAX_COOKIES: usize = 4;

/// What the server asks of browsers. Cheap to clone.
#[derive(Clone)]
pub struct Browsers(Arc<Inner>);

struct Inner {
    access: Access,
    attempts: Attempts,
    /// The origin of `server.public_url`.
    public: Option<String>,
    has_tls: bool,
    is_exposed: bool,
}

/// How a login ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Login {
    /// With a session; the value of its `Set-Cookie`.
    Begun(HeaderValue),
    /// There are no tokens, so there is nothing to log in to.
    NotNeeded,
    /// The token is not known.
    Unknown,
    /// Too many failures; how long to wait.
    Wait(Duration),
}

impl Browsers {
    /// As configured. A `public_url` with a fault counts as none; [`Config::faults`] tells it.
    pub fn new(access: Access, config: &Config) -> Self {
        let public = origin_of(&config.public_url).ok();
        let (has_tls, is_exposed) = (config.tls.is_on(), config.allow_exposed);
        Self(Arc::new(Inner { access, attempts: Attempts::default(), public, has_tls, is_exposed }))
    }

    /// Who may do what.
    pub fn access(&self) -> &Access {
        &self.0.access
    }

    /// Begins a session for the holder of `token`, who comes from `from`.
    pub fn log_in(&self, token: &str, from: Option<Peer>) -> Login {
        if self.0.access.is_open() {
            return Login::NotNeeded;
        }
        let from = from.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0);
        let now = Instant::now();
        if let Err(wait) = self.0.attempts.take(from, now) {
            return Login::Wait(wait);
        }
        let cookie = self.0.access.begin_session(token.as_bytes(), now);
        let Some(cookie) = cookie.and_then(|value| self.set_cookie(&value, LONGEST)) else {
            return Login::Unknown;
        };
        self.0.attempts.give_back(from, now);
        Login::Begun(cookie)
    }

    /// Ends the sessions of the cookies in `headers`; the `Set-Cookie` that makes the browser forget.
    pub fn log_out(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        self.cookies(headers).for_each(|cookie| self.0.access.end_session(cookie));
        self.set_cookie("", Duration::ZERO)
    }

    /// Whether a page of another site sent this, by what the browser says. Programs say nothing.
    pub fn is_foreign<B>(&self, request: &axum::http::Request<B>) -> bool {
        let said = ["sec-fetch-site", "origin"].iter().any(|name| request.headers().contains_key(*name));
        said && !self.is_own_page(request)
    }

    fn is_secure(&self) -> bool {
        self.0.has_tls || self.0.public.as_ref().is_some_and(|origin| origin.starts_with("https://"))
    }

    /// A browser takes the longer name only from the host itself, encrypted and for all of it.
    fn cookie_name(&self) -> &'static str {
        if self.is_secure() { "__Host-groundline" } else { "groundline" }
    }

    fn set_cookie(&self, value: &str, lasts: Duration) -> Option<HeaderValue> {
        let (name, seconds) = (self.cookie_name(), lasts.as_secs());
        let secure = if self.is_secure() { "; Secure" } else { "" };
        let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
        HeaderValue::from_str(&text).ok()
    }

    fn cookies<'a>(&self, headers: &'a HeaderMap) -> impl Iterator<Item = &'a str> {
        let name = self.cookie_name();
        let sent = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = sent.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(move |(key, _)| *key == name).map(|(_, value)| value).take(MAX_COOKIES)
    }

    /// Whether the browser says that a page of this server sent the request.
    fn is_own_page<B>(&self, request: &axum::http::Request<B>) -> bool {
        let headers = request.headers();
        if let Some(site) = headers.get("sec-fetch-site") {
            return site.as_bytes() == b"same-origin";
        }
        let Some(origin) = origin_sent(headers) else { return false };
        let scheme = if self.0.has_tls { "https" } else { "http" };
        let own = host_of(headers, request.uri()).map(|host| format!("{scheme}://{host}"));
        [own.as_deref(), self.0.public.as_deref()]
            .into_iter()
            .flatten()
            .any(|own| own.eq_ignore_ascii_case(origin))
    }

    /// Whether a browser may have been led here by the name in Host or Origin, where no token is asked for.
    fn is_led_here(&self, request: &Request) -> bool {
        if !self.0.access.is_open() || (self.0.is_exposed && is_for_machines(request.uri().path())) {
            return false;
        }
        let public = self.0.public.as_deref().map(behind_scheme);
        let is_ours = |host: &str| {
            names_this_machine(host)
                || public.is_some_and(|own| own.eq_ignore_ascii_case(host))
                || (self.0.is_exposed && is_private(host))
        };
        let origin = origin_sent(request.headers()).map(behind_scheme);
        let host = host_of(request.headers(), request.uri());
        ![host, origin].into_iter().flatten().all(is_ours)
    }
}

/// Routes that scrapers and load balancers ask by whatever name they have.
fn is_for_machines(path: &str) -> bool {
    path == "/metrics" || path.starts_with("/health/")
}

/// A form of a web page cannot send JSON. A request without a body says no type.
fn is_json_or_empty(headers: &HeaderMap) -> bool {
    match headers.get(header::CONTENT_TYPE) {
        Some(kind) => {
            let kind = kind.to_str().unwrap_or_default().trim_start().to_ascii_lowercase();
            kind.split(';').next().is_some_and(|kind| kind.trim_end() == "application/json")
        }
        None => {
            let length = headers.get(header::CONTENT_LENGTH).map(HeaderValue::as_bytes);
            length.is_none_or(|length| length == b"0") && !headers.contains_key(header::TRANSFER_ENCODING)
        }
    }
}

/// Refuses what a page of another site may have sent, and lets the cookie of a session stand for its token.
///
/// Where there are no tokens, Host and Origin must name this machine or `server.public_url`. A request by cookie that is
/// more than a look must come from a page of this server, as JSON.
pub async fn known_browser(State(browsers): State<Browsers>, mut request: Request, next: Next) -> Response {
    if browsers.is_led_here(&request) {
        let why = "without tokens, requests must name this machine by address or as localhost, or the host of \
                   server.public_url; set that key, or server.tokens_file";
        return refused(why);
    }
    // Who sends a token is judged by it alone.
    if request.headers().contains_key(header::AUTHORIZATION) {
        return next.run(request).await;
    }
    let now = Instant::now();
    let token = browsers.cookies(request.headers()).find_map(|c| browsers.0.access.session(c, now));
    if let Some(token) = token {
        let is_look = [Method::GET, Method::HEAD].contains(request.method());
        let is_ours = browsers.is_own_page(&request) && is_json_or_empty(request.headers());
        if !(is_look || is_ours) {
            let why = "with a cookie, this must come from a page of this server, as application/json; programs send \
                       the header \"authorization: Bearer TOKEN\"";
            return refused(why);
        }
        request.extensions_mut().insert(SignedIn(token));
    }
    next.run(request).await
}

fn refused(why: &str) -> Response {
    (StatusCode::FORBIDDEN, axum::Json(serde_json::json!({ "error": why }))).into_response()
}

#[cfg(test)]
#[path = "browsers_tests.rs"]
mod tests;
