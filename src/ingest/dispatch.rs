//! One way for both wires: the bytes of a request are unpacked, redacted, decoded and admitted by their signal.

use super::admit::Receiver;
use super::body::{self, BodyError, Compression};
use super::decode;
use super::memory::{Allowance, Share};
use super::protocol::{Encoding, Signal};
use super::receipt::Receipt;
use bytes::Bytes;

/// What is said when metrics arrive: they are accepted so that collectors do not loop on them, and dropped.
const METRICS_DROPPED: &str = "metrics are accepted and dropped; this server stores traces and logs";

/// A request whose bytes are here.
pub struct Incoming {
    /// As they came.
    pub raw: Bytes,
    /// How they are compressed.
    pub compression: Compression,
    /// What they are then.
    pub encoding: Encoding,
    /// Of what.
    pub signal: Signal,
    /// What they hold of the memory; given back when the request is durable or refused.
    pub share: Share,
}

/// Admits a request, which becomes `tenant`'s. When it returns, every accepted item is on the disk.
pub async fn admit(receiver: &Receiver, incoming: Incoming, tenant: &str) -> Result<Receipt, BodyError> {
    let Incoming { raw, compression, encoding, signal, share } = incoming;
    let limit = receiver.config().max_request_size.in_memory();
    let redactor = receiver.redactor();
    match signal {
        Signal::Traces => {
            let decode = move |bytes: &[u8], room: &mut Allowance<'_>| match encoding {
                Encoding::Protobuf => decode::Traces::redacted(bytes, redactor.as_deref(), room),
                Encoding::Json => decode::Traces::redacted_json(bytes, redactor.as_deref(), room),
            };
            let (spans, _share) = body::unpack(raw, compression, limit, share, decode).await?;
            Ok(receiver.spans(spans, tenant).await?)
        }
        Signal::Logs => {
            let clock = receiver.clone();
            let decode = move |bytes: &[u8], room: &mut Allowance<'_>| {
                let (redactor, now) = (redactor.as_deref(), clock.now());
                match encoding {
                    Encoding::Protobuf => decode::redacted_logs(bytes, redactor, now, room),
                    Encoding::Json => decode::redacted_logs_json(bytes, redactor, now, room),
                }
            };
            let (records, _share) = body::unpack(raw, compression, limit, share, decode).await?;
            Ok(receiver.logs(records, tenant).await?)
        }
        Signal::Metrics => {
            let decode = move |bytes: &[u8], room: &mut Allowance<'_>| match encoding {
                Encoding::Protobuf => decode::metrics_from_protobuf(bytes),
                Encoding::Json => decode::metrics_from_json(bytes, room),
            };
            body::unpack(raw, compression, limit, share, decode).await?;
            Ok(Receipt { message: METRICS_DROPPED.to_owned(), ..Receipt::default() })
        }
    }
}
