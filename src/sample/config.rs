//! Settings of sampling.

use super::late::LateConfig;
use super::rule_config::RuleConfig;
use crate::units::{ByteSize, Time};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Rules, and the conditions of all their boosts, are bits of a mask.
pub(super) const MAX_RULES: usize = 64;

/// Settings of sampling.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// A trace whose root has ended is judged when nothing has come for this long. Log records with
    /// the messages may come seconds after the spans.
    #[serde(with = "Time")]
    pub idle: Duration,
    /// A trace whose root was not seen is judged when nothing has come for this long.
    #[serde(with = "Time")]
    pub rootless_idle: Duration,
    /// A trace is judged at this age whatever comes.
    #[serde(with = "Time")]
    pub max_age: Duration,
    /// Most bytes of spans, and of what log records say of them, that are held in open traces; the oldest traces are
    /// judged early beyond it.
    pub max_open_size: ByteSize,
    /// Most spans of one trace that are held.
    pub max_trace_spans: usize,
    /// What comes after the decision.
    pub late: LateConfig,
    /// The rules. A trace is judged by every rule that selects it.
    pub rules: Vec<RuleConfig>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(5),
            rootless_idle: Duration::from_secs(30),
            max_age: Duration::from_mins(5),
            max_open_size: ByteSize::mib(256),
            max_trace_spans: 10_000,
            late: LateConfig::default(),
            rules: vec![RuleConfig::new("default", "operation IN ('llm', 'agent')", 1.0, &["*"])],
        }
    }
}

impl Config {
    /// Every fault, each with the key and what to do. Expressions are checked by [`super::compile`].
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (at, rule) in self.rules.iter().enumerate() {
            rule.faults(&self.rules[..at], &mut |fault| faults.push(format!("sample.rules[{at}]{fault}")));
        }
        if self.rules.len() > MAX_RULES {
            faults.push(format!("sample.rules: more than {MAX_RULES} rules"));
        }
        if self.rules.iter().map(|rule| rule.boosts.len()).sum::<usize>() > MAX_RULES {
            faults.push(format!("sample.rules: more than {MAX_RULES} boosts in all rules together"));
        }
        faults.extend(self.late.faults());
        if self.max_age < self.idle {
            faults.push("sample.max_age is below sample.idle: no trace could become idle".to_owned());
        }
        faults
    }
}
