//! The routes of the console.

use super::files::{Files, Found};
use super::headers::page_policy;
use super::login::{failure, log_in, log_out, me};
use crate::net::{Browsers, random_hex};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

/// Addresses of pages. They are all the same file, which looks at the address itself.
const PAGES: &[&str] = &[
    "/",
    "/trace",
    "/trace/{*rest}",
    "/explore",
    "/scores",
    "/scores/{*rest}",
    "/alerts",
    "/review",
    "/review/{*rest}",
    "/lab",
    "/lab/{*rest}",
    "/sampling",
    "/system",
    "/sql",
];

/// What the page has in the place of its nonce.
const NONCE: &str = "__NONCE__";

/// Largest body of a login, bytes.
const MAX_LOGIN: usize = 4 << 10;

/// The pages, their files, `POST /login`, `POST /logout` and `GET /v1/me`; everything else is 404. Pages and files need
/// no token.
pub fn console_router(files: Files, browsers: Browsers) -> Router {
    let mut pages = Router::new();
    for address in PAGES {
        pages = pages.route(address, get(page));
    }
    let login = post(log_in).layer(DefaultBodyLimit::max(MAX_LOGIN)).with_state(browsers.clone());
    let sessions = Router::new()
        .route("/logout", post(log_out).layer(DefaultBodyLimit::max(MAX_LOGIN)))
        .route("/v1/me", get(me))
        .with_state(browsers);
    pages
        .route("/THIRD-PARTY.txt", get(licences))
        .route("/assets/{name}", get(asset))
        .with_state(files.clone())
        .route("/login", get(page).with_state(files).merge(login))
        .merge(sessions)
        .fallback(|uri: Uri| async move { nowhere(uri.path()) })
}

/// What is not here. An exporter that is pointed at this port learns where the other one is set.
fn nowhere(path: &str) -> Response {
    let is_otlp = ["/v1/traces", "/v1/logs", "/v1/metrics"].iter().any(|signal| path.ends_with(signal));
    let why = match is_otlp {
        true => "OTLP/HTTP has a port of its own: ingest.http_listen, 4318 if left out",
        false => "there is no such address",
    };
    failure(StatusCode::NOT_FOUND, why)
}

/// The page, with a nonce of its own.
async fn page(State(files): State<Files>) -> Response {
    let (Some(page), Some(nonce)) = (files.page().await, random_hex()) else {
        return failure(StatusCode::INTERNAL_SERVER_ERROR, "the page cannot be read");
    };
    let Ok(policy) = HeaderValue::from_str(&page_policy(&nonce)) else {
        return failure(StatusCode::INTERNAL_SERVER_ERROR, "the page has no policy");
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    (headers, page.replace(NONCE, &nonce)).into_response()
}

async fn asset(State(files): State<Files>, Path(name): Path<String>, headers: HeaderMap) -> Response {
    sent(files.find(&format!("assets/{name}"), &headers).await, &name, &headers)
}

async fn licences(State(files): State<Files>, headers: HeaderMap) -> Response {
    const NAME: &str = "THIRD-PARTY.txt";
    let found = files.find(NAME, &headers).await;
    // Its name says nothing about its content.
    sent(found.map(|found| Found { is_fixed: false, ..found }), NAME, &headers)
}

fn sent(found: Option<Found>, name: &str, headers: &HeaderMap) -> Response {
    let Some(found) = found else { return failure(StatusCode::NOT_FOUND, "there is no such file") };
    let tag = format!("\"{}\"", found.sha256);
    let Ok(etag) = HeaderValue::from_str(&tag) else {
        return failure(StatusCode::INTERNAL_SERVER_ERROR, "the file has no tag");
    };
    let cached = if found.is_fixed { "public, max-age=31536000, immutable" } else { "no-cache" };
    let about = [
        (header::ETAG, etag),
        (header::CACHE_CONTROL, HeaderValue::from_static(cached)),
        (header::VARY, HeaderValue::from_static("accept-encoding")),
    ];
    if is_known(headers, &tag) {
        return (StatusCode::NOT_MODIFIED, about).into_response();
    }
    let mut response = (about, [(header::CONTENT_TYPE, media_type(name))], found.bytes).into_response();
    if let Some(encoding) = found.encoding {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    response
}

/// Whether If-None-Match has the tag.
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let lines = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = lines.flat_map(|line| line.split(',')).map(str::trim);
    tags.any(|sent| sent == "*" || sent.trim_start_matches("W/") == tag)
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "json" | "map" => "application/json",
        "txt" => "text/plain; charset=utf-8",
        "woff2" => "font/woff2",
        "png" => "image/png",
        "ico" => "image/x-icon",
        _ => "application/octet-stream",
    }
}
