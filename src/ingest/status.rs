//! The wire's error bodies: `google.rpc.Status` in protobuf or JSON, and its details in gRPC. The only place where a
//! wire's status is made, and where the details of another server's status are read.

use super::answer::{TooLong, shortened};
use super::body::BodyError;
use super::protocol::Encoding;
use super::receipt::Refusal;
use crate::net::{CHALLENGE, Denied};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use prost::Message;
use std::time::Duration;
use tonic::metadata::MetadataValue;
use tonic::{Code, Status};
use tonic_types::pb::{RetryInfo, Status as RpcStatus};
use tonic_types::{ErrorDetails, StatusExt};

/// Longest message of a status, bytes: gRPC sends it in a header, and clients take 8 KiB of headers.
const MAX_MESSAGE: usize = 1_024;

/// Bad data, which no repetition makes good.
pub fn invalid(message: &str) -> Status {
    let message = shortened(message, MAX_MESSAGE);
    let details = ErrorDetails::with_bad_request_violation("body", message.as_str());
    Status::with_error_details(Code::InvalidArgument, message, details)
}

/// Where Python's exporter looks for the delay; others read it from the details of the status.
const RETRY_TRAILER: &str = "google.rpc.retryinfo-bin";

fn later(message: String, after: Duration) -> Status {
    let mut status =
        Status::with_error_details(Code::Unavailable, message, ErrorDetails::with_retry_info(Some(after)));
    let retry = RetryInfo::from(tonic_types::RetryInfo::new(Some(after)));
    let alone = MetadataValue::from_bytes(&retry.encode_to_vec());
    status.metadata_mut().insert_bin(RETRY_TRAILER, alone);
    status
}

/// When another server's status says to come back: the delay of the `RetryInfo` in its details; none without one.
pub fn retry_delay(details: &[u8]) -> Option<Duration> {
    let body = RpcStatus::decode(details).ok()?;
    let retry = body.details.iter().find(|detail| detail.type_url.ends_with("/google.rpc.RetryInfo"))?;
    let delay = RetryInfo::decode(retry.value.as_slice()).ok()?.retry_delay.unwrap_or_default();
    let seconds = u64::try_from(delay.seconds).unwrap_or(0);
    Some(Duration::new(seconds, u32::try_from(delay.nanos).unwrap_or(0).min(999_999_999)))
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        let message = shortened(&refusal.to_string(), MAX_MESSAGE);
        match refusal {
            Refusal::Overloaded { retry_after, .. } => later(message, retry_after),
            Refusal::Invalid(_) => invalid(&message),
            Refusal::Broken(_) => Status::internal(message),
        }
    }
}

impl From<BodyError> for Status {
    fn from(error: BodyError) -> Self {
        let message = shortened(&error.to_string(), MAX_MESSAGE);
        match error {
            // Without RetryInfo: a request that does not fit now never will.
            BodyError::TooLarge(_) | BodyError::Heavy(_) => Status::resource_exhausted(message),
            BodyError::Encoding(_) => Status::unimplemented(message),
            BodyError::Broken(_) => Status::cancelled(message),
            BodyError::Invalid(_) => invalid(&message),
            BodyError::Refused(refusal) => refusal.into(),
        }
    }
}

impl From<Denied> for Status {
    fn from(denied: Denied) -> Self {
        let code = if denied.is_known() { Code::PermissionDenied } else { Code::Unauthenticated };
        Status::new(code, shortened(&denied.to_string(), MAX_MESSAGE))
    }
}

impl From<TooLong> for Status {
    fn from(error: TooLong) -> Self {
        Status::resource_exhausted(error.to_string())
    }
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
        let message = shortened(&self.message, MAX_MESSAGE);
        let body = match encoding {
            Encoding::Protobuf => RpcStatus { code, message, details: Vec::new() }.encode_to_vec(),
            Encoding::Json => serde_json::json!({"code": code, "message": message}).to_string().into_bytes(),
        };
        let mut response =
            (self.status, [(header::CONTENT_TYPE, encoding.content_type())], body).into_response();
        if let Some(seconds) = self.retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        if self.status == StatusCode::UNAUTHORIZED {
            let challenge = header::HeaderValue::from_static(CHALLENGE);
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        if self.status == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("POST"));
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
                retry_after_s: Some(
                    retry_after.as_millis().div_ceil(1_000).max(1).try_into().unwrap_or(u64::MAX),
                ),
            },
            Refusal::Invalid(_) => Self::new(StatusCode::BAD_REQUEST, message),
            Refusal::Broken(_) => Self::new(StatusCode::INTERNAL_SERVER_ERROR, message),
        }
    }
}

impl From<BodyError> for HttpError {
    fn from(error: BodyError) -> Self {
        let message = error.to_string();
        match error {
            BodyError::TooLarge(_) | BodyError::Heavy(_) => Self::new(StatusCode::PAYLOAD_TOO_LARGE, message),
            BodyError::Encoding(_) => Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message),
            BodyError::Broken(_) | BodyError::Invalid(_) => Self::new(StatusCode::BAD_REQUEST, message),
            BodyError::Refused(refusal) => refusal.into(),
        }
    }
}

impl From<Denied> for HttpError {
    fn from(denied: Denied) -> Self {
        let status = if denied.is_known() { StatusCode::FORBIDDEN } else { StatusCode::UNAUTHORIZED };
        Self::new(status, denied.to_string())
    }
}

impl From<TooLong> for HttpError {
    fn from(error: TooLong) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

/// The gRPC code that stands for an HTTP status in the body.
fn grpc_code(status: StatusCode) -> i32 {
    match status {
        StatusCode::BAD_REQUEST | StatusCode::UNSUPPORTED_MEDIA_TYPE => Code::InvalidArgument as i32,
        StatusCode::UNAUTHORIZED => Code::Unauthenticated as i32,
        StatusCode::FORBIDDEN => Code::PermissionDenied as i32,
        StatusCode::NOT_FOUND => Code::NotFound as i32,
        StatusCode::PAYLOAD_TOO_LARGE => Code::ResourceExhausted as i32,
        StatusCode::METHOD_NOT_ALLOWED => Code::Unimplemented as i32,
        StatusCode::SERVICE_UNAVAILABLE => Code::Unavailable as i32,
        _ => Code::Internal as i32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_that_a_refusal_asks_for_is_read_as_it_was_written() {
        for delay in [Duration::from_millis(1_500), Duration::ZERO] {
            assert_eq!(retry_delay(later("busy".to_owned(), delay).details()), Some(delay));
        }
        assert_eq!(retry_delay(invalid("bad").details()), None);
        assert_eq!((retry_delay(b""), retry_delay(b"\xff")), (None, None));
    }
}
