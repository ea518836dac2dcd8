//! What is watched, and whether the metrics of it are told by an evaluator of a rule: an alert on another one would be silent for
//! ever, and one on a metric that several rules have scores of may count a trace more than once.

use super::askers::Askers;
use super::error::AppError;
use crate::config::Config;
use crate::detect::Policy;
use crate::domain::time::{Clock, SystemClock};
use crate::drift::{AlertConfig, Definition, Plan, compile};
use crate::eval::{Evaluator, Registry};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most metrics that are named instead of one that is not there.
const NAMED: usize = 3;

/// What is watched, and who is told.
pub fn plan(config: &Config) -> Result<Plan, AppError> {
    let definitions = compile(&config.alerts).map_err(AppError::Alerts)?;
    Ok(Plan { definitions, receivers: config.receivers.clone() })
}

/// What is amiss between alerts and rules, each a line that says what to do.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Every alert on a metric that no evaluator of a rule tells, with what may have been meant. What plug-ins tell is known only
    /// when they run, so nothing is wrong where a rule asks one.
    pub faults: Vec<String>,
    /// Every alert that counts a trace twice if two rules select it.
    pub warnings: Vec<String>,
}

impl Findings {
    fn of(config: &Config, definitions: &[Definition], registry: &Registry) -> Self {
        Self { faults: faults(config, registry), warnings: warnings(config, definitions, registry) }
    }

    /// Says them in the log: a server that ran before does not stop for them.
    pub fn log(&self) {
        self.faults.iter().for_each(|fault| tracing::warn!(fault, "an alert can never fire"));
        self.warnings.iter().for_each(|warning| tracing::warn!(warning, "an alert may count a trace twice"));
    }
}

/// What is amiss between the alerts and the rules of `config`. Models are not opened and nobody is asked.
pub fn findings(config: &Config) -> Findings {
    if config.alerts.is_empty() {
        return Findings::default();
    }
    let (policy, clock): (_, Arc<dyn Clock>) = (Arc::new(Policy::new(&config.detect)), Arc::new(SystemClock));
    let registry = match Registry::with_models(&config.eval, &config.models, 1, &policy) {
        Ok(registry) => registry,
        Err(error) => return Findings { faults: vec![error.to_string()], ..Findings::default() },
    };
    // A key that is not on this machine is told at the start of the server.
    let Ok(askers) = Askers::open(config, &registry, &policy, &clock) else { return Findings::default() };
    // What does not compile is a fault of the configuration.
    let definitions = compile(&config.alerts).unwrap_or_default();
    Findings::of(config, &definitions, &registry.with(askers.evaluators(), &config.eval))
}

/// Says in the log what [`findings`] tells, with the alerts of `plan` and the evaluators that run.
pub(super) fn warn(config: &Config, plan: &Plan, registry: &Registry) {
    Findings::of(config, &plan.definitions, registry).log();
}

/// An alert takes each score for an item of its own, and two rules that select one trace give it two scores.
fn warnings(config: &Config, definitions: &[Definition], registry: &Registry) -> Vec<String> {
    let asked: Vec<(&String, Vec<Arc<dyn Evaluator>>)> = config
        .sample
        .rules
        .iter()
        .map(|rule| (&rule.name, registry.select(&rule.evaluators).unwrap_or_default()))
        .collect();
    let warning = |definition: &Definition| {
        let AlertConfig { name, metric, .. } = &definition.config;
        let tells =
            |evaluator: &Arc<dyn Evaluator>| evaluator.metrics().iter().any(|told| told.name == *metric);
        let rules: Vec<String> = asked
            .iter()
            .filter(|(_, evaluators)| evaluators.iter().any(tells))
            .map(|(rule, _)| format!("{rule:?}"))
            .collect();
        let first = rules.first().filter(|_| rules.len() > 1 && !definition.keeps_rules_apart())?;
        Some(format!(
            "alerts {name:?}: the rules {} all have scores of {metric:?}, and a trace that two of them select counts twice: alarms \
             are then more frequent than alpha says. Name one rule in the alert's filter, such as rule = '{}', or all of them if \
             no two select the same traces",
            rules.join(", "),
            first.trim_matches('"')
        ))
    };
    definitions.iter().filter_map(warning).collect()
}

fn faults(config: &Config, registry: &Registry) -> Vec<String> {
    let (mut known, mut told) = (BTreeMap::new(), BTreeMap::new());
    for evaluator in registry.select(&registry.ids()).unwrap_or_default() {
        note(&mut known, evaluator.as_ref());
    }
    for rule in &config.sample.rules {
        // One that is not there is a fault of its rule.
        for evaluator in registry.select(&rule.evaluators).unwrap_or_default() {
            if crate::eval::is_plugin(evaluator.id()) {
                return Vec::new();
            }
            note(&mut told, evaluator.as_ref());
        }
    }
    let watched = config.alerts.iter().filter(|alert| !alert.metric.is_empty());
    let unknown = watched.filter(|alert| !told.contains_key(&alert.metric));
    let fault = |alert: &AlertConfig| {
        let (name, metric) = (&alert.name, &alert.metric);
        match known.get(metric) {
            Some(evaluator) => format!(
                "alerts {name:?}: metric {metric:?} is told by the evaluator {evaluator:?}, which no rule of [[sample.rules]] asks: \
                 add it there"
            ),
            None => format!(
                "alerts {name:?}: no evaluator tells a metric {metric:?}; the nearest are {}",
                nearest(metric, known.keys())
            ),
        }
    };
    unknown.map(fault).collect()
}

/// The evaluator of each of its metrics.
fn note(to: &mut BTreeMap<String, String>, evaluator: &dyn Evaluator) {
    for metric in evaluator.metrics() {
        to.insert(metric.name.to_string(), evaluator.id().to_owned());
    }
}

/// The names that differ least, quoted.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> String {
    let mut known: Vec<(usize, &String)> =
        known.map(|other| (strsim::levenshtein(name, other), other)).collect();
    known.sort();
    let near = known.iter().take(NAMED).map(|(_, other)| format!("{other:?}"));
    near.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(alerts: &str, rule: &str) -> Vec<String> {
        let text = format!(
            "[[sample.rules]]\nname = \"r\"\nfilter = \"operation = 'llm'\"\nrate = 1.0\nevaluators = [{rule}]\n{alerts}"
        );
        findings_of(&text).faults
    }

    fn findings_of(text: &str) -> Findings {
        findings(&Config::from_text("test", text, std::iter::empty()).unwrap())
    }

    fn alert(metric: &str) -> String {
        format!("[[alerts]]\nname = \"a\"\nmetric = \"{metric}\"\nmethod = \"change\"\n")
    }

    #[test]
    fn a_mistyped_metric_is_told_with_the_nearest() {
        assert_eq!(faults_of(&alert("hallucination"), "\"*\""), [""; 0]);
        let [typo] = faults_of(&alert("halucination"), "\"*\"").try_into().unwrap();
        assert!(typo.contains("\"halucination\"; the nearest are \"hallucination\""), "{typo}");
        let [other] = faults_of(&alert("hallucination"), "\"pii_leakage\"").try_into().unwrap();
        assert!(other.contains("told by the evaluator \"hallucination\", which no rule"), "{other}");
        assert_eq!(faults_of("", "\"pii_leakage\""), [""; 0]);
    }

    #[test]
    fn rules_that_give_a_trace_two_scores_of_a_metric_are_told() {
        let rule = |name: &str, evaluator: &str| {
            format!(
                "[[sample.rules]]\nname = \"{name}\"\nfilter = \"true\"\nrate = 1.0\nevaluators = [\"{evaluator}\"]\n"
            )
        };
        let warned = |second: &str, more: &str| {
            let found = findings_of(&(rule("all", "*") + second + &alert("hallucination") + more));
            assert_eq!(found.faults, [""; 0]);
            found.warnings
        };
        let second = rule("paid", "hallucination");
        let [told] = warned(&second, "").try_into().unwrap();
        for part in ["alerts \"a\"", "the rules \"all\", \"paid\" all have", "such as rule = 'all'"] {
            assert!(told.contains(part), "{part}: {told}");
        }
        // A column that is not of the rule parts no scores of one trace, and margins hold those of all rules.
        assert_eq!(warned(&second, "filter = \"service_name = 'shop'\"\n").len(), 1);
        assert_eq!(warned(&second, "slices = [\"rule\", \"service_name\"]\nmargins = true\n").len(), 1);
        // One rule has scores of the metric, or the alert keeps rules apart.
        assert_eq!(warned("", ""), [""; 0]);
        assert_eq!(warned(&rule("paid", "pii_leakage"), ""), [""; 0]);
        assert_eq!(warned(&second, "filter = \"rule = 'all'\"\n"), [""; 0]);
        assert_eq!(warned(&second, "slices = [\"rule\"]\n"), [""; 0]);
    }
}
