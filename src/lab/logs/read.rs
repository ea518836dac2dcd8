//! Any log, told by its content.

use super::log::Log;
use super::{inspect, test_lab};
use crate::lab::zip::is_zip;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The keys by which a file is known.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Keys {
    dataset: Option<IgnoredAny>,
    raw_dataset: Option<IgnoredAny>,
    models: Option<IgnoredAny>,
}

/// Reads the logs of a file, one a model.
///
/// # Errors
/// What is no log, damaged or refused, with its place.
pub fn read(bytes: &[u8]) -> Result<Vec<Log>, String> {
    let keys: Keys = match is_zip(bytes) {
        true => Keys::default(),
        false => serde_json::from_slice(bytes).unwrap_or_default(),
    };
    match (keys.dataset, keys.raw_dataset, keys.models) {
        (Some(_), None, None) | (None, _, _) => Ok(vec![inspect::read(bytes)?]),
        (Some(_), _, _) => test_lab::read(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_told_by_its_keys() {
        let system = |text: &str| read(text.as_bytes()).map(|logs| logs[0].system);
        assert_eq!(system(r#"{"eval": {}, "samples": [{"id": 1}]}"#), Ok("inspect"));
        let input = r#"{"input": "x", "actual_output": "y", "model_key": "m"}"#;
        assert_eq!(system(&format!(r#"{{"models": [], "dataset": {{"inputs": [{input}]}}}}"#)), Ok("h2o"));
        assert!(system("{}").unwrap_err().contains("no log of Inspect"));
        assert!(system("PK\u{3}\u{4}").unwrap_err().contains("cut off"));
    }
}
