//! Settings of the lab.

use super::target::{Kind, TargetSpec};
use crate::units::{ByteSize, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// A request of a suite's run waits no longer for spans.
const MAX_SPAN_WAIT: Duration = Duration::from_mins(10);

/// Settings of datasets and experiments. Names of the keys appear in the error that a limit causes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Most items of a dataset.
    pub max_items: usize,
    /// Largest item: the JSON of all its parts together.
    pub max_item_size: ByteSize,
    /// Largest file that is imported, and largest body of any other change.
    pub max_import_size: ByteSize,
    /// Largest file beside an item, and largest table of a ZIP archive.
    pub max_file_size: ByteSize,
    /// Most bytes of the files of a ZIP archive together, unpacked.
    pub max_zip_size: ByteSize,
    /// Most files of a ZIP archive.
    pub max_zip_entries: usize,
    /// Evaluations of experiments at once; those of production have workers of their own.
    pub workers: usize,
    /// The longest that the evaluators of one request may take.
    #[serde(with = "Time")]
    pub score_timeout: Duration,
    /// How long a run may be without a span of its target before one is made of it.
    #[serde(with = "Time")]
    pub span_after: Duration,
    /// How long after its answer the spans of a run are read, where checks of a suite read them.
    #[serde(with = "Time")]
    pub span_wait: Duration,
    /// Targets that the server may ask itself, by name; of the kinds http and openai.
    pub targets: BTreeMap<String, TargetSpec>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_items: 1_000_000,
            max_item_size: ByteSize::mib(4),
            max_import_size: ByteSize::mib(100),
            max_file_size: ByteSize::mib(100),
            max_zip_size: ByteSize::gib(1),
            max_zip_entries: 100_000,
            workers: 1,
            score_timeout: Duration::from_mins(10),
            span_after: Duration::from_mins(1),
            span_wait: Duration::from_secs(10),
            targets: BTreeMap::new(),
        }
    }
}

impl Config {
    /// Every fault, each with the key and what to do.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.max_items == 0 || self.max_item_size.is_zero() || self.max_import_size.is_zero() {
            faults.push(
                "lab.max_items, lab.max_item_size and lab.max_import_size must be above 0: no dataset could be made"
                    .to_owned(),
            );
        }
        if self.max_file_size.is_zero() || self.max_zip_size.is_zero() || self.max_zip_entries == 0 {
            faults.push(
                "lab.max_file_size, lab.max_zip_size and lab.max_zip_entries must be above 0: no archive could be read"
                    .to_owned(),
            );
        }
        if self.workers == 0 || self.workers > 64 {
            faults.push(format!("lab.workers is {}: set 1 to 64", self.workers));
        }
        if self.span_wait > MAX_SPAN_WAIT {
            faults.push(format!(
                "lab.span_wait is {} s: set at most 600, as a request waits for it",
                self.span_wait.as_secs()
            ));
        }
        for (name, target) in &self.targets {
            let key = format!("lab.targets.{name}");
            if !matches!(target.kind, Kind::Http | Kind::Openai) {
                faults.push(format!(
                    "{key}.kind must be http or openai: the server starts no program and reads no file for an experiment"
                ));
            }
            faults.extend(target.faults(&key));
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_asks_addresses_only() {
        let read = |text: &str| toml::from_str::<Config>(text).unwrap().faults();
        assert_eq!(
            read("[targets.support]\nkind = \"http\"\nurl = \"http://127.0.0.1:8000/answer\""),
            [""; 0]
        );
        let faults = read("[targets.own]\nkind = \"command\"\ncommand = [\"sh\"]").join(" ");
        assert!(faults.contains("lab.targets.own.kind must be http or openai"), "{faults}");
        assert!(read("span_wait = \"11m\"").join(" ").contains("lab.span_wait is 660 s"));
        let faults = read("[targets.own]\nkind = \"http\"\nretries = 99").join(" ");
        assert!(
            faults.contains("lab.targets.own.url") && faults.contains("lab.targets.own.retries"),
            "{faults}"
        );
    }
}
