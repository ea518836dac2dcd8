//! A rule, compiled: its filter runs on batches of spans.

use super::config::{RuleConfig, Target};
use crate::queue::Lane;
use crate::schema::Filter;
use crate::schema::columns::Table;
use arrow::array::{BooleanArray, RecordBatch};
use datafusion::common::DataFusionError;
use datafusion::prelude::SessionContext;
use sha2::{Digest, Sha256};

/// Why a rule does not compile.
#[derive(Debug, thiserror::Error)]
#[error("sample.rules {rule:?}: filter {filter:?}: {reason}")]
pub struct RuleError {
    rule: String,
    filter: String,
    reason: String,
}

/// A compiled rule.
#[derive(Clone)]
pub struct Rule {
    /// As configured.
    pub config: RuleConfig,
    /// A hash of everything that changes what the rule does.
    pub version: String,
    /// The lanes of the queue in which it has evaluators.
    pub lanes: Vec<Lane>,
    filter: Filter,
}

/// Compiles every rule, or tells every fault.
pub fn compile(rules: &[RuleConfig]) -> Result<Vec<Rule>, Vec<RuleError>> {
    let context = SessionContext::new();
    let (mut compiled, mut faults) = (Vec::new(), Vec::new());
    for rule in rules {
        match Rule::new(&context, rule) {
            Ok(rule) => compiled.push(rule),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(compiled) } else { Err(faults) }
}

impl Rule {
    fn new(context: &SessionContext, config: &RuleConfig) -> Result<Self, RuleError> {
        let fault =
            |reason: String| RuleError { rule: config.name.clone(), filter: config.filter.clone(), reason };
        let filter = Filter::new(context, Table::Spans, &config.filter).map_err(fault)?;
        Ok(Self { config: config.clone(), version: version(config), lanes: vec![Lane::Fast], filter })
    }

    /// The same rule, with evaluators in these lanes.
    #[must_use]
    pub fn in_lanes(mut self, lanes: Vec<Lane>) -> Self {
        self.lanes = lanes;
        self
    }

    /// Which rows pass the filter; NULL counts as no.
    pub fn matches(&self, batch: &RecordBatch) -> Result<BooleanArray, DataFusionError> {
        self.filter.matches(batch)
    }

    /// The salt of the draw.
    pub fn salt(&self) -> &str {
        if self.config.salt.is_empty() { &self.config.name } else { &self.config.salt }
    }

    /// Whether the rule selects whole traces.
    pub fn is_for_traces(&self) -> bool {
        self.config.target == Target::Trace
    }
}

fn version(config: &RuleConfig) -> String {
    let mut evaluators = config.evaluators.clone();
    evaluators.sort();
    let text = format!(
        "{}\0{}\0{:?}\0{}\0{}\0{}",
        config.name,
        config.filter,
        config.target,
        config.rate,
        config.salt,
        evaluators.join(",")
    );
    hex::encode(&Sha256::digest(text)[..6])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(filter: &str) -> RuleConfig {
        RuleConfig {
            name: "r".into(),
            filter: filter.into(),
            target: Target::Trace,
            rate: 0.5,
            salt: String::new(),
            evaluators: vec!["*".into()],
        }
    }

    #[test]
    fn a_wrong_filter_is_named_with_its_rule() {
        for filter in ["no_such_column = 1", "operation = ", "1 + 1", "name"] {
            let faults = compile(&[rule(filter)]).err().unwrap();
            let text = faults[0].to_string();
            assert!(text.contains("\"r\"") && text.contains(&format!("{filter:?}")), "{text}");
        }
    }

    #[test]
    fn the_version_changes_with_what_the_rule_does() {
        let one = compile(&[rule("operation = 'llm'")]).ok().unwrap();
        let same = compile(&[rule("operation = 'llm'")]).ok().unwrap();
        let other = compile(&[rule("operation = 'tool'")]).ok().unwrap();
        assert_eq!(one[0].version, same[0].version);
        assert_ne!(one[0].version, other[0].version);
    }
}
