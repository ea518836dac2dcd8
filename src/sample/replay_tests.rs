//! Decisions of many traces again: the same by the same rules, and told where the rules have changed.
//!
//! `GROUNDLINE_REPLAY_TRACES=100000 cargo test --release --lib replay` takes more than the usual number.

use super::assemble::Open;
use super::config::Config;
use super::decide::decide;
use super::input::View;
use super::memory::Memory;
use super::replay::Replay;
use super::replay_found::{Findings, Standing};
use super::rule::{Rule, compile};
use super::rule_config::{Boost, Budget, RuleConfig, Target};
use super::tests::{NOW, model_call, span};
use crate::domain::decision::{Decision, DecisionKind};
use crate::domain::id::TraceId;
use crate::domain::span::{Llm, Span, StatusCode};
use crate::domain::time::{SECOND, UnixNanos};
use crate::schema::batch::{decisions_to_batch, spans_to_batch};
use crate::stats::seeded::Seeded;
use arrow::array::RecordBatch;
use std::sync::LazyLock;

/// Traces that are decided about at once.
const CHUNK: u64 = 2_000;

fn traces() -> u64 {
    std::env::var("GROUNDLINE_REPLAY_TRACES").ok().and_then(|n| n.parse().ok()).unwrap_or(6_000)
}

fn designs() -> Vec<RuleConfig> {
    let errors = vec![
        Boost { when: "status_code = 'error'".to_owned(), rate: 0.8 },
        Boost { when: "duration_ns > 900".to_owned(), rate: 0.3 },
    ];
    vec![
        RuleConfig { salt: "s".to_owned(), ..RuleConfig::new("plain", "operation = 'llm'", 0.1, &["*"]) },
        RuleConfig {
            boosts: errors,
            weight: "duration_ns / 400.0".to_owned(),
            ..RuleConfig::new("biased", "operation = 'llm'", 0.05, &["*"])
        },
        RuleConfig {
            stratify_by: "request_model".to_owned(),
            min_per_stratum: 5,
            budget: Budget {
                items_per_minute: Some(20.0),
                items_per_day: Some(50_000.0),
                ..Budget::default()
            },
            ..RuleConfig::new("held", "request_model <> 'm0'", 0.4, &["*"])
        },
        RuleConfig { target: Target::Span, ..RuleConfig::new("spans", "operation = 'llm'", 0.2, &["*"]) },
        RuleConfig { shadow_of: "held".to_owned(), ..RuleConfig::new("shadow", "", 0.5, &["looping"]) },
    ]
}

fn compiled(rules: &[RuleConfig]) -> Vec<Rule> {
    compile(rules).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// One or two model calls and an ordinary span, some of them slow or failed, some sampled before.
fn trace(number: u64, random: &mut Seeded) -> Vec<Span> {
    let mut id = [1; 16];
    id[8..].copy_from_slice(&number.to_be_bytes());
    let model = format!("m{}", (random.unit() * random.unit() * 8.0) as u32);
    let call = || Llm { request_model: Some(model.clone()), ..model_call() };
    let mut spans = vec![span(0, call()), span(1, Llm::default())];
    if random.unit() < 0.3 {
        spans.push(span(2, call()));
    }
    let state = if random.unit() < 0.2 { "ot=th:5a3" } else { "" };
    for span in &mut spans {
        span.trace_id = TraceId(id);
        span.trace_state = state.to_owned();
        span.end = UnixNanos(span.start.0 + (1_000.0 * random.unit()) as i64);
        span.status = if random.unit() < 0.05 { StatusCode::Error } else { StatusCode::Ok };
    }
    spans
}

/// What the loop records of the spans of a batch, all decided at `now`.
fn recorded(spans: &RecordBatch, rules: &[Rule], memory: &mut Memory, now: UnixNanos) -> Vec<Decision> {
    let mut open = Open::new(Config::default());
    open.add_spans(1, spans, rules, |_| false, NOW);
    let mut decisions = Vec::new();
    // In one order: a budget selects by what came before, and each run of the tests decides about the same day.
    let mut traces = open.take_all(rules);
    traces.sort_by_key(|(id, _)| *id);
    for (_, trace) in traces {
        let view = View::new(&trace);
        for mut one in decide(&trace, &view, rules) {
            if let Some((draw, rule, bit)) = one.matched() {
                memory.settle(draw, rule, bit, now);
            }
            decisions.push(one.decision(now));
            if one.draw().is_some_and(|draw| draw.is_selected()) {
                memory.spend(one.bit(), now);
            }
            decisions.extend(one.shadows(rules).iter().map(|shadow| shadow.decision(now)));
        }
    }
    decisions
}

/// Spans and recorded decisions of `count` traces under [`designs`], in parts.
fn day(count: u64) -> Vec<(RecordBatch, Vec<Decision>)> {
    let (rules, mut random) = (compiled(&designs()), Seeded::new(11));
    let mut memory = Memory::new(&rules);
    let starts = (0..count).step_by(usize::try_from(CHUNK).unwrap());
    let part = |from: u64| {
        let spans: Vec<Span> =
            (from..(from + CHUNK).min(count)).flat_map(|number| trace(number, &mut random)).collect();
        let spans = spans_to_batch(&spans, "t", NOW).unwrap();
        let now = UnixNanos(NOW.0 + (10 + i64::try_from(from).unwrap() / 40) * SECOND);
        let decisions = recorded(&spans, &rules, &mut memory, now);
        (spans, decisions)
    };
    starts.map(part).collect()
}

/// The usual number of traces, decided about once for all tests.
fn shared() -> &'static [(RecordBatch, Vec<Decision>)] {
    static DAY: LazyLock<Vec<(RecordBatch, Vec<Decision>)>> = LazyLock::new(|| day(traces()));
    &DAY
}

fn replayed(day: &[(RecordBatch, Vec<Decision>)], rules: &[RuleConfig]) -> Replay {
    let mut replay = Replay::new(compiled(rules), Config::default());
    for (spans, decisions) in day {
        let decisions = decisions_to_batch(decisions).unwrap();
        replay.decide(std::slice::from_ref(spans), &[decisions], &[]).unwrap();
    }
    replay
}

fn found<'a>(replay: &'a Replay, rule: &str) -> &'a Findings {
    &replay.findings()[rule]
}

#[test]
fn the_same_rules_decide_the_same_about_every_trace() {
    let day = shared();
    let replay = replayed(day, &designs());
    let all: usize = day.iter().map(|(_, decisions)| decisions.len()).sum();
    for (name, found) in replay.findings() {
        assert_eq!(
            (found.standing, found.different, found.unknown),
            (Standing::Same, 0, 0),
            "{name}: {found:?}"
        );
        assert_eq!(
            (found.same, found.items_now, found.gained + found.lost),
            (found.decided, found.items_then, 0)
        );
        assert!(found.items_then > 20, "{name}: {found:?}");
    }
    let decided: u64 = replay.findings().values().map(|found| found.decided).sum();
    assert_eq!((decided, replay.gone().len()), (all as u64, 0));
    let kinds = |kind| day.iter().flat_map(|(_, d)| d).filter(|d| d.decision == kind).count();
    for kind in
        [DecisionKind::Filtered, DecisionKind::NotSampled, DecisionKind::OverBudget, DecisionKind::Queued]
    {
        assert!(kinds(kind) > 0, "{kind:?}");
    }
}

#[test]
fn a_row_that_was_decided_otherwise_is_found() {
    let mut day = shared()[..1].to_vec();
    let at = |day: &[(RecordBatch, Vec<Decision>)], rule: &str| {
        day[0].1.iter().position(|d| d.rule == rule && d.decision == DecisionKind::NotSampled).unwrap()
    };
    let (plain, held, biased) = (at(&day, "plain"), at(&day, "held"), at(&day, "biased"));
    day[0].1[plain].inclusion_probability *= 1.0 + f64::EPSILON;
    day[0].1[held].decision = DecisionKind::Queued;
    day[0].1[biased].reason.push('!');
    let replay = replayed(&day, &designs());
    for name in ["plain", "held", "biased"] {
        let found = found(&replay, name);
        assert_eq!((found.different, found.examples.len()), (1, 1), "{name}: {found:?}");
    }
}

#[test]
fn a_changed_rule_is_told_apart_with_what_it_would_select() {
    let mut rules = designs();
    rules[0].rate = 0.2;
    rules[1].boosts.remove(0);
    rules.truncate(2);
    rules.push(RuleConfig::new("new", "request_model = 'm3'", 1.0, &["*"]));
    let replay = replayed(shared(), &rules);
    let plain = found(&replay, "plain");
    // The salt is the same, so the higher rate selects all of then and as many again.
    assert_eq!((plain.standing, plain.lost, plain.unknown), (Standing::Changed, 0, 0));
    assert_eq!((plain.gained, plain.different), (plain.items_now - plain.items_then, plain.gained));
    assert!((1.8..2.2).contains(&(plain.items_now as f64 / plain.items_then as f64)), "{plain:?}");
    let biased = found(&replay, "biased");
    assert!(biased.standing == Standing::Changed && biased.lost > 0, "{biased:?}");
    let new = found(&replay, "new");
    assert_eq!((new.standing, new.items_then, new.gained), (Standing::New, 0, new.items_now));
    assert!(new.items_now > 100);
    assert_eq!(replay.gone().keys().map(String::as_str).collect::<Vec<_>>(), ["held", "shadow", "spans"]);
}

#[test]
fn a_changed_budget_is_paced_anew() {
    let mut rules = designs();
    rules.truncate(3);
    rules[2].budget = Budget { items_per_day: Some(50.0), ..Budget::default() };
    rules[2].min_per_stratum = 0;
    let replay = replayed(shared(), &rules);
    let held = found(&replay, "held");
    assert_eq!(held.standing, Standing::Changed);
    assert!(held.items_now <= 50 && held.items_now < held.items_then, "{held:?}");
}

#[test]
fn spans_that_are_gone_or_came_later_are_told() {
    let mut day = shared()[..1].to_vec();
    let half = day[0].0.num_rows() / 2;
    let first = day[0].0.column_by_name("trace_id").unwrap().clone();
    // Cut between two traces.
    let ids = arrow::array::AsArray::as_string::<i32>(&first);
    let cut = (half..).find(|row| ids.value(*row) != ids.value(row - 1)).unwrap();
    let late = {
        let mut failed = trace(0, &mut Seeded::new(11)).remove(0);
        (failed.span_id, failed.status) = (crate::domain::id::SpanId([9; 8]), StatusCode::Error);
        spans_to_batch(&[failed], "t", UnixNanos(NOW.0 + 3_600 * 24 * SECOND)).unwrap()
    };
    day[0].0 = arrow::compute::concat_batches(&late.schema(), &[day[0].0.slice(0, cut), late]).unwrap();
    let replay = replayed(&day, &designs());
    for name in ["plain", "biased"] {
        let found = found(&replay, name);
        assert_eq!(found.different, 0, "{name}: {found:?}");
        assert_eq!(found.unknown + found.decided, CHUNK, "{name}: {found:?}");
        assert!(found.unknown > CHUNK / 3, "{name}: {found:?}");
    }
}
