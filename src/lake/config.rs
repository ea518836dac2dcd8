//! Settings of the lake.

use crate::schema::columns::Table;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// The longest time that files may stay after their removal: Delta checkpoints remember it for a week.
const MAX_VACUUM_AFTER_S: u64 = 600_000;

/// Most retention rules.
const MAX_RETENTION_RULES: usize = 1_000;

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
    /// How often the tables are looked after: retention, compaction and vacuum, milliseconds.
    pub compact_interval_ms: u64,
    /// So many files of like size are merged into one.
    pub compact_min_files: usize,
    /// Files are merged up to this size, bytes. One merge takes about three times as much memory.
    pub compact_target_bytes: u64,
    /// Rows that came within one such window of time may be merged into one file, seconds.
    pub compact_window_s: u64,
    /// Files that no version of the table has had for this long are deleted, seconds. A reader that is not ours may go
    /// on reading an older version for so long; versions of the Delta log older than that are cleaned up too.
    pub vacuum_after_s: u64,
    /// How long rows are kept, and how many bytes of them.
    pub retention: Retention,
    /// Settings of S3; used when `url` begins with `s3://`.
    pub s3: S3,
}

/// How long rows are kept. Age is the time since the row was committed to a file by the server's clock, not the time that
/// its sender claims: a span from 1970 does not vanish at once and one from 2100 does not stay for ever.
#[derive(Debug, Clone, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// Rows are kept for this long, seconds; 0 keeps them for ever.
    pub max_age_s: u64,
    /// The files of all tables take at most this much, bytes, oldest rows go first; 0 is no limit.
    pub max_bytes: u64,
    /// Other limits for a table, a tenant, or a tenant's rows in a table.
    pub rules: Vec<RetentionRule>,
}

/// Another limit for some rows. Of several rules with an age for the same row the one that names the tenant wins, then
/// the one that names the table. Limits of bytes hold each on its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetentionRule {
    /// The table; empty for every table (every one with a tenant, if `tenant` is set).
    pub table: String,
    /// The tenant; empty for every tenant.
    pub tenant: String,
    /// Its rows are kept for this long, seconds; 0 keeps them for ever. Without it the wider setting holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_age_s: Option<u64>,
    /// Its rows take at most about this much, bytes; 0 is no limit.
    pub max_bytes: u64,
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
            flush_bytes: 32 << 20,
            max_hot_bytes: 256 << 20,
            row_group_rows: 131_072,
            row_group_bytes: 64 << 20,
            join_wait_ms: 600_000,
            duplicate_window_s: 3_600,
            duplicate_window_ids: 2_000_000,
            compact_interval_ms: 30_000,
            compact_min_files: 8,
            compact_target_bytes: 128 << 20,
            compact_window_s: 86_400,
            vacuum_after_s: 7_200,
            retention: Retention::default(),
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
        self.upkeep_faults(&mut faults);
        faults
    }

    fn upkeep_faults(&self, faults: &mut Vec<String>) {
        if self.compact_interval_ms < 100 {
            faults.push("lake.compact_interval_ms is below 100: looking would take all the time".to_owned());
        }
        if !(2..=64).contains(&self.compact_min_files) {
            faults.push("lake.compact_min_files must be from 2 to 64".to_owned());
        }
        if !(1 << 16..=1 << 32).contains(&self.compact_target_bytes) {
            faults.push("lake.compact_target_bytes must be from 65536 to 4294967296".to_owned());
        }
        if self.compact_window_s == 0 {
            faults.push("lake.compact_window_s must be above 0".to_owned());
        }
        if !(1..=MAX_VACUUM_AFTER_S).contains(&self.vacuum_after_s) {
            // Delta checkpoints forget removed files after a week.
            faults.push(format!("lake.vacuum_after_s must be from 1 to {MAX_VACUUM_AFTER_S}"));
        }
        self.retention.faults(self.compact_target_bytes, faults);
    }
}

impl Retention {
    fn faults(&self, file_bytes: u64, faults: &mut Vec<String>) {
        // Rows go file by file: with less than some files, all rows would go at once.
        let least = file_bytes.saturating_mul(2);
        let mut bytes = |key: &str, limit: u64| {
            if limit > 0 && limit < least {
                faults.push(format!(
                    "{key} is {limit}: set 0 or at least twice lake.compact_target_bytes, {least}"
                ));
            }
        };
        bytes("lake.retention.max_bytes", self.max_bytes);
        for (at, rule) in self.rules.iter().enumerate() {
            bytes(&format!("lake.retention.rules[{at}].max_bytes"), rule.max_bytes);
        }
        if self.rules.len() > MAX_RETENTION_RULES {
            faults.push(format!("lake.retention.rules has more than {MAX_RETENTION_RULES} rules"));
        }
        for (at, rule) in self.rules.iter().enumerate() {
            let key = format!("lake.retention.rules[{at}]");
            let table = Table::ALL.into_iter().find(|t| t.name() == rule.table);
            if rule.table.is_empty() && rule.tenant.is_empty() {
                faults.push(format!(
                    "{key} names no table and no tenant: set lake.retention.max_age_s instead"
                ));
            }
            if !rule.table.is_empty() && table.is_none() {
                let names = Table::ALL.map(Table::name).join(", ");
                faults.push(format!("{key}.table is {:?}; there are {names}", rule.table));
            }
            if !rule.tenant.is_empty() && table.is_some_and(|t| !has_tenant(t)) {
                faults.push(format!("{key}: the table {} has no tenants; leave out the tenant", rule.table));
            }
            let same = |other: &&RetentionRule| other.table == rule.table && other.tenant == rule.tenant;
            if self.rules[..at].iter().any(|other| same(&other)) {
                faults.push(format!("{key} is for the same rows as a rule before it: make it one rule"));
            }
        }
    }
}

/// Whether the rows of `table` say whose they are.
pub fn has_tenant(table: Table) -> bool {
    table.columns().iter().any(|c| c.name == "tenant")
}
