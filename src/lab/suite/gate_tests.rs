//! What a gate lets through, by seeded simulation.

use super::super::baseline::Baseline;
use super::super::outcome::{Outcome, Status};
use super::super::spec::On;
use super::*;
use crate::stats::seeded::Seeded;
use serde_json::{Value as Json, json};

fn found(estimate: f64, lower: f64, upper: f64) -> Option<Estimate> {
    Some(Estimate { estimate, lower: Some(lower), upper: Some(upper), n: 50, n_eff: 50.0 })
}

fn gate(min: Option<f64>, max: Option<f64>, on: On) -> GateSpec {
    GateSpec { metric: "tests_passed".to_owned(), min, max, on, ..GateSpec::default() }
}

#[test]
fn the_bound_must_reach_the_line() {
    let of = |gate: &GateSpec, e, l, u| of_estimate(gate, found(e, l, u), Of::Verdicts, 0.95);
    let min = gate(Some(0.9), None, On::Bound);
    assert_eq!(of(&min, 0.95, 0.9, 0.99).verdict, Verdict::Held);
    assert_eq!(of(&min, 0.85, 0.8, 0.89).verdict, Verdict::Broken);
    let open = of(&min, 0.95, 0.85, 0.99);
    assert_eq!(open.verdict, Verdict::Undecided);
    assert!(open.needed.is_some_and(|n| (100..400).contains(&n)), "{open:?}");
    assert_eq!(of(&gate(Some(0.9), None, On::Estimate), 0.95, 0.85, 0.99).verdict, Verdict::Held);
    let max = gate(None, Some(100.0), On::Bound);
    let mean = |e, l, u| of_estimate(&max, found(e, l, u), Of::Numbers, 0.95).verdict;
    assert_eq!(
        [mean(90.0, 80.0, 100.0), mean(120.0, 101.0, 140.0), mean(99.0, 80.0, 118.0)],
        [Verdict::Held, Verdict::Broken, Verdict::Undecided]
    );
}

#[test]
fn without_a_value_a_gate_is_broken() {
    let none = of_estimate(&gate(Some(0.0), None, On::Bound), None, Of::Verdicts, 0.95);
    assert_eq!((none.verdict, none.why.as_str()), (Verdict::Broken, "nothing was measured"));
    let one = Estimate { estimate: 5.0, lower: None, upper: None, n: 1, n_eff: 1.0 };
    let open = of_estimate(&gate(Some(1.0), None, On::Bound), Some(one), Of::Numbers, 0.95);
    assert_eq!((open.verdict, open.needed), (Verdict::Undecided, None));
}

#[test]
fn a_drop_is_counted_in_the_direction_of_worse() {
    let drop = GateSpec { max_drop: Some(0.02), ..gate(None, None, On::Bound) };
    let of = |e: f64, l: f64, u: f64, better| {
        of_drop(&drop, found(e, l, u).map(|found| towards_good(found, better)), 0.02, 0).verdict
    };
    assert_eq!(of(0.01, -0.02, 0.04, Better::Higher), Verdict::Held);
    assert_eq!(of(-0.1, -0.15, -0.05, Better::Higher), Verdict::Broken);
    assert_eq!(of(-0.1, -0.15, -0.05, Better::Lower), Verdict::Held);
    assert_eq!(of(0.0, -0.05, 0.05, Better::Higher), Verdict::Undecided);
}

#[test]
fn an_interval_is_shown_as_far_as_there_are_values() {
    let ends = |decided: Decided| decided.estimate.map(|shown| (shown.lower.unwrap(), shown.upper.unwrap()));
    let few = || found(0.833, -1.284, 2.951);
    let min = gate(Some(0.5), None, On::Bound);
    assert_eq!(ends(of_estimate(&min, few(), Of::Numbers, 0.95)), Some((0.0, 1.0)));
    let drop = GateSpec { max_drop: Some(0.02), ..gate(None, None, On::Bound) };
    assert_eq!(ends(of_drop(&drop, few(), 0.02, 0)), Some((-1.0, 1.0)));
    let unknown = GateSpec { metric: "plugin/tone/politeness".to_owned(), ..min };
    assert_eq!(ends(of_estimate(&unknown, few(), Of::Numbers, 0.95)), Some((-1.284, 2.951)));
}

fn outcome(test: usize, repetition: u32, passed: bool) -> Outcome {
    Outcome {
        test: test.to_string(),
        place: String::new(),
        checks_hash: String::new(),
        hash: "h".to_owned(),
        group: String::new(),
        tags: Vec::new(),
        weight: 1.0,
        repetition,
        run_id: String::new(),
        trace_id: String::new(),
        input: Json::Null,
        reply: None,
        error: None,
        status: if passed { Status::Pass } else { Status::Fail },
        score: None,
        checks: Vec::new(),
        scores: Vec::new(),
        values: [("tests_passed".to_owned(), f64::from(passed))].into(),
    }
}

/// How often a gate that bears a drop of 0.1 holds where the true drop is just more, in percent.
fn held(repetitions: u32) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let mut random = Seeded::new(17);
    let simulations = 400;
    let held = (0..simulations).filter(|_| {
        let (mut before, mut now) = (Vec::new(), Vec::new());
        for test in 0..60 {
            let ease = 0.5 + 0.5 * random.unit();
            for repetition in 1..=repetitions {
                let values = json!({"tests_passed": f64::from(random.unit() < ease)});
                before.push(json!({"test": test.to_string(), "hash": "h", "values": values}));
                now.push(outcome(test, repetition, random.unit() < ease - 0.1));
            }
        }
        std::fs::write(&path, json!({"runs": before}).to_string()).unwrap();
        let baseline = Baseline::read(&path).unwrap();
        let difference = baseline.difference("tests_passed", now.iter(), 0.95);
        let drop = GateSpec { max_drop: Some(0.1), ..gate(None, None, On::Bound) };
        of_drop(&drop, difference.estimate, 0.1, difference.unpaired).verdict == Verdict::Held
    });
    held.count() as f64 / f64::from(simulations) * 100.0
}

#[test]
fn a_true_drop_is_let_through_in_at_most_five_of_a_hundred() {
    for repetitions in [1, 3] {
        let held = held(repetitions);
        assert!(held <= 5.0, "{repetitions} repetitions: {held} %");
    }
}
