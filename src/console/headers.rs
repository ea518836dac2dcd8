//! What every answer of the HTTP address says to browsers.

use axum::extract::Request;
use axum::http::HeaderValue;
use axum::middleware::Next;
use axum::response::Response;

/// On every answer, unless its handler says something else.
const ALWAYS: &[(&str, &str)] = &[
    // What is no page is never shown as one.
    (
        "content-security-policy",
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    (
        "permissions-policy",
        "accelerometer=(), browsing-topics=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), \
         magnetometer=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), serial=(), usb=(), \
         xr-spatial-tracking=()",
    ),
    // Rows are the caller's own.
    ("cache-control", "private, no-store"),
];

/// What a page may do: its own scripts, styles and requests, and pictures that are written into it. `nonce` is for the
/// style element that the editor makes.
pub(super) fn page_policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; \
         font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'"
    )
}

/// Adds the headers that keep other sites and what is in spans away from a browser's user. No answer has a CORS header.
pub async fn guard_answers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.entry(*name).or_insert(HeaderValue::from_static(value));
    }
    response
}
