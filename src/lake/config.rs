//! Settings of the lake.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// Settings of the lake. The defaults are the embedded ones: local disk, no other service.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where the tables are: empty for `<data dir>/lake`, or `s3://bucket/prefix`.
    pub url: String,
    /// Rows wait at most this long for their file, milliseconds. They are visible to SQL before.
    pub flush_interval_ms: u64,
    /// Rows that wait for their file are written when they reach this size, bytes.
    pub flush_bytes: u64,
    /// Rows that wait for their file take at most about this much memory, bytes. Beyond it reading from the journal
    /// pauses until files are written; what is durable stays durable.
    pub max_hot_bytes: u64,
    /// Most rows in a row group.
    pub row_group_rows: usize,
    /// Most bytes in a row group, uncompressed.
    pub row_group_bytes: usize,
    /// Log records with content wait this long for a span that was not seen yet, milliseconds.
    pub join_wait_ms: u64,
    /// A span that comes again within this time is a duplicate, seconds.
    pub duplicate_window_s: u64,
    /// Most ids that are remembered for that.
    pub duplicate_window_ids: usize,
    /// Settings of S3; used when `url` begins with `s3://`.
    pub s3: S3,
}

/// Settings of S3. Keys may also come from the environment (`AWS_ACCESS_KEY_ID`, …).
#[derive(Clone, Serialize, Deserialize, schemars::JsonSchema, Default)]
#[serde(deny_unknown_fields, default)]
pub struct S3 {
    /// The region; empty to take it from the environment.
    pub region: String,
    /// Another endpoint than Amazon's, such as `http://127.0.0.1:9000`.
    pub endpoint: String,
    /// Allow `http://` endpoints.
    pub allow_http: bool,
    /// The key; empty to take it from the environment.
    pub access_key_id: String,
    /// The secret; empty to take it from the environment. Never printed.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "secret")]
    pub secret_access_key: String,
}

/// Text. Serde's own message about something else would print it.
fn secret<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    String::deserialize(from)
        .map_err(|_| D::Error::custom("lake.s3.secret_access_key must be text in quotation marks"))
}

impl std::fmt::Debug for S3 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { region, endpoint, allow_http, .. } = self;
        write!(f, "S3 {{ region: {region:?}, endpoint: {endpoint:?}, allow_http: {allow_http} }}")
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            url: String::new(),
            flush_interval_ms: 30_000,
            flush_bytes: 64 << 20,
            max_hot_bytes: 1 << 30,
            row_group_rows: 131_072,
            row_group_bytes: 64 << 20,
            join_wait_ms: 600_000,
            duplicate_window_s: 3_600,
            duplicate_window_ids: 2_000_000,
            s3: S3::default(),
        }
    }
}

impl Config {
    /// Every fault, each with the key and what to do.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if !self.url.is_empty() && !self.url.starts_with("s3://") {
            faults.push(format!(
                "lake.url is {:?}: leave it empty for the local disk, or set s3://bucket/prefix",
                self.url
            ));
        }
        if self.flush_interval_ms < 100 {
            faults.push("lake.flush_interval_ms is below 100: every flush is a file and a commit".to_owned());
        }
        if self.flush_bytes < 1 << 20 {
            faults.push("lake.flush_bytes is below 1048576: the files would be tiny".to_owned());
        }
        if self.max_hot_bytes < self.flush_bytes {
            faults.push(
                "lake.max_hot_bytes is below lake.flush_bytes: reading would pause before a flush is due"
                    .to_owned(),
            );
        }
        if self.row_group_rows == 0 || self.row_group_bytes == 0 {
            faults.push("lake.row_group_rows and lake.row_group_bytes must be above 0".to_owned());
        }
        if self.duplicate_window_ids == 0 {
            faults.push("lake.duplicate_window_ids must be above 0".to_owned());
        }
        faults
    }
}
