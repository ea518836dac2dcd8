//! The endpoint for HTTP: `POST /v1/sql` with `{"query": "…", "params": […]}`.

use super::columns::{About, encode_columns};
use super::context::{Sql, Work};
use super::error::SqlError;
use super::format::{Format, encode};
use super::params;
use crate::net::{Access, Caller, Role, Scope, guarded, takes_coding};
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Extension, Router};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Deserialize;
use serde_json::Value;
use std::io::Write;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Instant;

/// Bytes that the JSON around a query and its escapes may add to it.
const ENVELOPE: usize = 64 << 10;

/// How much longer than `sql.max_result_size` an encoded result may be.
const TEXT_FACTOR: usize = 4;

/// Bytes from which an answer is worth compressing: fewer fit in one packet.
const MIN_COMPRESSED: usize = 1400;

/// When a client that came at a busy time may come again, seconds.
const RETRY_AFTER: u16 = 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    #[serde(alias = "query")]
    sql: String,
    /// The values of `$1`, `$2` ….
    #[serde(default)]
    params: Vec<Value>,
    /// At most so many rows; the rest is cut off.
    #[serde(default)]
    limit: Option<NonZeroU64>,
    /// Only the rows of this tenant, for callers who see those of all.
    #[serde(default)]
    tenant: Option<String>,
}

/// How the result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Row by row, or as a file.
    As(Format),
    /// JSON by columns.
    Columns,
}

impl Shape {
    fn media_type(self) -> &'static str {
        match self {
            Shape::As(format) => format.media_type(),
            Shape::Columns => "application/json; shape=columns",
        }
    }

    /// Whether gzip makes it smaller: Parquet is compressed as it is.
    fn is_compressible(self) -> bool {
        self != Shape::As(Format::Parquet)
    }
}

/// The route `POST /v1/sql`.
///
/// Answers 200 with the result in the format that Accept asks for, 400 for a wrong query or body, 406 for an Accept that
/// nothing here satisfies, 413 for a body that is too large, 422 for a limit that was met, 503 when too many queries run.
/// An answer of some size comes in gzip where Accept-Encoding allows that.
/// Where there are tokens: 401 without one, 403 for one without the role query; the rows are those of the token's tenant.
/// A client that goes away ends its query.
pub fn router(sql: Arc<Sql>, access: Access) -> Router {
    // A query of plain text fits twice: JSON escapes can double it.
    let body = sql.config().max_sql_size.in_memory().saturating_mul(2).saturating_add(ENVELOPE);
    Router::new()
        .route("/v1/sql", post(answer).fallback(post_only))
        .layer(DefaultBodyLimit::max(body))
        .layer(axum::middleware::from_fn_with_state((access, Role::Query), guarded))
        .with_state(sql)
}

/// Another method: what to do instead, for whoever opens the address in a browser.
async fn post_only() -> Response {
    let why = "POST a statement as JSON: {\"query\": \"SELECT …\"}";
    let mut response = failure(StatusCode::METHOD_NOT_ALLOWED, why);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
    response
}

async fn answer(
    State(sql): State<Arc<Sql>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let began = Instant::now();
    let Some(shape) = accepted(&headers) else {
        let offered = "application/json, application/json; shape=columns, text/csv, \
                       application/vnd.apache.arrow.stream, application/vnd.apache.parquet";
        return failure(StatusCode::NOT_ACCEPTABLE, &format!("Accept must allow one of: {offered}"));
    };
    let query: Query = match serde_json::from_slice(&body) {
        Ok(query) => query,
        Err(error) => {
            let why = format!("the body must be {{\"query\": \"…\", \"params\": […]}}: {error}");
            return failure(StatusCode::BAD_REQUEST, &why);
        }
    };
    let Some(scope) = narrowed(caller.scope(), query.tenant.as_deref()) else {
        let why = "the token sees the rows of its own tenant only: leave \"tenant\" out";
        return failure(StatusCode::FORBIDDEN, why);
    };
    let may_compress = shape.is_compressible() && takes_coding(&headers, "gzip");
    match result(&sql, &scope, query, (shape, may_compress), began).await {
        Ok(encoded) => encoded.respond(shape),
        Err(error) => {
            let mut response = failure(status(&error), &error.to_string());
            if error.is_retryable() {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER));
            }
            response
        }
    }
}

/// The rows of `tenant` among those of `scope`; none if they are not among them.
fn narrowed(scope: Scope, tenant: Option<&str>) -> Option<Scope> {
    match (scope, tenant) {
        (scope, None) => Some(scope),
        (Scope::All, Some(tenant)) => Some(Scope::Tenant(tenant.into())),
        (Scope::Tenant(own), Some(tenant)) => (*own == *tenant).then_some(Scope::Tenant(own)),
    }
}

/// A result as it is sent.
struct Encoded {
    bytes: Vec<u8>,
    is_gzip: bool,
}

impl Encoded {
    /// `bytes`, in gzip if they may be and are worth it.
    fn new(bytes: Vec<u8>, may_compress: bool) -> Result<Self, SqlError> {
        if !may_compress || bytes.len() < MIN_COMPRESSED {
            return Ok(Self { bytes, is_gzip: false });
        }
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        let compressed = encoder.write_all(&bytes).and_then(|()| encoder.finish());
        let bytes = compressed.map_err(|e| SqlError::Internal(format!("compressing the result: {e}")))?;
        Ok(Self { bytes, is_gzip: true })
    }

    fn respond(self, shape: Shape) -> Response {
        let about = [(header::CONTENT_TYPE, shape.media_type()), (header::VARY, "accept-encoding")];
        let mut response = (about, self.bytes).into_response();
        if self.is_gzip {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

async fn result(
    sql: &Sql,
    scope: &Scope,
    query: Query,
    (shape, may_compress): (Shape, bool),
    began: Instant,
) -> Result<Encoded, SqlError> {
    let work = Work::Bound(query.sql, params::values(query.params)?);
    let all = sql.collect_from("http", scope, work, query.limit).await?;
    let most = sql.config().max_result_size.in_memory();
    // Text is longer than the values that it shows.
    let most = most.saturating_mul(TEXT_FACTOR);
    let elapsed = began.elapsed();
    let cut_at = query.limit.filter(|_| all.is_cut).map(NonZeroU64::get);
    let about = About { cut_at, elapsed, final_until: all.final_until };
    // Encoding a big result takes long enough to hold up other requests of this thread.
    tokio::task::spawn_blocking(move || {
        let bytes = match shape {
            Shape::As(format) => encode(format, &all.schema, &all.batches, most)?,
            Shape::Columns => encode_columns(&all.schema, &all.batches, about, most)?,
        };
        Encoded::new(bytes, may_compress)
    })
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

/// The shape with the highest weight in Accept, JSON where any will do; `None` if none is acceptable.
fn accepted(headers: &HeaderMap) -> Option<Shape> {
    let mut best: Option<(Shape, f32)> = None;
    let mut asked = false;
    for value in headers.get_all(header::ACCEPT) {
        for item in value.to_str().unwrap_or_default().split(',').filter(|i| !i.trim().is_empty()) {
            asked = true;
            let mut parts = item.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let parameters: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once('=')).collect();
            let parameter =
                |name: &str| parameters.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
            let shape = by_media_type(name, parameter("shape"));
            let weight = parameter("q").and_then(|q| q.parse().ok()).unwrap_or(1.0);
            if let Some(shape) = shape
                && weight > best.map_or(0.0, |b| b.1)
            {
                best = Some((shape, weight));
            }
        }
    }
    if asked { best.map(|b| b.0) } else { Some(Shape::As(Format::Json)) }
}

fn by_media_type(name: &str, shape: Option<&str>) -> Option<Shape> {
    let format = match name.to_ascii_lowercase().as_str() {
        "application/json" if shape.is_some() => {
            return shape.filter(|shape| *shape == "columns").map(|_| Shape::Columns);
        }
        "*/*" | "application/*" | "application/json" => Format::Json,
        "text/*" | "text/csv" => Format::Csv,
        "application/vnd.apache.arrow.stream" => Format::Arrow,
        "application/vnd.apache.parquet" => Format::Parquet,
        _ => return None,
    };
    Some(Shape::As(format))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pick(accept: &str) -> Option<Shape> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, accept.parse().expect("a header"));
        accepted(&headers)
    }

    #[test]
    fn accept_picks_the_format() {
        let json = Some(Shape::As(Format::Json));
        assert_eq!(accepted(&HeaderMap::new()), json);
        assert_eq!(pick("*/*"), json);
        assert_eq!(pick("text/csv"), Some(Shape::As(Format::Csv)));
        assert_eq!(pick("text/html, application/json;q=0.5, text/csv;q=0.9"), Some(Shape::As(Format::Csv)));
        assert_eq!(pick("Application/Vnd.Apache.Arrow.Stream"), Some(Shape::As(Format::Arrow)));
        assert_eq!(pick("image/png"), None);
        assert_eq!(pick("application/json;q=0"), None);
        assert_eq!(pick("application/json; shape=columns"), Some(Shape::Columns));
        assert_eq!(pick("application/json;q=0.5, application/json; shape=columns"), Some(Shape::Columns));
        assert_eq!(pick("application/json; shape=rings"), None);
        assert_eq!(pick("application/json; charset=utf-8"), json);
    }

    #[test]
    fn a_tenant_narrows_and_never_widens() {
        let (a, b) = (Scope::Tenant("a".into()), Scope::Tenant("b".into()));
        assert_eq!(narrowed(Scope::All, Some("a")), Some(a.clone()));
        assert_eq!(narrowed(a.clone(), Some("a")), Some(a.clone()));
        assert_eq!((narrowed(b, Some("a")), narrowed(a.clone(), None)), (None, Some(a)));
    }
}
