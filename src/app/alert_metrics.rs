//! What is watched, and whether the metrics of it are told by an evaluator of a rule: an alert on another one would be silent for
//! ever.

use super::askers::Askers;
use super::error::AppError;
use crate::config::Config;
use crate::detect::Policy;
use crate::domain::time::{Clock, SystemClock};
use crate::drift::{AlertConfig, Plan, compile};
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

/// Every alert on a metric that no evaluator of a rule tells, with what may have been meant. What plug-ins tell is known only
/// when they run, so nothing is wrong where a rule asks one. Models are not opened and nobody is asked.
pub fn metric_faults(config: &Config) -> Vec<String> {
    if config.alerts.is_empty() {
        return Vec::new();
    }
    let (policy, clock): (_, Arc<dyn Clock>) = (Arc::new(Policy::new(&config.detect)), Arc::new(SystemClock));
    let registry = match Registry::with_models(&config.eval, &config.models, 1, &policy) {
        Ok(registry) => registry,
        Err(error) => return vec![error.to_string()],
    };
    // A key that is not on this machine is told at the start of the server.
    let Ok(askers) = Askers::open(config, &registry, &policy, &clock) else { return Vec::new() };
    faults(config, &registry.with(askers.evaluators(), &config.eval))
}

/// Says in the log what [`metric_faults`] tells, with the evaluators that run: a server that ran before does not stop for it.
pub(super) fn warn(config: &Config, registry: &Registry) {
    faults(config, registry).iter().for_each(|fault| tracing::warn!(fault, "an alert can never fire"));
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
        metric_faults(&Config::from_text("test", &text, std::iter::empty()).unwrap())
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
}
