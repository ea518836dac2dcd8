//! The answers to what was accepted, and how long they may be.

use super::protocol::{Encoding, Signal};
use super::receipt::Receipt;
use opentelemetry_proto::tonic::collector::logs::v1::{ExportLogsPartialSuccess, ExportLogsServiceResponse};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceResponse,
};
use prost::Message;

/// Even without its message the response is larger than `ingest.max_response_size`.
#[derive(Debug, thiserror::Error)]
#[error(
    "the response is larger than {0} bytes (ingest.max_response_size) even without its message; \
     what the request's good parts were is stored"
)]
pub struct TooLong(usize);

/// The encoded response, at most `limit` bytes: a message that is too long is shortened. The count never is.
pub fn encode(
    signal: Signal,
    encoding: Encoding,
    receipt: &Receipt,
    limit: usize,
) -> Result<Vec<u8>, TooLong> {
    let full = encoded(signal, encoding, receipt);
    if full.len() <= limit {
        return Ok(full);
    }
    let mut receipt = receipt.clone();
    let mut over = full.len() - limit;
    // A byte of text may be six of JSON, and cutting may change the length's own length: a few rounds settle it.
    while !receipt.message.is_empty() {
        let keep = receipt.message.len().saturating_sub(over.max(1));
        receipt.message = shortened(&receipt.message, keep);
        let shorter = encoded(signal, encoding, &receipt);
        if shorter.len() <= limit {
            return Ok(shorter);
        }
        over = shorter.len() - limit;
    }
    Err(TooLong(limit))
}

/// What tells a reader that there was more.
const CUT: &str = " [cut]";

/// The first bytes of `text`, at most `limit` with the mark that it was cut; nothing if the mark does not fit.
pub fn shortened(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let text = text.strip_suffix(CUT).unwrap_or(text);
    match limit.checked_sub(CUT.len()) {
        Some(room) if room > 0 => format!("{}{CUT}", &text[..text.floor_char_boundary(room)]),
        _ => String::new(),
    }
}

fn encoded(signal: Signal, encoding: Encoding, receipt: &Receipt) -> Vec<u8> {
    match encoding {
        Encoding::Protobuf => protobuf(signal, receipt),
        Encoding::Json => json(signal, receipt),
    }
}

/// `partial_success` is set only if there is something to say.
fn protobuf(signal: Signal, receipt: &Receipt) -> Vec<u8> {
    let says = says_something(receipt);
    let (rejected, error_message) =
        (i64::try_from(receipt.rejected).unwrap_or(i64::MAX), receipt.message.clone());
    match signal {
        Signal::Traces => {
            let partial = ExportTracePartialSuccess { rejected_spans: rejected, error_message };
            ExportTraceServiceResponse { partial_success: says.then_some(partial) }.encode_to_vec()
        }
        Signal::Logs => {
            let partial = ExportLogsPartialSuccess { rejected_log_records: rejected, error_message };
            ExportLogsServiceResponse { partial_success: says.then_some(partial) }.encode_to_vec()
        }
        Signal::Metrics => {
            let partial = ExportMetricsPartialSuccess { rejected_data_points: rejected, error_message };
            ExportMetricsServiceResponse { partial_success: says.then_some(partial) }.encode_to_vec()
        }
    }
}

fn json(signal: Signal, receipt: &Receipt) -> Vec<u8> {
    if !says_something(receipt) {
        return b"{}".to_vec();
    }
    let key = match signal {
        Signal::Traces => "rejectedSpans",
        Signal::Logs => "rejectedLogRecords",
        Signal::Metrics => "rejectedDataPoints",
    };
    let mut partial = serde_json::Map::new();
    if receipt.rejected > 0 {
        // Protobuf's JSON writes 64-bit integers as text.
        partial.insert(key.to_owned(), receipt.rejected.to_string().into());
    }
    if !receipt.message.is_empty() {
        partial.insert("errorMessage".to_owned(), receipt.message.clone().into());
    }
    serde_json::json!({ "partialSuccess": partial }).to_string().into_bytes()
}

fn says_something(receipt: &Receipt) -> bool {
    receipt.rejected > 0 || !receipt.message.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_is_cut_and_the_count_is_not() {
        let receipt = Receipt { accepted: 0, rejected: 7, message: "é\u{1}".repeat(10_000) };
        for encoding in [Encoding::Protobuf, Encoding::Json] {
            for limit in [64, 65, 66, 1_000, 4_097] {
                let bytes = encode(Signal::Traces, encoding, &receipt, limit).expect("fits");
                assert!(bytes.len() <= limit, "{encoding:?} {limit}: {}", bytes.len());
                let text = String::from_utf8_lossy(&bytes).into_owned();
                if encoding == Encoding::Json {
                    let read: serde_json::Value = serde_json::from_str(&text).expect("is JSON");
                    assert_eq!(read["partialSuccess"]["rejectedSpans"], "7");
                } else {
                    let read = ExportTraceServiceResponse::decode(bytes.as_slice()).expect("is protobuf");
                    assert_eq!(read.partial_success.expect("is there").rejected_spans, 7);
                }
            }
            assert!(encode(Signal::Traces, encoding, &receipt, 3).is_err());
        }
        assert_eq!(shortened("abcdefghij", 9), "abc [cut]");
    }
}
