//! Settings of the lake.

use crate::schema::columns::Table;
use crate::units::{ByteSize, OptionalTime, Time, words};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::time::Duration;

/// The longest time that files may stay after their removal: Delta checkpoints remember it for a week.
const MAX_VACUUM_AFTER: Duration = Duration::from_hours(166);

/// Most retention rules.
const MAX_RETENTION_RULES: usize = 1_000;

/// Settings of the lake. The defaults are the embedded ones: local disk, no other service.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where the tables are: empty for `<data dir>/lake`, or `s3://bucket/prefix`.
    pub url: String,
    /// Rows wait at most this long for their file. They are visible to SQL before.
    #[serde(with = "Time")]
    pub flush_interval: Duration,
    /// Rows that wait for their file are written when they reach this size.
    pub flush_size: ByteSize,
    /// Rows that wait for their file take at most about this much memory. Beyond it reading from the journal
    /// pauses until files are written; what is durable stays durable.
    pub max_hot_size: ByteSize,
    /// Most rows in a row group.
    pub row_group_rows: usize,
    /// Largest row group, uncompressed.
    pub row_group_size: ByteSize,
    /// Log records with content wait this long for a span that was not seen yet.
    #[serde(with = "Time")]
    pub join_wait: Duration,
    /// A span that comes again within this time is a duplicate.
    #[serde(with = "Time")]
    pub dedup_window: Duration,
    /// Most ids that are remembered for that.
    pub dedup_max_ids: usize,
    /// How often the tables are looked after: retention, compaction and vacuum.
    #[serde(with = "Time")]
    pub maintenance_interval: Duration,
    /// So many files of like size are merged into one.
    pub compact_min_files: usize,
    /// Files are merged up to this size. One merge takes about three times as much memory.
    pub compact_target_size: ByteSize,
    /// Rows that came within one such window of time may be merged into one file.
    #[serde(with = "Time")]
    pub compact_window: Duration,
    /// Files that no version of the table has had for this long are deleted. A reader that is not ours may go
    /// on reading an older version for so long; versions of the Delta log older than that are cleaned up too.
    #[serde(with = "Time")]
    pub vacuum_after: Duration,
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
    /// Rows are kept for this long; 0 keeps them for ever.
    #[serde(with = "Time")]
    pub max_age: Duration,
    /// The files of all tables take at most this much, oldest rows go first; 0 is no limit.
    pub max_size: ByteSize,
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
    /// Its rows are kept for this long; 0 keeps them for ever. Without it the wider setting holds.
    #[serde(with = "OptionalTime", skip_serializing_if = "Option::is_none")]
    pub max_age: Option<Duration>,
    /// Its rows take at most about this much; 0 is no limit.
    pub max_size: ByteSize,
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
            flush_interval: Duration::from_secs(30),
            flush_size: ByteSize::mib(32),
            max_hot_size: ByteSize::mib(256),
            row_group_rows: 131_072,
            row_group_size: ByteSize::mib(64),
            join_wait: Duration::from_mins(10),
            dedup_window: Duration::from_hours(1),
            dedup_max_ids: 2_000_000,
            maintenance_interval: Duration::from_secs(30),
            compact_min_files: 8,
            compact_target_size: ByteSize::mib(128),
            compact_window: Duration::from_hours(24),
            vacuum_after: Duration::from_hours(2),
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
        if self.flush_interval < Duration::from_millis(100) {
            faults.push("lake.flush_interval is below 100ms: every flush is a file and a commit".to_owned());
        }
        if self.flush_size < ByteSize::mib(1) {
            faults.push("lake.flush_size is below 1MiB: the files would be tiny".to_owned());
        }
        if self.max_hot_size < self.flush_size {
            faults.push(
                "lake.max_hot_size is below lake.flush_size: reading would pause before a flush is due"
                    .to_owned(),
            );
        }
        if self.row_group_rows == 0 || self.row_group_size.is_zero() {
            faults.push("lake.row_group_rows and lake.row_group_size must be above 0".to_owned());
        }
        if self.dedup_max_ids == 0 {
            faults.push("lake.dedup_max_ids must be above 0".to_owned());
        }
        self.upkeep_faults(&mut faults);
        faults
    }

    fn upkeep_faults(&self, faults: &mut Vec<String>) {
        if self.maintenance_interval < Duration::from_millis(100) {
            faults
                .push("lake.maintenance_interval is below 100ms: looking would take all the time".to_owned());
        }
        if !(2..=64).contains(&self.compact_min_files) {
            faults.push("lake.compact_min_files must be from 2 to 64".to_owned());
        }
        if !(ByteSize::kib(64)..=ByteSize::gib(4)).contains(&self.compact_target_size) {
            faults.push("lake.compact_target_size must be from 64KiB to 4GiB".to_owned());
        }
        if self.compact_window.is_zero() {
            faults.push("lake.compact_window must be above 0".to_owned());
        }
        if !(Duration::from_secs(1)..=MAX_VACUUM_AFTER).contains(&self.vacuum_after) {
            // Delta checkpoints forget removed files after a week.
            faults.push(format!("lake.vacuum_after must be from 1s to {}", words(MAX_VACUUM_AFTER)));
        }
        self.retention.faults(self.compact_target_size, faults);
    }
}

impl Retention {
    fn faults(&self, file_size: ByteSize, faults: &mut Vec<String>) {
        // Rows go file by file: with less than some files, all rows would go at once.
        let least = file_size.times(2);
        let mut size = |key: &str, limit: ByteSize| {
            if !limit.is_zero() && limit < least {
                faults.push(format!(
                    "{key} is {limit}: set 0 or at least twice lake.compact_target_size, {least}"
                ));
            }
        };
        size("lake.retention.max_size", self.max_size);
        for (at, rule) in self.rules.iter().enumerate() {
            size(&format!("lake.retention.rules[{at}].max_size"), rule.max_size);
        }
        if self.rules.len() > MAX_RETENTION_RULES {
            faults.push(format!("lake.retention.rules has more than {MAX_RETENTION_RULES} rules"));
        }
        for (at, rule) in self.rules.iter().enumerate() {
            let key = format!("lake.retention.rules[{at}]");
            let table = Table::ALL.into_iter().find(|t| t.name() == rule.table);
            if rule.table.is_empty() && rule.tenant.is_empty() {
                faults
                    .push(format!("{key} names no table and no tenant: set lake.retention.max_age instead"));
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
