//! A request's bytes: limits before and after decompression, the memory they take, and the compressions that are
//! understood. Both receivers read through this file.

use super::decode::DecodeError;
use super::memory::{Allowance, Full, SHARE_STEP, Share};
use super::receipt::Refusal;
use crate::net::TooSlow;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, header};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use std::io::Read;
use std::time::Duration;

/// Why a body cannot be had. Each receiver has its own words for these.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// Too many bytes, before or after decompression.
    #[error("the request is larger than {0} bytes (ingest.max_request_size); send smaller batches")]
    TooLarge(usize),
    /// Few bytes that decode to too much.
    #[error("{0}")]
    Heavy(String),
    /// The Content-Encoding is not one of ours.
    #[error("the compression {0:?} is not known; send gzip, zstd or none")]
    Encoding(String),
    /// The connection ended before the body did.
    #[error("the body broke off: {0}")]
    Broken(String),
    /// The bytes are not what their headers say.
    #[error("{0}")]
    Invalid(String),
    /// No room now.
    #[error("{0}")]
    Refused(#[from] Refusal),
}

impl BodyError {
    /// Counts the request as refused, unless that was counted where it was decided or nobody waits for the answer.
    pub fn count(&self) {
        match self {
            Self::TooLarge(_) | Self::Heavy(_) => count_refused("too_large"),
            Self::Encoding(_) => count_refused("encoding"),
            Self::Invalid(_) => count_refused("invalid"),
            Self::Broken(_) | Self::Refused(_) => {}
        }
    }
}

/// Counts a request that is refused whole.
pub fn count_refused(reason: &'static str) {
    metrics::counter!("groundline_requests_refused_total", "reason" => reason).increment(1);
}

impl From<DecodeError> for BodyError {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Heavy(_) => Self::Heavy(error.to_string()),
            error => Self::Invalid(error.to_string()),
        }
    }
}

/// How a body is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    Identity,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

impl Compression {
    /// From the header `name`; one that is not known, or more than one, is an error.
    pub fn of(headers: &HeaderMap, name: &HeaderName) -> Result<Self, BodyError> {
        let mut found = Self::Identity;
        for value in headers.get_all(name) {
            let text = String::from_utf8_lossy(value.as_bytes()).trim().to_ascii_lowercase();
            let one = match text.as_str() {
                "" | "identity" => continue,
                "gzip" => Self::Gzip,
                "zstd" => Self::Zstd,
                _ => return Err(BodyError::Encoding(text)),
            };
            if found != Self::Identity {
                return Err(BodyError::Encoding("several at once".to_owned()));
            }
            found = one;
        }
        Ok(found)
    }
}

/// A body that takes longer than this between two pieces gives its share back.
const STALL: Duration = Duration::from_secs(30);

/// How much of a refused body is read and thrown away so that the client gets to read the answer, and for how long.
const DRAIN_BYTES: usize = 1 << 30;
const DRAIN_TIME: Duration = Duration::from_secs(30);

/// A body on its way in.
pub struct Upload {
    body: Body,
    seen: usize,
    ended: bool,
    slow: bool,
}

impl Upload {
    /// Nothing is read yet.
    pub fn new(body: Body) -> Self {
        Self { body, seen: 0, ended: false, slow: false }
    }

    /// Has reading begun?
    pub fn begun(&self) -> bool {
        self.seen > 0
    }

    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        loop {
            let Some(frame) = self.body.frame().await else {
                self.ended = true;
                return Ok(None);
            };
            let frame = frame.map_err(|e| {
                self.ended = true;
                self.slow = TooSlow::caused(&e);
                BodyError::Broken(e.to_string())
            })?;
            if let Ok(data) = frame.into_data() {
                self.seen = self.seen.saturating_add(data.len());
                return Ok(Some(data));
            }
        }
    }

    /// The whole body if it has at most `limit` bytes and there is room for it.
    pub async fn read(&mut self, limit: usize, share: &mut Share) -> Result<Bytes, BodyError> {
        let mut kept = BytesMut::new();
        loop {
            let next = tokio::time::timeout(STALL, self.next()).await;
            let next = next.map_err(|_| slow(share, "the body did not come"))?;
            if self.slow {
                return Err(slow(share, &TooSlow.to_string()).into());
            }
            let Some(data) = next? else { return Ok(kept.freeze()) };
            if self.seen > limit {
                return Err(BodyError::TooLarge(limit));
            }
            share.hold(self.seen)?;
            kept.extend_from_slice(&data);
        }
    }

    /// Reads what is left and throws it away. A connection that is closed while the client still sends is reset, and the
    /// client never reads the answer.
    pub async fn drain(mut self) {
        let rest = async {
            while !self.ended && self.seen < DRAIN_BYTES && matches!(self.next().await, Ok(Some(_))) {}
        };
        // What is left after that is the client's loss.
        let _ = tokio::time::timeout(DRAIN_TIME, rest).await;
    }
}

/// The refusal of a body that came too slowly.
fn slow(share: &Share, why: &str) -> Refusal {
    count_refused("slow");
    share.overloaded(why)
}

/// Bodies of at most this size are decoded where they are; larger ones away from the threads that serve connections.
const INLINE_BYTES: usize = 32 << 10;

/// Decompresses to at most `limit` bytes and decodes. The share covers both forms while both are in memory, and what is
/// decoded if that is more. When there is no room for that, the request is refused, and may come again.
pub async fn unpack<T: Send + 'static>(
    raw: Bytes,
    compression: Compression,
    limit: usize,
    mut share: Share,
    decode: impl FnOnce(&[u8], &mut Allowance<'_>) -> Result<T, DecodeError> + Send + 'static,
) -> Result<(T, Share), BodyError> {
    let small = raw.len() <= INLINE_BYTES && compression == Compression::Identity;
    let work = move || -> Result<(T, Share), BodyError> {
        let plain = decompress(raw, compression, limit, &mut share)?;
        let mut refusal = None;
        let mut room = |bytes| {
            share.hold_decoded(bytes).map_err(|no_room| {
                refusal = Some(no_room);
                Full
            })
        };
        let decoded = decode(&plain, &mut room);
        match (decoded, refusal) {
            (Ok(decoded), _) => Ok((decoded, share)),
            (Err(DecodeError::Full), Some(refusal)) => Err(refusal.into()),
            (Err(error), _) => Err(error.into()),
        }
    };
    if small {
        return work();
    }
    let ended = tokio::task::spawn_blocking(work).await;
    ended.map_err(|e| BodyError::Refused(Refusal::Broken(format!("decoding ended: {e}"))))?
}

/// zstd windows up to 32 MiB, the largest that the senders' libraries ask for.
const ZSTD_WINDOW_LOG: u32 = 25;

fn decompress(
    raw: Bytes,
    compression: Compression,
    limit: usize,
    share: &mut Share,
) -> Result<Bytes, BodyError> {
    match compression {
        Compression::Identity => Ok(raw),
        // An empty body is an empty request, whatever its header says.
        _ if raw.is_empty() => Ok(raw),
        Compression::Gzip => {
            inflate(flate2::read::MultiGzDecoder::new(raw.as_ref()), raw.len(), limit, share)
        }
        Compression::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::new(raw.as_ref()).map_err(not_compressed)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG).map_err(not_compressed)?;
            inflate(decoder, raw.len(), limit, share)
        }
    }
}

/// Reads step by step, so that a bomb is refused before it takes more memory than its share.
fn inflate(
    mut from: impl Read,
    raw_bytes: usize,
    limit: usize,
    share: &mut Share,
) -> Result<Bytes, BodyError> {
    let mut out = Vec::new();
    loop {
        share.hold(raw_bytes.saturating_add(out.len()).saturating_add(1))?;
        let step = u64::try_from(SHARE_STEP).unwrap_or(u64::MAX);
        if from.by_ref().take(step).read_to_end(&mut out).map_err(not_compressed)? == 0 {
            return Ok(Bytes::from(out));
        }
        if out.len() > limit {
            return Err(BodyError::TooLarge(limit));
        }
    }
}

fn not_compressed(error: std::io::Error) -> BodyError {
    BodyError::Invalid(format!("the compressed body cannot be read: {error}"))
}

/// Does the client take gzip, by its Accept-Encoding or grpc-accept-encoding?
pub fn takes_gzip(headers: &HeaderMap, name: &HeaderName) -> bool {
    headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).flat_map(|v| v.split(',')).any(
        |one| {
            let mut parts = one.split(';').map(str::trim);
            let named = parts.next().is_some_and(|coding| coding.eq_ignore_ascii_case("gzip"));
            let refused = parts.any(|p| p.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0)));
            named && !refused
        },
    )
}

/// `bytes` as gzip.
pub fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// The Content-Length, if there is one that is a number.
pub fn claimed_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::{SystemClock, UnixNanos};
    use crate::ingest::decode::{self, Traces};
    use crate::ingest::{Config, Receiver};
    use crate::journal::{self, Journal};
    use crate::units::ByteSize;
    use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
    use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
    use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
    use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
    use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
    use prost::Message;
    use std::sync::Arc;

    /// What requests may hold in these tests, bytes.
    const MOST: usize = 1 << 20;

    /// A body of `count` empty records: two bytes each, and a kilobyte or more in memory.
    fn logs(count: usize) -> Bytes {
        let scope_logs = ScopeLogs { log_records: vec![LogRecord::default(); count], ..ScopeLogs::default() };
        let resource_logs = ResourceLogs { scope_logs: vec![scope_logs], ..ResourceLogs::default() };
        ExportLogsServiceRequest { resource_logs: vec![resource_logs] }.encode_to_vec().into()
    }

    /// A body of `count` spans, whose rows all repeat the scope.
    fn traces(count: u32) -> Bytes {
        let span = |at: u32| Span {
            trace_id: vec![1; 16],
            span_id: [[1; 4], at.to_be_bytes()].concat(),
            ..Span::default()
        };
        let scope = Some(InstrumentationScope { name: "s".repeat(1_000), ..InstrumentationScope::default() });
        let scope_spans =
            ScopeSpans { scope, spans: (0..count).map(span).collect(), ..ScopeSpans::default() };
        let resource_spans = ResourceSpans { scope_spans: vec![scope_spans], ..ResourceSpans::default() };
        ExportTraceServiceRequest { resource_spans: vec![resource_spans] }.encode_to_vec().into()
    }

    async fn unpacked<T: Send + 'static>(
        receiver: &Receiver,
        raw: Bytes,
        decode: impl FnOnce(&[u8], &mut Allowance<'_>) -> Result<T, DecodeError> + Send + 'static,
    ) -> Result<(T, Share), BodyError> {
        assert!(raw.len() < INLINE_BYTES, "{} bytes", raw.len());
        unpack(raw, Compression::Identity, MOST, Share::new(receiver.budget().clone()), decode).await
    }

    #[tokio::test]
    async fn what_decodes_to_more_than_its_bytes_holds_more() {
        let folder = tempfile::tempdir().unwrap();
        let journal =
            Journal::open(folder.path(), journal::Config::default(), crate::schema::FORMAT).unwrap();
        // Not a multiple of what is counted in.
        let config = Config {
            max_request_size: ByteSize::new(MOST as u64),
            max_in_flight_size: ByteSize::new(MOST as u64 + 100),
            ..Config::default()
        };
        let receiver = Receiver::new(journal, Arc::new(SystemClock), config);
        let records =
            |body: &[u8], room: &mut Allowance<'_>| decode::redacted_logs(body, None, UnixNanos(1), room);
        let rows = |body: &[u8], room: &mut Allowance<'_>| Traces::redacted(body, None, room);
        let refused = |error: Option<BodyError>| {
            assert!(matches!(error, Some(BodyError::Refused(Refusal::Overloaded { .. }))), "{error:?}");
        };
        // Each takes a quarter, and some of the rest is left for what comes in.
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push(unpacked(&receiver, logs(500), records).await.unwrap());
        }
        let rest = receiver.budget().reserve(200 << 10).unwrap();
        refused(unpacked(&receiver, logs(500), records).await.err());
        refused(unpacked(&receiver, traces(500), rows).await.err());
        assert!(
            receiver.budget().in_front() <= 300 << 10,
            "what is decoded does not come in again: {}",
            receiver.budget().in_front()
        );
        drop((held, rest));
        // What is alone may decode to more than all.
        let alone = unpacked(&receiver, logs(2_000), records).await.unwrap();
        assert!(receiver.budget().reserve(MOST).is_err());
        drop(alone);
        assert_eq!(receiver.budget().in_front(), 0);
        assert!(receiver.budget().reserve(MOST).is_ok(), "everything was given back");
    }
}
