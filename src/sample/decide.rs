//! The draw, and the rows and items that follow from it.

use super::assemble::{OpenSpan, OpenTrace};
use super::chance::{Chance, Why, faulty};
use super::input::View;
use super::rule::Rule;
use super::upstream::Upstream;
use crate::domain::decision::{Decision, DecisionKind};
use crate::domain::id::{SpanId, TraceId};
use crate::domain::prompt::Prompt;
use crate::domain::span::Dialect;
use crate::domain::time::UnixNanos;
use crate::queue::{Item, Lane};
use crate::schema::batch::SpanRow;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// A match, and what was drawn for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Draw {
    /// In [0, 1).
    pub number: f64,
    /// With which probability it came to the rule: the sampling before us, or that of the rule whose item it is.
    pub before: f64,
    /// What the rule gives it.
    pub chance: Chance,
    /// The probability of both, and of what budgets leave: with it the item is selected.
    pub pi: f64,
    /// Its stratum, if the rule has strata.
    pub stratum: Option<Arc<str>>,
    /// Its weight; NaN for none.
    pub weight: f64,
    /// Which boosts hold, a bit each, in the order of all rules.
    pub boosts: u64,
}

impl Draw {
    /// With the probability that `chance` gives.
    pub fn new(number: f64, before: f64, chance: Chance) -> Self {
        let pi = before * chance.p;
        Self { number, before, chance, pi, stratum: None, weight: f64::NAN, boosts: 0 }
    }

    /// Budgets leave this part of the probability.
    pub fn pace(&mut self, left: f64) {
        self.pi = (self.before * (self.chance.p * left)).max(f64::MIN_POSITIVE);
    }

    /// Whether it is selected. This depends on the number, the way here and π alone, so that a row of `decisions` is
    /// enough to decide again.
    pub fn is_selected(&self) -> bool {
        self.number * self.before < self.pi
    }

    /// What was decided.
    pub fn kind(&self) -> DecisionKind {
        match self.is_selected() {
            true => DecisionKind::Queued,
            // Without the budget it would have been selected.
            false if self.number < self.chance.p => DecisionKind::OverBudget,
            false => DecisionKind::NotSampled,
        }
    }

    /// Why it is selected, for a person to read.
    pub fn reason(&self, rule: &Rule) -> String {
        let mut said = self.chance.said(rule);
        if self.pi < self.before * self.chance.p {
            said.push_str(&format!(", of which the budget leaves {}", self.pi / self.before));
        }
        said
    }

    /// The reason of the decision.
    pub fn told(&self, rule: &Rule) -> String {
        match self.is_selected() {
            true => self.reason(rule),
            false => format!("drew {:.6}, {}", self.number, self.reason(rule)),
        }
    }
}

/// Why the spans of an experiment's run are no business of any rule.
const OF_EXPERIMENT: &str = "a run of an experiment: it is not production";

/// What one rule makes of a trace, or of one of its spans. It holds no text of the spans: a rule may select each of 10 000
/// spans, and each item of these has the documents of the trace, so items are built only when it is their turn.
#[derive(Clone)]
pub struct Drawn<'a> {
    /// The span that was drawn, or the one that stands for the trace.
    span: &'a SpanRow,
    rule: &'a Rule,
    /// The bit of the rule.
    bit: usize,
    /// None if no span passes the filter, or all are of an experiment.
    draw: Option<Box<Draw>>,
}

/// Decides about `trace` by every rule that looks at spans; `view` is of the same trace. A pure function of its arguments
/// (P5); what depends on earlier matches is put in by [`super::memory::Memory::settle`].
pub fn decide<'a>(trace: &'a OpenTrace, view: &View<'a>, rules: &'a [Rule]) -> Vec<Drawn<'a>> {
    // Ordinary traffic without a model in it is no business of any rule; a row for each would double its cost.
    if trace.spans.values().all(|s| s.row.llm.dialect == Dialect::None && s.marks.rules == 0) {
        return Vec::new();
    }
    let Some(root) = view.root() else { return Vec::new() };
    let mut spans: Vec<&'a OpenSpan> = trace.spans.values().collect();
    spans.sort_by_key(|s| s.row.head.span_id);
    let boosts = trace.boosts();
    let mut drawn = Vec::new();
    for (bit, rule) in rules.iter().enumerate().filter(|(_, rule)| rule.is_over_spans()) {
        let passing: Vec<&'a OpenSpan> = spans.iter().copied().filter(|s| s.marks.passes(bit)).collect();
        if passing.is_empty() || root.head.trace_id.is_of_experiment() {
            drawn.push(Drawn { span: root, rule, bit, draw: None });
        } else if rule.is_for_traces() {
            drawn.push(Drawn::new(root, (rule, bit), &passing, boosts));
        } else {
            let spans = passing.iter().copied();
            drawn.extend(spans.map(|s| Drawn::new(&s.row, (rule, bit), &[s], s.marks.boosts)));
        }
    }
    drawn
}

impl<'a> Drawn<'a> {
    /// The draw of `rule` about `span`, with what it says of `passing`.
    fn new(span: &'a SpanRow, (rule, bit): (&'a Rule, usize), passing: &[&OpenSpan], boosts: u64) -> Self {
        let state = span.head.trace_state.as_deref().unwrap_or_default();
        let upstream = Upstream::read(state);
        if !upstream.is_readable {
            faulty(rule, "tracestate");
        }
        let weight = passing.iter().filter_map(|s| s.marks.said_by(bit)).map(|said| said.weight);
        // A trace weighs what its heaviest match does.
        let weight = weight.fold(f64::NAN, f64::max);
        let first = passing.iter().min_by_key(|s| (s.row.head.start, s.row.head.end, s.row.head.span_id));
        let stratum = first.and_then(|s| s.marks.said_by(bit)?.stratum.clone());
        let number = uniform(rule.config.salt(), &key(span, rule), rule.drawn_version());
        let draw = Draw::new(number, upstream.probability, Chance::new(rule, boosts, weight));
        Self { span, rule, bit, draw: Some(Box::new(Draw { stratum, weight, boosts, ..draw })) }
    }

    /// The items of `self` for the shadows of its rule, if it is selected.
    pub fn shadows(&self, rules: &'a [Rule]) -> Vec<Drawn<'a>> {
        let Some(draw) = self.draw.as_deref().filter(|draw| draw.is_selected()) else { return Vec::new() };
        let of_this = |(_, rule): &(usize, &Rule)| rule.config.shadow_of == self.rule.config.name;
        let shadows = rules.iter().enumerate().filter(of_this);
        let shadow = |(bit, rule): (usize, &'a Rule)| {
            let number = uniform(rule.config.salt(), &key(self.span, rule), rule.drawn_version());
            let chance = Chance { p: rule.config.rate, why: Why::Shadow };
            let drawn = Draw { stratum: draw.stratum.clone(), ..Draw::new(number, draw.pi, chance) };
            Drawn { span: self.span, rule, bit, draw: Some(Box::new(drawn)) }
        };
        shadows.map(shadow).collect()
    }

    /// How many decisions may follow from it at most: one for each lane, which may have no room, also of its shadows.
    pub fn most_decisions(&self, rules: &[Rule]) -> usize {
        let is_shadow = |rule: &&Rule| rule.config.shadow_of == self.rule.config.name;
        let lanes = |rule: &Rule| rule.lanes.len().max(1);
        lanes(self.rule) + rules.iter().filter(is_shadow).map(lanes).sum::<usize>()
    }

    /// The draw, its rule and the rule's bit, where there is a match.
    pub fn matched(&mut self) -> Option<(&mut Draw, &'a Rule, usize)> {
        self.draw.as_deref_mut().map(|draw| (draw, self.rule, self.bit))
    }

    /// The draw; none if no span passes the filter.
    pub fn draw(&self) -> Option<&Draw> {
        self.draw.as_deref()
    }

    /// The rule.
    pub fn rule(&self) -> &'a Rule {
        self.rule
    }

    /// The bit of the rule.
    pub fn bit(&self) -> usize {
        self.bit
    }

    /// The span that was drawn, or the one that stands for the trace.
    pub fn span_id(&self) -> SpanId {
        self.span.head.span_id
    }

    /// The row for the table `decisions`.
    pub fn decision(&self, now: UnixNanos) -> Decision {
        let (decision, reason, pi, stratum) = match &self.draw {
            None => {
                let is_of_experiment = self.span.head.trace_id.is_of_experiment();
                let told = if is_of_experiment { OF_EXPERIMENT } else { "no span passes the filter" };
                (DecisionKind::Filtered, told.to_owned(), self.rule.config.rate, None)
            }
            Some(draw) => {
                (draw.kind(), draw.told(self.rule), draw.pi, draw.stratum.as_deref().map(str::to_owned))
            }
        };
        Decision {
            trace_id: self.span.head.trace_id,
            span_id: Some(self.span.head.span_id),
            rule: self.rule.config.name.clone(),
            rule_version: self.rule.version.clone(),
            decision,
            reason,
            inclusion_probability: pi,
            stratum,
            decided_at: now,
            span_time: self.span.head.start,
            tenant: self.span.head.tenant.clone(),
        }
    }

    /// The lanes in which the rule has evaluators.
    pub fn lanes(&self) -> &'a [Lane] {
        &self.rule.lanes
    }

    /// The item for a lane of the queue, with all that is evaluated; none if the draw said no.
    pub fn item(&self, view: &View<'a>, now: UnixNanos, lane: Lane) -> Option<Item> {
        let draw = self.draw.as_deref().filter(|draw| draw.is_selected())?;
        let (input, model, prompt) = if self.rule.is_for_traces() {
            (view.of_trace(self.span), view.model(), view.prompt(self.span))
        } else {
            let llm = &self.span.llm;
            (view.of_span(self.span), llm.request_model.clone(), Prompt::of(llm))
        };
        let head = &self.span.head;
        Some(Item {
            id: item_id(&key(self.span, self.rule), &self.rule.config.name, &self.rule.version, lane),
            trace_id: head.trace_id,
            span_id: head.span_id,
            rule: self.rule.config.name.clone(),
            rule_version: self.rule.version.clone(),
            inclusion_probability: draw.pi,
            stratum: draw.stratum.as_deref().map(str::to_owned),
            reason: draw.reason(self.rule),
            evaluators: self.rule.config.evaluators.clone(),
            span_time: head.start.0,
            span_end: head.end.0,
            queued_at: now.0,
            service_name: head.service_name.to_string(),
            request_model: model,
            prompt,
            tenant: head.tenant.clone(),
            lane,
            score_version: 1,
            until: 0,
            is_again: false,
            input,
        })
    }
}

/// What the draw of `rule` is about: the trace, or the span.
fn key(span: &SpanRow, rule: &Rule) -> String {
    key_of(rule, span.head.trace_id, span.head.span_id)
}

/// What the draw of `rule` is about, of the trace and the span that stands for it.
pub fn key_of(rule: &Rule, trace: TraceId, span: SpanId) -> String {
    if rule.is_for_traces() { trace.to_string() } else { format!("{trace}/{span}") }
}

/// A number in [0, 1) that depends on nothing but its arguments.
pub fn uniform(salt: &str, key: &str, version: &str) -> f64 {
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
