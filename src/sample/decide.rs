//! The draw, and the rows and items that follow from it.

use super::assemble::{OpenSpan, OpenTrace};
use super::input::View;
use super::rule::Rule;
use super::upstream;
use crate::domain::decision::{Decision, DecisionKind};
use crate::domain::id::{SpanId, TraceId};
use crate::domain::span::Dialect;
use crate::domain::time::UnixNanos;
use crate::queue::{Item, Lane};
use crate::schema::batch::SpanRow;
use sha2::{Digest, Sha256};

/// What one rule makes of a trace, or of one of its spans. It holds no text: a rule may select each of 10 000 spans, and
/// each item of these has the documents of the trace, so items are built only when it is their turn.
pub struct Drawn<'a> {
    /// The span that was drawn, or the one that stands for the trace.
    span: &'a SpanRow,
    rule: &'a Rule,
    /// What was drawn, in [0, 1); none if no span passes the filter.
    number: Option<f64>,
}

/// Decides about `trace` by every rule; `view` is of the same trace. A pure function of its arguments (P5).
pub fn decide<'a>(trace: &'a OpenTrace, view: &View<'a>, rules: &'a [Rule]) -> Vec<Drawn<'a>> {
    // Ordinary traffic without a model in it is no business of any rule; a row for each would double its cost.
    if trace.spans.values().all(|s| s.row.llm.dialect == Dialect::None && s.rules == 0) {
        return Vec::new();
    }
    let Some(root) = view.root() else { return Vec::new() };
    let mut spans: Vec<&'a OpenSpan> = trace.spans.values().collect();
    spans.sort_by_key(|s| s.row.head.span_id);
    let mut drawn = Vec::new();
    for (bit, rule) in rules.iter().enumerate() {
        let passing = spans.iter().copied().filter(|s| s.rules >> bit & 1 == 1);
        let mut passing = passing.map(|s| &s.row).peekable();
        if passing.peek().is_none() {
            drawn.push(Drawn { span: root, rule, number: None });
        } else if rule.is_for_traces() {
            drawn.push(Drawn::new(root, rule));
        } else {
            drawn.extend(passing.map(|row| Drawn::new(row, rule)));
        }
    }
    drawn
}

impl<'a> Drawn<'a> {
    fn new(span: &'a SpanRow, rule: &'a Rule) -> Self {
        // Rules that share a salt draw the same number, whatever else they differ in.
        let version = if rule.config.salt.is_empty() { rule.version.as_str() } else { "" };
        let number = uniform(rule.salt(), &key(span, rule), version);
        Self { span, rule, number: Some(number) }
    }

    /// The row for the table `decisions`.
    pub fn decision(&self, now: UnixNanos) -> Decision {
        let rate = self.rule.config.rate;
        let (decision, reason, probability) = match self.number {
            None => (DecisionKind::Filtered, "no span passes the filter".to_owned(), rate),
            Some(number) if number >= rate => {
                (DecisionKind::NotSampled, format!("drew {number:.6}, rate {rate}"), self.probability())
            }
            Some(_) => (DecisionKind::Queued, self.reason(), self.probability()),
        };
        Decision {
            trace_id: self.span.head.trace_id,
            span_id: Some(self.span.head.span_id),
            rule: self.rule.config.name.clone(),
            rule_version: self.rule.version.clone(),
            decision,
            reason,
            inclusion_probability: probability,
            stratum: None,
            decided_at: now,
            span_time: self.span.head.start,
            tenant: self.span.head.tenant.to_string(),
        }
    }

    /// The lanes in which the rule has evaluators.
    pub fn lanes(&self) -> &'a [Lane] {
        &self.rule.lanes
    }

    /// The item for a lane of the queue, with all that is evaluated; none if the draw said no.
    pub fn item(&self, view: &View<'a>, now: UnixNanos, lane: Lane) -> Option<Item> {
        self.number.filter(|number| *number < self.rule.config.rate)?;
        let (input, model) = if self.rule.is_for_traces() {
            (view.of_trace(self.span), view.model())
        } else {
            (view.of_span(self.span), self.span.llm.request_model.clone())
        };
        let head = &self.span.head;
        Some(Item {
            id: item_id(&key(self.span, self.rule), &self.rule.config.name, &self.rule.version, lane),
            trace_id: head.trace_id,
            span_id: head.span_id,
            rule: self.rule.config.name.clone(),
            rule_version: self.rule.version.clone(),
            inclusion_probability: self.probability(),
            stratum: None,
            reason: self.reason(),
            evaluators: self.rule.config.evaluators.clone(),
            span_time: head.start.0,
            queued_at: now.0,
            service_name: head.service_name.to_string(),
            request_model: model,
            tenant: head.tenant.to_string(),
            lane,
            score_version: 1,
            input,
        })
    }

    fn probability(&self) -> f64 {
        let state = self.span.head.trace_state.as_deref().unwrap_or_default();
        upstream::probability(state) * self.rule.config.rate
    }

    fn reason(&self) -> String {
        format!("rate {}", self.rule.config.rate)
    }
}

/// What the draw of `rule` is about: the trace, or the span.
fn key(span: &SpanRow, rule: &Rule) -> String {
    let one = (!rule.is_for_traces()).then_some(span.head.span_id);
    hex_key(span.head.trace_id, one)
}

fn hex_key(trace: TraceId, span: Option<SpanId>) -> String {
    span.map_or_else(|| trace.to_string(), |span| format!("{trace}/{span}"))
}

/// A number in [0, 1) that depends on nothing but its arguments.
fn uniform(salt: &str, key: &str, version: &str) -> f64 {
    let digest = Sha256::digest(format!("{salt}\0{key}\0{version}"));
    let mut eight = [0u8; 8];
    eight.copy_from_slice(&digest[..8]);
    // 53 bits are what a double holds exactly.
    (u64::from_be_bytes(eight) >> 11) as f64 / (1u64 << 53) as f64
}

/// The identity of an item: the same trace or span, rule and lane give the same.
pub fn item_id(key: &str, rule: &str, version: &str, lane: Lane) -> String {
    // Those of the first lane are as they were when there was one.
    let lane = if lane == Lane::Fast { String::new() } else { format!("\0{}", lane.as_str()) };
    hex::encode(&Sha256::digest(format!("{key}\0{rule}\0{version}{lane}"))[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_uniform_and_repeatable() {
        let n = 20_000;
        let draws: Vec<f64> = (0..n).map(|i| uniform("salt", &i.to_string(), "v1")).collect();
        assert_eq!(draws[7], uniform("salt", "7", "v1"));
        assert_ne!(draws[7], uniform("salt", "7", "v2"));
        let share = draws.iter().filter(|u| **u < 0.1).count() as f64 / f64::from(n);
        assert!((share - 0.1).abs() < 0.01, "{share}");
        assert!(draws.iter().all(|u| (0.0..1.0).contains(u)));
    }
}
