//! Designs: exact probabilities, what is recorded, and that estimates from what they select are right.

use super::chance::Chance;
use super::decide::{Draw, decide, uniform};
use super::input::View;
use super::memory::Memory;
use super::rule::{Rule, compile};
use super::rule_config::{Boost, Budget, RuleConfig, Target, WeightKind};
use super::tests::{NOW, closed, model_call, span};
use crate::domain::decision::{Decision, DecisionKind};
use crate::domain::id::TraceId;
use crate::domain::span::{Llm, Span, StatusCode};
use crate::domain::time::{Clock, SECOND, SystemClock, UnixNanos};
use crate::schema::batch::{decisions_to_batch, spans_to_batch};
use crate::stats::Rate;
use crate::stats::seeded::Seeded;
use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::sync::Arc;

const HOUR: i64 = 3_600 * SECOND;

fn compiled(rules: &[RuleConfig]) -> Vec<Rule> {
    compile(rules).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn rule(rate: f64) -> RuleConfig {
    RuleConfig::new("r", "operation = 'llm'", rate, &["*"])
}

fn boost(when: &str, rate: f64) -> Boost {
    Boost { when: when.to_owned(), rate }
}

/// What `rules` decide about a trace of these spans, without shadows.
fn decisions(spans: &[Span], rules: &[Rule]) -> Vec<Decision> {
    let trace = closed(&spans_to_batch(spans, "t", NOW).unwrap(), rules);
    decide(&trace, &View::new(&trace), rules).iter().map(|one| one.decision(NOW)).collect()
}

fn call(number: i64, model: &str) -> Span {
    span(number, Llm { request_model: Some(model.to_owned()), ..model_call() })
}

#[test]
fn a_boost_on_any_span_of_a_trace_counts_also_on_ordinary_ones() {
    let config = RuleConfig {
        boosts: vec![boost("status_code = 'error'", 1.0), boost("duration_ns > 1000", 0.5)],
        ..rule(0.25)
    };
    let rules = compiled(std::slice::from_ref(&config));
    let mut ordinary = span(2, Llm::default());
    let plain = [span(0, model_call()), span(1, model_call()), ordinary.clone()];
    assert_eq!(decisions(&plain, &rules)[0].inclusion_probability, 0.25);
    ordinary.end = UnixNanos(ordinary.start.0 + 2_000);
    let slow = [plain[0].clone(), ordinary.clone()];
    assert_eq!(decisions(&slow, &rules)[0].inclusion_probability, 0.5);
    ordinary.status = StatusCode::Error;
    let failed = decisions(&[plain[0].clone(), ordinary.clone()], &rules);
    assert_eq!((failed[0].inclusion_probability, failed[0].decision), (1.0, DecisionKind::Queued));
    assert_eq!(failed[0].reason, "rate 1 where status_code = 'error'");
    // Of a rule on spans the span itself is meant.
    let rules = compiled(&[RuleConfig { target: Target::Span, ..config }]);
    let mut wrong = span(1, model_call());
    wrong.status = StatusCode::Error;
    let found: Vec<f64> =
        decisions(&[plain[0].clone(), wrong], &rules).iter().map(|d| d.inclusion_probability).collect();
    assert_eq!(found, [0.25, 1.0]);
}

#[test]
fn strata_and_weights_are_those_of_the_matches() {
    let config = RuleConfig {
        stratify_by: "request_model".to_owned(),
        weight: "duration_ns / 2".to_owned(),
        ..rule(0.125)
    };
    let rules = compiled(&[config]);
    let mut heavy = call(2, "m2");
    heavy.end = UnixNanos(heavy.start.0 + 6);
    // The span 1 does not pass the filter, whatever its model.
    let other = span(1, Llm { request_model: Some("m9".to_owned()), ..Llm::default() });
    let found = &decisions(&[span(0, Llm::default()), other, call(3, "m3"), heavy], &rules)[0];
    assert_eq!(found.stratum.as_deref(), Some("m2"), "the first match by its start");
    assert_eq!(found.inclusion_probability, 0.125 * 3.0, "the heaviest match");
    assert!(found.reason.contains("rate 0.375 by weight 3"), "{}", found.reason);
    let found = &decisions(&[span(0, model_call())], &rules)[0];
    assert_eq!((found.stratum.as_deref(), found.inclusion_probability), (Some("(null)"), 0.125));
    assert!(found.reason.contains("its weight is no number above 0"), "{}", found.reason);
}

#[test]
fn the_sampling_before_us_multiplies() {
    let rules = compiled(&[rule(0.5)]);
    let before = |state: &str| {
        let mut root = span(0, model_call());
        root.trace_state = state.to_owned();
        decisions(&[root], &rules)[0].inclusion_probability
    };
    assert_eq!((before(""), before("ot=th:c"), before("ot=th:C")), (0.5, 0.125, 0.5));
}

#[test]
fn rules_that_share_a_salt_nest_and_others_do_not() {
    let draw = |salt: &str, version: &str, n: i32| uniform(salt, &n.to_string(), version);
    let (mut both, mut shared) = (0, 0);
    for n in 0..4_000 {
        // Of rules with one salt the version is left out of the draw.
        let (one, same, other) = (draw("s", "", n), draw("s", "", n), draw("t", "v", n));
        assert!(one >= 0.1 || same < 0.5);
        both += i32::from(one < 0.5 && other < 0.5);
        shared += i32::from(one < 0.5 && same < 0.5);
    }
    assert!((both - 1_000).abs() < 120 && (shared - 2_000).abs() < 130, "{both} {shared}");
    let salted =
        |name: &str, rate| RuleConfig { salt: "s".to_owned(), ..RuleConfig::new(name, "true", rate, &["*"]) };
    let rules = compiled(&[salted("a", 0.1), salted("b", 0.5)]);
    assert!(rules.iter().all(|rule| rule.drawn_version().is_empty() && rule.config.salt() == "s"));
}

#[test]
fn a_stratum_has_its_least_number_in_each_window_and_then_the_rate() {
    let config = RuleConfig { stratify_by: "request_model".to_owned(), min_per_stratum: 3, ..rule(0.125) };
    let rules = compiled(&[config]);
    let mut memory = Memory::new(&rules);
    let mut pi = |stratum: &str, now: i64| {
        let chance = Chance::new(&rules[0], 0, f64::NAN);
        let mut draw = Draw { stratum: Some(Arc::from(stratum)), ..Draw::new(0.5, 0.5, chance) };
        memory.settle(&mut draw, &rules[0], 0, UnixNanos(now));
        draw.pi
    };
    for start in [0, HOUR] {
        let common: Vec<f64> = (0..5).map(|n| pi("common", start + n)).collect();
        assert_eq!(common, [0.5, 0.5, 0.5, 0.0625, 0.0625]);
        assert_eq!([pi("rare", start + 9), pi("common", start + 9)], [0.5, 0.0625]);
    }
    // A clock that goes back into the window before does not begin it again.
    assert_eq!(pi("common", HOUR - 1), 0.0625);
}

#[test]
fn an_outlier_is_far_from_what_was_usual() {
    let config =
        RuleConfig { weight: "duration_ns".to_owned(), weight_kind: WeightKind::Outlier, ..rule(0.01) };
    let rules = compiled(&[config]);
    let (mut memory, mut random) = (Memory::new(&rules), Seeded::new(7));
    let mut p = |weight: f64| {
        let mut draw = Draw { weight, ..Draw::new(0.5, 1.0, Chance::new(&rules[0], 0, weight)) };
        memory.settle(&mut draw, &rules[0], 0, NOW);
        draw.pi
    };
    assert_eq!(p(1e9), 0.01, "nothing is usual yet");
    for _ in 0..500 {
        assert!(p(1e6 * (0.5 + random.unit())) < 0.2);
    }
    let far = p(1e9);
    assert!(far > 0.5, "{far}");
    assert_eq!((p(f64::NAN), p(-1.0)), (0.01, 0.01));
}

#[test]
fn what_the_budget_takes_away_is_told_apart_from_what_the_rate_does() {
    let mut draw = Draw::new(0.3, 0.5, Chance::new(&compiled(&[rule(0.5)])[0], 0, f64::NAN));
    assert_eq!((draw.kind(), draw.pi), (DecisionKind::Queued, 0.25));
    draw.pace(0.5);
    assert_eq!((draw.kind(), draw.pi), (DecisionKind::OverBudget, 0.125));
    assert_eq!(
        draw.told(&compiled(&[rule(0.5)])[0]),
        "drew 0.300000, rate 0.5, of which the budget leaves 0.25"
    );
    draw.number = 0.7;
    assert_eq!(draw.kind(), DecisionKind::NotSampled);
    draw.number = 0.2;
    assert_eq!(draw.kind(), DecisionKind::Queued);
}

/// One match of the simulated traffic.
struct Match {
    stratum: Arc<str>,
    is_error: bool,
    weight: f64,
    fails: bool,
    before: f64,
    at: UnixNanos,
}

/// Traffic in which errors, slow answers and a rare model fail more often, and come in bursts.
fn traffic(random: &mut Seeded, count: usize) -> Vec<Match> {
    let mut at = 20_000 * 24 * HOUR;
    let models: [Arc<str>; 3] = [Arc::from("large"), Arc::from("small"), Arc::from("rare")];
    let mut all = Vec::with_capacity(count);
    for n in 0..count {
        // A day in which each fifth stretch is a burst.
        let pause = if n / 50 % 5 == 0 { 2.0 } else { 107.0 };
        at += (2.0 * pause * random.unit() * SECOND as f64) as i64;
        let kind = random.unit();
        let stratum = if kind < 0.8 {
            0
        } else if kind < 0.97 {
            1
        } else {
            2
        };
        let is_error = random.unit() < 0.08;
        let weight = 0.25 + 3.0 * random.unit();
        let rate = [0.08, 0.15, 0.4][stratum] + 0.4 * f64::from(u8::from(is_error)) + 0.03 * weight;
        let before = if random.unit() < 0.3 { 0.5 } else { 1.0 };
        let (stratum, at) = (models[stratum].clone(), UnixNanos(at));
        all.push(Match { stratum, is_error, weight, fails: random.unit() < rate, before, at });
    }
    all
}

/// The share of failures in [`traffic`]: the means of its parts.
fn truth() -> f64 {
    0.8 * 0.08 + 0.17 * 0.15 + 0.03 * 0.4 + 0.08 * 0.4 + 0.03 * 1.75
}

/// How often the interval of `rate` holds the truth, the mean estimate, and the mean number of items.
fn simulated(config: RuleConfig, runs: u64, count: usize) -> (f64, f64, f64) {
    let rules = compiled(&[config]);
    let (mut covered, mut sum, mut items) = (0u32, 0.0, 0.0);
    for run in 0..runs {
        let (mut random, mut memory, mut rate) = (Seeded::new(1_000 + run), Memory::new(&rules), Rate::new());
        for one in traffic(&mut random, count) {
            // What the sampling before us let through.
            if random.unit() >= one.before {
                continue;
            }
            let chance = Chance::new(&rules[0], u64::from(one.is_error), one.weight);
            let drawn = Draw::new(random.unit(), one.before, chance);
            let (stratum, boosts) = (Some(one.stratum), u64::from(one.is_error));
            let mut draw = Draw { stratum, weight: one.weight, boosts, ..drawn };
            memory.settle(&mut draw, &rules[0], 0, one.at);
            if draw.is_selected() {
                memory.spend(0, one.at);
                assert!(rate.push(one.fails, draw.pi));
            }
        }
        let estimate = rate.estimate(0.95).unwrap();
        let (lower, upper) = (estimate.lower.unwrap(), estimate.upper.unwrap());
        covered += u32::from((lower..=upper).contains(&truth()));
        sum += estimate.estimate;
        items += estimate.n as f64;
    }
    let runs = runs as f64;
    (f64::from(covered) / runs, sum / runs, items / runs)
}

/// Under each design the weighted rate is unbiased, and its 95 % interval holds the truth 93 to 97 % of the time.
#[test]
fn estimates_are_right_under_every_design() {
    let strata = RuleConfig { stratify_by: "request_model".to_owned(), min_per_stratum: 2, ..rule(0.15) };
    let budget = Budget { items_per_day: Some(150.0), ..Budget::default() };
    let minute = Budget { items_per_minute: Some(1.0), ..Budget::default() };
    let designs = [
        ("uniform", rule(0.2)),
        ("errors", RuleConfig { boosts: vec![boost("status_code = 'error'", 0.9)], ..rule(0.15) }),
        ("strata", strata.clone()),
        ("weights", RuleConfig { weight: "duration_ns".to_owned(), ..rule(0.1) }),
        (
            "outliers",
            RuleConfig { weight: "duration_ns".to_owned(), weight_kind: WeightKind::Outlier, ..rule(0.15) },
        ),
        ("day", RuleConfig { budget, ..rule(1.0) }),
        ("minutes", RuleConfig { budget: minute, ..rule(0.5) }),
        (
            "strata in a budget",
            RuleConfig { budget: Budget { items_per_day: Some(200.0), ..Budget::default() }, ..strata },
        ),
    ];
    for (name, design) in designs {
        let (coverage, mean, items) = simulated(design, 2_000, 1_000);
        println!("{name}: coverage {coverage:.4}, mean {mean:.4} of {:.4}, {items:.0} items", truth());
        assert!((0.93..=0.97).contains(&coverage), "{name}: coverage {coverage}");
        assert!((mean - truth()).abs() < 0.004, "{name}: mean {mean} of {}", truth());
    }
}

#[test]
fn the_draw_depends_on_the_trace_and_not_on_when_it_comes() {
    let rules = compiled(&[rule(0.5)]);
    let of = |byte: u8| {
        let mut root = span(0, model_call());
        root.trace_id = TraceId([byte; 16]);
        decisions(&[root], &rules).remove(0)
    };
    for byte in 1..50 {
        assert_eq!(of(byte), of(byte));
    }
    assert!((1..50).any(|b| of(b).decision == DecisionKind::Queued));
    assert!((1..50).any(|b| of(b).decision == DecisionKind::NotSampled));
}

/// An item that was put back, or evaluated again for spans that came late, is no second one of the budget and of its stratum.
#[tokio::test]
async fn what_is_evaluated_again_counts_once_after_a_restart() {
    let now = SystemClock.now();
    let queued = |reason: &str| Decision { decided_at: now, reason: reason.to_owned(), ..one_decision() };
    let said = ["rate 1", "spans came late: evaluation 2", "put back by request", ""];
    let rows = decisions_to_batch(&said.map(queued)).unwrap();
    let day = Budget { items_per_day: Some(9.0), ..Budget::default() };
    let month = Budget { items_per_month: Some(9.0), ..Budget::default() };
    for budget in [day, month] {
        let memory = Memory::new(&compiled(&[RuleConfig { budget, ..rule(1.0) }]));
        let mut settings = SessionConfig::new();
        settings.options_mut().execution.time_zone = Some("UTC".to_owned());
        let context = SessionContext::new_with_config(settings);
        context.register_batch("decisions", rows.clone()).unwrap();
        let told = context.sql(memory.past().unwrap()).await.unwrap().collect().await.unwrap();
        let sum = |name: &str| -> i64 {
            let column = |batch: &RecordBatch| {
                batch.column_by_name(name).unwrap().as_primitive::<Int64Type>().values().iter().sum::<i64>()
            };
            told.iter().map(column).sum()
        };
        assert_eq!((sum("seen"), sum("queued")), (2, 2));
    }
}

/// A decision that the rule `r` has selected.
fn one_decision() -> Decision {
    let decided = decisions(&[span(0, model_call())], &compiled(&[rule(1.0)])).remove(0);
    assert_eq!(decided.decision, DecisionKind::Queued);
    decided
}

/// A trace is written in one frame only if its shadows are counted as well.
#[test]
fn what_may_follow_from_a_match_counts_its_shadows() {
    let shadow = RuleConfig { shadow_of: "r".to_owned(), ..RuleConfig::new("s", "", 1.0, &["*"]) };
    let rules = compiled(&[rule(1.0), shadow]);
    let trace = closed(&spans_to_batch(&[span(0, model_call())], "t", NOW).unwrap(), &rules);
    let view = View::new(&trace);
    let drawn = decide(&trace, &view, &rules);
    let most: Vec<usize> = drawn.iter().map(|one| one.most_decisions(&rules)).collect();
    assert_eq!((most, drawn[0].shadows(&rules).len()), (vec![2], 1));
}
