//! A token for a cookie, and who one is.

use crate::net::{Browsers, Login, Peer, Role};
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::json;

/// What is sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    token: String,
}

/// `POST /login` with `{"token": "…"}`: 204 and a cookie, 204 without one where there are no tokens, 401 for a token that
/// is not known, 429 after too many of those, 403 from a page of another site.
pub(super) async fn log_in(
    State(browsers): State<Browsers>,
    peer: Option<Extension<Peer>>,
    request: Request,
) -> Response {
    if browsers.is_foreign(&request) {
        return failure(StatusCode::FORBIDDEN, "a login must come from a page of this server");
    }
    let headers = request.headers().clone();
    let sent: Result<Json<Sent>, JsonRejection> = Json::from_request(request, &()).await;
    let Json(sent) = match sent {
        Ok(sent) => sent,
        // The text of the rejection could repeat the token.
        Err(wrong) => return failure(wrong.status(), "send {\"token\": \"…\"} as application/json"),
    };
    match browsers.log_in(&sent.token, peer.map(|Extension(peer)| peer)) {
        Login::Begun(cookie) => {
            // The session that the browser had before is of no use to anybody now.
            let _ = browsers.log_out(&headers);
            (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response()
        }
        Login::NotNeeded => StatusCode::NO_CONTENT.into_response(),
        Login::Unknown => failure(
            StatusCode::UNAUTHORIZED,
            "the token is not known here; see server.tokens_file, or make one with groundline token new",
        ),
        Login::Wait(wait) => {
            let mut response =
                failure(StatusCode::TOO_MANY_REQUESTS, "too many wrong tokens; try again later");
            let seconds = HeaderValue::from(wait.as_secs().saturating_add(1));
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
            response
        }
    }
}

/// `POST /logout`: 204; the session of the cookie, if there was one, is over when it answers.
pub(super) async fn log_out(State(browsers): State<Browsers>, headers: HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let Some(cookie) = browsers.log_out(&headers) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// `GET /v1/me`: who the caller is and what it may do; 401 where a token is needed and none was given.
pub(super) async fn me(State(browsers): State<Browsers>, request: Request) -> Response {
    let caller = match browsers.access().caller_of(&request) {
        Ok(caller) => caller,
        Err(denied) => return denied.into_response(),
    };
    let roles: Vec<&str> = caller.roles().into_iter().map(Role::name).collect();
    let tenants = caller.may(Role::Admin).then(|| browsers.access().tenants());
    Json(json!({
        "name": caller.name(),
        "tenant": caller.tenant(),
        "roles": roles,
        "tenants": tenants,
        "needs_token": !browsers.access().is_open(),
    }))
    .into_response()
}

/// An error as every route of this address tells it.
pub(super) fn failure(status: StatusCode, why: &str) -> Response {
    (status, Json(json!({ "error": why }))).into_response()
}
