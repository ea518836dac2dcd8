//! A request's bytes: limits before and after decompression, and the compressions that are understood.

use super::status::HttpError;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use std::io::Read;

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
    /// From the Content-Encoding header; an encoding that is not known is 415.
    pub fn of(headers: &HeaderMap) -> Result<Self, HttpError> {
        let Some(value) = headers.get(header::CONTENT_ENCODING) else { return Ok(Self::Identity) };
        match value.to_str().map(|text| text.trim().to_ascii_lowercase()).as_deref() {
            Ok("" | "identity") => Ok(Self::Identity),
            Ok("gzip") => Ok(Self::Gzip),
            Ok("zstd") => Ok(Self::Zstd),
            _ => Err(HttpError::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "Content-Encoding is not known; send gzip, zstd or none",
            )),
        }
    }
}

/// Reads the body up to `limit` bytes. A longer one is read to its end and thrown away, so that the client gets to read
/// the answer instead of a closed connection; after four times the limit patience ends.
pub async fn read(body: Body, limit: usize) -> Result<Bytes, HttpError> {
    let mut body = body;
    let (mut kept, mut seen) = (BytesMut::new(), 0usize);
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|e| HttpError::new(StatusCode::BAD_REQUEST, format!("the body broke off: {e}")))?;
        let Ok(data) = frame.into_data() else { continue };
        seen = seen.saturating_add(data.len());
        if seen <= limit {
            kept.extend_from_slice(&data);
        } else if seen > limit.saturating_mul(4) {
            break;
        }
    }
    if seen > limit { Err(too_large(limit)) } else { Ok(kept.freeze()) }
}

/// Decompresses `body` to at most `limit` bytes.
pub fn decompress(body: Bytes, compression: Compression, limit: usize) -> Result<Bytes, HttpError> {
    let bad = |e: std::io::Error| {
        HttpError::new(StatusCode::BAD_REQUEST, format!("the compressed body cannot be read: {e}"))
    };
    let mut out = Vec::new();
    // One byte more than the limit tells a body at the limit from one over it.
    let cap = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    match compression {
        Compression::Identity => return Ok(body),
        // An empty body is an empty request, whatever its header says.
        _ if body.is_empty() => return Ok(body),
        Compression::Gzip => {
            flate2::read::MultiGzDecoder::new(body.as_ref()).take(cap).read_to_end(&mut out).map_err(bad)?
        }
        Compression::Zstd => {
            let decoder = zstd::stream::read::Decoder::new(body.as_ref()).map_err(bad)?;
            decoder.take(cap).read_to_end(&mut out).map_err(bad)?
        }
    };
    if out.len() > limit { Err(too_large(limit)) } else { Ok(Bytes::from(out)) }
}

fn too_large(limit: usize) -> HttpError {
    HttpError::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the request is larger than {limit} bytes (ingest.max_request_bytes); send smaller batches"),
    )
}
