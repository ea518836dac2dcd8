//! One frame as bytes.

use bytes::Bytes;

/// Bytes of a record's header.
pub(super) const HEADER: usize = 28;
/// The first bytes of every record: unlikely in text, in zeros and in UTF-8.
pub(super) const MAGIC: [u8; 4] = [0xB7, 0x1E, 0xFD, 0x93];

/// One frame of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Its sequence number, from 1.
    pub seq: u64,
    /// What the appender said the payload is.
    pub kind: u32,
    /// The bytes, as they were appended.
    pub payload: Bytes,
}

/// What a record says of itself before its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) seq: u64,
    pub(super) kind: u32,
    pub(super) len: u32,
    pub(super) payload_crc: u32,
}

impl Header {
    /// The header's bytes. `seed` is the segment's.
    pub(super) fn encode(&self, seed: u32) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[0..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&self.len.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.seq.to_le_bytes());
        // The first format had one byte here and zeros behind it.
        bytes[16..20].copy_from_slice(&self.kind.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.payload_crc.to_le_bytes());
        let crc = crc32c::crc32c_append(seed, &bytes[..24]);
        bytes[24..28].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads what [`Header::encode`] wrote; none if any bit is wrong.
    pub(super) fn decode(bytes: &[u8; HEADER], seed: u32) -> Option<Self> {
        if bytes[0..4] != MAGIC || crc32c::crc32c_append(seed, &bytes[..24]) != u32_at(bytes, 24) {
            return None;
        }
        Some(Self {
            seq: u64_at(bytes, 8),
            kind: u32_at(bytes, 16),
            len: u32_at(bytes, 4),
            payload_crc: u32_at(bytes, 20),
        })
    }

    /// Bytes of the whole record.
    pub(super) fn record_bytes(&self) -> u64 {
        HEADER as u64 + u64::from(self.len)
    }
}

/// The little-endian number at `at`; the caller knows that the bytes are there.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(number)
}

/// The little-endian number at `at`; the caller knows that the bytes are there.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_a_header_is_covered() {
        let header = Header { seq: 77, kind: 3 | 1 << 30, len: 1000, payload_crc: 0xDEAD_BEEF };
        let bytes = header.encode(5);
        assert_eq!(Header::decode(&bytes, 5), Some(header));
        assert_eq!(Header::decode(&bytes, 6), None, "another segment's record");
        for bit in 0..HEADER * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::decode(&flipped, 5), None, "bit {bit}");
        }
    }
}
