//! Settings of the queue.

use super::lane::Lane;
use crate::units::{ByteSize, Time};
use serde::{Deserialize, Deserializer, Serialize};
use std::time::Duration;

/// Settings of the queue.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Most items that failed or expired and are kept, so that they can be put back; the oldest are forgotten first.
    pub max_failed_items: usize,
    /// Largest size of items that failed or expired and are kept.
    pub max_failed_size: ByteSize,
    /// Largest size of the queue's log on the disk; beyond, the journal keeps what the log does not take.
    pub max_disk_size: ByteSize,
    /// The queue's log is compacted when it has grown by this (at most half of `max_disk_size`), and by as much as waits.
    pub compact_after: ByteSize,
    /// Evaluators that answer at once.
    pub fast: LaneConfig,
    /// Evaluators that take long, or wait for others.
    #[serde(deserialize_with = "slow")]
    pub slow: LaneConfig,
}

/// The limits of one lane.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LaneConfig {
    /// Most items in the lane; more are decided `throttled`.
    pub max_items: usize,
    /// Largest size of all items in the lane; more are decided `throttled`.
    pub max_size: ByteSize,
    /// An item that waited longer is decided `expired`.
    #[serde(with = "Time")]
    pub max_age: Duration,
    /// How long a worker may hold an item; then another one may take it.
    #[serde(with = "Time")]
    pub lease: Duration,
    /// Attempts before an item is given up (`failed`).
    pub max_attempts: u32,
    /// The wait before the second attempt; it doubles with each further one.
    #[serde(with = "Time")]
    pub retry_backoff: Duration,
}

impl Default for LaneConfig {
    fn default() -> Self {
        Self {
            max_items: 20_000,
            max_size: ByteSize::mib(256),
            max_age: Duration::from_hours(1),
            lease: Duration::from_mins(2),
            max_attempts: 4,
            retry_backoff: Duration::from_secs(1),
        }
    }
}

impl LaneConfig {
    /// What holds for the slow lane where nothing is said.
    fn slow() -> Self {
        Self { max_age: Duration::from_hours(24), ..Self::default() }
    }
}

/// The limits of the slow lane. What is not said of it has its defaults, not those of the fast one.
fn slow<'de, D: Deserializer<'de>>(from: D) -> Result<LaneConfig, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Said {
        max_items: usize,
        max_size: ByteSize,
        #[serde(with = "Time")]
        max_age: Duration,
        #[serde(with = "Time")]
        lease: Duration,
        max_attempts: u32,
        #[serde(with = "Time")]
        retry_backoff: Duration,
    }
    impl Default for Said {
        fn default() -> Self {
            let LaneConfig { max_items, max_size, max_age, lease, max_attempts, retry_backoff } =
                LaneConfig::slow();
            Self { max_items, max_size, max_age, lease, max_attempts, retry_backoff }
        }
    }
    let Said { max_items, max_size, max_age, lease, max_attempts, retry_backoff } = Said::deserialize(from)?;
    Ok(LaneConfig { max_items, max_size, max_age, lease, max_attempts, retry_backoff })
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_failed_items: 1_000,
            max_failed_size: ByteSize::mib(64),
            max_disk_size: ByteSize::gib(4),
            compact_after: ByteSize::mib(64),
            fast: LaneConfig::default(),
            slow: LaneConfig::slow(),
        }
    }
}

impl Config {
    /// The limits of `lane`.
    pub fn lane(&self, lane: Lane) -> &LaneConfig {
        match lane {
            Lane::Fast => &self.fast,
            Lane::Slow => &self.slow,
        }
    }

    /// Every fault, each with the key and what to do.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for lane in Lane::ALL {
            let (limits, name) = (self.lane(lane), lane.as_str());
            if limits.max_attempts == 0 {
                faults.push(format!("queue.{name}.max_attempts is 0: nothing would be evaluated"));
            }
            if limits.max_items == 0 || limits.max_size.is_zero() {
                faults.push(format!("queue.{name}.max_items and queue.{name}.max_size must be above 0"));
            }
            if limits.max_age.is_zero() {
                faults.push(format!(
                    "queue.{name}.max_age is 0: every item would expire before it is evaluated"
                ));
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_in_which_everything_would_expire_is_a_fault() {
        assert_eq!(Config::default().faults(), Vec::<String>::new());
        let config: Config = toml::from_str("[slow]\nmax_age = \"0s\"").unwrap();
        let faults = config.faults();
        assert!(faults.len() == 1 && faults[0].starts_with("queue.slow.max_age is 0"), "{faults:?}");
    }

    #[test]
    fn what_is_not_said_of_a_lane_has_the_defaults_of_that_lane() {
        let config: Config =
            toml::from_str("[slow]\nretry_backoff = \"5s\"\n[fast]\nlease = \"1m\"").unwrap();
        assert_eq!(
            (config.slow.max_age, config.fast.max_age),
            (Duration::from_hours(24), Duration::from_hours(1))
        );
        assert_eq!(
            (config.slow.retry_backoff, config.slow.lease),
            (Duration::from_secs(5), Duration::from_mins(2))
        );
        let wrong = toml::from_str::<Config>("[slow]\nmax_agee = \"5s\"").unwrap_err().to_string();
        assert!(wrong.contains("max_agee"), "{wrong}");
    }
}
