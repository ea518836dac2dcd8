//! The wire's error bodies: `google.rpc.Status` in protobuf or JSON.

use super::admit::Refusal;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use prost::Message;

/// The two encodings of OTLP/HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// `application/x-protobuf`.
    Protobuf,
    /// `application/json`.
    Json,
}

impl Encoding {
    /// The Content-Type.
    pub fn content_type(self) -> &'static str {
        match self {
            Encoding::Protobuf => "application/x-protobuf",
            Encoding::Json => "application/json",
        }
    }
}

/// The first two fields of `google.rpc.Status`; OTLP uses no others.
#[derive(Clone, PartialEq, Message)]
struct RpcStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

/// An HTTP error with its encoded body.
#[derive(Debug)]
pub struct HttpError {
    /// The status.
    pub status: StatusCode,
    /// For people: what was wrong, where, and what to do.
    pub message: String,
    /// For 429 and 503: seconds to wait.
    pub retry_after_s: Option<u64>,
}

impl HttpError {
    /// An error without a hint to come back.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), retry_after_s: None }
    }

    /// The response in the request's encoding.
    pub fn respond(self, encoding: Encoding) -> Response {
        let code = grpc_code(self.status);
        let body = match encoding {
            Encoding::Protobuf => RpcStatus { code, message: self.message }.encode_to_vec(),
            Encoding::Json => {
                serde_json::json!({"code": code, "message": self.message}).to_string().into_bytes()
            }
        };
        let mut response =
            (self.status, [(header::CONTENT_TYPE, encoding.content_type())], body).into_response();
        if let Some(seconds) = self.retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

impl From<Refusal> for HttpError {
    fn from(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        match refusal {
            Refusal::Overloaded { retry_after, .. } => Self {
                status: StatusCode::SERVICE_UNAVAILABLE,
                message,
                retry_after_s: Some(retry_after.as_secs().max(1)),
            },
            Refusal::Invalid(_) => Self::new(StatusCode::BAD_REQUEST, message),
            Refusal::Broken(_) => Self::new(StatusCode::INTERNAL_SERVER_ERROR, message),
        }
    }
}

/// The gRPC code that stands for an HTTP status in the body.
fn grpc_code(status: StatusCode) -> i32 {
    match status {
        StatusCode::BAD_REQUEST | StatusCode::UNSUPPORTED_MEDIA_TYPE | StatusCode::NOT_ACCEPTABLE => 3,
        StatusCode::NOT_FOUND => 5,
        StatusCode::PAYLOAD_TOO_LARGE => 8,
        StatusCode::METHOD_NOT_ALLOWED => 12,
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => 14,
        _ => 13,
    }
}
