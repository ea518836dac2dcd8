//! The door for HTTP: `POST /v1/sql` with `{"sql": "…"}`.

use super::context::Sql;
use super::error::SqlError;
use super::format::{Format, encode};
use crate::net::{Access, Caller, Role, Scope, guarded};
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Extension, Router};
use serde::Deserialize;
use std::sync::Arc;

/// Bytes that the JSON around a query and its escapes may add to it.
const ENVELOPE: usize = 64 << 10;

/// How much longer than `sql.max_result_size` an encoded result may be.
const TEXT_FACTOR: usize = 4;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    sql: String,
}

/// The route `POST /v1/sql`.
///
/// Answers 200 with the result in the format that Accept asks for, 400 for a wrong query or body, 406 for an Accept that
/// nothing here satisfies, 413 for a body that is too large, 422 for a limit that was met, 503 when too many queries run.
/// Where there are tokens: 401 without one, 403 for one without the role query; the rows are those of the token's tenant.
pub fn router(sql: Arc<Sql>, access: Access) -> Router {
    // A query of plain text fits twice: JSON escapes can double it.
    let body = sql.config().max_sql_size.in_memory().saturating_mul(2).saturating_add(ENVELOPE);
    Router::new()
        .route("/v1/sql", post(answer))
        .layer(DefaultBodyLimit::max(body))
        .layer(axum::middleware::from_fn_with_state((access, Role::Query), guarded))
        .with_state(sql)
}

async fn answer(
    State(sql): State<Arc<Sql>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some(format) = accepted(&headers) else {
        let offered =
            "application/json, text/csv, application/vnd.apache.arrow.stream, application/vnd.apache.parquet";
        return failure(StatusCode::NOT_ACCEPTABLE, &format!("Accept must allow one of: {offered}"));
    };
    let query: Query = match serde_json::from_slice(&body) {
        Ok(query) => query,
        Err(error) => {
            let why = format!("the body must be {{\"sql\": \"…\"}}: {error}");
            return failure(StatusCode::BAD_REQUEST, &why);
        }
    };
    match result(&sql, &caller.scope(), &query.sql, format).await {
        Ok(bytes) => ([(header::CONTENT_TYPE, format.media_type())], bytes).into_response(),
        Err(error) => failure(status(&error), &error.to_string()),
    }
}

async fn result(sql: &Sql, scope: &Scope, text: &str, format: Format) -> Result<Vec<u8>, SqlError> {
    let all = sql.collect_from("http", scope, text).await?;
    let most = sql.config().max_result_size.in_memory();
    // Text is longer than the values that it shows.
    let most = most.saturating_mul(TEXT_FACTOR);
    // Encoding a big result takes long enough to hold up other requests of this thread.
    tokio::task::spawn_blocking(move || encode(format, &all.schema, &all.batches, most))
        .await
        .map_err(|e| SqlError::Internal(format!("encoding the result: {e}")))?
}

fn status(error: &SqlError) -> StatusCode {
    match error {
        SqlError::Wrong(_) => StatusCode::BAD_REQUEST,
        SqlError::Limit(_) => StatusCode::UNPROCESSABLE_ENTITY,
        SqlError::Busy => StatusCode::SERVICE_UNAVAILABLE,
        SqlError::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn failure(status: StatusCode, why: &str) -> Response {
    (status, axum::Json(serde_json::json!({ "error": why }))).into_response()
}

/// The format with the highest weight in Accept, JSON where any will do; `None` if none is acceptable.
fn accepted(headers: &HeaderMap) -> Option<Format> {
    let mut best: Option<(Format, f32)> = None;
    let mut asked = false;
    for value in headers.get_all(header::ACCEPT) {
        for item in value.to_str().unwrap_or_default().split(',').filter(|i| !i.trim().is_empty()) {
            asked = true;
            let mut parts = item.split(';').map(str::trim);
            let format = parts.next().and_then(by_media_type);
            let weight = parts.find_map(|p| p.strip_prefix("q=")?.parse().ok()).unwrap_or(1.0);
            if let Some(format) = format
                && weight > best.map_or(0.0, |b| b.1)
            {
                best = Some((format, weight));
            }
        }
    }
    if asked { best.map(|b| b.0) } else { Some(Format::Json) }
}

fn by_media_type(name: &str) -> Option<Format> {
    match name.to_ascii_lowercase().as_str() {
        "*/*" | "application/*" | "application/json" => Some(Format::Json),
        "text/*" | "text/csv" => Some(Format::Csv),
        "application/vnd.apache.arrow.stream" => Some(Format::Arrow),
        "application/vnd.apache.parquet" => Some(Format::Parquet),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pick(accept: &str) -> Option<Format> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, accept.parse().expect("a header"));
        accepted(&headers)
    }

    #[test]
    fn accept_picks_the_format() {
        assert_eq!(accepted(&HeaderMap::new()), Some(Format::Json));
        assert_eq!(pick("*/*"), Some(Format::Json));
        assert_eq!(pick("text/csv"), Some(Format::Csv));
        assert_eq!(pick("text/html, application/json;q=0.5, text/csv;q=0.9"), Some(Format::Csv));
        assert_eq!(pick("Application/Vnd.Apache.Arrow.Stream"), Some(Format::Arrow));
        assert_eq!(pick("image/png"), None);
        assert_eq!(pick("application/json;q=0"), None);
    }
}
