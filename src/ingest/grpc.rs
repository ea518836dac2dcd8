//! OTLP/gRPC: three unary methods.
//!
//! The messages are read here and not by the generated services: those answer OUT_OF_RANGE to a message that is too
//! large, which OTLP calls retryable, INTERNAL to one that is not protobuf, and take memory before it is reserved.

use super::admit::Receiver;
use super::answer;
use super::body::{self, BodyError, Compression, Upload, count_refused};
use super::dispatch::{self, Incoming};
use super::memory::Share;
use super::protocol::{Encoding, Signal};
use super::status::invalid;
use crate::net::{Access, Role};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::{Buf, Bytes};
use http_body_util::{BodyExt, Full};
use std::convert::Infallible;
use tonic::{Code, Status};

/// The three OTLP services behind one receiver; what is sent becomes the tenant's whose token comes with it.
pub fn grpc_router(receiver: Receiver, access: Access) -> Router {
    Router::new().fallback(receive).with_state((receiver, access))
}

const CONTENT_TYPE: &str = "application/grpc";
const ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");
const ACCEPT_ENCODING: HeaderName = HeaderName::from_static("grpc-accept-encoding");

async fn receive(State((receiver, access)): State<(Receiver, Access)>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let media = parts.headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    if parts.method != Method::POST || !is_grpc(media) {
        return (StatusCode::UNSUPPORTED_MEDIA_TYPE, "this port speaks OTLP/gRPC; OTLP/HTTP has its own\n")
            .into_response();
    }
    // First, so that who may not send learns nothing else.
    let tenant = match access.writer(&parts.headers, Role::Ingest) {
        Ok(tenant) => tenant,
        Err(denied) => return refuse(denied.into()),
    };
    let Some(signal) = signal_of(parts.uri.path()) else {
        return refuse(Status::unimplemented(
            "the methods are Export of TraceService, LogsService, MetricsService",
        ));
    };
    match export(&receiver, &tenant, signal, &parts.headers, Upload::new(body)).await {
        Ok(message) => respond(&message, body::takes_gzip(&parts.headers, &ACCEPT_ENCODING)),
        Err(status) => refuse(status),
    }
}

/// Whether this Content-Type is gRPC's own. gRPC-Web begins with the same word, and its clients could not read the answer.
fn is_grpc(media: &[u8]) -> bool {
    let rest = media.strip_prefix(CONTENT_TYPE.as_bytes());
    rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';' | b' ')))
}

fn signal_of(path: &str) -> Option<Signal> {
    match path {
        "/opentelemetry.proto.collector.trace.v1.TraceService/Export" => Some(Signal::Traces),
        "/opentelemetry.proto.collector.logs.v1.LogsService/Export" => Some(Signal::Logs),
        "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export" => Some(Signal::Metrics),
        _ => None,
    }
}

/// The encoded response to one request.
async fn export(
    receiver: &Receiver,
    tenant: &str,
    signal: Signal,
    headers: &HeaderMap,
    mut upload: Upload,
) -> Result<Vec<u8>, Status> {
    let encoding = Compression::of(headers, &ENCODING).inspect_err(BodyError::count)?;
    let limit = receiver.config().max_request_size.in_memory();
    let mut share = Share::new(receiver.budget().clone());
    let body = upload.read(limit.saturating_add(PREFIX), &mut share).await;
    // The limit that is told is the message's.
    let told =
        |e: BodyError| if matches!(e, BodyError::TooLarge(_)) { BodyError::TooLarge(limit) } else { e };
    let body = body.map_err(told).inspect_err(BodyError::count)?;
    let (raw, compressed) = message(body).inspect_err(|_| count_refused("invalid"))?;
    let compression = match (compressed, encoding) {
        (false, _) => Compression::Identity,
        (true, Compression::Identity) => {
            count_refused("encoding");
            return Err(Status::internal(
                "the message is marked as compressed, but grpc-encoding is not set",
            ));
        }
        (true, encoding) => encoding,
    };
    let incoming = Incoming { raw, compression, encoding: Encoding::Protobuf, signal, share };
    let receipt = dispatch::admit(receiver, incoming, tenant).await.inspect_err(BodyError::count)?;
    Ok(answer::encode(signal, Encoding::Protobuf, &receipt, receiver.config().max_response_size.in_memory())?)
}

/// Bytes before a message: a flag and the length.
const PREFIX: usize = 5;

/// The one message of the body, and whether it is compressed.
fn message(mut body: Bytes) -> Result<(Bytes, bool), Status> {
    if body.len() < PREFIX {
        return Err(invalid("the request has no message"));
    }
    let compressed = match body.get_u8() {
        0 => false,
        1 => true,
        flag => return Err(Status::internal(format!("{flag} is not a compressed-flag; 0 and 1 are"))),
    };
    let length = body.get_u32() as usize;
    if length != body.len() {
        let came = body.len();
        return Err(invalid(&format!("one message of {length} bytes was announced, {came} bytes came")));
    }
    Ok((body, compressed))
}

fn respond(message: &[u8], takes_gzip: bool) -> Response {
    let packed = if takes_gzip && !message.is_empty() { body::gzip(message).ok() } else { None };
    let (flag, message) = packed.as_deref().map_or((0, message), |packed| (1, packed));
    let mut framed = Vec::with_capacity(PREFIX + message.len());
    framed.push(flag);
    framed.extend_from_slice(&u32::try_from(message.len()).unwrap_or(u32::MAX).to_be_bytes());
    framed.extend_from_slice(message);
    let mut trailers = HeaderMap::new();
    trailers.insert(Status::GRPC_STATUS, HeaderValue::from_static("0"));
    let trailers = std::future::ready(Some(Ok::<_, Infallible>(trailers)));
    let mut response = Response::new(Body::new(Full::new(Bytes::from(framed)).with_trailers(trailers)));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE));
    if flag == 1 {
        response.headers_mut().insert(ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

fn refuse(status: Status) -> Response {
    let unimplemented = status.code() == Code::Unimplemented;
    let mut response = status.into_http::<Body>();
    if unimplemented {
        // A client whose compression is not known learns here which are.
        response.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity,gzip,zstd"));
    }
    response
}
