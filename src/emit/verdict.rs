//! What an answer means for a request.
//!
//! OTLP says what a client may try again. Beyond that, what an operator can put right (a token, an address, a redirect) is tried
//! again for as long as the limits allow, and an error of the backend's own a few times: it may be about this request only.

use crate::ingest::retry_delay;
use crate::units::retry_after;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use std::error::Error;
use std::time::Duration;
use tonic::{Code, Status};

/// So much of an answer is told, characters.
const MAX_TOLD: usize = 300;
/// No backend is left alone for longer because it says so.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// What an attempt came to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    /// It was taken; so many rows were not, and what the backend said.
    Taken { rejected: u64, said: String },
    /// The same again would be refused again.
    Refused(String),
    /// A smaller one may be taken.
    TooLarge(String),
    /// Another attempt may help, not before the pause that the backend asks for.
    Later { why: String, pause: Option<Duration> },
    /// The backend failed in a way that may be about this request.
    Failed(String),
}

/// Of an answer over HTTP with the beginning of its body.
pub(super) fn of_http(status: u16, headers: &HeaderMap, body: &[u8]) -> Verdict {
    let why = format!("{status}: {}", printable(&String::from_utf8_lossy(body)));
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    match status {
        // A login page or a proxy's greeting would swallow everything.
        200..=299 if text(CONTENT_TYPE).is_some_and(|kind| kind.starts_with("text/html")) => Verdict::Later {
            why: format!("{status} with a page of HTML: this is no OTLP receiver"),
            pause: None,
        },
        200..=299 => taken(body),
        413 => Verdict::TooLarge(why),
        408 | 429 | 502 | 503 | 504 => {
            let pause = text(RETRY_AFTER).and_then(|text| retry_after(text, LONGEST_PAUSE));
            Verdict::Later { why, pause }
        }
        300..=399 | 401 | 403 | 404 | 405 | 407 => Verdict::Later { why, pause: None },
        500..=599 => Verdict::Failed(why),
        _ => Verdict::Refused(why),
    }
}

/// Of an answer over gRPC.
pub(super) fn of_grpc(answer: Result<ExportTraceServiceResponse, Status>) -> Verdict {
    let status = match answer {
        Ok(answer) => return partial(answer),
        Err(status) => status,
    };
    let why = format!("{:?}: {}", status.code(), printable(&told(&status)));
    let pause = retry_delay(status.details()).map(|pause| pause.min(LONGEST_PAUSE));
    match status.code() {
        // Made here, of a connection that failed.
        _ if status.source().is_some() => Verdict::Later { why, pause: None },
        Code::ResourceExhausted if pause.is_none() => Verdict::TooLarge(why),
        Code::OutOfRange => Verdict::TooLarge(why),
        Code::ResourceExhausted
        | Code::Unavailable
        | Code::Cancelled
        | Code::DeadlineExceeded
        | Code::Aborted
        | Code::DataLoss
        | Code::Unauthenticated
        | Code::PermissionDenied
        | Code::NotFound
        | Code::Unimplemented => Verdict::Later { why, pause },
        Code::Internal | Code::Unknown => Verdict::Failed(why),
        _ => Verdict::Refused(why),
    }
}

/// An error with its causes: the outermost one alone says only that the request failed.
pub(super) fn told(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    printable(&text)
}

/// The answers to spans and to log records differ only in names.
fn taken(body: &[u8]) -> Verdict {
    if body.first() == Some(&b'{') {
        let answer: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
        let partial = &answer["partialSuccess"];
        let number = |value: &serde_json::Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
        let rejected =
            ["rejectedSpans", "rejectedLogRecords"].iter().find_map(|name| number(&partial[*name]));
        let said = printable(partial["errorMessage"].as_str().unwrap_or_default());
        return Verdict::Taken { rejected: rejected.unwrap_or(0), said };
    }
    partial(ExportTraceServiceResponse::decode(body).unwrap_or_default())
}

fn partial(answer: ExportTraceServiceResponse) -> Verdict {
    let partial = answer.partial_success.unwrap_or_default();
    let rejected = u64::try_from(partial.rejected_spans).unwrap_or(0);
    Verdict::Taken { rejected, said: printable(&partial.error_message) }
}

/// In protobuf the message is readable enough among its length bytes.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && *c != char::REPLACEMENT_CHARACTER).take(MAX_TOLD).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use opentelemetry_proto::tonic::collector::trace::v1::ExportTracePartialSuccess;
    use reqwest::header::HeaderValue;

    fn http(status: u16) -> Verdict {
        of_http(status, &HeaderMap::new(), b"no\x01")
    }

    #[test]
    fn what_otlp_and_an_operator_can_put_right_is_tried_again() {
        for status in [301, 308, 401, 403, 404, 405, 407, 408, 429, 502, 503, 504] {
            assert_eq!(http(status), Verdict::Later { why: format!("{status}: no"), pause: None });
        }
        for status in [400, 402, 411, 415, 422] {
            assert_eq!(http(status), Verdict::Refused(format!("{status}: no")));
        }
        assert_eq!((http(500), http(413)), {
            (Verdict::Failed("500: no".to_owned()), Verdict::TooLarge("413: no".to_owned()))
        });
        let headers = [(RETRY_AFTER, HeaderValue::from_static("7"))].into_iter().collect();
        let Verdict::Later { pause, .. } = of_http(503, &headers, b"") else { panic!("it is tried again") };
        assert_eq!(pause, Some(Duration::from_secs(7)));
    }

    #[test]
    fn what_a_backend_did_not_take_of_a_request_is_counted() {
        let partial = ExportTracePartialSuccess { rejected_spans: 3, error_message: "too old".to_owned() };
        let answer = ExportTraceServiceResponse { partial_success: Some(partial) };
        let found = Verdict::Taken { rejected: 3, said: "too old".to_owned() };
        assert_eq!(of_http(200, &HeaderMap::new(), &answer.encode_to_vec()), found);
        assert_eq!(of_grpc(Ok(answer)), found);
        for rejected in ["\"3\"", "3"] {
            let json =
                format!(r#"{{"partialSuccess":{{"rejectedSpans":{rejected},"errorMessage":"too old"}}}}"#);
            assert_eq!(of_http(200, &HeaderMap::new(), json.as_bytes()), found);
        }
        let nothing = Verdict::Taken { rejected: 0, said: String::new() };
        assert_eq!(of_http(200, &HeaderMap::new(), b""), nothing);
        let headers =
            [(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))].into_iter().collect();
        assert!(matches!(of_http(200, &headers, b"<html>"), Verdict::Later { .. }));
    }

    #[test]
    fn codes_of_grpc_are_sorted_alike() {
        let of = |code| of_grpc(Err(Status::new(code, "no")));
        for code in [Code::Unavailable, Code::DeadlineExceeded, Code::Unauthenticated, Code::Unimplemented] {
            assert!(matches!(of(code), Verdict::Later { pause: None, .. }), "{code:?}");
        }
        assert!(matches!(of(Code::InvalidArgument), Verdict::Refused(_)));
        assert!(matches!(of(Code::ResourceExhausted), Verdict::TooLarge(_)));
        assert!(matches!(of(Code::OutOfRange), Verdict::TooLarge(_)));
        assert!(matches!(of(Code::Internal), Verdict::Failed(_)));
        let broken = Status::from_error(Box::new(std::io::Error::other("reset")));
        assert!(matches!(of_grpc(Err(broken)), Verdict::Later { .. }));
    }
}
