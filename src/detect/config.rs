//! What is let through, as it is configured.

use regex::Regex;
use serde::{Deserialize, Serialize};

/// What begins a value of `detect.allow` that is an expression.
const EXPRESSION: &str = "REGEXP:";

/// Settings of what is found in texts.
#[derive(Debug, Clone, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Values that are no finding: exact, or `REGEXP:` and an expression that the whole value matches.
    pub allow: Vec<String>,
    /// Kinds that are not looked for, such as `ip_address`.
    pub ignore_kinds: Vec<String>,
}

impl Config {
    /// Every fault, each with the key and what to do.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for value in &self.allow {
            if value.is_empty() {
                faults.push("detect.allow has an empty value: leave it out".to_owned());
            }
            if let Some(Err(error)) = expression(value) {
                faults.push(format!("detect.allow: {value:?} is no regular expression: {error}"));
            }
        }
        for kind in &self.ignore_kinds {
            if !super::kinds::is_known(kind) {
                faults.push(format!("detect.ignore_kinds: {}", super::kinds::unknown(kind)));
            }
        }
        faults
    }
}

/// The expression of an entry of `detect.allow`, if it is one. The whole value must match.
pub(super) fn expression(entry: &str) -> Option<Result<Regex, regex::Error>> {
    entry.strip_prefix(EXPRESSION).map(|pattern| Regex::new(&format!(r"\A(?:{})\z", pattern.trim())))
}
