//! Second phases: of what a cheap rule has scored, a part is judged by a dear one, chosen by those scores.
//!
//! The decision, the items that follow and the scores that it was made from become durable in one frame. π is the product
//! of both phases, so an estimate from the second phase needs nothing of the first.

use super::chance::Chance;
use super::decide::{Draw, item_id, key_of, uniform};
use super::marks::marks_of_scores;
use super::memory::Memory;
use super::outgoing::throttled;
use super::prices::Prices;
use super::rule::Rule;
use crate::domain::decision::{Decision, DecisionKind};
use crate::domain::id::{SpanId, TraceId};
use crate::domain::time::UnixNanos;
use crate::queue::{Item, Queue};
use arrow::array::RecordBatch;
use parking_lot::Mutex;
use std::sync::Arc;

/// The rules that take what other rules have scored.
pub struct SecondPhases {
    rules: Arc<Vec<Rule>>,
    memory: Mutex<Memory>,
}

/// What follows from the scores of an item.
#[derive(Debug, Default)]
pub struct Follows {
    /// One or more a second phase.
    pub decisions: Vec<Decision>,
    /// The items of those that said yes.
    pub items: Vec<Item>,
}

impl SecondPhases {
    /// Those among `rules`.
    pub fn new(rules: Arc<Vec<Rule>>) -> Self {
        let memory = Mutex::new(Memory::new(&rules));
        Self { rules, memory }
    }

    /// With prices that are learned elsewhere, for budgets in money.
    #[must_use]
    pub fn with_prices(self, prices: Prices) -> Self {
        Self { memory: Mutex::new(self.memory.into_inner().with_prices(prices)), ..self }
    }

    /// Takes in the answer to [`super::Sampler::past`], as it stands at `now`.
    pub fn restore(&self, rows: &[RecordBatch], now: UnixNanos) {
        self.memory.lock().restore(&self.rules, rows, now);
    }

    /// Whether a second phase looks at the scores of this item: of a rule with evaluators in two lanes at those of the first.
    pub fn looks_at(&self, item: &Item) -> bool {
        let first = self.rules.iter().find(|rule| rule.config.name == item.rule);
        // One that is evaluated again was decided about by its first scores.
        !item.is_again
            && first.is_some_and(|rule| rule.lanes.first() == Some(&item.lane))
            && self.rules.iter().any(|rule| rule.config.after == item.rule)
    }

    /// Decides about `item` by the second phases of its rule. `scores` are all its rows; `queue` has room or not.
    pub fn decide(&self, item: &Item, scores: &RecordBatch, queue: &Queue, now: UnixNanos) -> Follows {
        let mut follows = Follows::default();
        if !self.looks_at(item) {
            return follows;
        }
        for (bit, rule) in self.rules.iter().enumerate().filter(|(_, rule)| rule.config.after == item.rule) {
            let of = (item.trace_id, item.span_id);
            let Some(mut draw) = drawn(rule, of, item.inclusion_probability, scores) else {
                let told = "no score passes the filter".to_owned();
                let pi = item.inclusion_probability * rule.config.rate;
                follows.decisions.push(decision(rule, item, (DecisionKind::Filtered, told, pi, None), now));
                continue;
            };
            let mut memory = self.memory.lock();
            memory.settle(&mut draw, rule, bit, now);
            let stratum = draw.stratum.as_deref().map(str::to_owned);
            let said = (draw.kind(), draw.told(rule), draw.pi, stratum);
            let decided = decision(rule, item, said, now);
            let items = if draw.is_selected() { items(rule, item, &draw, now) } else { Vec::new() };
            let (room, full): (Vec<Item>, Vec<Item>) =
                items.into_iter().partition(|item| queue.has_room(item, 0, 0));
            follows.decisions.extend(full.iter().map(|item| throttled(decided.clone(), item.lane)));
            if full.is_empty() || !room.is_empty() {
                follows.decisions.push(decided);
            }
            if !room.is_empty() {
                memory.spend(bit, now);
            }
            follows.items.extend(room);
        }
        follows
    }
}

/// The draw about an item that came with probability `before`, by its scores; none if none passes the filter.
pub(super) fn drawn(
    rule: &Rule,
    (trace, span): (TraceId, SpanId),
    before: f64,
    scores: &RecordBatch,
) -> Option<Draw> {
    let marks = marks_of_scores(scores, rule);
    let passing: Vec<_> = marks.iter().filter(|mark| mark.passes(0)).collect();
    let first = passing.first()?;
    let boosts = marks.iter().fold(0, |all, mark| all | mark.boosts) << rule.boost_at;
    let weight = passing.iter().filter_map(|mark| mark.said_by(0)).map(|said| said.weight);
    let weight = weight.fold(f64::NAN, f64::max);
    let stratum = first.said_by(0).and_then(|said| said.stratum.clone());
    let number = uniform(rule.config.salt(), &key_of(rule, trace, span), rule.drawn_version());
    let draw = Draw::new(number, before, Chance::new(rule, boosts, weight));
    Some(Draw { stratum, weight, boosts, ..draw })
}

fn decision(
    rule: &Rule,
    item: &Item,
    (decision, reason, pi, stratum): (DecisionKind, String, f64, Option<String>),
    now: UnixNanos,
) -> Decision {
    Decision {
        trace_id: item.trace_id,
        span_id: Some(item.span_id),
        rule: rule.config.name.clone(),
        rule_version: rule.version.clone(),
        decision,
        reason,
        inclusion_probability: pi,
        stratum,
        decided_at: now,
        span_time: UnixNanos(item.span_time),
        tenant: item.tenant.clone(),
    }
}

/// The same texts for the evaluators of the second phase, one item a lane.
fn items(rule: &Rule, first: &Item, draw: &Draw, now: UnixNanos) -> Vec<Item> {
    let key = key_of(rule, first.trace_id, first.span_id);
    let item = |lane: &crate::queue::Lane| Item {
        id: item_id(&key, &rule.config.name, &rule.version, *lane),
        rule: rule.config.name.clone(),
        rule_version: rule.version.clone(),
        inclusion_probability: draw.pi,
        stratum: draw.stratum.as_deref().map(str::to_owned),
        reason: draw.reason(rule),
        evaluators: rule.config.evaluators.clone(),
        queued_at: now.0,
        lane: *lane,
        score_version: 1,
        ..first.clone()
    };
    rule.lanes.iter().map(item).collect()
}
