//! A protobuf message from its bytes, weighed first.

use super::outcome::DecodeError;
use super::weigh;
use crate::ingest::memory::Allowance;

/// A protobuf message from its bytes. Unknown fields are ignored; no bytes are the empty message.
pub fn from_protobuf<M: prost::Message + Default>(body: &[u8]) -> Result<M, DecodeError> {
    from_protobuf_within(body, &mut |_| Ok(()))
}

/// As [`from_protobuf`], if there is `room` for it.
pub(super) fn from_protobuf_within<M: prost::Message + Default>(
    body: &[u8],
    room: &mut Allowance<'_>,
) -> Result<M, DecodeError> {
    room(weigh::protobuf(body)?)?;
    M::decode(body).map_err(|error| DecodeError::Protobuf(error.to_string()))
}
