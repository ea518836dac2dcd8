//! What a file is.

use super::super::error::LabError;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::str::FromStr;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileFormat {
    /// A header, then a row an item.
    Csv,
    /// An object a line.
    Jsonl,
    /// An array of objects, or an object with one.
    Json,
    /// Columns.
    Parquet,
}

impl FromStr for FileFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "csv" => Ok(Self::Csv),
            "jsonl" => Ok(Self::Jsonl),
            "json" => Ok(Self::Json),
            "parquet" => Ok(Self::Parquet),
            other => Err(format!(
                "there is no format {other:?}; there are auto, csv, jsonl, json, parquet and zip"
            )),
        }
    }
}

/// The keys under which a JSON file may have its list.
const LISTS: &[&str] = &["items", "tests", "data", "examples", "rows", "inputs", "samples"];

/// What the bytes are.
///
/// # Errors
/// [`LabError::Wrong`] for an empty file, and for one that must be unpacked first.
pub(super) fn recognised(bytes: &[u8]) -> Result<FileFormat, LabError> {
    if bytes.starts_with(b"PAR1") {
        return Ok(FileFormat::Parquet);
    }
    let packed: [(&[u8], &str); 3] =
        [(b"PK\x03\x04", "ZIP"), (b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd")];
    if let Some((_, name)) = packed.into_iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Err(LabError::Wrong(format!("this is a {name} file: unpack it and send what is in it")));
    }
    let text = without_mark(bytes).trim_ascii_start();
    match text.first() {
        None => Err(LabError::Wrong("the file is empty".to_owned())),
        Some(b'[') => Ok(FileFormat::Json),
        Some(b'{') => {
            let is_one = serde_json::from_slice::<IgnoredAny>(text).is_ok();
            let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let is_line = serde_json::from_slice::<IgnoredAny>(first).is_ok();
            // One object that ends in its first line is both: as a line it has a line number.
            Ok(if is_one && (!is_line || list_of(text).is_some()) {
                FileFormat::Json
            } else {
                FileFormat::Jsonl
            })
        }
        Some(_) => Ok(FileFormat::Csv),
    }
}

/// The list of an object that has one.
pub(super) fn list_of(text: &[u8]) -> Option<&RawValue> {
    let object: BTreeMap<String, &RawValue> = serde_json::from_slice(text).ok()?;
    LISTS.iter().find_map(|key| object.get(*key).copied().filter(|raw| raw.get().starts_with('[')))
}

/// The text without the mark that some editors begin a file with.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}
