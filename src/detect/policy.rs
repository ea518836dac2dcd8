//! What is let through: values that are known to be harmless, and kinds that nobody asked for.

use super::config::{Config, expression};
use super::finding::Finding;
use regex::Regex;
use std::collections::BTreeSet;

/// Says of a finding whether it counts.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    exact: BTreeSet<String>,
    expressions: Vec<Regex>,
    ignored: BTreeSet<String>,
}

impl Policy {
    /// From the settings; an expression with a fault, which [`Config::faults`] tells, allows nothing.
    pub fn new(config: &Config) -> Self {
        let mut policy = Self { ignored: config.ignore_kinds.iter().cloned().collect(), ..Self::default() };
        for entry in &config.allow {
            match expression(entry) {
                None => _ = policy.exact.insert(entry.clone()),
                Some(regex) => policy.expressions.extend(regex),
            }
        }
        policy
    }

    /// Whether a finding of this kind and value counts.
    pub fn counts(&self, kind: &str, value: &str) -> bool {
        !self.ignored.contains(kind)
            && !self.exact.contains(value)
            && !self.expressions.iter().any(|expression| expression.is_match(value))
    }

    /// Takes out of `findings` what does not count in `text`.
    pub fn apply(&self, text: &str, findings: &mut Vec<Finding>) {
        findings.retain(|finding| self.counts(finding.kind, &text[finding.start..finding.end]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(allow: &[&str], ignore_kinds: &[&str]) -> (Policy, Vec<String>) {
        let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
        let config = Config { allow: owned(allow), ignore_kinds: owned(ignore_kinds) };
        (Policy::new(&config), config.faults())
    }

    #[test]
    fn values_and_kinds_are_let_through() {
        let (policy, faults) =
            policy(&["jane@example.org", r"REGEXP: .*@acme\.com", "4111 1111 1111 1111"], &["ip_address"]);
        assert_eq!(faults, Vec::<String>::new());
        let text = "jane@example.org bob@acme.com bob@acme.com.pl 4111 1111 1111 1111 86.231.85.193";
        let mut findings = crate::detect::pii::findings(text);
        findings.retain(|f| f.confidence >= 0.5);
        policy.apply(text, &mut findings);
        let left: Vec<&str> = findings.iter().map(|f| &text[f.start..f.end]).collect();
        assert_eq!(left, ["bob@acme.com.pl"]);
    }

    #[test]
    fn faults_are_told() {
        let (_, faults) = policy(&["REGEXP:(", ""], &["emial"]);
        assert_eq!(faults.len(), 3, "{faults:?}");
        assert!(faults.iter().any(|f| f.contains("emial") && f.contains("email")), "{faults:?}");
    }
}
