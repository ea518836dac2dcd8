//! The draw, and the rows and items that follow from it.

use super::assemble::OpenTrace;
use super::input;
use super::queue::Item;
use super::rule::Rule;
use super::upstream;
use crate::domain::batch::SpanRow;
use crate::domain::decision::{Decision, DecisionKind};
use crate::domain::id::{SpanId, TraceId};
use crate::domain::span::Dialect;
use crate::domain::time::UnixNanos;
use crate::domain::trace::EvalInput;
use sha2::{Digest, Sha256};

/// What follows from judging one trace by every rule.
#[derive(Default)]
pub struct Verdict {
    /// Rows for the table `decisions`.
    pub decisions: Vec<Decision>,
    /// Items for the queue.
    pub items: Vec<Item>,
    /// Roughly the bytes of the items.
    pub bytes: usize,
}

impl Verdict {
    /// Adds a decision `queued` and its item.
    pub fn push(&mut self, decision: Decision, item: Item, bytes: usize) {
        self.decisions.push(decision);
        self.items.push(item);
        self.bytes += bytes;
    }

    /// Each decision with the item that follows from it.
    pub fn drain(&mut self) -> Vec<(Decision, Option<Item>)> {
        let mut items = std::mem::take(&mut self.items).into_iter();
        let decisions = std::mem::take(&mut self.decisions).into_iter();
        decisions
            .map(|decision| {
                let queued = decision.decision == DecisionKind::Queued;
                (decision, if queued { items.next() } else { None })
            })
            .collect()
    }
}

/// Decides about `trace` by every rule. A pure function of its arguments (P5).
pub fn decide(id: TraceId, trace: &OpenTrace, rules: &[Rule], now: UnixNanos) -> Verdict {
    let mut verdict = Verdict::default();
    // Ordinary traffic without a model in it is no business of any rule; a row for each would double its cost.
    if trace.spans.values().all(|s| s.row.llm.dialect == Dialect::None && s.rules == 0) {
        return verdict;
    }
    for (bit, rule) in rules.iter().enumerate() {
        let mut matching: Vec<SpanId> =
            trace.spans.iter().filter(|(_, s)| s.rules >> bit & 1 == 1).map(|(id, _)| *id).collect();
        matching.sort();
        if matching.is_empty() {
            if let Some((root, _)) = input::of_trace(trace) {
                let reason = "no span passes the filter";
                verdict.decisions.push(row(
                    root,
                    rule,
                    DecisionKind::Filtered,
                    reason,
                    rule.config.rate,
                    now,
                ));
            }
        } else if rule.is_for_traces() {
            if let Some((root, input)) = input::of_trace(trace) {
                let model = model_of(trace);
                draw(&mut verdict, root, input, rule, &hex_key(id, None), model, now);
            }
        } else {
            for span in matching {
                if let Some((row, input)) = input::of_span(trace, &span) {
                    let key = hex_key(id, Some(span));
                    draw(&mut verdict, row, input, rule, &key, row.llm.request_model.clone(), now);
                }
            }
        }
    }
    verdict
}

fn draw(
    verdict: &mut Verdict,
    span: &SpanRow,
    input: EvalInput,
    rule: &Rule,
    key: &str,
    model: Option<String>,
    now: UnixNanos,
) {
    let upstream = upstream::probability(span.head.trace_state.as_deref().unwrap_or_default());
    let probability = upstream * rule.config.rate;
    // Rules that share a salt draw the same number, whatever else they differ in.
    let version = if rule.config.salt.is_empty() { rule.version.as_str() } else { "" };
    let drawn = uniform(rule.salt(), key, version);
    if drawn >= rule.config.rate {
        let reason = format!("drew {drawn:.6}, rate {}", rule.config.rate);
        verdict.decisions.push(row(span, rule, DecisionKind::NotSampled, &reason, probability, now));
        return;
    }
    let reason = format!("rate {}", rule.config.rate);
    verdict.decisions.push(row(span, rule, DecisionKind::Queued, &reason, probability, now));
    verdict.items.push(Item {
        id: item_id(key, &rule.config.name, &rule.version),
        trace_id: span.head.trace_id.to_string(),
        span_id: span.head.span_id.to_string(),
        rule: rule.config.name.clone(),
        rule_version: rule.version.clone(),
        inclusion_probability: probability,
        stratum: None,
        reason,
        evaluators: rule.config.evaluators.clone(),
        span_time: span.head.start.0,
        queued_at: now.0,
        service_name: span.head.service_name.to_string(),
        request_model: model,
        tenant: span.head.tenant.to_string(),
        input,
    });
}

fn row(
    span: &SpanRow,
    rule: &Rule,
    decision: DecisionKind,
    reason: &str,
    inclusion_probability: f64,
    now: UnixNanos,
) -> Decision {
    Decision {
        trace_id: span.head.trace_id,
        span_id: Some(span.head.span_id),
        rule: rule.config.name.clone(),
        rule_version: rule.version.clone(),
        decision,
        reason: reason.to_owned(),
        inclusion_probability,
        stratum: None,
        decided_at: now,
        span_time: span.head.start,
        tenant: span.head.tenant.to_string(),
    }
}

fn hex_key(trace: TraceId, span: Option<SpanId>) -> String {
    span.map_or_else(|| trace.to_string(), |span| format!("{trace}/{span}"))
}

/// The model of the last model call that names one.
fn model_of(trace: &OpenTrace) -> Option<String> {
    let named = trace.spans.values().filter(|s| s.row.llm.request_model.is_some());
    named.max_by_key(|s| (s.row.head.end, s.row.head.span_id)).and_then(|s| s.row.llm.request_model.clone())
}

/// A number in [0, 1) that depends on nothing but its arguments.
fn uniform(salt: &str, key: &str, version: &str) -> f64 {
    let digest = Sha256::digest(format!("{salt}\0{key}\0{version}"));
    let mut eight = [0u8; 8];
    eight.copy_from_slice(&digest[..8]);
    // 53 bits are what a double holds exactly.
    (u64::from_be_bytes(eight) >> 11) as f64 / (1u64 << 53) as f64
}

/// The identity of an item: the same trace or span and rule give the same.
pub fn item_id(key: &str, rule: &str, version: &str) -> String {
    hex::encode(&Sha256::digest(format!("{key}\0{rule}\0{version}"))[..16])
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
