//! The evaluators that a suite needs.

use super::super::accepted::{Best, askings};
use super::check::{Check, Condition, Extract, Test};
use super::compile::custom;
use super::exact::Exact;
use super::load::Suite;
use crate::domain::score::{Better, Score};
use crate::domain::trace::EvalInput;
use crate::eval::{
    CustomConfig, Evaluator, JudgeDesk, PATIENCE, Registry, Unwritten, Writing, Written, score_until, written,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::time::Instant;

/// The evaluators of a suite, ready to be asked.
pub struct Bench<'a> {
    registry: &'a Registry,
    evaluators: BTreeMap<String, Arc<dyn Evaluator>>,
    /// Those that score every answer.
    named: Vec<String>,
    /// Where a judge is asked for parts of answers; none without a judge.
    desk: Option<Arc<dyn JudgeDesk>>,
    /// Whose answers are judged, and when those that wait for others give up.
    of: Option<(String, Instant)>,
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
        Self { registry, evaluators, named: ids, desk: None, of: None }
    }

    /// The same with the judge that writes, if there is one.
    #[must_use]
    pub fn with_desk(mut self, desk: Option<Arc<dyn JudgeDesk>>) -> Self {
        self.desk = desk;
        self
    }

    /// The same for answers of a tenant: those that wait for others are asked until `until`, and not for ten minutes each.
    #[must_use]
    pub fn for_tenant(mut self, tenant: &str, until: Instant) -> Self {
        self.of = Some((tenant.to_owned(), until));
        self
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

    /// Whose answers are judged, where that is known.
    pub(super) fn tenant(&self) -> Option<&str> {
        self.of.as_ref().map(|(tenant, _)| tenant.as_str())
    }

    fn until(&self) -> Instant {
        self.of.as_ref().map_or_else(|| Instant::now() + PATIENCE, |(_, until)| *until)
    }

    /// The part of the answer of `input` that `words` ask a judge for; none without a judge. Blocks.
    pub(super) fn part(&self, words: &str, input: &EvalInput) -> Option<Result<Written, Unwritten>> {
        let desk = self.desk.as_ref()?;
        // There is nothing to look for.
        if input.answer.as_ref().is_none_or(|answer| answer.trim().is_empty()) {
            return Some(Ok(Written { text: None, model: String::new() }));
        }
        Some(written(desk.as_ref(), Writing::Part(words), input, self.until()))
    }

    /// What a judge writes of failed checks, the contexts of `input`; none without a judge. Blocks.
    pub(super) fn analysis(&self, input: &EvalInput) -> Option<Result<Written, Unwritten>> {
        let desk = self.desk.as_ref()?;
        Some(written(desk.as_ref(), Writing::Analysis, input, self.until()))
    }

    /// What the evaluator `id` says of `input`, the best of `expected` where it compares with right answers; none if there
    /// is no such evaluator. Blocks.
    pub(super) fn scores(&self, id: &str, input: &EvalInput, expected: &[String]) -> Option<Vec<Score>> {
        let evaluator = self.evaluators.get(id)?;
        let ask =
            |input: &EvalInput| score_until(self.registry, evaluator.as_ref(), input, self.until()).scores;
        let asked = askings(evaluator.as_ref(), input, expected);
        if let [one] = asked.as_slice() {
            return Some(ask(one));
        }
        let mut best = Best::new(evaluator.as_ref());
        for one in &asked {
            if !best.take(ask(one)) {
                break;
            }
        }
        Some(best.told(expected.len()))
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

/// Whether checks of `suite` read the spans of its runs.
pub fn asks_for_spans(suite: &Suite) -> bool {
    let mut is_asked = false;
    visit(suite, &mut |test| is_asked |= matches!(test, Test::Exact { run: Exact::Spans(_), .. }));
    is_asked
}

/// Whether checks of `suite` read parts of answers that a judge is asked for.
pub fn asks_for_parts(suite: &Suite) -> bool {
    suite.cases.iter().flat_map(|case| &case.checks).any(asks_for_part)
}

fn asks_for_part(check: &Check) -> bool {
    let of_set = || matches!(&check.test, Test::Set { checks, .. } if checks.iter().any(asks_for_part));
    matches!(check.extract, Some(Extract::Prompt(_))) || of_set()
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
