//! The journal's limits.

use super::record;
use super::segment;

/// Smaller segments would be mostly headers and directory syncs.
const MIN_SEGMENT_BYTES: u64 = 1024;
/// A longer wait would be felt by every sender.
const MAX_COMMIT_WINDOW_US: u64 = 1_000_000;

/// The section `[journal]` of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Bytes after which a new segment file is begun; space is given back one whole segment at a time.
    pub segment_bytes: u64,
    /// The largest payload that one append takes, in bytes.
    pub max_frame_bytes: u64,
    /// Bytes of frames that may wait for the writer; beyond, append answers a retryable error.
    pub max_queued_bytes: u64,
    /// Bytes of the last frames that stay in memory until their readers have them; 0 makes them read from the disk.
    pub recent_bytes: u64,
    /// Bytes of all segment files together; beyond, append answers a retryable error.
    pub max_disk_bytes: u64,
    /// Microseconds that the writer waits for company before it syncs; 0 takes only what has gathered meanwhile.
    pub commit_window_us: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            segment_bytes: 256 << 20,
            max_frame_bytes: 192 << 20,
            max_queued_bytes: 512 << 20,
            recent_bytes: 64 << 20,
            max_disk_bytes: 20 << 30,
            commit_window_us: 0,
        }
    }
}

impl Config {
    /// Every fault at once, each with its key and what to do; empty if the values are usable together.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let overhead = (segment::HEADER + record::HEADER) as u64;
        let record_bytes = self.max_frame_bytes.saturating_add(overhead);
        if self.segment_bytes < MIN_SEGMENT_BYTES {
            faults.push(format!(
                "journal.segment_bytes is {}: set at least {MIN_SEGMENT_BYTES}",
                self.segment_bytes
            ));
        }
        if self.max_frame_bytes == 0 || self.max_frame_bytes > u64::from(u32::MAX) {
            faults.push(format!(
                "journal.max_frame_bytes is {}: set a value from 1 to {}",
                self.max_frame_bytes,
                u32::MAX
            ));
        }
        if record_bytes > self.segment_bytes {
            faults.push(format!(
                "journal.max_frame_bytes ({}) and {overhead} bytes of headers do not fit in journal.segment_bytes ({}): \
                 lower the first or raise the second",
                self.max_frame_bytes, self.segment_bytes
            ));
        }
        if record_bytes > self.max_queued_bytes {
            faults.push(format!(
                "journal.max_queued_bytes is {}: set at least {record_bytes}, or a frame of journal.max_frame_bytes \
                 could never be queued",
                self.max_queued_bytes
            ));
        }
        if self.max_disk_bytes < self.segment_bytes.saturating_mul(2) {
            faults.push(format!(
                "journal.max_disk_bytes is {}: set at least twice journal.segment_bytes ({}), because the active \
                 segment is never given back",
                self.max_disk_bytes,
                self.segment_bytes.saturating_mul(2)
            ));
        }
        if self.commit_window_us > MAX_COMMIT_WINDOW_US {
            faults.push(format!(
                "journal.commit_window_us is {}: set at most {MAX_COMMIT_WINDOW_US} (one second)",
                self.commit_window_us
            ));
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_has_no_faults() {
        assert_eq!(Config::default().faults(), Vec::<String>::new());
    }

    #[test]
    fn all_faults_are_told_at_once() {
        let config = Config {
            segment_bytes: 10,
            max_frame_bytes: 0,
            max_queued_bytes: 0,
            recent_bytes: 0,
            max_disk_bytes: 0,
            commit_window_us: u64::MAX,
        };
        let faults = config.faults().join("\n");
        for key in [
            "segment_bytes is",
            "max_frame_bytes is",
            "max_queued_bytes is",
            "max_disk_bytes is",
            "commit_window_us is",
        ] {
            assert!(faults.contains(&format!("journal.{key}")), "{key} in {faults}");
        }
        let huge = Config { segment_bytes: u64::MAX, max_frame_bytes: u64::MAX, ..Config::default() };
        assert_eq!(huge.faults().len(), 3, "{:?}", huge.faults());
    }

    #[test]
    fn a_frame_must_fit_in_a_segment() {
        let config = Config { segment_bytes: 1024, max_frame_bytes: 1024, ..Config::default() };
        assert_eq!(config.faults().len(), 1, "{:?}", config.faults());
        let config = Config { max_frame_bytes: 1024 - 60, ..config };
        assert!(config.faults().is_empty(), "{:?}", config.faults());
    }
}
