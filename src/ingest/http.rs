//! OTLP/HTTP: protobuf and JSON on one port.

use super::admit::Receiver;
use super::answer;
use super::body::{self, BodyError, Compression, Upload, count_refused};
use super::dispatch::{self, Incoming};
use super::memory::Share;
use super::protocol::{Encoding, Signal};
use super::receipt::Receipt;
use super::status::HttpError;
use crate::net::{Access, Role};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Version, header};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;

/// Routes every path that ends in `/v1/traces`, `/v1/logs` or `/v1/metrics`: senders put their own prefixes before it.
/// What is sent becomes the tenant's whose token comes with it.
pub fn http_router(receiver: Receiver, access: Access) -> Router {
    Router::new().fallback(receive).with_state((receiver, access))
}

async fn receive(State((receiver, access)): State<(Receiver, Access)>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let media = media_type(&parts.headers);
    let encoding = encoding_of(&media);
    // Before the encoding is known, errors are told in JSON.
    let tell = *encoding.as_ref().unwrap_or(&Encoding::Json);
    let mut upload = Upload::new(body);
    let mut response = match export(&receiver, &access, &parts, encoding, &mut upload).await {
        Ok(response) => response,
        Err(error) => {
            // HTTP/2 can answer before the body ends; and who waits for "100 Continue" sends nothing more.
            let waits = parts.headers.contains_key(header::EXPECT) && !upload.begun();
            if parts.version < Version::HTTP_2 && !waits {
                upload.drain().await;
            }
            error.respond(tell)
        }
    };
    if media == PROTOBUF_ALIAS {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(PROTOBUF_ALIAS));
    }
    if body::takes_gzip(&parts.headers, &header::ACCEPT_ENCODING) { packed(response).await } else { response }
}

/// The name that some senders use instead of `application/x-protobuf`.
const PROTOBUF_ALIAS: &str = "application/protobuf";

/// The Content-Type without parameters such as `charset`.
fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let text = String::from_utf8_lossy(value);
    text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn encoding_of(media: &str) -> Result<Encoding, HttpError> {
    match media {
        "application/json" => Ok(Encoding::Json),
        "application/x-protobuf" | PROTOBUF_ALIAS => Ok(Encoding::Protobuf),
        other => Err(HttpError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!("Content-Type {other:?} is not OTLP; send application/x-protobuf or application/json"),
        )),
    }
}

fn signal_of(path: &str) -> Result<Signal, HttpError> {
    match path.trim_end_matches('/') {
        path if path.ends_with("/v1/traces") => Ok(Signal::Traces),
        path if path.ends_with("/v1/logs") => Ok(Signal::Logs),
        path if path.ends_with("/v1/metrics") => Ok(Signal::Metrics),
        _ => Err(HttpError::new(
            StatusCode::NOT_FOUND,
            format!("no such path: {path}; OTLP is at /v1/traces, /v1/logs and /v1/metrics"),
        )),
    }
}

async fn export(
    receiver: &Receiver,
    access: &Access,
    parts: &Parts,
    encoding: Result<Encoding, HttpError>,
    upload: &mut Upload,
) -> Result<Response, HttpError> {
    // First, so that who may not send learns nothing else.
    let tenant = access.writer(&parts.headers, Role::Ingest)?;
    let signal = signal_of(parts.uri.path())?;
    if parts.method != Method::POST {
        return Err(HttpError::new(StatusCode::METHOD_NOT_ALLOWED, "OTLP requests are POST"));
    }
    let encoding = encoding.inspect_err(|_| count_refused("encoding"))?;
    let taken = take(receiver, &parts.headers, (signal, encoding), upload, &tenant).await;
    let receipt = taken.inspect_err(BodyError::count)?;
    let bytes = answer::encode(signal, encoding, &receipt, receiver.config().max_response_size.in_memory())?;
    Ok((StatusCode::OK, [(header::CONTENT_TYPE, encoding.content_type())], bytes).into_response())
}

/// Reads the body and admits what it holds. When it returns, every accepted item is on the disk.
async fn take(
    receiver: &Receiver,
    headers: &HeaderMap,
    (signal, encoding): (Signal, Encoding),
    upload: &mut Upload,
    tenant: &str,
) -> Result<Receipt, BodyError> {
    let compression = Compression::of(headers, &header::CONTENT_ENCODING)?;
    let limit = receiver.config().max_request_size.in_memory();
    let mut share = Share::new(receiver.budget().clone());
    match body::claimed_length(headers) {
        Some(length) if length > limit => return Err(BodyError::TooLarge(limit)),
        // A look whether there is room now; what is held grows with what comes.
        Some(length) => drop(receiver.budget().reserve(length)?),
        None => {}
    }
    let raw = upload.read(limit, &mut share).await?;
    let incoming = Incoming { raw, compression, encoding, signal, share };
    dispatch::admit(receiver, incoming, tenant).await
}

/// The response as gzip. An empty one stays as it is: there is nothing to pack.
async fn packed(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(body) = body.collect().await else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    let plain = body.to_bytes();
    let packed = if plain.is_empty() { None } else { body::gzip(&plain).ok() };
    let Some(packed) = packed else { return Response::from_parts(parts, plain.into()) };
    parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts.headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, packed.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::{Clock, SystemClock, UnixNanos};
    use crate::ingest::Config;
    use crate::journal::{self, Journal};
    use axum::body::Body;
    use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
    use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
    use parking_lot::Mutex;
    use prost::Message;
    use std::collections::HashSet;
    use std::sync::Arc;
    use std::thread::{self, ThreadId};
    use tower::ServiceExt;

    /// Notes which threads ask for the time: a record that has none gets it when it is decoded.
    #[derive(Default)]
    struct Asked(Mutex<HashSet<ThreadId>>);

    impl Clock for Asked {
        fn now(&self) -> UnixNanos {
            self.0.lock().insert(thread::current().id());
            SystemClock.now()
        }
    }

    /// A record with a text of `length` bytes, in both encodings.
    fn bodies(length: usize) -> [(&'static str, Vec<u8>); 2] {
        let text = "x".repeat(length);
        let json = format!(
            "{{\"resourceLogs\":[{{\"scopeLogs\":[{{\"logRecords\":[{{\"severityText\":\"{text}\"}}]}}]}}]}}"
        );
        let record = LogRecord { severity_text: text, ..LogRecord::default() };
        let scope_logs = vec![ScopeLogs { log_records: vec![record], ..ScopeLogs::default() }];
        let resource_logs = vec![ResourceLogs { scope_logs, ..ResourceLogs::default() }];
        let protobuf = ExportLogsServiceRequest { resource_logs }.encode_to_vec();
        [("application/json", json.into_bytes()), (PROTOBUF_ALIAS, protobuf)]
    }

    #[tokio::test]
    async fn large_bodies_of_logs_are_decoded_away_from_connections() {
        let folder = tempfile::tempdir().unwrap();
        let journal =
            Journal::open(folder.path(), journal::Config::default(), crate::schema::FORMAT).unwrap();
        for (length, threads) in [(10, 1), (100_000, 2)] {
            for (media, body) in bodies(length) {
                let clock = Arc::new(Asked::default());
                let receiver = Receiver::new(journal.clone(), clock.clone(), Config::default());
                let request = axum::http::Request::post("/v1/logs").header(header::CONTENT_TYPE, media);
                let request = request.body(Body::from(body)).unwrap();
                let response = http_router(receiver, Access::open("t")).oneshot(request).await.unwrap();
                assert_eq!(response.status(), StatusCode::OK);
                assert_eq!(clock.0.lock().len(), threads, "{media}, {length} bytes");
            }
        }
    }
}
