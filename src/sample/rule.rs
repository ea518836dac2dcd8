//! A rule, compiled: its expressions run on batches of spans, or of scores where it is a second phase.

use super::rule_config::{RuleConfig, Target};
use crate::queue::Lane;
use crate::schema::columns::Table;
use crate::schema::{Filter, NumberOf, TextOf};
use datafusion::prelude::SessionContext;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// Why a rule does not compile.
#[derive(Debug, thiserror::Error)]
#[error("sample.rules {rule:?}: {key} {text:?}: {reason}")]
pub struct RuleError {
    rule: String,
    key: String,
    text: String,
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
    /// The bit of its first boost among those of all rules.
    pub(super) boost_at: usize,
    /// None lets everything pass.
    pub(super) filter: Option<Filter>,
    pub(super) boosts: Vec<Filter>,
    pub(super) stratum: Option<TextOf>,
    pub(super) weight: Option<NumberOf>,
}

/// Compiles every rule, or tells every fault.
pub fn compile(rules: &[RuleConfig]) -> Result<Vec<Rule>, Vec<RuleError>> {
    let context = SessionContext::new();
    let (mut compiled, mut faults) = (Vec::new(), Vec::new());
    let mut boosts = 0;
    for rule in rules {
        match Rule::new(&context, rule, boosts) {
            Ok(rule) => compiled.push(rule),
            Err(more) => faults.extend(more),
        }
        boosts += rule.boosts.len();
    }
    if faults.is_empty() { Ok(compiled) } else { Err(faults) }
}

impl Rule {
    fn new(context: &SessionContext, config: &RuleConfig, boost_at: usize) -> Result<Self, Vec<RuleError>> {
        let table = if config.after.is_empty() { Table::Spans } else { Table::Scores };
        let mut faults = Vec::new();
        let mut wrong = |key: &str, text: &str, reason: String| {
            let (rule, key, text) = (config.name.clone(), key.to_owned(), text.to_owned());
            faults.push(RuleError { rule, key, text, reason });
        };
        // An empty filter of a rule that needs one is told with the values.
        let filter = (!config.filter.trim().is_empty()).then(|| Filter::new(context, table, &config.filter));
        let filter = filter.transpose().unwrap_or_else(|reason| {
            wrong("filter", &config.filter, reason);
            None
        });
        let mut boosts = Vec::with_capacity(config.boosts.len());
        for (at, boost) in config.boosts.iter().enumerate() {
            match Filter::new(context, table, &boost.when) {
                Ok(filter) => boosts.push(filter),
                Err(reason) => wrong(&format!("boosts[{at}].when"), &boost.when, reason),
            }
        }
        let stratum =
            (!config.stratify_by.is_empty()).then(|| TextOf::new(context, table, &config.stratify_by));
        let stratum = stratum.transpose().unwrap_or_else(|reason| {
            wrong("stratify_by", &config.stratify_by, reason);
            None
        });
        let weight = (!config.weight.is_empty()).then(|| NumberOf::new(context, table, &config.weight));
        let weight = weight.transpose().unwrap_or_else(|reason| {
            wrong("weight", &config.weight, reason);
            None
        });
        if !faults.is_empty() {
            return Err(faults);
        }
        let (version, lanes) = (version(config), vec![Lane::Fast]);
        Ok(Self { config: config.clone(), version, lanes, boost_at, filter, boosts, stratum, weight })
    }

    /// The same rule, with evaluators in these lanes.
    #[must_use]
    pub fn in_lanes(mut self, lanes: Vec<Lane>) -> Self {
        self.lanes = lanes;
        self
    }

    /// The version that its draws depend on: none if it has a salt, which rules share whatever else they differ in.
    pub(super) fn drawn_version(&self) -> &str {
        if self.config.salt.is_empty() { &self.version } else { "" }
    }

    /// Whether the rule selects whole traces.
    pub fn is_for_traces(&self) -> bool {
        self.config.target == Target::Trace
    }

    /// Whether it looks at spans itself, and not at what another rule has selected.
    pub(super) fn is_over_spans(&self) -> bool {
        self.config.first().is_none()
    }

    /// The columns that its expressions read.
    pub fn columns(&self) -> BTreeSet<String> {
        let filters = self.filter.iter().chain(&self.boosts).map(Filter::columns);
        let others =
            self.stratum.iter().map(TextOf::columns).chain(self.weight.iter().map(NumberOf::columns));
        filters.chain(others).flatten().collect()
    }
}

fn version(config: &RuleConfig) -> String {
    let mut evaluators = config.evaluators.clone();
    evaluators.sort();
    // A rule without a design keeps the version that it had before there were designs.
    let text = format!(
        "{}\0{}\0{:?}\0{}\0{}\0{}{}",
        config.name,
        config.filter,
        config.target,
        config.rate,
        config.salt,
        evaluators.join(","),
        config.design()
    );
    hex::encode(&Sha256::digest(text)[..6])
}

#[cfg(test)]
mod tests {
    use super::super::rule_config::{Boost, WeightKind};
    use super::*;

    fn rule(filter: &str) -> RuleConfig {
        RuleConfig::new("r", filter, 0.5, &["*"])
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
    fn every_wrong_expression_is_told_with_its_key() {
        let boost = Boost { when: "duration_ns".to_owned(), rate: 1.0 };
        let wrong = RuleConfig {
            boosts: vec![boost],
            stratify_by: "tier".to_owned(),
            weight: "status_code".to_owned(),
            ..rule("true")
        };
        let told: Vec<String> = compile(&[wrong]).err().unwrap().iter().map(ToString::to_string).collect();
        for (fault, key) in
            told.iter().zip(["boosts[0].when", "stratify_by \"tier\"", "weight \"status_code\""])
        {
            assert!(fault.contains(key), "{key}: {told:?}");
        }
        assert_eq!(told.len(), 3);
        // A second phase is over scores.
        let second =
            |filter: &str| RuleConfig { after: "r".to_owned(), ..RuleConfig::new("s", filter, 0.1, &["*"]) };
        assert!(compile(&[second("metric = 'toxicity' AND NOT passed")]).is_ok());
        assert!(compile(&[second("operation = 'llm'")]).is_err());
    }

    #[test]
    fn the_version_changes_with_what_the_rule_does() {
        let version = |config: RuleConfig| compile(&[config]).ok().unwrap()[0].version.clone();
        let one = version(rule("operation = 'llm'"));
        assert_eq!(one, version(rule("operation = 'llm'")));
        // As it was before rules had designs: scores of then and now are of one rule.
        assert_eq!(one, "b021002a4ee8");
        let boost = Boost { when: "status_code = 'error'".to_owned(), rate: 1.0 };
        let base = || rule("operation = 'llm'");
        let others = [
            rule("operation = 'tool'"),
            RuleConfig { boosts: vec![boost], ..base() },
            RuleConfig { stratify_by: "request_model".to_owned(), ..base() },
            RuleConfig { weight: "duration_ns".to_owned(), ..base() },
            RuleConfig { weight: "duration_ns".to_owned(), weight_kind: WeightKind::Outlier, ..base() },
        ];
        let versions: BTreeSet<String> = others.into_iter().map(version).chain([one]).collect();
        assert_eq!(versions.len(), 6);
    }
}
