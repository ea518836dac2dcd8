//! Keys of earlier releases, and what they are called now.

use crate::units::{ByteSize, words};
use std::time::Duration;
use toml::{Table, Value};

/// What the number of an old key counted.
#[derive(Debug, Clone, Copy)]
enum Was {
    Bytes,
    Seconds,
    Millis,
    Micros,
    /// The value is written as before.
    Same,
}

use Was::{Bytes, Micros, Millis, Same, Seconds};

/// Old key or section, new one, and the unit of the old value. Keys in lists of tables stand without their number.
const RENAMED: &[(&str, &str, Was)] = &[
    ("scan", "detect", Same),
    ("server.reload_ms", "server.reload_interval", Millis),
    ("server.header_timeout_ms", "server.header_timeout", Millis),
    ("server.idle_timeout_ms", "server.idle_timeout", Millis),
    ("server.body_grace_ms", "server.body_grace", Millis),
    ("ingest.max_request_bytes", "ingest.max_request_size", Bytes),
    ("ingest.max_in_flight_bytes", "ingest.max_in_flight_size", Bytes),
    ("ingest.max_response_bytes", "ingest.max_response_size", Bytes),
    ("ingest.retry_after_ms", "ingest.retry_after", Millis),
    ("ingest.retry_after_max_ms", "ingest.retry_after_max", Millis),
    ("journal.segment_bytes", "journal.segment_size", Bytes),
    ("journal.max_frame_bytes", "journal.max_frame_size", Bytes),
    ("journal.max_queued_bytes", "journal.max_queued_size", Bytes),
    ("journal.recent_bytes", "journal.recent_size", Bytes),
    ("journal.max_disk_bytes", "journal.max_disk_size", Bytes),
    ("journal.commit_window_us", "journal.commit_window", Micros),
    ("lake.flush_interval_ms", "lake.flush_interval", Millis),
    ("lake.flush_bytes", "lake.flush_size", Bytes),
    ("lake.max_hot_bytes", "lake.max_hot_size", Bytes),
    ("lake.row_group_bytes", "lake.row_group_size", Bytes),
    ("lake.join_wait_ms", "lake.join_wait", Millis),
    ("lake.duplicate_window_s", "lake.dedup_window", Seconds),
    ("lake.duplicate_window_ids", "lake.dedup_max_ids", Same),
    ("lake.compact_interval_ms", "lake.maintenance_interval", Millis),
    ("lake.compact_target_bytes", "lake.compact_target_size", Bytes),
    ("lake.compact_window_s", "lake.compact_window", Seconds),
    ("lake.vacuum_after_s", "lake.vacuum_after", Seconds),
    ("lake.retention.max_age_s", "lake.retention.max_age", Seconds),
    ("lake.retention.max_bytes", "lake.retention.max_size", Bytes),
    ("lake.retention.rules.max_age_s", "lake.retention.rules.max_age", Seconds),
    ("lake.retention.rules.max_bytes", "lake.retention.rules.max_size", Bytes),
    ("sample.queue_items", "queue.fast.max_items", Same),
    ("sample.queue_bytes", "queue.fast.max_size", Bytes),
    ("sample.queue_max_age_s", "queue.fast.max_age", Seconds),
    ("sample.lease_s", "queue.fast.lease", Seconds),
    ("sample.max_attempts", "queue.fast.max_attempts", Same),
    ("sample.retry_ms", "queue.fast.retry_backoff", Millis),
    ("sample.idle_ms", "sample.idle", Millis),
    ("sample.rootless_idle_ms", "sample.rootless_idle", Millis),
    ("sample.max_age_ms", "sample.max_age", Millis),
    ("sample.max_open_bytes", "sample.max_open_size", Bytes),
    ("score.timeout_ms", "score.timeout", Millis),
    ("score.disabled", "eval.disabled", Same),
    ("score.canaries", "eval.canaries", Same),
    ("score.thresholds", "eval.thresholds", Same),
    ("score.perplexity", "eval.perplexity", Same),
    ("sql.memory_bytes", "sql.max_memory", Bytes),
    ("sql.timeout_ms", "sql.timeout", Millis),
    ("sql.max_result_bytes", "sql.max_result_size", Bytes),
    ("sql.max_sql_bytes", "sql.max_sql_size", Bytes),
    ("watch.quality_interval_ms", "watch.quality_interval", Millis),
    ("watch.quality_window_s", "watch.quality_window", Seconds),
];

/// Notes every old key with its new name and, where its unit has gone, its value in words; takes it out.
pub fn take_out(given: &mut Table, path: &str, faults: &mut Vec<String>) {
    let mut old = Vec::new();
    for (key, value) in given.iter_mut() {
        let at = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if let Some((_, new, was)) = RENAMED.iter().find(|(old, _, _)| *old == at) {
            let now = in_words(value, *was).map(|words| format!(": write {words:?}")).unwrap_or_default();
            faults.push(format!("{at} is called {new} now{now}"));
            old.push(key.clone());
            continue;
        }
        match value {
            Value::Table(inner) => take_out(inner, &at, faults),
            Value::Array(list) => {
                list.iter_mut()
                    .filter_map(Value::as_table_mut)
                    .for_each(|inner| take_out(inner, &at, faults));
            }
            _ => {}
        }
    }
    for key in old {
        given.remove(&key);
    }
}

fn in_words(value: &Value, was: Was) -> Option<String> {
    let number = value.as_integer().and_then(|number| u64::try_from(number).ok())?;
    match was {
        Bytes => Some(ByteSize::new(number).to_string()),
        Seconds => Some(words(Duration::from_secs(number))),
        Millis => Some(words(Duration::from_millis(number))),
        Micros => Some(words(Duration::from_micros(number))),
        Same => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// Whether the key is there, however deep; the first rule stands for all.
    fn stands(table: &Table, path: &str) -> bool {
        let keys: Vec<&str> = path.split('.').collect();
        let Some((last, sections)) = keys.split_last() else { return false };
        let inner = sections.iter().try_fold(table, |table, key| table.get(*key).and_then(Value::as_table));
        inner.is_some_and(|table| table.contains_key(*last))
    }

    #[test]
    fn every_new_key_is_there_and_no_old_one() {
        let known = Table::try_from(Config::default()).unwrap();
        for (old, new, _) in RENAMED {
            // Rules are none by default.
            assert!(stands(&known, new) || new.starts_with("lake.retention.rules."), "{new} is not there");
            assert!(!stands(&known, old), "{old} is there");
        }
    }
}
