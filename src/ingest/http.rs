//! OTLP/HTTP: protobuf and JSON on one port.

use super::admit::{Door, Receipt};
use super::body::{self, Compression};
use super::decode;
use super::status::{Encoding, HttpError};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use opentelemetry_proto::tonic::collector::logs::v1::{ExportLogsPartialSuccess, ExportLogsServiceResponse};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceResponse,
};
use prost::Message;

/// The three signals of OTLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signal {
    Traces,
    Logs,
    Metrics,
}

/// What is said when metrics arrive: they are accepted so that collectors do not loop on them, and dropped.
pub const METRICS_DROPPED: &str = "metrics are accepted and dropped; this server stores traces and logs";

/// Routes every path that ends in `/v1/traces`, `/v1/logs` or `/v1/metrics`: senders put their own prefixes before it.
pub fn http_router(door: Door) -> Router {
    Router::new().fallback(receive).with_state(door)
}

async fn receive(State(door): State<Door>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let encoding = encoding_of(&parts.headers);
    // Before the encoding is known, errors are told in JSON.
    let tell = *encoding.as_ref().unwrap_or(&Encoding::Json);
    let signal = match parts.uri.path().trim_end_matches('/') {
        path if path.ends_with("/v1/traces") => Signal::Traces,
        path if path.ends_with("/v1/logs") => Signal::Logs,
        path if path.ends_with("/v1/metrics") => Signal::Metrics,
        path => {
            let message = format!("no such path: {path}; OTLP is at /v1/traces, /v1/logs and /v1/metrics");
            return HttpError::new(StatusCode::NOT_FOUND, message).respond(tell);
        }
    };
    if parts.method != Method::POST {
        let mut response =
            HttpError::new(StatusCode::METHOD_NOT_ALLOWED, "OTLP requests are POST").respond(tell);
        response.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("POST"));
        return response;
    }
    let encoding = match encoding {
        Ok(encoding) => encoding,
        Err(error) => return error.respond(tell),
    };
    match export(&door, signal, encoding, &parts.headers, body).await {
        Ok(response) => response,
        Err(error) => error.respond(encoding),
    }
}

/// The encoding by Content-Type; parameters such as `charset` are allowed.
fn encoding_of(headers: &HeaderMap) -> Result<Encoding, HttpError> {
    let value = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let media = value.split(';').next().unwrap_or_default().trim();
    if media.eq_ignore_ascii_case("application/json") {
        Ok(Encoding::Json)
    } else if media.eq_ignore_ascii_case("application/x-protobuf")
        || media.eq_ignore_ascii_case("application/protobuf")
    {
        Ok(Encoding::Protobuf)
    } else {
        Err(HttpError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!("Content-Type {value:?} is not OTLP; send application/x-protobuf or application/json"),
        ))
    }
}

async fn export(
    door: &Door,
    signal: Signal,
    encoding: Encoding,
    headers: &HeaderMap,
    body: Body,
) -> Result<Response, HttpError> {
    let compression = Compression::of(headers)?;
    let limit = door.config().max_request_bytes;
    let length = headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse().ok()).unwrap_or(0);
    let _permit = door.reserve(length.min(limit))?;
    let raw = body::read(body, limit).await?;
    let plain = if compression == Compression::Identity {
        raw
    } else {
        let task = tokio::task::spawn_blocking(move || body::decompress(raw, compression, limit));
        task.await.map_err(|e| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, e.to_string()))??
    };
    match signal {
        Signal::Traces => {
            let request = match encoding {
                Encoding::Protobuf => decode::from_protobuf(&plain),
                Encoding::Json => decode::traces_from_json(json_or_empty(&plain)),
            };
            let receipt = door.spans(request.map_err(undecodable)?).await?;
            Ok(respond(encoding, trace_response(&receipt), "rejectedSpans", &receipt))
        }
        Signal::Logs => {
            let request = match encoding {
                Encoding::Protobuf => decode::from_protobuf(&plain),
                Encoding::Json => decode::logs_from_json(json_or_empty(&plain)),
            };
            let receipt = door.logs(request.map_err(undecodable)?).await?;
            Ok(respond(encoding, logs_response(&receipt), "rejectedLogRecords", &receipt))
        }
        Signal::Metrics => {
            match encoding {
                Encoding::Protobuf => {
                    decode::from_protobuf::<ExportMetricsServiceRequest>(&plain).map_err(undecodable)?;
                }
                Encoding::Json => {
                    decode::metrics_from_json(json_or_empty(&plain)).map_err(undecodable)?;
                }
            }
            let receipt = Receipt { message: METRICS_DROPPED.to_owned(), ..Receipt::default() };
            Ok(respond(encoding, metrics_response(), "rejectedDataPoints", &receipt))
        }
    }
}

/// A zero-byte JSON body is an empty request.
fn json_or_empty(body: &Bytes) -> &[u8] {
    if body.is_empty() { b"{}" } else { body }
}

fn undecodable(error: decode::DecodeError) -> HttpError {
    HttpError::new(StatusCode::BAD_REQUEST, error.to_string())
}

/// The response to traces; `partial_success` only if there is something to say.
pub fn trace_response(receipt: &Receipt) -> ExportTraceServiceResponse {
    let partial = ExportTracePartialSuccess {
        rejected_spans: i64::try_from(receipt.rejected).unwrap_or(i64::MAX),
        error_message: receipt.message.clone(),
    };
    ExportTraceServiceResponse { partial_success: says_something(receipt).then_some(partial) }
}

/// The response to log records.
pub fn logs_response(receipt: &Receipt) -> ExportLogsServiceResponse {
    let partial = ExportLogsPartialSuccess {
        rejected_log_records: i64::try_from(receipt.rejected).unwrap_or(i64::MAX),
        error_message: receipt.message.clone(),
    };
    ExportLogsServiceResponse { partial_success: says_something(receipt).then_some(partial) }
}

/// The response to metrics: accepted, with a warning.
pub fn metrics_response() -> ExportMetricsServiceResponse {
    let partial =
        ExportMetricsPartialSuccess { rejected_data_points: 0, error_message: METRICS_DROPPED.to_owned() };
    ExportMetricsServiceResponse { partial_success: Some(partial) }
}

fn says_something(receipt: &Receipt) -> bool {
    receipt.rejected > 0 || !receipt.message.is_empty()
}

fn respond(encoding: Encoding, message: impl Message, rejected_key: &str, receipt: &Receipt) -> Response {
    let body = match encoding {
        Encoding::Protobuf => message.encode_to_vec(),
        Encoding::Json if !says_something(receipt) => b"{}".to_vec(),
        Encoding::Json => {
            let mut partial = serde_json::Map::new();
            if receipt.rejected > 0 {
                partial.insert(rejected_key.to_owned(), receipt.rejected.to_string().into());
            }
            partial.insert("errorMessage".to_owned(), receipt.message.clone().into());
            serde_json::json!({ "partialSuccess": partial }).to_string().into_bytes()
        }
    };
    (StatusCode::OK, [(header::CONTENT_TYPE, encoding.content_type())], body).into_response()
}
