//! Settings of sampling.

use crate::units::{ByteSize, Time};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::time::Duration;

/// Rules are bits of a mask.
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
    /// The rules. A trace is judged by every rule that selects it.
    pub rules: Vec<RuleConfig>,
}

/// What a rule selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, Default)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Whole traces in which a span passes the filter.
    #[default]
    Trace,
    /// Each span that passes the filter.
    Span,
}

/// One sampling rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleConfig {
    /// Its name, unique.
    pub name: String,
    /// SQL over the columns of `spans`, such as `operation = 'llm' AND service_name = 'shop'`.
    pub filter: String,
    /// Whole traces, or single spans.
    #[serde(default)]
    pub target: Target,
    /// The probability with which a match is selected, above 0 and up to 1.
    pub rate: f64,
    /// Rules with the same salt draw the same numbers; the rule's name if empty.
    #[serde(default)]
    pub salt: String,
    /// The evaluators, by id; `*` stands for every one that is registered.
    pub evaluators: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(5),
            rootless_idle: Duration::from_secs(30),
            max_age: Duration::from_mins(5),
            max_open_size: ByteSize::mib(256),
            max_trace_spans: 10_000,
            rules: vec![RuleConfig {
                name: "default".to_owned(),
                filter: "operation IN ('llm', 'agent')".to_owned(),
                target: Target::Trace,
                rate: 1.0,
                salt: String::new(),
                evaluators: vec!["*".to_owned()],
            }],
        }
    }
}

impl Config {
    /// Every fault, each with the key and what to do. Filters are checked by [`super::compile`].
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut names = HashSet::new();
        for (at, rule) in self.rules.iter().enumerate() {
            let key = format!("sample.rules[{at}]");
            if rule.name.is_empty() {
                faults.push(format!("{key}.name is empty: name the rule"));
            } else if !names.insert(&rule.name) {
                faults.push(format!("{key}.name {:?} is taken: rule names are unique", rule.name));
            }
            if !(rule.rate > 0.0 && rule.rate <= 1.0) {
                faults.push(format!(
                    "{key}.rate is {}: it is a probability above 0 and up to 1; remove the rule to select nothing",
                    rule.rate
                ));
            }
            if rule.evaluators.is_empty() {
                faults.push(format!("{key}.evaluators is empty: name some, or \"*\" for all"));
            }
        }
        if self.rules.len() > MAX_RULES {
            faults.push(format!("sample.rules: more than {} rules", MAX_RULES));
        }
        if self.max_age < self.idle {
            faults.push("sample.max_age is below sample.idle: no trace could become idle".to_owned());
        }
        faults
    }
}
