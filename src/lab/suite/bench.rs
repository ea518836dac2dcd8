//! The evaluators that a suite needs.

use super::check::{Check, Condition, Test};
use super::compile::custom;
use super::load::Suite;
use crate::domain::score::{Better, Score};
use crate::domain::trace::EvalInput;
use crate::eval::{CustomConfig, Evaluator, Registry, score_input};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Evaluators that compare with an expected answer: of several accepted ones the best counts.
const COMPARING: &[&str] = &[
    "answer_semantic_similarity",
    "bleu",
    "rouge",
    "classification",
    "answer_correctness",
    "correctness",
    "accuracy",
    "facts_compare",
];

/// The evaluators of a suite, ready to be asked.
pub struct Bench<'a> {
    registry: &'a Registry,
    evaluators: BTreeMap<String, Arc<dyn Evaluator>>,
    /// Those that score every answer.
    named: Vec<String>,
}

impl<'a> Bench<'a> {
    /// `named` score every answer; `more` are asked by checks only.
    pub fn new(
        registry: &'a Registry,
        named: Vec<Arc<dyn Evaluator>>,
        more: Vec<Arc<dyn Evaluator>>,
    ) -> Self {
        let ids = named.iter().map(|evaluator| evaluator.id().to_owned()).collect();
        let all = named.into_iter().chain(more);
        let evaluators = all.map(|evaluator| (evaluator.id().to_owned(), evaluator)).collect();
        Self { registry, evaluators, named: ids }
    }

    /// The evaluators.
    pub fn evaluators(&self) -> Vec<Arc<dyn Evaluator>> {
        self.evaluators.values().cloned().collect()
    }

    /// Metrics that gates may name, with the side on which they are good.
    pub(super) fn metrics(&self) -> Vec<(String, Better)> {
        let evaluators = self.named.iter().filter_map(|id| self.evaluators.get(id));
        let metrics = evaluators.flat_map(|evaluator| {
            evaluator
                .metrics()
                .iter()
                .map(|metric| (metric_name(evaluator.id(), &metric.name), metric.better))
        });
        metrics.collect()
    }

    pub(super) fn named(&self) -> &[String] {
        &self.named
    }

    pub(super) fn version(&self, id: &str) -> String {
        self.evaluators.get(id).map(|evaluator| evaluator.version().to_owned()).unwrap_or_default()
    }

    /// What the evaluator `id` says of `input`; none if there is no such evaluator. Blocks.
    pub(super) fn scores(&self, id: &str, input: &EvalInput, expected: &[String]) -> Option<Vec<Score>> {
        let evaluator = self.evaluators.get(id)?;
        let ask = |input: &EvalInput| score_input(self.registry, evaluator.as_ref(), input).scores;
        if expected.len() < 2 || !COMPARING.contains(&id) {
            return Some(ask(input));
        }
        let better = evaluator.metrics().first().map_or(Better::Higher, |metric| metric.better);
        let mut best: Option<(f64, Vec<Score>)> = None;
        for (at, one) in expected.iter().enumerate() {
            let mut scores = ask(&EvalInput { expected: Some(one.clone()), ..input.clone() });
            let value = scores.first().and_then(|score| score.value).unwrap_or(f64::NEG_INFINITY);
            let worth = if better == Better::Lower { -value } else { value };
            for score in &mut scores {
                let which = format!("Of {} accepted answers, number {}.", expected.len(), at + 1);
                let why = score.rationale.take().map_or(which.clone(), |why| format!("{why} {which}"));
                score.rationale = Some(why);
            }
            if best.as_ref().is_none_or(|(most, _)| worth > *most) {
                best = Some((worth, scores));
            }
        }
        best.map(|(_, scores)| scores)
    }
}

/// What gates call a metric: its evaluator, and the metric behind it where that has another name.
pub(super) fn metric_name(evaluator: &str, metric: &str) -> String {
    if evaluator == metric { metric.to_owned() } else { format!("{evaluator}/{metric}") }
}

/// The ids of evaluators that checks of `suite` ask.
pub fn evaluators(suite: &Suite) -> Vec<String> {
    let mut ids = BTreeSet::new();
    visit(suite, &mut |test| {
        ids.extend(match test {
            Test::Local { local, .. } => Some(local.evaluator().to_owned()),
            Test::Evaluator { id, .. } | Test::Judge { id, .. } => Some(id.clone()),
            _ => None,
        });
    });
    ids.into_iter().collect()
}

/// The questions that checks of `suite` ask a judge, as evaluators of a configuration; each once.
pub fn questions(suite: &Suite) -> Vec<CustomConfig> {
    let mut questions = BTreeMap::new();
    visit(suite, &mut |test| {
        if let Test::Judge { id, question, .. } = test {
            questions.entry(id.clone()).or_insert_with(|| custom(question));
        }
    });
    questions.into_values().collect()
}

fn visit(suite: &Suite, see: &mut dyn FnMut(&Test)) {
    suite.cases.iter().flat_map(|case| &case.checks).for_each(|check| visit_check(check, see));
}

fn visit_check(check: &Check, see: &mut dyn FnMut(&Test)) {
    if let Some(Condition::Holds(test)) = &check.condition {
        visit_test(test, see);
    }
    visit_test(&check.test, see);
}

fn visit_test(test: &Test, see: &mut dyn FnMut(&Test)) {
    see(test);
    if let Test::Set { checks, .. } = test {
        checks.iter().for_each(|check| visit_check(check, see));
    }
}
