//! The journal's limits.

use super::record;
use super::segment;
use crate::units::{ByteSize, Time, words};
use std::time::Duration;

/// Smaller segments would be mostly headers and directory syncs.
const MIN_SEGMENT_SIZE: ByteSize = ByteSize::kib(1);
/// A longer wait would be felt by every sender.
const MAX_COMMIT_WINDOW: Duration = Duration::from_secs(1);

/// The section `[journal]` of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The size after which a new segment file is begun; space is given back one whole segment at a time.
    pub segment_size: ByteSize,
    /// The largest payload that one append takes.
    pub max_frame_size: ByteSize,
    /// Size of the frames that may wait for the writer; beyond, append answers a retryable error.
    pub max_queued_size: ByteSize,
    /// Size of the last frames that stay in memory until their readers have them; 0 makes them read from the disk.
    pub recent_size: ByteSize,
    /// Size of all segment files together; beyond, append answers a retryable error.
    pub max_disk_size: ByteSize,
    /// How long the writer waits for company before it syncs; 0 takes only what has gathered meanwhile.
    #[serde(with = "Time")]
    pub commit_window: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            segment_size: ByteSize::mib(256),
            max_frame_size: ByteSize::mib(192),
            max_queued_size: ByteSize::mib(512),
            recent_size: ByteSize::mib(64),
            max_disk_size: ByteSize::gib(20),
            commit_window: Duration::ZERO,
        }
    }
}

impl Config {
    /// Every fault at once, each with its key and what to do; empty if the values are usable together.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let overhead = (segment::HEADER + record::HEADER) as u64;
        let record_size = ByteSize::new(self.max_frame_size.bytes().saturating_add(overhead));
        if self.segment_size < MIN_SEGMENT_SIZE {
            faults.push(format!(
                "journal.segment_size is {}: set at least {MIN_SEGMENT_SIZE}",
                self.segment_size
            ));
        }
        if self.max_frame_size.is_zero() || self.max_frame_size.bytes() > u64::from(u32::MAX) {
            faults.push(format!(
                "journal.max_frame_size is {}: set a value from 1B to {}B",
                self.max_frame_size,
                u32::MAX
            ));
        }
        if record_size > self.segment_size {
            faults.push(format!(
                "journal.max_frame_size ({}) and {overhead} bytes of headers do not fit in journal.segment_size ({}): \
                 lower the first or raise the second",
                self.max_frame_size, self.segment_size
            ));
        }
        if record_size > self.max_queued_size {
            faults.push(format!(
                "journal.max_queued_size is {}: set at least {record_size}, or a frame of journal.max_frame_size \
                 could never be queued",
                self.max_queued_size
            ));
        }
        if self.max_disk_size < self.segment_size.times(2) {
            faults.push(format!(
                "journal.max_disk_size is {}: set at least twice journal.segment_size ({}), because the active \
                 segment is never given back",
                self.max_disk_size,
                self.segment_size.times(2)
            ));
        }
        if self.commit_window > MAX_COMMIT_WINDOW {
            faults.push(format!(
                "journal.commit_window is {}: set at most {}",
                words(self.commit_window),
                words(MAX_COMMIT_WINDOW)
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
            segment_size: ByteSize::new(10),
            max_frame_size: ByteSize::ZERO,
            max_queued_size: ByteSize::ZERO,
            recent_size: ByteSize::ZERO,
            max_disk_size: ByteSize::ZERO,
            commit_window: Duration::MAX,
        };
        let faults = config.faults().join("\n");
        for key in [
            "segment_size is",
            "max_frame_size is",
            "max_queued_size is",
            "max_disk_size is",
            "commit_window is",
        ] {
            assert!(faults.contains(&format!("journal.{key}")), "{key} in {faults}");
        }
        let huge = Config {
            segment_size: ByteSize::new(u64::MAX),
            max_frame_size: ByteSize::new(u64::MAX),
            ..Config::default()
        };
        assert_eq!(huge.faults().len(), 3, "{:?}", huge.faults());
    }

    #[test]
    fn a_frame_must_fit_in_a_segment() {
        let config =
            Config { segment_size: ByteSize::kib(1), max_frame_size: ByteSize::kib(1), ..Config::default() };
        assert_eq!(config.faults().len(), 1, "{:?}", config.faults());
        let config = Config { max_frame_size: ByteSize::new(1024 - 60), ..config };
        assert!(config.faults().is_empty(), "{:?}", config.faults());
    }
}
