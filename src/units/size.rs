//! A number of bytes.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// The units that sizes are written in, bytes each, largest first.
const UNITS: &[(u64, &str)] = &[
    (1 << 40, "TiB"),
    (1_000_000_000_000, "TB"),
    (1 << 30, "GiB"),
    (1_000_000_000, "GB"),
    (1 << 20, "MiB"),
    (1_000_000, "MB"),
    (1 << 10, "KiB"),
    (1_000, "kB"),
];

/// A number of bytes. It is read from `"64MiB"`, `"300 MB"`, `"1.5GiB"` or a number of bytes, and written exactly, in the
/// largest unit that leaves a whole number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(u64);

impl ByteSize {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// So many bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// So many kibibytes.
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }

    /// So many mebibytes.
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }

    /// So many gibibytes.
    pub const fn gib(n: u64) -> Self {
        Self(n << 30)
    }

    /// The number of bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// The number of bytes as the length of something in memory; the greatest length if it is beyond.
    pub fn in_memory(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    /// Whether it is no byte.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// `factor` times as many; the greatest number if that is beyond.
    pub const fn times(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match UNITS.iter().find(|(unit, _)| self.0 > 0 && self.0.is_multiple_of(*unit)) {
            Some((unit, name)) => write!(f, "{}{name}", self.0 / unit),
            None => write!(f, "{}B", self.0),
        }
    }
}

impl Serialize for ByteSize {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Words)
    }
}

struct Words;

impl Visitor<'_> for Words {
    type Value = ByteSize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size such as \"64MiB\", or a number of bytes")
    }

    fn visit_u64<E: Error>(self, bytes: u64) -> Result<ByteSize, E> {
        Ok(ByteSize(bytes))
    }

    fn visit_i64<E: Error>(self, bytes: i64) -> Result<ByteSize, E> {
        u64::try_from(bytes).map(ByteSize).map_err(|_| E::custom(format!("{bytes} is below 0 bytes")))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<ByteSize, E> {
        let read = text.parse::<bytesize::ByteSize>();
        read.map(|size| ByteSize(size.as_u64())).map_err(|_| {
            E::custom(format!("{text:?} is no size: write one such as \"64MiB\", \"300MB\" or \"4KiB\""))
        })
    }
}

impl JsonSchema for ByteSize {
    fn schema_name() -> Cow<'static, str> {
        "ByteSize".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"], "minimum": 0, "examples": ["64MiB", 67_108_864] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<ByteSize, String> {
        serde_json::from_str(json).map_err(|e| e.to_string())
    }

    #[test]
    fn words_and_numbers_are_read() {
        for (json, bytes) in [
            ("\"64MiB\"", 64 << 20),
            ("\"64 mib\"", 64 << 20),
            ("\"1.5GiB\"", 3 << 29),
            ("\"300MB\"", 300_000_000),
            ("\"4k\"", 4_000),
            ("\"10\"", 10),
            ("17", 17),
            ("0", 0),
        ] {
            assert_eq!(read(json), Ok(ByteSize::new(bytes)), "{json}");
        }
    }

    #[test]
    fn what_is_no_size_is_told() {
        for json in ["\"\"", "\"much\"", "\"64 parsecs\"", "\"-1MiB\"", "-1", "true"] {
            let error = read(json).unwrap_err();
            assert!(error.contains("size") || error.contains("below 0"), "{json}: {error}");
        }
    }

    #[test]
    fn what_is_written_is_read_as_the_same() {
        for (bytes, words) in [
            (0, "0B"),
            (1, "1B"),
            (1_000, "1kB"),
            (1_024, "1KiB"),
            (4_097, "4097B"),
            (300_000_000, "300MB"),
            (192 << 20, "192MiB"),
            (20 << 30, "20GiB"),
            (u64::from(u32::MAX), "4294967295B"),
        ] {
            assert_eq!(ByteSize::new(bytes).to_string(), words);
            assert_eq!(read(&format!("\"{words}\"")), Ok(ByteSize::new(bytes)));
        }
    }
}
